import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.serving import PATIENCE_S, serving

FILE = Path(__file__).parents[2] / "release" / "Containerfile"
TEXT = FILE.read_text().replace("\\\n", " ")
LINES = [line.split(None, 1) for line in TEXT.splitlines() if line and not line.startswith("#")]
STEPS = [(str(word), str(rest)) for word, rest in LINES]


def test_nothing_in_the_container_runs_as_root_and_nothing_is_fetched_into_it() -> None:
    words = [word for word, _ in STEPS]
    assert dict(STEPS)["USER"] == "10001:10001"
    assert words.index("RUN") < words.index("USER") < words.index("ENTRYPOINT")
    assert "ADD" not in words
    assert [rest for word, rest in STEPS if word == "COPY"] == ["--chmod=0755 dist/verdict /usr/local/bin/verdict"]


def test_each_of_its_commands_is_a_list_so_that_signals_reach_the_service_and_not_a_shell() -> None:
    for word, rest in STEPS:
        if word in {"RUN", "ENTRYPOINT", "CMD"}:
            assert all(isinstance(part, str) for part in json.loads(rest)), rest


@pytest.mark.process
def test_its_look_after_the_service_tells_one_that_answers_from_one_that_is_gone(tmp_path: Path) -> None:
    found = re.search(r"CMD (\[.*\])", dict(STEPS)["HEALTHCHECK"])
    assert found
    look = str(json.loads(found[1])[-1])
    with serving(tmp_path) as running:
        assert code_of(look.replace("8402", str(running.port))) == 0
    assert code_of(look.replace("8402", str(running.port))) != 0


def test_everybody_may_enter_the_folder_before_it_is_unpacked_into() -> None:
    steps = [json.loads(rest) for word, rest in STEPS if word == "RUN"]
    made = ["install", "--directory", "--mode=0755", "/opt/verdict"]
    assert ("ENV", "SHIV_ROOT=/opt/verdict") in STEPS
    assert steps.index(made) < steps.index(["/usr/local/bin/verdict", "--help"])


def test_its_look_after_the_service_is_in_the_image_that_is_built_as_its_head_says() -> None:
    assert "podman build --format docker --file release/Containerfile" in TEXT


def code_of(look: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", look], stderr=subprocess.DEVNULL, timeout=PATIENCE_S, check=False
    ).returncode

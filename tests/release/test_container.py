import json
from pathlib import Path

import pytest

from tests.fakes.serving import run_verdict, serving

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
@pytest.mark.parametrize("settings", [{}, {"hosts": "verdict.example"}, {"host": "0.0.0.0"}])
def test_its_health_check_tells_a_service_that_answers_from_one_that_is_gone(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    program, *arguments = json.loads(dict(STEPS)["HEALTHCHECK"].partition("CMD ")[2])
    assert [program] == json.loads(dict(STEPS)["ENTRYPOINT"])
    with serving(tmp_path, **settings) as running:
        asked = running.settings | {"port": str(running.port)}
        assert run_verdict(*arguments, **asked).returncode == 0
    assert run_verdict(*arguments, **asked).returncode == 1


def test_everybody_may_enter_the_folder_before_it_is_unpacked_into() -> None:
    steps = [json.loads(rest) for word, rest in STEPS if word == "RUN"]
    made = ["install", "--directory", "--mode=0755", "/opt/verdict"]
    assert ("ENV", "SHIV_ROOT=/opt/verdict") in STEPS
    assert steps.index(made) < steps.index(["/usr/local/bin/verdict", "--help"])


def test_its_look_after_the_service_is_in_the_image_that_is_built_as_its_head_says() -> None:
    assert "podman build --format docker --file release/Containerfile" in TEXT

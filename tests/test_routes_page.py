"""The page of routes says what the service does, and its calls work in all three languages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.wire.offers import OFFERS
from tests.fakes.serving import PATIENCE_S, WHOLE, Serving, serving
from tests.routes_page import BASE, PAGE, answers, blocks, page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, str]]:
    with serving(tmp_path_factory.mktemp("data"), replay="frozen", **WHOLE) as service:
        service.make_key()
        yield service, service.make_key("--tier", "pro")


@pytest.mark.process
def test_the_page_of_routes_is_what_the_service_answers(running: tuple[Serving, str]) -> None:
    service, key = running
    written = page(service.ask("/openapi.json")[2], answers(service, key)).replace(f":{service.port}", ":8402")
    assert written == PAGE.read_text(), "run `make commands`"


def test_every_priced_get_has_a_section() -> None:
    text = PAGE.read_text()
    assert [offer.path for offer in OFFERS if offer.payable and offer.method == "GET"] == [
        line.removeprefix("## GET ") for line in text.splitlines() if line.startswith("## GET ")
    ]


@pytest.mark.process
def test_every_call_of_the_page_works(running: tuple[Serving, str], tmp_path: Path) -> None:
    service, key = running
    text = PAGE.read_text().replace(BASE, f"http://127.0.0.1:{service.port}")
    environment = {**os.environ, "KEY": key}

    def printed(*command: str) -> str:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    for call in blocks(text, "sh"):
        assert '"data":' in printed("sh", "-c", call), call
    for number, call in enumerate(blocks(text, "python")):
        (tmp_path / f"call_{number}.py").write_text(call)
    assert printed(sys.executable, "-c", _RUN_ALL.format(folder=str(tmp_path)))
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: the JavaScript calls are not run")
    scripts = [f"{{\n{call}}}\n" for call in blocks(text, "javascript")]
    (tmp_path / "calls.mjs").write_text("".join(scripts))
    assert "undefined" not in printed("node", "calls.mjs").splitlines()


_RUN_ALL = """
import pathlib, runpy
for path in sorted(pathlib.Path({folder!r}).glob("call_*.py")):
    runpy.run_path(str(path))
"""

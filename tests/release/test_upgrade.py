"""To a newer version and back, on one folder, while callers call: from a schema of 18 steps to that of this code."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest

from service import interpreter
from service.storage.migrate import FOLDER
from tests.fakes.calls import call_until_it_dies
from tests.fakes.serving import Serving, ended, wait_until
from tests.release.elsewhere import Elsewhere, type_in

FORMER = "7d5e98a4f045"
"""The last commit with 18 steps."""

ROOT = Path(__file__).parents[2]
RISK = "/api/cli/coin/risk/BTC"
FAST = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
CONNECTIONS = 8
OUTER = {name: value for name, value in os.environ.items() if not name.startswith("VERDICT_")}

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.fixture
def former(tmp_path: Path) -> list[str]:
    """What starts the former version."""
    packed = subprocess.run(
        ["git", "archive", FORMER, "service", "fixtures"], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    if packed.returncode:
        pytest.skip(f"the former version is not to be had: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tree:
        tree.extractall(tmp_path / "former", filter="data")
    return [str(tmp_path / "former") if part == str(ROOT) else part for part in interpreter.command_of("service")]


@pytest.fixture
def present() -> list[str]:
    """What starts this version."""
    return list(interpreter.command_of("service"))


@contextmanager
def serving(start: list[str], data_dir: Path) -> Iterator[Serving]:
    with ended(running := Elsewhere(start, OUTER, data_dir=str(data_dir), **FAST)):
        running.wait_for("ready")
        yield running


class Traffic:
    """Callers who call without a pause until nobody answers, on a thread of their own."""

    def __init__(self, port: int, key: str) -> None:
        self.answered = -1
        self._thread = threading.Thread(target=self._call, args=(port, key))
        self._thread.start()

    def _call(self, port: int, key: str) -> None:
        self.answered = asyncio.run(call_until_it_dies(port, RISK, key, CONNECTIONS))

    def end(self) -> int:
        """Wait for its end; how many answers came whole."""
        self._thread.join(120)
        assert self.answered >= 0
        return self.answered


def counted(running: Serving) -> int:
    return sum(row["total"] for row in json.loads(running.verdict("admin", "usage", "--json").stdout)["users"])


def stop_under(traffic: Traffic, running: Serving) -> int:
    """Stop it while callers call; what they were answered."""
    before = counted(running)
    wait_until(lambda: counted(running) > before)
    assert running.stop(signal.SIGTERM) == 0
    return traffic.end()


@pytest.mark.process
def test_an_upgrade_under_traffic_loses_no_call_and_the_copy_made_before_it_brings_the_former_version_back(
    former: list[str], present: list[str], tmp_path: Path
) -> None:
    data, copy = tmp_path / "data", tmp_path / "before.db"
    with serving(former, data) as running:
        key = running.make_key("--tier", "pro")
        traffic = Traffic(running.port, key)
        wait_until(lambda: counted(running) > 0)
        least = counted(running)
        running.verdict("admin", "backup", str(copy))
        most = counted(running) + CONNECTIONS
        answered = stop_under(traffic, running)
    with serving(present, data) as running:
        kept = counted(running)
        assert answered <= kept <= answered + CONNECTIONS  # an answer may be on its way to each
        more = stop_under(Traffic(running.port, key), running)
        doctor = type_in([*present, "admin", "doctor", "--json"], running.environ())
        assert doctor.returncode == 0, doctor.stdout
        with serving(present, data) as again:
            assert kept + more <= counted(again) <= kept + more + CONNECTIONS
            assert again.stop() == 0
    refused = type_in([*former, "serve"], running.environ())
    assert refused.returncode == 1
    assert (
        "it was written by a newer one. Run that version, or put a copy made with `verdict admin backup`"
        in refused.stderr
    )
    for path in data.glob("verdict.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copy2(copy, data / "verdict.db")
    with serving(former, data) as running:
        assert least <= counted(running) <= most
        assert running.ask(RISK, key)[0] == 200
        assert running.stop() == 0


def test_the_former_version_is_two_steps_of_the_schema_behind_at_least() -> None:
    steps = {path.name.split("_")[0] for path in FOLDER.glob("*.sql")}
    assert len(steps) >= 18 + 2

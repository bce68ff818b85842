"""A disk that fails under the running service: its syncs, its room, its being writable at all."""

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.serving import PATIENCE_S, Serving, run_verdict, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED
from tests.service.test_faults_process import counted
from tests.soak.disk import Disk, disk, needs_disks
from tests.storage.test_faults import can_inject

pytestmark = pytest.mark.soak

CALLS: Final = 60
FAULTS: Final = ("fsync,fdatasync:error=EIO", "fsync,fdatasync:error=ENOSPC", "pwrite64:error=EIO")
FULL: Final = "pwrite64:error=ENOSPC"
SMALL_MIB: Final = 24


class Tally:
    """What was answered, as it has to be counted."""

    def __init__(self, service: Serving, data_dir: Path) -> None:
        self.key = service.make_key("--tier", "pro")
        self.answered = self.refused = 0
        self._data_dir = data_dir

    def ask(self, service: Serving, calls: int = CALLS) -> Counter[int]:
        """Ask so often; only answers and 503 may come."""
        statuses = Counter(service.ask(RISK, self.key)[0] for _ in range(calls))
        assert statuses.keys() <= {200, 503}, statuses
        self.answered += statuses[200]
        self.refused += statuses[503]
        return statuses

    def is_well(self, service: Serving) -> None:
        """It answers again, and has counted what it answered and nothing else."""
        wait_until(lambda: self.ask(service, 1)[200] == 1)
        assert self.ask(service)[503] == 0
        assert counted(self._data_dir) == self.answered

    def record(self, record_property: Callable[[str, object], None]) -> None:
        record_property("calls answered and counted", self.answered)
        record_property("calls refused", self.refused)


@contextmanager
def injecting(service: Serving, fault: str) -> Iterator[None]:
    """Have every such call of the running service fail."""
    command = (str(shutil.which("strace")), "-f", "-qq", "-o", "/dev/null", f"--inject={fault}")
    tracing = subprocess.Popen([*command, "-p", str(service.process.pid)], stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{service.process.pid}/status")
    wait_until(lambda: f"TracerPid:\t{tracing.pid}\n" in status.read_text())
    try:
        yield
    finally:
        tracing.terminate()
        tracing.wait(PATIENCE_S)


@can_inject
def test_syncs_and_writes_that_fail_are_503_uncounted_and_got_over(
    tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a replayable schedule, not a secret
    faults = [*FAULTS, FULL]
    dice.shuffle(faults)
    with serving(tmp_path, **UNBOUNDED) as service:
        tally = Tally(service, tmp_path)
        tally.is_well(service)
        for fault in faults:
            with injecting(service, fault):
                assert tally.ask(service)[200] == 0, f"{fault}: answered what cannot have been written"
            tally.is_well(service)
            for share in (2, 3, 5):
                with injecting(service, f"{fault}:when={dice.randrange(1, 9)}+{share}"):
                    tally.ask(service)
            tally.is_well(service)
    assert run_verdict("admin", "doctor", data_dir=str(tmp_path)).returncode == 0
    record_property("kinds of failure", 4 * len(faults))
    tally.record(record_property)


@needs_disks
def test_a_file_system_that_fills_up_is_503_uncounted_and_got_over(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with disk(tmp_path, SMALL_MIB) as small:
        data_dir = small.at / "data"
        with serving(data_dir, **UNBOUNDED) as service:
            tally = Tally(service, data_dir)
            tally.is_well(service)
            filling = small.at / "filling"
            for _ in range(3):
                fill(filling)
                wait_until(lambda: tally.ask(service)[503] > 0)
                filling.unlink()
                tally.is_well(service)
        with serving(data_dir, **UNBOUNDED) as service:
            tally.is_well(service)
    tally.record(record_property)


def fill(path: Path) -> None:
    """Write until nothing fits any more."""
    with path.open("wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


@needs_disks
def test_a_file_system_that_goes_read_only_is_503_uncounted_and_got_over(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with disk(tmp_path) as machine:
        data_dir = machine.at / "data"
        with serving(data_dir, **UNBOUNDED) as service:
            tally = Tally(service, data_dir)
            tally.is_well(service)
            machine.fail()
            assert tally.ask(service)[200] == 0, "answered what cannot have been written"
            assert service.ask("/healthz")[0] == 200
        refuses_to_start(machine, data_dir)
        machine.repair()
        with serving(data_dir, **UNBOUNDED) as service:
            tally.is_well(service)
    tally.record(record_property)


def refuses_to_start(machine: Disk, data_dir: Path) -> None:
    """A start says in one line what to do."""
    said = run_verdict("serve", data_dir=str(data_dir), port="0", source="fixtures")
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert str(machine.at) in said.stderr

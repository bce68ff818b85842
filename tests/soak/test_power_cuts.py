"""Power cuts under load: what was acknowledged before is there afterwards, over a journaling file system."""

import asyncio
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import pytest

from service.access.meter import open_meter
from service.clock import SystemClock
from service.storage.database import Database, open_database
from tests.access.test_killed_processes import kept
from tests.access.test_meter_processes import ROOT, counted
from tests.service.test_payment_kill import Lane, Sale, check_kills
from tests.soak.disk import Disk, disk, needs_disks

pytestmark = [pytest.mark.soak, needs_disks]

WAYS = ("charge", "reserve", "visit", "keep")
LATEST_CUT_S = 0.2
MOST_ANSWERS = 300

Recorder = Callable[[str, object], None]


def start(boot: int, path: Path, way: str) -> Popen[bytes]:
    arguments = (f"boot {boot}.", "serve", str(path), way)
    module = ("-m", "tests.soak.powered_process")
    return Popen([sys.executable, *module, *arguments], cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, bufsize=0)


def cut_under(process: Popen[bytes], disk: Disk, dice: random.Random) -> set[int]:
    """Let it answer for a while, and cut the power; everything it had answered before: nobody is answered after."""
    assert process.stdout is not None
    least = dice.randrange(1, MOST_ANSWERS)
    said = b""
    while len(said) < 8 * least:
        piece = process.stdout.read(1 << 16)
        assert piece, f"it ended by itself: {process.wait()}"
        said += piece
    time.sleep(dice.uniform(0.0, LATEST_CUT_S))
    os.set_blocking(process.stdout.fileno(), False)
    while piece := process.stdout.read(1 << 16):
        said += piece
    disk.cut()
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
    disk.unmount()
    disk.mount()
    return {number for (number,) in struct.iter_unpack("<Q", said[: len(said) // 8 * 8])}


async def is_sound(database: Database) -> None:
    assert await database.read("PRAGMA integrity_check") == [("ok",)]
    assert await database.read("SELECT count(*) FROM usage_events WHERE state = 0") == [(0,)]


def test_a_cut_takes_what_was_not_synced_and_leaves_what_was(tmp_path: Path) -> None:
    with disk(tmp_path / "machine") as machine:
        for name in ("synced", "written"):
            with (machine.at / name).open("wb", buffering=0) as file:
                file.write(b"a" * 9_000)
                if name == "synced":
                    os.fsync(file.fileno())
        machine.cut()
        machine.unmount()
        machine.mount()
        assert (machine.at / "synced").read_bytes() == b"a" * 9_000
        assert not (machine.at / "written").exists()


@pytest.mark.timeout(7_200)
async def test_a_power_cut_loses_no_call_that_was_answered(
    tmp_path: Path, seed: int, patience: int, record_property: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(f"{seed} power")  # noqa: S311 - a replayable schedule, not a secret
    clock, known, answers, unanswered, replayable = SystemClock(), 0, 0, 0, set[int]()
    with disk(tmp_path / "machine") as machine:
        path = machine.at / "verdict.db"
        for number in range(patience):
            way = WAYS[number % len(WAYS)]
            answered = await asyncio.to_thread(cut_under, start(number, path, way), machine, dice)
            monkeypatch.setattr("service.access.meter.boot_id", f"boot {number + 1}.".encode)
            async with open_database(path, clock) as database, open_meter(database, clock) as meter:
                calls = await counted(database, known)
                assert answered <= calls, f"cut {number}, {way}: lost {answered - calls}"
                assert await meter.verify() == []
                await is_sound(database)
                replayable |= calls if way == "keep" else set()
                assert replayable <= await kept(database), f"cut {number}: an answer that was kept is gone"
                known = max(calls, default=known)
            answers += len(answered)
            unanswered += len(calls - answered)
    record_property("power cuts", patience)
    record_property("calls answered and counted", answers)
    record_property("counted, cut off before they were read", unanswered)


class Powered(Lane):
    """A lane whose machine loses its power."""

    disk: Disk
    dark = False

    def end_life(self, pid: int) -> None:
        self.dark = True
        self.disk.cut()
        os.kill(pid, signal.SIGKILL)

    def begin_anew(self) -> None:
        self.disk.unmount()
        self.disk.mount()
        self.dark = False

    def _check(self, payment: str, sale: Sale) -> None:
        if self.dark:
            raise ConnectionError("a machine without power answers nobody")
        super()._check(payment, sale)

    def run(self, kills: int) -> None:
        with disk(self.data_dir.with_suffix(".machine")) as self.disk:
            self.data_dir = self.disk.at / "data"
            self.settings["data_dir"] = str(self.data_dir)
            super().run(kills)


@pytest.mark.timeout(7_200)
def test_a_power_cut_at_a_random_point_of_paid_calls_loses_no_payment_and_takes_none_twice(
    tmp_path: Path, seed: int, patience: int, record_property: Recorder
) -> None:
    record_property("power cuts", patience)
    for name, figure in check_kills(Powered, tmp_path, patience, seed).items():
        record_property(name, figure)

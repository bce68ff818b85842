"""`kill -9` at the Nth write of a process that meters: wherever it dies, what it answered stays counted."""

import asyncio
import random
import shutil
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from pathlib import Path

import pytest

from service.access.meter import open_meter
from service.clock import SystemClock
from service.storage.database import open_database
from tests.access.test_killed_processes import kept
from tests.access.test_meter_processes import ROOT, counted
from tests.fakes.serving import PATIENCE_S
from tests.storage.test_faults import can_inject

pytestmark = [pytest.mark.soak, can_inject]

WAYS = ("charge", "reserve", "visit", "keep")
LAST_WRITE = 600
"""A start makes some thirty; each transaction five to ten."""


async def answers_until_write(path: Path, way: str, write: int) -> set[int]:
    """Let a process die at that write; what it had answered."""
    strace = (str(shutil.which("strace")), "-f", "-qq", "-o", "/dev/null")
    fault = f"--inject=pwrite64:signal=SIGKILL:when={write}"
    process = (sys.executable, "-m", "tests.access.metering_process", "serve", str(path), way)
    async with asyncio.timeout(PATIENCE_S):
        started = await asyncio.create_subprocess_exec(
            *strace, fault, *process, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        said, _ = await started.communicate()
    return {number for (number,) in struct.iter_unpack("<Q", said[: len(said) // 8 * 8])}


@pytest.mark.timeout(7_200)
async def test_a_process_killed_at_any_write_has_counted_what_it_answered_and_no_more_than_one_call_in_vain(
    tmp_path: Path, seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(f"{seed} writes")  # noqa: S311 - a replayable schedule, not a secret
    path, clock, known, answers, unanswered = tmp_path / "verdict.db", SystemClock(), 0, 0, 0
    for number in range(patience):
        way, write = WAYS[number % len(WAYS)], dice.randrange(1, LAST_WRITE)
        answered = await answers_until_write(path, way, write)
        async with open_database(path, clock) as database, open_meter(database, clock) as meter:
            calls = await counted(database, known)
            assert answered <= calls, f"kill {number} at write {write}, {way}: lost {answered - calls}"
            if way == "keep":
                assert calls <= await kept(database), "a keyed answer is counted exactly if it can be had"
            else:
                assert len(calls - answered) <= 1, "one call may die between its mark and its answer"
            assert await meter.verify() == []
            assert await database.read("PRAGMA integrity_check") == [("ok",)]
            known = max(calls, default=known)
        answers += len(answered)
        unanswered += len(calls - answered)
    record_property("kills", patience)
    record_property("calls answered and counted", answers)
    record_property("counted, killed before the answer was read", unanswered)

"""Several processes on one database, and processes that are killed."""

import asyncio
import random
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.access.meter import open_meter
from service.clock import SystemClock
from service.storage.database import Database, open_database
from service.storage.journal import folder_beside
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60


async def start(mode: str, database: Path, argument: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.access.metering_process",
        mode,
        str(database),
        argument,
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
    )


async def read_answers(process: Process, least: int) -> set[int]:
    assert process.stdout is not None
    data = await process.stdout.readexactly(8 * least)
    return {number for (number,) in struct.iter_unpack("<Q", data)}


async def kill(process: Process) -> set[int]:
    """Kill it; what it had answered and nobody had read yet."""
    assert process.stdout is not None
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return {number for (number,) in struct.iter_unpack("<Q", rest[: len(rest) // 8 * 8])}


async def counted(db: Database, first: int = 0) -> set[int]:
    return {row[0] for row in await db.read("SELECT id FROM usage_events WHERE state = 1 AND id > ?", (first,))}


@pytest.mark.promise("meter.processes")
async def test_two_processes_share_one_question_left(db: Database, clock: FakeClock) -> None:
    async with asyncio.timeout(PATIENCE_S):
        system = SystemClock()
        async with open_meter(db, system) as meter:
            for _ in range(7):  # and once by each process
                await meter.charge(Caller(1, "api_key", 1), "coin.risk")
            processes = [await start("burst", db.path, "1000") for _ in range(2)]
            for process in processes:
                assert process.stdout is not None
                assert await process.stdout.readline() == b"ready\n"
            outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
            assert sorted(int(out) for out, _ in outputs) == [0, 1]
            assert await meter.verify() == []


@pytest.mark.promise("meter.durable", "meter.once", "meter.lease")
@pytest.mark.parametrize("way", [pytest.param("charge", marks=pytest.mark.gate), "reserve"])
async def test_a_process_killed_at_any_moment_leaves_no_answer_uncounted_and_no_call_counted_in_vain(
    tmp_path: Path, way: str
) -> None:
    """Ten processes a way, two at a time on one database, each killed after a random number of its answers."""
    chance = random.Random(f"kill {way}")  # noqa: S311 -- which moment is all it decides
    path = tmp_path / "verdict.db"
    clock = SystemClock()
    known = 0
    async with asyncio.timeout(2 * PATIENCE_S):
        for _ in range(5):
            processes = [await start("serve", path, way) for _ in range(2)]
            answered = [await read_answers(process, chance.randrange(1, 400)) for process in processes]
            rest = [await kill(process) for process in processes]
            async with open_database(path, clock) as db, open_meter(db, clock) as meter:
                answers = set().union(*answered, *rest)
                calls = await counted(db, known)
                assert answers <= calls
                assert len(calls - answers) <= len(processes), "one call each may die between its mark and its answer"
                assert await db.read("SELECT count(*) FROM usage_events WHERE state = 0") == [(0,)]
                assert await meter.verify() == []
                known = (await db.read("SELECT max(id) FROM usage_events"))[0][0]
            assert list(folder_beside(path).glob("*.marks")) == []


async def test_while_another_process_lives_its_calls_are_left_alone(db: Database) -> None:
    async with asyncio.timeout(PATIENCE_S):
        living, dying = [await start("serve", db.path, "reserve") for _ in range(2)]
        answered = await read_answers(living, 50)
        await read_answers(dying, 50)
        await kill(dying)
        clock = SystemClock()
        async with open_meter(db, clock):
            answered |= await read_answers(living, 500)
            answered |= await kill(living)
            assert answered <= await counted(db)

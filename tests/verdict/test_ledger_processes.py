"""Several processes append to one chain, and any of them may be killed at any moment."""

import asyncio
import random
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest

from service.clock import SystemClock
from service.storage.database import Database, open_database
from service.verdict.audit import audit_ledger

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60


async def start(mode: str, database: Path, argument: str) -> Process:
    module = "tests.verdict.appending_process"
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, mode, str(database), argument, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )


async def test_processes_that_issue_the_same_verdicts_write_each_once_and_tell_the_same_of_it(
    database: Database,
) -> None:
    async with asyncio.timeout(PATIENCE_S):
        processes = await asyncio.gather(*(start("same", database.path, "60") for _ in range(3)))
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        told = [out for out, _ in await asyncio.gather(*(process.communicate(b"go\n") for process in processes))]
    assert told[0] == told[1] == told[2]
    assert sorted(int(line.split()[0]) for line in told[0].splitlines()) == list(range(1, 61))
    found = await database.inspect(audit_ledger)
    assert (found.head.entries, found.findings) == (60, [])


@pytest.mark.gate
async def test_processes_killed_at_any_moment_leave_a_chain_that_verifies_and_every_verdict_that_was_told(
    tmp_path: Path,
) -> None:
    chance = random.Random(5)  # noqa: S311 - which moment is all it decides
    path = tmp_path / "verdict.db"
    told: set[int] = set()
    entries = 0
    async with asyncio.timeout(PATIENCE_S):
        for turn in range(2):
            processes = await asyncio.gather(*(start("ever", path, f"{turn}{name}") for name in "AB"))
            for process in processes:
                assert process.stdout is not None
                read = await process.stdout.readexactly(8 * chance.randrange(1, 150))
                process.kill()
                read += await process.stdout.read()
                await process.wait()
                told |= {number for (number,) in struct.iter_unpack("<Q", read[: len(read) // 8 * 8])}
            async with open_database(path, SystemClock()) as opened:
                found = await opened.inspect(audit_ledger)
                assert found.findings == []
                assert found.head.entries > entries
                entries = found.head.entries
                written = {seq for (seq,) in await opened.read("SELECT seq FROM verdict_ledger")}
                assert told <= written
                days = await opened.read(
                    "SELECT count(*) FROM verdict_ledger WHERE kind = 'daily' GROUP BY origin, day"
                )
                assert {count for (count,) in days} <= {5}

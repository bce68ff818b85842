"""Processes that are killed while devices ask, and while answers are kept: what was given stays counted, and once."""

import asyncio
import random
from pathlib import Path

import pytest

from service.access.meter import open_meter
from service.clock import SystemClock
from service.storage.database import Database, open_database
from service.storage.response_store import unpack
from tests.access.test_meter_processes import PATIENCE_S, counted, kill, read_answers, start

pytestmark = pytest.mark.process


async def kills(path: Path, way: str, rounds: int) -> list[tuple[set[int], set[int]]]:
    """Two processes at a time, each killed after a random number of answers: what they gave, and what is counted."""
    chance = random.Random(f"kill {way}")  # noqa: S311 -- which moment is all it decides
    clock, known, found = SystemClock(), 0, []
    for _ in range(rounds):
        processes = [await start("serve", path, way) for _ in range(2)]
        given = [await read_answers(process, chance.randrange(1, 200)) for process in processes]
        rest = [await kill(process) for process in processes]
        async with open_database(path, clock) as db, open_meter(db, clock) as meter:
            found.append((set().union(*given, *rest), await counted(db, known)))
            assert await db.read("SELECT count(*) FROM usage_events WHERE state = 0") == [(0,)]
            assert await meter.verify() == []
            ((known,),) = await db.read("SELECT max(id) FROM usage_events")
    return found


@pytest.mark.promise("question.device-once", "meter.durable")
async def test_a_device_has_had_its_question_exactly_if_its_answer_has_left(tmp_path: Path) -> None:
    path = tmp_path / "verdict.db"
    async with asyncio.timeout(2 * PATIENCE_S):
        found = await kills(path, "visit", 4)
    for given, calls in found:
        assert given <= calls
        assert len(calls - given) <= 2, "one call each may die between its mark and its answer"
    async with open_database(path, SystemClock()) as db:
        ((devices,),) = await db.read("SELECT count(*) FROM devices")
        assert devices == sum(len(calls) for _, calls in found)


@pytest.mark.promise("question.idempotency", "meter.durable")
async def test_a_keyed_answer_is_counted_exactly_if_it_can_be_had(tmp_path: Path) -> None:
    path = tmp_path / "verdict.db"
    async with asyncio.timeout(2 * PATIENCE_S):
        found = await kills(path, "keep", 4)
    async with open_database(path, SystemClock()) as db:
        assert {event for _, calls in found for event in calls} == await kept(db)
    for given, calls in found:
        assert given <= calls


async def kept(db: Database) -> set[int]:
    """The events of the answers that can be had."""
    stored = await db.read("SELECT body FROM repeats WHERE body IS NOT NULL")
    return {int(unpack(body).body) for (body,) in stored}

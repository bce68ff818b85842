"""Who has no question left is told so at once, and only if the writer would say the same."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from service.access import meter as metering
from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.clock import DAY_MS
from service.errors import ServiceError
from service.storage.database import Database
from service.wire.access import Tier
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database

OFFER = "coin.risk"
CALLER = Caller(1, "api_key", 1)


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened


@pytest.fixture
async def other(meter: Meter, db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    """The meter of another process: connections of its own to the same file."""
    async with open_database(db.path, clock) as opened, open_meter(opened, clock) as second:
        yield second


async def charge(meter: Meter, times: int, caller: Caller = CALLER) -> None:
    for _ in range(times):
        await meter.charge(caller, OFFER)


@pytest.fixture
def looks(db: Database, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every look at the store."""
    seen: list[Any] = []
    read_now = db.read_now

    def noting(sql: str, parameters: Any) -> Any:
        seen.append(parameters)
        return read_now(sql, parameters)

    monkeypatch.setattr(db, "read_now", noting)
    return seen


async def test_who_was_never_refused_is_not_looked_up(meter: Meter, looks: list[Any]) -> None:
    await charge(meter, 10)
    assert meter.exhausted_status(CALLER) is None
    assert looks == []


async def test_who_was_refused_is_told_how_it_stands_without_the_writer(meter: Meter, db: Database) -> None:
    await charge(meter, 11)
    written = db.transactions
    assert meter.exhausted_status(CALLER) == await meter.quota_status(CALLER)
    assert db.transactions == written


async def test_one_look_serves_a_turn_of_the_loop_and_no_other(meter: Meter, looks: list[Any]) -> None:
    await charge(meter, 11)
    assert meter.exhausted_status(CALLER) == meter.exhausted_status(CALLER) is not None
    assert len(looks) == 1
    await asyncio.sleep(0)
    assert meter.exhausted_status(CALLER) is not None
    assert len(looks) == 2


async def test_in_one_turn_everybody_is_looked_up_for_himself(meter: Meter, looks: list[Any]) -> None:
    another = Caller(2, "api_key", 2)
    await charge(meter, 11)
    await charge(meter, 11, another)
    assert None not in {meter.exhausted_status(caller) for caller in (CALLER, another, CALLER, another)}
    assert looks == [(1,), (2,)]


async def test_a_question_that_another_process_gives_back_is_seen_at_once(meter: Meter, other: Meter) -> None:
    held = await other.reserve(CALLER, OFFER)
    await charge(meter, 10)
    assert meter.exhausted_status(CALLER) is not None
    assert held.event_id is not None
    await other.release(held.event_id)
    assert meter.exhausted_status(CALLER) is None
    assert (await meter.charge(CALLER, OFFER)).event_id is not None


async def test_the_next_day_and_a_better_tier_open_the_gate(meter: Meter, clock: FakeClock) -> None:
    await charge(meter, 11)
    assert meter.exhausted_status(Caller(1, "api_key", 1, "access")) is None
    await charge(meter, 1)
    assert meter.exhausted_status(CALLER) is not None
    await asyncio.sleep(0)
    clock.at_ms += DAY_MS
    assert meter.exhausted_status(CALLER) is None


async def test_a_store_that_cannot_be_read_at_once_leaves_it_to_the_writer(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "busy")

    await charge(meter, 11)
    monkeypatch.setattr(db, "read_now", fail)
    assert meter.exhausted_status(CALLER) is None


async def test_a_user_whose_counters_are_gone_is_asked_of_the_writer(meter: Meter, db: Database) -> None:
    await charge(meter, 11)
    await db.write(lambda connection: connection.execute("DELETE FROM quota"))
    assert meter.exhausted_status(CALLER) is None


async def test_not_everybody_is_remembered(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metering, "_MAX_EXHAUSTED", 2)
    callers = [Caller(number, "api_key", number) for number in (1, 2, 3)]
    for caller in callers:
        await charge(meter, 11, caller)
    assert [meter.exhausted_status(caller) is not None for caller in callers] == [False, False, True]


@pytest.mark.promise("meter.processes")
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_two_processes_do_a_refusal_at_once_is_what_the_writer_decides(
    meter: Meter, other: Meter, clock: FakeClock, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 -- to be repeated
    tiers: tuple[Tier, ...] = ("free", "free", "access")
    held: list[tuple[Meter, int]] = []
    refused = 0
    for _ in range(120):
        caller = Caller(1, "api_key", 1, random.choice(tiers))
        one = random.choice((meter, other))
        if held and random.random() < 0.3:
            holder, event_id = held.pop(random.randrange(len(held)))
            await random.choice((holder.release, holder.commit))(event_id)
        elif random.random() < 0.05:
            clock.at_ms += random.choice((DAY_MS, -DAY_MS))
        elif random.random() < 0.4:
            decision = await one.reserve(caller, OFFER)
            held += [(one, decision.event_id)] if decision.event_id is not None else []
        standing = one.exhausted_status(caller)
        if standing is not None:
            refused += 1
            decision = await one.charge(caller, OFFER)
            assert (decision.event_id, decision.quota_status) == (None, standing)
        elif caller.tier == "free":
            await one.charge(caller, OFFER)
    assert refused > 10
    for holder, event_id in held:
        await holder.release(event_id)
    assert await meter.verify() == []

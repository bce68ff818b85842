"""A refusal says whether the quota is spent or its last questions are only reserved, on each process of a store."""

from collections.abc import AsyncIterator

import pytest

from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.clock import DAY_MS
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database

OFFER = "coin.risk"
CALLER = Caller(1, "api_key", 1)


@pytest.fixture
async def meters(db: Database, clock: FakeClock) -> AsyncIterator[tuple[Meter, Meter]]:
    """Two processes on one store."""
    async with (
        open_database(db.path, clock) as second,
        open_meter(db, clock) as one,
        open_meter(second, clock) as other,
    ):
        yield one, other


async def held(meter: Meter, caller: Caller = CALLER) -> int:
    event_id = (await meter.reserve(caller, OFFER)).event_id
    assert event_id is not None
    return event_id


@pytest.mark.promise("quota.402-spent")
async def test_every_process_says_busy_while_the_last_question_is_only_reserved(meters: tuple[Meter, Meter]) -> None:
    one, other = meters
    for _ in range(9):
        await one.charge(CALLER, OFFER)
    last = await held(one)
    for meter in meters:
        refused = await meter.charge(CALLER, OFFER)
        assert (refused.event_id, refused.quota_status.busy, refused.quota_status.remaining) == (None, True, 0)
        assert (await meter.quota_status(CALLER)).busy
        assert (await meter.committed_quota_status(CALLER)).used == 9
    await one.commit(last)
    for meter in (other, one):
        refused = await meter.charge(CALLER, OFFER)
        assert (refused.event_id, refused.quota_status.busy, refused.quota_status.used) == (None, False, 10)
        assert not (await meter.quota_status(CALLER)).busy


async def test_a_days_question_that_is_only_reserved_is_busy_and_one_of_another_day_is_not(
    meters: tuple[Meter, Meter], clock: FakeClock
) -> None:
    one, other = meters
    for _ in range(10):
        await one.charge(CALLER, OFFER)
    clock.at_ms += DAY_MS
    yesterday = await held(one)
    assert (await other.charge(CALLER, OFFER)).quota_status.busy
    clock.at_ms += DAY_MS
    assert (await other.charge(CALLER, OFFER)).event_id is not None
    assert not (await other.charge(CALLER, OFFER)).quota_status.busy
    assert not (await one.quota_status(CALLER)).busy
    await one.release(yesterday)


async def test_questions_reserved_by_one_user_do_not_make_another_busy(meters: tuple[Meter, Meter]) -> None:
    one, other = meters
    another = Caller(2, "api_key", 2)
    for _ in range(10):
        await one.charge(another, OFFER)
    await held(one)
    assert not (await other.charge(another, OFFER)).quota_status.busy

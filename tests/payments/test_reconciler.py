"""The reconciler: who is asked about what, how many at once, and what it outlives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import AsyncMock, patch

import pytest

from service.clock import DAY_MS
from service.errors import ServiceError
from service.payments.facilitators.port import Unknown
from service.payments.records import PaymentRecord
from service.payments.settlement import MAX_CONCURRENT, ROUND_EVERY_S, Reconciler, Settlement
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.payments.checkouts import Books
from tests.payments.scripted import Scripted

PATIENCE_S = 10.0


class House:
    """A process that reconciles."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.books = Books(database, clock)
        self.facilitator = Scripted()
        self.settlement = Settlement(self.books.ledger, self.facilitator, None, clock)
        self.leads = True
        self.reconciler = Reconciler(self.books.ledger, self.settlement, clock, lambda: self.leads)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        task = asyncio.ensure_future(self.reconciler.watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.settlement.close()

    async def until(self, record: PaymentRecord, state: str) -> None:
        """Let time pass until a payment stands there."""
        async with asyncio.timeout(PATIENCE_S):
            while (await self.books.stands(record)).state != state:
                await self.clock.advance(ROUND_EVERY_S)


@pytest.fixture
async def house(database: Database, clock: FakeClock) -> House:
    return House(database, clock)


async def test_an_unknown_outcome_is_asked_about_until_it_is_known_and_entered_once(house: House) -> None:
    house.facilitator.outcomes += [Unknown("it hung"), Unknown("it hung"), Unknown("it hung")]
    record = await house.books.settling()
    await house.settlement.settle(record)
    async with house.watching():
        await house.until(record, "settled")
    assert len(house.facilitator.asked) == 4
    assert house.books.counted == [(1, "risk")]


async def test_what_a_dead_process_was_settling_is_asked_about_at_once(
    house: House, database: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    record = await Books(database, clock, run_id=99).settling()
    await house.reconciler.round()
    assert (await house.books.stands(record)).state == "settled"
    (said,) = (vars(each) for each in caplog.records if each.message == "The outcome of a payment is known.")
    assert (said["payment"], said["state"]) == (record.receipt_id, "settled")


async def test_a_settlement_that_is_under_way_is_left_to_its_request(house: House) -> None:
    await house.books.settling()
    await house.reconciler.round()
    assert house.facilitator.asked == []


async def test_what_a_clock_that_ran_ahead_put_years_away_is_asked_about_as_soon_as_it_is_right(
    house: House, clock: FakeClock
) -> None:
    house.facilitator.outcomes.append(Unknown("it hung"))
    record, right_ms = await house.books.settling(), clock.now_ms()
    clock.set_wall(right_ms + 3_650 * DAY_MS)
    await house.settlement.settle(record)
    clock.set_wall(right_ms)
    await house.reconciler.round()
    assert (await house.books.stands(record)).state == "settled"


async def test_a_process_that_does_not_lead_asks_nobody_until_it_does(house: House) -> None:
    house.leads = False
    due = AsyncMock(return_value=[])
    with patch.object(house.books.ledger, "read_due", due):
        async with house.watching():
            await house.clock.settle()
            await house.clock.advance(5 * ROUND_EVERY_S)
            assert due.await_count == 0
            house.leads = True
            await house.clock.advance(2 * ROUND_EVERY_S)
    assert due.await_count >= 1


async def test_so_many_are_asked_about_at_once_and_no_more(house: House, clock: FakeClock) -> None:
    house.facilitator.outcomes.extend([Unknown("it hung")] * (MAX_CONCURRENT + 1))
    records = [await house.books.settling() for _ in range(MAX_CONCURRENT + 1)]
    for record in records:
        await house.settlement.settle(record)
    house.facilitator.asked.clear()
    clock.set_wall(clock.now_ms() + 2_000)
    house.facilitator.gate.clear()
    going = asyncio.ensure_future(house.reconciler.round())
    async with asyncio.timeout(PATIENCE_S):
        while len(house.facilitator.asked) < MAX_CONCURRENT:
            await clock.settle()
    assert len(house.facilitator.asked) == MAX_CONCURRENT
    house.facilitator.gate.set()
    async with asyncio.timeout(PATIENCE_S):
        await going
    await house.reconciler.round()
    assert {(await house.books.stands(record)).state for record in records} == {"settled"}


async def test_one_payment_that_cannot_be_entered_keeps_no_other_from_it(
    house: House, database: Database, clock: FakeClock
) -> None:
    dead = Books(database, clock, run_id=99)
    bad, good = await dead.settling(), await dead.settling()
    honest = house.books.ledger.record_settled

    async def settled(record: PaymentRecord, transaction: str, *, reported: bool) -> PaymentRecord:
        if record.id == bad.id:
            raise RuntimeError("a defect")
        return await honest(record, transaction, reported=reported)

    with patch.object(house.books.ledger, "record_settled", settled):
        await house.reconciler.round()
    assert (await house.books.stands(bad)).state == "settling"
    assert (await house.books.stands(good)).state == "settled"


async def test_a_store_that_does_not_answer_is_waited_for(
    house: House, database: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    record = await Books(database, clock, run_id=99).settling()
    failing = AsyncMock(side_effect=ServiceError("UNAVAILABLE", "the store is busy"))
    async with house.watching():
        with patch.object(house.books.ledger, "read_due", failing):
            await clock.settle()
            await clock.advance(2 * ROUND_EVERY_S)
        assert failing.await_count == 3
        said = [vars(each)["reason"] for each in caplog.records if "could not be checked" in each.message]
        assert said == ["the store is busy"] * 3
        await house.until(record, "settled")


async def test_the_ledger_is_tidied_at_the_start_and_once_an_hour(house: House, clock: FakeClock) -> None:
    tidied = AsyncMock()
    with patch.object(house.books.ledger, "prune", tidied):
        await house.reconciler.round()
        await house.reconciler.round()
        assert tidied.await_count == 1
        await clock.advance(3_600)
        await house.reconciler.round()
    assert tidied.await_count == 2

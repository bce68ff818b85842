"""Reports of a remote facilitator, checked: what confirms one, what proves one false, and what proves nothing."""

import asyncio
from collections.abc import AsyncIterator
from unittest.mock import AsyncMock, patch

import pytest

from service.access.usage_ledger import void_paid
from service.clock import HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.payments.audit import audit_payments
from service.payments.facilitators.port import Cancelled, Settled, Unknown, Unused
from service.payments.records import PaymentRecord
from service.payments.settlement_checks import (
    FIRST_LOOK_MS,
    NOT_ON_CHAIN,
    READ_EVERY_S,
    FacilitatorStop,
    SettlementChecker,
    clear_stops,
    count_late,
)
from service.storage.engine import DatabaseError
from tests.fakes.clock import FakeClock
from tests.payments.shop import TRANSACTION, Shop
from tests.payments.signing import payment

OTHER = "0x" + "7d" * 32
HOST = "x402.example.org"
Sight = Settled | Unused | Cancelled | Unknown


class Reader:
    """A chain that shows what the test lets it show."""

    def __init__(self) -> None:
        self.sight: Sight | Exception = Settled(TRANSACTION)
        self.asked: list[str] = []

    async def check(self, record: PaymentRecord, transaction: str) -> Sight:
        assert transaction == record.transaction
        self.asked.append(record.receipt_id)
        if isinstance(self.sight, Exception):
            raise self.sight
        return self.sight


class Checking:
    """A process that checks."""

    def __init__(self, shop: Shop, clock: FakeClock) -> None:
        self.shop = shop
        self.clock = clock
        self.reader = Reader()
        self.stop = FacilitatorStop(shop.database, HOST, clock)
        self.leads = True
        self.checker = SettlementChecker(shop.database, self.reader, self.stop, void_paid, clock, lambda: self.leads)

    async def reported(self) -> PaymentRecord:
        """A payment that a facilitator has reported as settled."""
        record = await self.shop.begun(paid=payment(now_ms=self.clock.now_ms()))
        return await self.shop.ledger.record_settled(record, TRANSACTION, reported=True)

    async def later(self, seconds: float) -> None:
        """Check what is due after some time."""
        self.clock.set_wall(self.clock.now_ms() + round(seconds * SECOND_MS))
        await self.checker.round()

    def newest(self, after_s: int) -> Unused:
        """A chain that has not seen the authorization, so long after the report."""
        return Unused(0, self.clock.now_ms() // SECOND_MS + after_s)

    async def stands(self, record: PaymentRecord) -> PaymentRecord:
        found = await self.shop.ledger.get(record.id)
        assert found is not None
        return found

    async def unchecked(self) -> int:
        return len(await self.shop.database.read("SELECT 1 FROM unchecked_settlements"))


@pytest.fixture
async def it(shop: Shop, clock: FakeClock) -> Checking:
    return Checking(shop, clock)


@pytest.fixture
async def watching(it: Checking) -> AsyncIterator[Checking]:
    tasks = [asyncio.ensure_future(watch()) for watch in (it.stop.watch, it.checker.watch)]
    await it.clock.settle()
    yield it
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.promise("pay.reports-checked")
async def test_a_report_that_the_chain_shows_is_checked_once_and_stays_settled(it: Checking) -> None:
    record = await it.reported()
    await it.later(FIRST_LOOK_MS / SECOND_MS - 0.001)
    assert it.reader.asked == []
    await it.later(0.001)
    await it.later(60)
    assert it.reader.asked == [record.receipt_id]
    assert ((await it.stands(record)).state, await it.unchecked()) == ("settled", 0)
    with pytest.raises((DatabaseError, ServiceError), match=r"never changed|could not"):
        await it.shop.database.write(
            lambda connection: connection.execute("UPDATE payments SET state = 'failed', settled_ms = NULL")
        )


async def test_a_payment_that_another_transaction_settled_names_that_one(it: Checking) -> None:
    record = await it.reported()
    it.reader.sight = Settled(OTHER)
    await it.later(2)
    assert ((await it.stands(record)).transaction, await it.unchecked()) == (OTHER, 0)


@pytest.mark.promise("pay.false-report-stops")
@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_false_report_fails_the_payment_and_stops_the_facilitator(
    it: Checking, caplog: pytest.LogCaptureFixture, cancelled: bool
) -> None:
    record = await it.reported()
    assert len(await it.shop.paid()) == 1
    it.reader.sight = Cancelled() if cancelled else it.newest(40)
    await it.later(2)
    now = await it.stands(record)
    assert (now.state, now.reason, now.settled_ms, await it.unchecked()) == ("failed", NOT_ON_CHAIN, None, 0)
    assert await it.shop.paid() == []
    assert await it.shop.database.inspect(audit_payments) == []
    assert it.stop.current is not None
    assert (it.stop.current.facilitator, it.stop.current.transaction) == (HOST, TRANSACTION)
    assert [record.levelname for record in caplog.records].count("ERROR") == 2
    (due,) = await it.shop.ledger.read_due(it.clock.now_ms() + 200 * SECOND_MS, 9)
    assert due.id == record.id, "somebody may still submit it"
    settled = await it.shop.ledger.record_settled(now, OTHER)
    assert (settled.state, len(await it.shop.paid())) == ("settled", 1)


@pytest.mark.promise("pay.reports-checked")
async def test_a_report_that_the_chain_does_not_show_yet_is_looked_for_again(it: Checking) -> None:
    record = await it.reported()
    it.reader.sight = it.newest(39)
    for _ in range(4):
        await it.later(5)
    assert ((await it.stands(record)).state, len(it.reader.asked)) == ("settled", 4)
    it.reader.sight = it.newest(20)
    await it.later(5)
    assert (await it.stands(record)).state == "failed", "40 s after the report by the chain's own time"


@pytest.mark.parametrize("sight", [Unknown("the node is down"), KeyError("a defect")])
async def test_a_chain_that_cannot_be_read_proves_nothing_and_is_asked_less_and_less_often(
    it: Checking, caplog: pytest.LogCaptureFixture, sight: Sight | Exception
) -> None:
    record = await it.reported()
    it.reader.sight = sight
    await it.later(5)
    assert "A settlement cannot be checked on the chain." not in caplog.text
    await it.later(300)
    assert "A settlement cannot be checked on the chain." in caplog.text
    await it.later(240)
    assert len(it.reader.asked) == 2
    await it.later(10)
    assert len(it.reader.asked) == 3
    assert await it.shop.database.inspect(lambda connection: count_late(connection, it.clock.now_ms())) == 1
    assert ((await it.stands(record)).state, it.stop.current) == ("settled", None)


async def test_a_check_that_a_clock_set_back_has_put_far_ahead_is_made_at_once(it: Checking) -> None:
    await it.reported()
    it.clock.set_wall(it.clock.now_ms() - 2 * HOUR_MS)
    await it.checker.round()
    assert await it.unchecked() == 0


async def test_only_the_process_that_leads_checks_and_a_store_that_fails_is_waited_for(
    watching: Checking, caplog: pytest.LogCaptureFixture
) -> None:
    watching.leads = False
    await watching.reported()
    await watching.clock.advance(5)
    assert watching.reader.asked == []
    watching.leads = True
    failing = AsyncMock(side_effect=ServiceError("UNAVAILABLE", "the store is busy"))
    with patch.object(watching.checker, "round", failing), patch.object(watching.stop, "read", failing):
        async with asyncio.timeout(10):
            while not all(f"{what} could not be" in caplog.text for what in ("settlements", "The stop of payments")):
                await watching.clock.advance(1)
    async with asyncio.timeout(10):
        while await watching.unchecked():
            await watching.clock.advance(1)


@pytest.mark.promise("pay.false-report-stops")
async def test_every_process_sees_a_stop_within_a_second_until_the_operator_resumes(
    it: Checking, watching: Checking
) -> None:
    another = FacilitatorStop(it.shop.database, HOST, it.clock)
    elsewhere = FacilitatorStop(it.shop.database, "other.example.org", it.clock)
    await it.reported()
    it.reader.sight = Cancelled()
    await it.later(2)
    for stop in (another, elsewhere):
        await stop.read()
    assert another.current == it.stop.current
    assert (another.readiness()["ready"], another.readiness()["facilitator"]) == (False, HOST)
    assert (elsewhere.current, elsewhere.readiness()) == (None, {"ready": True})
    (cleared,) = await it.shop.database.write(clear_stops)
    assert cleared == another.current
    async with asyncio.timeout(10):
        while it.stop.current is not None:
            await it.clock.advance(READ_EVERY_S)

"""The cashier, over a real ledger: what a facilitator and a chain may say, and what is made of it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import NoReturn
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS
from service.errors import ServiceError
from service.payments.errors import NONCE_USED
from service.payments.facilitators.port import Cancelled, Settled, SettlementRefused, Unknown, Unused
from service.payments.records import PaymentRecord
from service.payments.settlement import EXPIRED_UNSETTLED, Settlement
from service.payments.settlement_checks import FacilitatorStop, PaymentStop
from service.storage.database import Database
from service.wire.payment import SettlementKind
from tests.fakes.clock import FakeClock
from tests.payments.checkouts import ANSWER, Books
from tests.payments.scripted import Scripted

TRANSACTION = "0x" + "5e" * 32
OTHER = "0x" + "7d" * 32
POOR = "insufficient_funds"
FORGED = "invalid_exact_evm_payload_signature"
PATIENCE_S = 10.0


class Seer:
    """A witness who says what the test lets it see."""

    def __init__(self, *sights: Settled | Unused | Cancelled | Unknown) -> None:
        self.sights = list(sights)
        self.looked: list[PaymentRecord] = []

    async def look(self, record: PaymentRecord) -> Settled | Unused | Cancelled | Unknown:
        self.looked.append(record)
        return self.sights.pop(0) if len(self.sights) > 1 else self.sights[0]


class Broken:
    """Raises, which neither a facilitator nor a witness may."""

    kind: SettlementKind = "remote"

    async def settle(self, _: PaymentRecord) -> NoReturn:
        raise KeyError("success")

    async def look(self, _: PaymentRecord) -> NoReturn:
        raise KeyError("result")


@pytest.fixture
async def books(database: Database, clock: FakeClock) -> Books:
    return Books(database, clock)


@pytest.fixture
def facilitator() -> Scripted:
    return Scripted()


@pytest.fixture
async def settlement(books: Books, facilitator: Scripted, clock: FakeClock) -> AsyncIterator[Settlement]:
    opened = Settlement(books.ledger, facilitator, None, clock)
    yield opened
    await opened.close()


def seeing(
    books: Books, facilitator: Scripted, clock: FakeClock, *sights: Settled | Unused | Cancelled | Unknown
) -> tuple[Settlement, Seer]:
    seer = Seer(*sights)
    return Settlement(books.ledger, facilitator, seer, clock), seer


def over_ms(record: PaymentRecord) -> int:
    return record.payment.valid_before_s * SECOND_MS + MINUTE_MS


async def due_after(books: Books, clock: FakeClock, ms: int) -> bool:
    """Whether anything is due that long from now, and nothing a millisecond before."""
    now_ms = clock.now_ms()
    return not await books.ledger.read_due(now_ms + ms - 1, 9) and bool(await books.ledger.read_due(now_ms + ms, 9))


async def is_closed(books: Books) -> bool:
    return not await books.ledger.read_due(10**15, 9)


async def test_a_settled_payment_is_entered_with_its_transaction_and_its_usage(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    facilitator.outcomes.append(Settled(TRANSACTION))
    record = await books.settling()
    now = await settlement.settle(record)
    assert (now.state, now.transaction, now.answer) == ("settled", TRANSACTION, ANSWER)
    assert await books.stands(record) == now
    assert books.counted == [(1, "risk")]
    assert len(facilitator.asked) == 1
    assert await is_closed(books)


@pytest.mark.parametrize("refused", [SettlementRefused(FORGED), SettlementRefused(POOR, lasting=False)])
async def test_a_refusal_of_what_was_asked_for_once_is_a_failure(
    books: Books, settlement: Settlement, facilitator: Scripted, refused: SettlementRefused
) -> None:
    facilitator.outcomes.append(refused)
    record = await books.settling()
    now = await settlement.settle(record)
    assert (now.state, now.reason) == ("failed", refused.reason)
    assert (await books.stands(record)).answer is None
    assert await is_closed(books)
    assert books.counted == []


@pytest.mark.promise("pay.unknown-503", "pay.reconciled")
async def test_a_refusal_after_an_unknown_outcome_proves_nothing_unless_it_can_be_said_of_no_settled_payment(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    facilitator.outcomes += [Unknown("it hung"), SettlementRefused(POOR, lasting=False), SettlementRefused(FORGED)]
    record = await settlement.settle(await books.settling())
    assert record.state == "settling"
    record = await settlement.resolve(record)
    assert (record.state, record.reason) == ("settling", POOR)
    record = await settlement.resolve(record)
    assert (record.state, record.reason) == ("failed", FORGED)


async def test_what_a_dead_process_was_settling_is_not_failed_because_it_is_refused_now(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    facilitator.outcomes.append(SettlementRefused(POOR, lasting=False))
    record = await settlement.resolve(await books.settling())
    assert (record.state, record.reason) == ("settling", POOR)


async def test_a_first_refusal_counts_no_more_once_another_process_has_asked_as_well(
    database: Database, books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    """The other's asking may be what spent the payer's money."""
    facilitator.outcomes.append(SettlementRefused(POOR, lasting=False))
    facilitator.gate.clear()
    record = await books.settling()
    first = asyncio.ensure_future(settlement.settle(record))
    await clock.settle()
    elsewhere = Books(database, clock, run_id=2)
    hanging = Scripted()
    hanging.outcomes.append(Unknown("its answer was lost"))
    other = await Settlement(elsewhere.ledger, hanging, None, clock).resolve(record)
    assert (other.state, len(hanging.asked)) == ("settling", 1)
    facilitator.gate.set()
    assert (await first).state == "settling"
    assert (await books.stands(record)).state == "settling"


async def test_a_second_process_enters_a_settlement_whatever_the_first_is_told(
    database: Database, books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.append(SettlementRefused(NONCE_USED))
    facilitator.gate.clear()
    record = await books.settling()
    first = asyncio.ensure_future(settlement.settle(record))
    await clock.settle()
    elsewhere = Books(database, clock, run_id=2)
    settled = await Settlement(elsewhere.ledger, Scripted(), None, clock).resolve(record)
    facilitator.gate.set()
    assert (settled.state, await first) == ("settled", settled)
    assert (books.counted, elsewhere.counted) == ([], [(1, "risk")])


async def test_an_unknown_outcome_is_asked_about_in_pauses_that_double_to_a_minute_and_after_the_window_to_an_hour(
    database: Database, books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.extend([Unknown("pending")] * 20)
    pauses_s = []
    record = await settlement.settle(await books.settling())
    for _ in range(14):
        ((due_ms,),) = await database.read("SELECT due_ms FROM payments")
        pauses_s.append((due_ms - clock.now_ms()) / SECOND_MS)
        clock.set_wall(due_ms)
        (record,) = await books.ledger.read_due(due_ms, 9)
        record = await settlement.resolve(record)
    assert record.state == "settling"
    assert pauses_s == [2, 2, 4, 8, 16, 32, 60, 124, 248, 496, 992, 1984, 3600, 3600]


async def test_a_clock_that_was_set_back_makes_the_next_question_no_later(
    books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.append(Unknown("pending"))
    record = await books.settling()
    clock.set_wall(clock.now_ms() - HOUR_MS)
    await settlement.settle(record)
    assert await due_after(books, clock, 2 * SECOND_MS)


async def test_the_transaction_that_may_have_done_it_is_kept_until_a_better_one_is_known(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    facilitator.outcomes += [Unknown("pending", TRANSACTION), Unknown("it hung"), Settled(OTHER)]
    record = await settlement.settle(await books.settling())
    assert (record.state, record.transaction) == ("settling", TRANSACTION)
    record = await settlement.resolve(record)
    assert (record.state, record.reason, record.transaction) == ("settling", "it hung", TRANSACTION)
    assert (await settlement.resolve(record)).transaction == OTHER


@pytest.mark.promise("pay.reconciled")
async def test_a_chain_that_has_seen_the_transfer_settles_what_the_facilitator_is_silent_about(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.append(Unknown("it hung"))
    settlement, _ = seeing(books, facilitator, clock, Settled(OTHER))
    now = await settlement.settle(await books.settling())
    assert (now.state, now.transaction, books.counted) == ("settled", OTHER, [(1, "risk")])


async def test_a_chain_is_not_asked_where_the_facilitator_has_settled(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    settlement, seer = seeing(books, facilitator, clock, Unknown("the node is down"))
    assert (await settlement.settle(await books.settling())).state == "settled"
    assert seer.looked == []


async def test_an_authorization_that_was_cancelled_has_failed_for_good(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.append(Unknown(NONCE_USED))
    settlement, _ = seeing(books, facilitator, clock, Cancelled())
    now = await settlement.settle(await books.settling())
    assert (now.state, now.reason) == ("failed", NONCE_USED)
    assert await is_closed(books)


@pytest.mark.parametrize(
    ("final_s", "after_window_s", "state"),
    [(-1, 61, "settling"), (0, 59, "settling"), (0, 60, "failed"), (500, 500, "failed")],
    ids=["block before the end", "no minute later", "both", "long after"],
)
async def test_a_payment_has_expired_when_a_final_block_and_a_minute_have_passed_its_window(
    books: Books, facilitator: Scripted, clock: FakeClock, final_s: int, after_window_s: int, state: str
) -> None:
    facilitator.outcomes += [Unknown("it hung"), Unknown("it hung")]
    record = await books.settling()
    ends_s = record.payment.valid_before_s
    settlement, _ = seeing(books, facilitator, clock, Unused(0), Unused(ends_s + final_s))
    record = await settlement.settle(record)
    clock.set_wall((ends_s + after_window_s) * SECOND_MS)
    record = await settlement.resolve(record)
    assert record.state == state
    assert (record.reason == EXPIRED_UNSETTLED) == (state == "failed")


async def test_a_chain_that_cannot_be_read_leaves_the_question_open_and_may_name_a_transaction(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes.append(Unknown("it hung"))
    settlement, _ = seeing(books, facilitator, clock, Unknown("the node is down", OTHER))
    record = await settlement.settle(await books.settling())
    assert (record.state, record.reason, record.transaction) == ("settling", "it hung", OTHER)


async def refused_before_a_witness(
    books: Books, facilitator: Scripted, clock: FakeClock, *sights: Settled | Unused | Cancelled | Unknown
) -> tuple[Settlement, Seer, PaymentRecord]:
    """A payment whose payer has been told that it failed, a minute after its window."""
    facilitator.outcomes.append(SettlementRefused(POOR, lasting=False))
    settlement, seer = seeing(books, facilitator, clock, Unused(0), *sights)
    record = await settlement.settle(await books.settling())
    assert (record.state, len(seer.looked)) == ("failed", 1)
    assert await due_after(books, clock, over_ms(record) - clock.now_ms())
    clock.set_wall(over_ms(record))
    (record,) = await books.ledger.read_due(clock.now_ms(), 9)
    return settlement, seer, record


async def test_a_refused_payment_that_somebody_submitted_all_the_same_is_settled_and_its_answer_is_there(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    settlement, _, record = await refused_before_a_witness(books, facilitator, clock, Settled(OTHER))
    now = await settlement.resolve(record)
    assert (now.state, now.transaction, now.reason, now.answer) == ("settled", OTHER, None, ANSWER)
    assert books.counted == [(1, "risk")]
    assert len(facilitator.asked) == 1, "its payer was told that nothing is charged"


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("refused", [SettlementRefused(FORGED), SettlementRefused(POOR, lasting=False)])
async def test_a_refused_payment_whose_money_the_chain_has_seen_is_settled(
    books: Books, facilitator: Scripted, clock: FakeClock, refused: SettlementRefused
) -> None:
    facilitator.outcomes.append(refused)
    settlement, _ = seeing(books, facilitator, clock, Settled(OTHER))
    now = await settlement.settle(await books.settling())
    assert (now.state, now.transaction, books.counted) == ("settled", OTHER, [(1, "risk")])


@pytest.mark.promise("pay.honest-refusal")
async def test_a_refusal_is_not_repeated_while_nobody_can_read_the_chain(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes += [SettlementRefused(POOR, lasting=False), SettlementRefused(FORGED)]
    settlement, _ = seeing(books, facilitator, clock, Unknown("the node is down"))
    record = await settlement.settle(await books.settling())
    assert (record.state, record.reason) == ("settling", POOR)
    record = await settlement.resolve(record)
    assert (record.state, record.reason) == ("settling", FORGED)


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("transaction", [None, OTHER])
async def test_a_payment_that_was_used_before_keeps_the_transaction_that_used_it(
    books: Books, facilitator: Scripted, clock: FakeClock, transaction: str | None
) -> None:
    facilitator.outcomes.append(SettlementRefused(NONCE_USED))
    settlement, _ = seeing(books, facilitator, clock, Cancelled(transaction))
    now = await settlement.settle(await books.settling())
    assert (now.state, now.reason, now.transaction) == ("failed", NONCE_USED, transaction)
    assert (await books.stands(now)).transaction == transaction
    assert await is_closed(books)


@pytest.mark.parametrize("sight", [Unused(2**40), Cancelled()])
async def test_a_refused_payment_that_the_chain_has_not_seen_stays_failed_for_the_reason_it_was_refused(
    books: Books, facilitator: Scripted, clock: FakeClock, sight: Unused | Cancelled
) -> None:
    settlement, _, record = await refused_before_a_witness(books, facilitator, clock, sight)
    now = await settlement.resolve(record)
    assert (now.state, now.reason) == ("failed", POOR)
    assert await is_closed(books)
    assert len(facilitator.asked) == 1


async def test_a_refused_payment_is_never_asked_for_again_where_nobody_can_look_any_more(
    books: Books, facilitator: Scripted, settlement: Settlement, clock: FakeClock
) -> None:
    _, _, record = await refused_before_a_witness(books, facilitator, clock, Unknown("the node is down"))
    now = await settlement.resolve(record)
    assert (now.state, now.reason) == ("failed", POOR)
    assert len(facilitator.asked) == 1
    assert await due_after(books, clock, 2 * MINUTE_MS)


async def test_a_refusal_long_after_the_window_is_looked_at_once_more_soon(
    books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.outcomes += [Unknown("it hung"), SettlementRefused(FORGED)]
    settlement, _ = seeing(books, facilitator, clock, Unknown("the node is down"), Unused(0))
    record = await settlement.settle(await books.settling())
    clock.set_wall(clock.now_ms() + HOUR_MS)
    assert (await settlement.resolve(record)).state == "failed"
    assert await due_after(books, clock, 2 * SECOND_MS)


async def test_a_payment_that_is_settled_already_is_not_asked_for_again_whatever_its_reader_thought(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    record = await books.settling()
    settled = await settlement.settle(record)
    assert await settlement.resolve(record) == settled
    assert len(facilitator.asked) == 1


async def test_a_payment_that_has_failed_for_good_stays_so_whatever_its_reader_thought(
    books: Books, settlement: Settlement, facilitator: Scripted
) -> None:
    facilitator.outcomes.append(SettlementRefused(FORGED))
    record = await books.settling()
    await settlement.settle(record)
    assert (await settlement.resolve(record)).state == "failed"
    assert len(facilitator.asked) == 1
    assert await is_closed(books)


async def test_twenty_that_want_to_know_at_once_are_one_question(
    books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.gate.clear()
    record = await books.settling()
    asks = [settlement.attempt(record, settlement.settle), *(settlement.resolve(record) for _ in range(19))]
    asking = [asyncio.ensure_future(ask) for ask in asks]
    await clock.settle()
    facilitator.gate.set()
    async with asyncio.timeout(PATIENCE_S):
        told = await asyncio.gather(*asking)
    assert len(facilitator.asked) == len({record.transaction for record in told}) == 1
    assert books.counted == [(1, "risk")]


async def test_a_settlement_goes_on_when_whoever_waited_for_it_has_gone(
    books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.gate.clear()
    record = await books.settling()
    gone = asyncio.ensure_future(settlement.attempt(record, settlement.settle))
    await clock.settle()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    facilitator.gate.set()
    async with asyncio.timeout(PATIENCE_S):
        assert (await settlement.resolve(record)).state == "settled"
    assert len(facilitator.asked) == 1


async def test_another_claim_on_a_payment_gets_an_attempt_of_its_own(
    books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.gate.clear()
    record = await books.settling()
    first = asyncio.ensure_future(settlement.attempt(record, settlement.settle))
    await clock.settle()
    claimed_again = replace(record, receipt_id="rcp_" + "a" * 22, state="claimed")

    async def unchanged(given: PaymentRecord) -> PaymentRecord:
        return given

    assert await settlement.attempt(claimed_again, unchanged) == claimed_again
    facilitator.gate.set()
    assert (await first).state == "settled"


async def test_a_facilitator_or_a_witness_that_raises_leaves_the_outcome_unknown_and_a_trace_in_the_log(
    books: Books, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    settlement = Settlement(books.ledger, Broken(), Broken(), clock)
    record = await settlement.settle(await books.settling())
    assert (record.state, books.counted) == ("settling", [])
    traces = [record.message for record in caplog.records if record.exc_info]
    assert traces == ["The facilitator failed.", "The chain reader failed."]


async def test_an_outcome_that_cannot_be_entered_is_told_to_nobody_and_asked_for_again(
    books: Books, settlement: Settlement, facilitator: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    record = await books.settling()
    full = ServiceError("UNAVAILABLE", "the disk is full")
    with patch.object(books.ledger, "record_settled", side_effect=full), pytest.raises(ServiceError, match="full"):
        await settlement.attempt(record, settlement.settle)
    (logged,) = [found for found in caplog.records if found.levelno == logging.ERROR]
    assert logged.__dict__["payment"] == record.receipt_id
    assert (await books.stands(record)).state == "settling"
    assert (await settlement.resolve(record)).state == "settled"
    assert {asked.payment.nonce for asked in facilitator.asked} == {record.payment.nonce}


async def test_a_cashier_that_closes_leaves_its_questions_to_whoever_comes_next(
    database: Database, books: Books, settlement: Settlement, facilitator: Scripted, clock: FakeClock
) -> None:
    facilitator.gate.clear()
    record = await books.settling()
    waiting = asyncio.ensure_future(settlement.attempt(record, settlement.settle))
    await clock.settle()
    await settlement.close()
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
    later = Books(database, clock, run_id=2)
    (left,) = await later.ledger.read_due(clock.now_ms(), 9)
    assert (await Settlement(later.ledger, Scripted(), None, clock).resolve(left)).state == "settled"
    assert (await books.stands(record)).state == "settled"


@pytest.mark.promise("pay.false-report-stops")
async def test_a_stopped_facilitator_is_not_believed_and_the_chain_is(
    database: Database, books: Books, facilitator: Scripted, clock: FakeClock
) -> None:
    stop = FacilitatorStop(database, "x402.example.org", clock)
    settlement = Settlement(books.ledger, facilitator, Seer(Unused(0), Settled(OTHER)), clock, stop)
    assert (await settlement.settle(await books.settling())).state == "settled"
    stop.current = PaymentStop("x402.example.org", 1, "rcp_1", None)
    facilitator.outcomes += [Settled(TRANSACTION), Settled(TRANSACTION)]
    record = await settlement.settle(await books.settling())
    assert (record.state, record.transaction) == ("settling", TRANSACTION)
    record = await settlement.resolve(record)
    assert (record.state, record.transaction) == ("settled", OTHER)

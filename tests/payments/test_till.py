"""The till, over the real ledger and cashier: what a payment buys, once, and what is said where nobody can say."""

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, cast

import pytest
from msgspec.structs import replace

from service.errors import ServiceError
from service.payments.admission import Admission
from service.payments.cashier import Cashier
from service.payments.challenge import Challenger
from service.payments.facilitators.port import Refused, Settled, Unknown
from service.payments.payment import Entry, PaidAnswer
from service.payments.refusal import PaymentRefusedError
from service.payments.till import PATIENCE_S, NotSettledError, Tender, Till, outcome_fields
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.offers import OFFERS
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database
from tests.payments.scripted import Scripted
from tests.payments.signing import MAINNET, PAYEE, SEPOLIA, header, pay_v2, payment, wallet
from tests.payments.tills import ANSWER, Books, order

RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
TRANSACTION = "0x" + "5e" * 32
OURS = order()
OTHER = replace(OURS, request_hash="f" * 64)


class Shop(NamedTuple):
    till: Till
    books: Books
    facilitator: Scripted
    clock: FakeClock
    database: Database

    def tender(self, number: int = 1) -> Tender:
        """A payment that is good now."""
        payload = pay_v2(wallet(number), now_ms=self.clock.now_ms())
        return self.till.read("payment-signature", header(payload).encode(), RISK)

    async def sold(self, tender: Tender) -> Entry:
        """Take a payment, and settle it."""
        return await self.till.settle(await self.till.take(OURS, tender), ANSWER)

    def again(self, tender: Tender) -> Tender:
        """The same payment, as it is read now."""
        refusal = PaymentRefusedError("invalid_exact_evm_payload_authorization_valid_before", "it has expired")
        return replace(tender, refusal=refusal)


@asynccontextmanager
async def shop(folder: Path) -> AsyncIterator[Shop]:
    clock, facilitator = FakeClock(), Scripted()
    async with open_database(folder / "verdict.db", clock) as database:
        books = Books(database, clock)
        cashier = Cashier(books.ledger, facilitator, None, clock)
        till = Till(SEPOLIA, Challenger(SEPOLIA, PAYEE), books.ledger, cashier, clock)
        yield Shop(till, books, facilitator, clock, database)
        await till.close()
        await cashier.close()


async def until_waiting(asking: "asyncio.Task[Entry]", clock: FakeClock) -> None:
    """Let a request find out that it has to wait."""
    for _ in range(20):
        assert not asking.done()
        await clock.advance(0.05)
        await asyncio.sleep(0.001)


async def patiently(asking: "asyncio.Task[Entry]", clock: FakeClock) -> Entry:
    """Let time pass until a request has its answer."""
    async with asyncio.timeout(10):
        while not asking.done():
            await clock.advance(0.05)
            await asyncio.sleep(0.001)
        return await asking


def unavailable(*_: object, **__: object) -> NoReturn:
    raise ServiceError("UNAVAILABLE", "the store does not answer")


# What was bought.


async def test_what_was_bought_is_kept_and_found_again_by_the_same_request(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        bought = await it.sold(tender)
        assert (bought.state, bought.answer) == ("settled", ANSWER)
        found = await it.till.take(OURS, tender)
        assert (found.receipt_id, found.answer) == (bought.receipt_id, ANSWER)
        assert it.books.counted == [(1, "risk")]


@pytest.mark.promise("pay.nonce-case")
async def test_one_nonce_in_two_spellings_is_one_payment(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        lower = pay_v2(wallet(), now_ms=it.clock.now_ms())
        signed = lower["payload"]["authorization"]
        nonce = {"nonce": "0x" + signed["nonce"][2:].upper()}
        upper = lower | {"payload": lower["payload"] | {"authorization": signed | nonce}}
        bought = await it.sold(it.till.read("payment-signature", header(upper).encode(), RISK))
        again = it.till.read("payment-signature", header(lower).encode(), RISK)
        assert (await it.till.take(OURS, again)).receipt_id == bought.receipt_id
        with pytest.raises(ServiceError) as reused:
            await it.till.take(OTHER, again)
        assert reused.value.code == "PAYMENT_REUSED"
        assert len(it.books.counted) == 1


@pytest.mark.promise("pay.replay")
async def test_a_payment_whose_window_is_over_still_finds_what_it_bought(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        payload = header(pay_v2(wallet(), now_ms=it.clock.now_ms())).encode()
        tender = it.till.read("payment-signature", payload, RISK)
        bought = await it.sold(tender)
        await it.clock.advance(3_600)
        late = it.till.read("payment-signature", payload, RISK)
        assert late.refusal is not None
        assert late.payment == tender.payment
        assert (await it.till.take(OURS, late)).receipt_id == bought.receipt_id
        with pytest.raises(PaymentRefusedError):
            await it.till.take(OTHER, late)


@pytest.mark.promise("pay.unknown-503")
async def test_a_payment_of_the_chain_that_was_named_before_is_not_billed_anew_while_it_is_in_doubt(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as it:
        payload = header(pay_v2(wallet(), now_ms=it.clock.now_ms())).encode()
        tender = it.till.read("payment-signature", payload, RISK)
        it.facilitator.outcomes += [Unknown("timeout"), Unknown("timeout")]
        with pytest.raises(ServiceError, match="nobody can say"):
            await it.sold(tender)
        cashier = Cashier(it.books.ledger, it.facilitator, None, it.clock)
        moved = Till(MAINNET, Challenger(MAINNET, PAYEE), it.books.ledger, cashier, it.clock)
        late = moved.read("payment-signature", payload, RISK)
        assert late.payment == tender.payment
        with pytest.raises(ServiceError) as caught:
            await moved.take(OURS, late)
        assert caught.value.code == "PAYMENT_PENDING"
        with pytest.raises(PaymentRefusedError) as refused:
            await moved.take(OTHER, late)
        assert refused.value.reason == "invalid_network"


async def test_a_payment_of_a_chain_that_never_was_ours_is_refused_without_a_look_at_the_ledger(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        payload = pay_v2(wallet(), now_ms=it.clock.now_ms())
        payload["accepted"]["network"] = "eip155:1"
        with pytest.raises(PaymentRefusedError) as refused:
            it.till.read("payment-signature", header(payload).encode(), RISK)
        assert refused.value.reason == "invalid_network"


async def test_a_payment_that_is_not_good_and_has_bought_nothing_is_refused_and_not_claimed(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.again(it.tender())
        with pytest.raises(PaymentRefusedError):
            await it.till.take(OURS, tender)
        assert await it.database.read("SELECT count(*) FROM payments") == [(0,)]
        await it.till.release(await it.till.take(OURS, replace(tender, refusal=None)))
        with pytest.raises(PaymentRefusedError):
            await it.till.take(OURS, tender)


async def test_an_answer_that_is_not_kept_any_more_is_409_and_names_the_receipt(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        bought = await it.sold(tender)
        await it.database.write(lambda connection: connection.execute("DELETE FROM payment_answers").rowcount)
        with pytest.raises(ServiceError) as caught:
            await it.till.take(OURS, tender)
        assert (caught.value.code, caught.value.details) == ("PAYMENT_REUSED", {"payment": bought.receipt_id})
        assert f"/api/receipts/{bought.receipt_id}" in caught.value.message


@pytest.mark.promise("errors.payment-reused")
async def test_another_request_is_409_and_only_the_payer_itself_is_told_which_receipt_it_has(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        bought = await it.sold(tender)
        for wanted, details in ((OTHER, {"payment": bought.receipt_id}), (replace(OURS, user_id=2), None)):
            with pytest.raises(ServiceError) as caught:
                await it.till.take(wanted, tender)
            assert (caught.value.code, caught.value.details) == ("PAYMENT_REUSED", details)


# While another request runs for the same payment.


async def test_a_claim_that_is_given_back_goes_to_whoever_waits_for_it(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        first = await it.till.take(OURS, tender)
        second = asyncio.create_task(it.till.take(OURS, tender))
        await until_waiting(second, it.clock)
        await it.till.release(first)
        claimed = await patiently(second, it.clock)
        assert (claimed.state, claimed.receipt_id != first.receipt_id) == ("claimed", True)


async def test_a_claim_that_was_given_back_and_forgotten_meanwhile_is_claimed_anew(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        await it.till.take(OURS, tender)
        second = asyncio.create_task(it.till.take(OURS, tender))
        await until_waiting(second, it.clock)

        def forget(connection: Connection) -> None:
            connection.execute("UPDATE payments SET state = 'released', due_ms = NULL")
            connection.execute("DELETE FROM payments")

        await it.database.write(forget)
        assert (await patiently(second, it.clock)).state == "claimed"


async def test_whoever_waits_never_gets_what_somebody_else_bought_meanwhile(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        first = await it.till.take(OURS, tender)
        second = asyncio.create_task(it.till.take(OURS, tender))
        await until_waiting(second, it.clock)
        await it.till.release(first)
        await it.till.settle(await it.till.take(OTHER, tender), ANSWER)
        with pytest.raises(ServiceError) as caught:
            await patiently(second, it.clock)
        assert caught.value.code == "PAYMENT_REUSED"


async def test_whoever_waits_for_a_claim_that_another_request_has_taken_over_is_told_at_once(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        first = await it.till.take(OURS, tender)
        second = asyncio.create_task(it.till.take(OURS, tender))
        await until_waiting(second, it.clock)
        await it.till.release(first)
        await it.till.take(OTHER, tender)
        with pytest.raises(ServiceError) as caught:
            await patiently(second, it.clock)
        assert caught.value.code == "PAYMENT_REUSED"


@pytest.mark.promise("errors.payment-pending")
async def test_whoever_waits_too_long_is_told_to_come_again(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        first = await it.till.take(OURS, tender)
        started_s = it.clock.monotonic()
        second = asyncio.create_task(it.till.take(OURS, it.again(tender)))
        with pytest.raises(ServiceError) as caught:
            await patiently(second, it.clock)
        assert PATIENCE_S <= it.clock.monotonic() - started_s < PATIENCE_S + 1
        assert (caught.value.code, caught.value.details) == ("PAYMENT_PENDING", {"payment": first.receipt_id})
        assert caught.value.headers == {"Retry-After": "2"}


# When nobody can say.


@pytest.mark.promise("pay.unknown-503", "pay.replay")
async def test_an_unknown_outcome_is_asked_for_again_when_the_payment_comes_again(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes += [Unknown("no answer", TRANSACTION), Unknown("no answer")]
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        for attempt in (it.till.settle(entry, ANSWER), it.till.take(OURS, tender)):
            with pytest.raises(ServiceError) as caught:
                await attempt
            assert (caught.value.code, caught.value.status) == ("PAYMENT_PENDING", 503)
            assert caught.value.details == {"payment": entry.receipt_id, "transaction": TRANSACTION}
        assert (await it.till.take(OURS, it.again(tender))).answer == ANSWER
        assert it.books.counted == [(1, "risk")]


@pytest.mark.promise("pay.unknown-503")
async def test_a_refusal_that_comes_after_an_unknown_outcome_proves_nothing(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes += [Unknown("no answer"), Refused("insufficient_funds", lasting=False)]
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        for attempt in (it.till.settle(entry, ANSWER), it.till.take(OURS, tender)):
            with pytest.raises(ServiceError) as caught:
                await attempt
            assert caught.value.code == "PAYMENT_PENDING"
        assert (await it.till.take(OURS, tender)).answer == ANSWER


@pytest.mark.promise("errors.payment-refused")
async def test_a_payment_that_failed_says_why_each_time_it_comes(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes.append(Refused("insufficient_funds"))
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        for attempt in (it.till.settle(entry, ANSWER), it.till.take(OURS, tender)):
            with pytest.raises(NotSettledError) as caught:
                await attempt
            assert caught.value.details == {"reason": "insufficient_funds"}
            assert [name for name, _ in caught.value.fields] == [b"payment-response", b"x-payment-response"]
        assert (it.books.counted, len(it.facilitator.asked)) == ([], 1)


async def test_an_answer_that_cannot_be_kept_is_not_asked_money_for_and_the_payment_stays_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "settling", unavailable)
            with pytest.raises(ServiceError) as caught:
                await it.till.settle(entry, ANSWER)
        assert (caught.value.code, it.facilitator.asked) == ("UNAVAILABLE", [])
        assert (await it.books.stands(entry)).state == "released"
        assert (await it.sold(tender)).state == "settled"


async def test_while_nobody_can_say_whether_a_settlement_was_noted_nobody_is_asked_for_money_and_it_is_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_taken(_: Entry) -> bool:
        return False

    async with shop(tmp_path) as it:
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "settling", unavailable)
            patched.setattr(it.books.ledger, "release", not_taken)
            with pytest.raises(ServiceError) as caught:
                await it.till.settle(entry, ANSWER)
        assert (caught.value.code, it.facilitator.asked) == ("PAYMENT_PENDING", [])


async def test_a_settlement_that_another_process_has_ended_before_its_note_was_known_is_what_it_became(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        entry = await it.till.take(OURS, tender)

        async def noted(claimed: Entry, answer: PaidAnswer) -> Entry:
            """The commit is kept and its answer lost; somebody whose clock is ahead asks for the money meanwhile."""
            await it.books.ledger.settled(await settling(claimed, answer), TRANSACTION)
            return unavailable()

        settling = it.books.ledger.settling
        monkeypatch.setattr(it.books.ledger, "settling", noted)
        sold = await it.till.settle(entry, ANSWER)
        assert (sold.state, sold.transaction, sold.answer) == ("settled", TRANSACTION, ANSWER)
        assert (it.facilitator.asked, it.books.counted) == ([], [(1, "risk")])


async def test_an_outcome_that_cannot_be_entered_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop(tmp_path) as it:
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "settled", unavailable)
            for attempt in (it.till.settle(entry, ANSWER), it.till.take(OURS, tender)):
                with pytest.raises(ServiceError) as caught:
                    await attempt
                assert caught.value.code == "PAYMENT_PENDING"
        assert (await it.till.take(OURS, tender)).answer == ANSWER
        assert it.books.counted == [(1, "risk")]


async def test_a_settlement_goes_on_when_whoever_waits_for_it_is_cancelled(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        it.facilitator.outcomes.append(Settled(TRANSACTION))
        tender = it.tender()
        entry = await it.till.take(OURS, tender)
        settling = asyncio.create_task(it.till.settle(entry, ANSWER))
        await asyncio.sleep(0)
        settling.cancel()  # before the answer is kept, and before anybody is asked
        with pytest.raises(asyncio.CancelledError):
            await settling
        again = asyncio.create_task(it.till.take(OURS, tender))
        it.facilitator.gate.set()
        assert (await patiently(again, it.clock)).transaction == TRANSACTION


async def test_a_till_that_closes_leaves_what_it_asked_for_to_whoever_opens_next(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        entry = await it.till.take(OURS, it.tender())
        settling = asyncio.create_task(it.till.settle(entry, ANSWER))
        async with asyncio.timeout(10):
            while not it.facilitator.asked:  # noqa: ASYNC110 -- a fake tells nobody
                await asyncio.sleep(0.001)
        await it.till.close()
        with pytest.raises(asyncio.CancelledError):
            await settling
        assert (await it.books.stands(entry)).state == "settling"


# What is told.


@pytest.mark.promise("pay.response-headers")
def test_the_outcome_is_told_to_v2_and_v1_clients_by_the_names_each_knows() -> None:
    entry = Entry(
        id=1, receipt_id="rcp_1", state="settled", payment=payment(), order=OURS, claimed_ms=0, transaction=TRANSACTION
    )
    told = {"success": True, "transaction": TRANSACTION, "payer": wallet().address.lower()}
    fields = dict(outcome_fields(entry))
    assert json.loads(b64decode(fields[b"payment-response"])) == {**told, "network": "eip155:84532"}
    assert json.loads(b64decode(fields[b"x-payment-response"])) == {**told, "network": "base-sepolia"}
    assert fields[b"x-receipt-id"] == b"rcp_1"


def test_a_failed_outcome_names_no_transaction_and_no_receipt() -> None:
    entry = Entry(
        id=1,
        receipt_id="rcp_1",
        state="failed",
        payment=payment(),
        order=OURS,
        claimed_ms=0,
        reason="insufficient_funds",
    )
    fields = dict(outcome_fields(entry))
    told = json.loads(b64decode(fields[b"payment-response"]))
    assert (told["success"], told["transaction"], told["errorReason"]) == (False, "", "insufficient_funds")
    assert b"x-receipt-id" not in fields


async def test_a_till_that_closes_leaves_nothing_running(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        entry = await it.till.take(OURS, it.tender())
        settling = asyncio.create_task(it.till.settle(entry, ANSWER))
        while not it.till._tasks:  # noqa: ASYNC110 - it begins in its own time
            await asyncio.sleep(0)
        (closing,) = it.till._tasks
        await it.till.close()
        assert closing.done()
        with pytest.raises(asyncio.CancelledError):
            await settling


async def test_a_settlement_that_is_over_is_not_remembered(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        assert (await it.sold(it.tender())).state == "settled"
        await asyncio.sleep(0)
        assert it.till._tasks == set()


def test_a_failure_without_a_reason_is_told_by_the_word_that_clients_know() -> None:
    entry = Entry(id=1, receipt_id="rcp_1", state="failed", payment=payment(), order=OURS, claimed_ms=0)
    assert NotSettledError(entry).reason == "unexpected_settle_error"


class Refusing:
    """An admission that finds every payment not worth the work."""

    async def check(self, _: Entry) -> NoReturn:
        raise PaymentRefusedError("insufficient_funds", "The payer's token balance is below the price.")


@pytest.mark.promise("pay.verify-first")
async def test_a_payment_that_is_not_admitted_is_given_back_before_the_work(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.till._admission = cast(Admission, Refusing())
        tender = it.tender()
        with pytest.raises(PaymentRefusedError):
            await it.till.take(OURS, tender)
        held = await it.books.ledger.held(tender.payment)
        assert held is not None
        assert held.state == "released"

"""The checkout, over the real ledger and settlement: what a payment buys, once, and what an unknown outcome returns."""

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
from service.payments.challenge import ChallengeBuilder
from service.payments.checkout import MAX_WAIT_S, CheckedPayment, Checkout, PaymentVerifier
from service.payments.checks import EXPIRED
from service.payments.errors import NotSettledError, PaymentRefusedError, outcome_headers
from service.payments.facilitators.port import Settled, SettlementRefused, Unknown
from service.payments.records import PaymentRecord
from service.payments.settlement import Settlement
from service.storage.database import Database
from service.storage.response_store import StoredResponse
from service.wire.offers import OFFERS
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database
from tests.payments.checkouts import ANSWER, Books, purchase
from tests.payments.scripted import Scripted
from tests.payments.signing import MAINNET, PAYEE, SEPOLIA, header, pay_v2, payment, wallet

RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
TRANSACTION = "0x" + "5e" * 32
OURS = purchase()
OTHER = replace(OURS, request_hash="f" * 64)


class Shop(NamedTuple):
    checkout: Checkout
    books: Books
    facilitator: Scripted
    clock: FakeClock
    database: Database

    def checked(self, number: int = 1) -> CheckedPayment:
        """A payment that is good now."""
        payload = pay_v2(wallet(number), now_ms=self.clock.now_ms())
        return self.checkout.check("payment-signature", header(payload).encode(), RISK)

    async def sold(self, checked: CheckedPayment) -> PaymentRecord:
        """Take a payment, and settle it."""
        return await self.checkout.settle(await self.checkout.claim(OURS, checked), ANSWER)

    def again(self, checked: CheckedPayment) -> CheckedPayment:
        """The same payment, as it is read now."""
        refusal = PaymentRefusedError("invalid_exact_evm_payload_authorization_valid_before", "it has expired")
        return replace(checked, refusal=refusal)


@asynccontextmanager
async def shop(folder: Path) -> AsyncIterator[Shop]:
    clock, facilitator = FakeClock(), Scripted()
    async with open_database(folder / "verdict.db", clock) as database:
        books = Books(database, clock)
        settlement = Settlement(books.ledger, facilitator, None, clock)
        checkout = Checkout(SEPOLIA, ChallengeBuilder(SEPOLIA, PAYEE), books.ledger, settlement, clock)
        yield Shop(checkout, books, facilitator, clock, database)
        await settlement.close()


async def until_waiting(asking: "asyncio.Task[PaymentRecord]", clock: FakeClock) -> None:
    """Let a request find out that it has to wait."""
    for _ in range(20):
        assert not asking.done()
        await clock.advance(0.05)
        await asyncio.sleep(0.001)


async def patiently(asking: "asyncio.Task[PaymentRecord]", clock: FakeClock) -> PaymentRecord:
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
        checked = it.checked()
        bought = await it.sold(checked)
        assert (bought.state, bought.answer) == ("settled", ANSWER)
        found = await it.checkout.claim(OURS, checked)
        assert (found.receipt_id, found.answer) == (bought.receipt_id, ANSWER)
        assert it.books.counted == [(1, "risk")]


@pytest.mark.promise("pay.nonce-case")
async def test_one_nonce_in_two_spellings_is_one_payment(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        lower = pay_v2(wallet(), now_ms=it.clock.now_ms())
        signed = lower["payload"]["authorization"]
        nonce = {"nonce": "0x" + signed["nonce"][2:].upper()}
        upper = lower | {"payload": lower["payload"] | {"authorization": signed | nonce}}
        bought = await it.sold(it.checkout.check("payment-signature", header(upper).encode(), RISK))
        again = it.checkout.check("payment-signature", header(lower).encode(), RISK)
        assert (await it.checkout.claim(OURS, again)).receipt_id == bought.receipt_id
        with pytest.raises(ServiceError) as reused:
            await it.checkout.claim(OTHER, again)
        assert reused.value.code == "PAYMENT_REUSED"
        assert len(it.books.counted) == 1


@pytest.mark.promise("pay.replay")
async def test_a_payment_whose_window_is_over_still_finds_what_it_bought(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        payload = header(pay_v2(wallet(), now_ms=it.clock.now_ms())).encode()
        checked = it.checkout.check("payment-signature", payload, RISK)
        bought = await it.sold(checked)
        await it.clock.advance(3_600)
        late = it.checkout.check("payment-signature", payload, RISK)
        assert late.refusal is not None
        assert late.payment == checked.payment
        assert (await it.checkout.claim(OURS, late)).receipt_id == bought.receipt_id
        with pytest.raises(PaymentRefusedError):
            await it.checkout.claim(OTHER, late)


@pytest.mark.promise("pay.unknown-503")
async def test_a_payment_of_the_chain_that_was_named_before_is_not_billed_anew_while_it_is_in_doubt(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as it:
        payload = header(pay_v2(wallet(), now_ms=it.clock.now_ms())).encode()
        checked = it.checkout.check("payment-signature", payload, RISK)
        it.facilitator.outcomes += [Unknown("timeout"), Unknown("timeout")]
        with pytest.raises(ServiceError, match="not known yet"):
            await it.sold(checked)
        settlement = Settlement(it.books.ledger, it.facilitator, None, it.clock)
        moved = Checkout(MAINNET, ChallengeBuilder(MAINNET, PAYEE), it.books.ledger, settlement, it.clock)
        late = moved.check("payment-signature", payload, RISK)
        assert late.payment == checked.payment
        with pytest.raises(ServiceError) as caught:
            await moved.claim(OURS, late)
        assert caught.value.code == "PAYMENT_PENDING"
        with pytest.raises(PaymentRefusedError) as refused:
            await moved.claim(OTHER, late)
        assert refused.value.reason == "invalid_network"


async def test_a_payment_of_a_chain_that_never_was_ours_is_refused_without_a_look_at_the_ledger(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        payload = pay_v2(wallet(), now_ms=it.clock.now_ms())
        payload["accepted"]["network"] = "eip155:1"
        with pytest.raises(PaymentRefusedError) as refused:
            it.checkout.check("payment-signature", header(payload).encode(), RISK)
        assert refused.value.reason == "invalid_network"


async def test_a_payment_that_is_not_good_and_has_bought_nothing_is_refused_and_not_claimed(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.again(it.checked())
        with pytest.raises(PaymentRefusedError):
            await it.checkout.claim(OURS, checked)
        assert await it.database.read("SELECT count(*) FROM payments") == [(0,)]
        it.checkout.release(await it.checkout.claim(OURS, replace(checked, refusal=None)))
        with pytest.raises(PaymentRefusedError):
            await it.checkout.claim(OURS, checked)


async def test_an_answer_that_is_not_kept_any_more_is_409_and_names_the_receipt(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        bought = await it.sold(checked)
        await it.database.write(lambda connection: connection.execute("DELETE FROM payment_answers").rowcount)
        with pytest.raises(ServiceError) as caught:
            await it.checkout.claim(OURS, checked)
        assert (caught.value.code, caught.value.details) == ("PAYMENT_REUSED", {"payment": bought.receipt_id})
        assert f"/api/receipts/{bought.receipt_id}" in caught.value.message


@pytest.mark.promise("errors.payment-reused")
async def test_another_request_is_409_and_only_the_payer_itself_is_told_which_receipt_it_has(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        bought = await it.sold(checked)
        for wanted, details in ((OTHER, {"payment": bought.receipt_id}), (replace(OURS, user_id=2), None)):
            with pytest.raises(ServiceError) as caught:
                await it.checkout.claim(wanted, checked)
            assert (caught.value.code, caught.value.details) == ("PAYMENT_REUSED", details)


# While another request runs for the same payment.


async def test_a_claim_that_is_given_back_goes_to_whoever_waits_for_it(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        first = await it.checkout.claim(OURS, checked)
        second = asyncio.create_task(it.checkout.claim(OURS, checked))
        await until_waiting(second, it.clock)
        it.checkout.release(first)
        claimed = await patiently(second, it.clock)
        assert (claimed.state, claimed.receipt_id != first.receipt_id) == ("claimed", True)


async def test_whoever_waits_never_gets_what_somebody_else_bought_meanwhile(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        first = await it.checkout.claim(OURS, checked)
        second = asyncio.create_task(it.checkout.claim(OURS, checked))
        await until_waiting(second, it.clock)
        it.checkout.release(first)
        await it.checkout.settle(await it.checkout.claim(OTHER, checked), ANSWER)
        with pytest.raises(ServiceError) as caught:
            await patiently(second, it.clock)
        assert caught.value.code == "PAYMENT_REUSED"


@pytest.mark.promise("errors.payment-pending")
async def test_whoever_waits_too_long_is_told_to_come_again(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        await it.checkout.claim(OURS, checked)
        started_s = it.clock.monotonic()
        second = asyncio.create_task(it.checkout.claim(OURS, it.again(checked)))
        with pytest.raises(ServiceError) as caught:
            await patiently(second, it.clock)
        assert MAX_WAIT_S <= it.clock.monotonic() - started_s < MAX_WAIT_S + 1
        assert (caught.value.code, caught.value.details) == ("PAYMENT_PENDING", None)
        assert caught.value.headers == {"Retry-After": "2"}


async def test_a_payment_that_is_not_good_is_refused_while_another_request_holds_it(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        await it.checkout.claim(OURS, checked)
        with pytest.raises(PaymentRefusedError):
            await it.checkout.claim(OTHER, it.again(checked))
        with pytest.raises(ServiceError) as caught:
            await it.checkout.claim(OTHER, checked)
        assert caught.value.code == "PAYMENT_REUSED"


async def test_a_claim_that_has_ended_takes_nothing_from_the_next_one(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        first = await it.checkout.claim(OURS, checked)
        it.checkout.release(first)
        await it.checkout.claim(OURS, checked)
        it.checkout.release(first)
        with pytest.raises(ServiceError) as caught:
            await it.checkout.claim(OTHER, checked)
        assert caught.value.code == "PAYMENT_REUSED"


# While another process runs for the same payment.


@pytest.mark.promise("pay.claimed", "pay.replay")
async def test_of_two_processes_that_ran_for_one_payment_one_settles_and_both_give_its_response(tmp_path: Path) -> None:
    async with shop(tmp_path) as it, shop(tmp_path) as beside:
        checked = it.checked()
        claims = [await each.checkout.claim(OURS, checked) for each in (it, beside)]
        first = await it.checkout.settle(claims[0], ANSWER)
        second = await beside.checkout.settle(claims[1], replace(ANSWER, body=b"another"))
        assert (second.receipt_id, second.answer) == (first.receipt_id, ANSWER)
        assert (len(it.facilitator.asked), beside.facilitator.asked) == (1, [])
        assert (it.books.counted, beside.books.counted) == ([(1, "risk")], [])


@pytest.mark.promise("pay.claimed")
async def test_of_two_requests_that_two_processes_ran_for_one_payment_the_second_is_not_answered(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path) as it, shop(tmp_path) as beside:
        checked = it.checked()
        claims = [await it.checkout.claim(OURS, checked), await beside.checkout.claim(OTHER, checked)]
        first = await it.checkout.settle(claims[0], ANSWER)
        with pytest.raises(ServiceError) as caught:
            await beside.checkout.settle(claims[1], ANSWER)
        assert (caught.value.code, caught.value.details) == ("PAYMENT_REUSED", {"payment": first.receipt_id})
        assert beside.facilitator.asked == []


@pytest.mark.promise("pay.verify-first", "pay.replay")
async def test_a_payment_that_another_process_settles_while_it_is_verified_is_not_refused(tmp_path: Path) -> None:
    async with shop(tmp_path) as it, shop(tmp_path) as beside:
        checked = it.checked()
        claim = await it.checkout.claim(OURS, checked)

        class Late:
            """A facilitator that looks when the other process has taken the money."""

            async def check(self, _: PaymentRecord) -> NoReturn:
                await it.checkout.settle(claim, ANSWER)
                raise PaymentRefusedError("insufficient_funds", "The payer's token balance is below the price.")

        beside.checkout._verifier = cast(PaymentVerifier, Late())
        found = await beside.checkout.claim(OURS, checked)
        assert (found.receipt_id, found.state, found.answer) == (claim.receipt_id, "settled", ANSWER)


@pytest.mark.promise("pay.replay")
async def test_a_payment_that_one_process_refuses_as_expired_is_not_settled_by_another(tmp_path: Path) -> None:
    async with shop(tmp_path) as it, shop(tmp_path) as beside:
        checked = it.checked()
        claim = await it.checkout.claim(OURS, checked)
        left_ms = checked.payment.valid_before_s * 1_000 - it.clock.now_ms()
        for clock in (it.clock, beside.clock):
            await clock.advance((left_ms - 5_999) / 1_000)
        for refused in (beside.checkout.claim(OURS, beside.again(checked)), it.checkout.settle(claim, ANSWER)):
            with pytest.raises(PaymentRefusedError) as caught:
                await refused
            assert caught.value.reason == EXPIRED
        assert it.facilitator.asked == []
        assert await it.books.ledger.find_by_authorization(checked.payment) is None


@pytest.mark.promise("pay.replay")
async def test_a_payment_with_just_enough_time_left_is_settled(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        claim = await it.checkout.claim(OURS, checked)
        await it.clock.advance((checked.payment.valid_before_s * 1_000 - it.clock.now_ms() - 6_000) / 1_000)
        assert (await it.checkout.settle(claim, ANSWER)).state == "settled"


# Unknown outcomes.


@pytest.mark.promise("pay.unknown-503", "pay.replay")
async def test_an_unknown_outcome_is_asked_for_again_when_the_payment_comes_again(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes += [Unknown("no answer", TRANSACTION), Unknown("no answer")]
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        for attempt in (it.checkout.settle(record, ANSWER), it.checkout.claim(OURS, checked)):
            with pytest.raises(ServiceError) as caught:
                await attempt
            assert (caught.value.code, caught.value.status) == ("PAYMENT_PENDING", 503)
            assert caught.value.details == {"payment": record.receipt_id, "transaction": TRANSACTION}
        assert (await it.checkout.claim(OURS, it.again(checked))).answer == ANSWER
        assert it.books.counted == [(1, "risk")]


@pytest.mark.promise("pay.unknown-503")
async def test_a_refusal_that_comes_after_an_unknown_outcome_proves_nothing(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes += [Unknown("no answer"), SettlementRefused("insufficient_funds", lasting=False)]
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        for attempt in (it.checkout.settle(record, ANSWER), it.checkout.claim(OURS, checked)):
            with pytest.raises(ServiceError) as caught:
                await attempt
            assert caught.value.code == "PAYMENT_PENDING"
        assert (await it.checkout.claim(OURS, checked)).answer == ANSWER


@pytest.mark.promise("errors.payment-refused")
async def test_a_payment_that_failed_says_why_each_time_it_comes(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.outcomes.append(SettlementRefused("insufficient_funds"))
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        for attempt in (it.checkout.settle(record, ANSWER), it.checkout.claim(OURS, checked)):
            with pytest.raises(NotSettledError) as caught:
                await attempt
            assert caught.value.details == {"reason": "insufficient_funds"}
            assert [name for name, _ in caught.value.fields] == [b"payment-response", b"x-payment-response"]
        assert (it.books.counted, len(it.facilitator.asked)) == ([], 1)


async def test_an_answer_that_cannot_be_kept_is_not_asked_money_for_and_the_payment_stays_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "begin_settlement", unavailable)
            with pytest.raises(ServiceError) as caught:
                await it.checkout.settle(record, ANSWER)
        assert (caught.value.code, it.facilitator.asked) == ("UNAVAILABLE", [])
        assert await it.books.ledger.find(record.receipt_id) is None
        assert (await it.sold(checked)).state == "settled"


async def test_while_nobody_can_say_whether_a_settlement_was_noted_nobody_is_asked_for_money_and_it_is_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_known(_: PaymentRecord) -> NoReturn:
        unavailable()

    async with shop(tmp_path) as it:
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "begin_settlement", unavailable)
            patched.setattr(it.books.ledger, "find_begun", not_known)
            with pytest.raises(ServiceError) as caught:
                await it.checkout.settle(record, ANSWER)
        assert (caught.value.code, it.facilitator.asked) == ("PAYMENT_PENDING", [])


async def test_a_settlement_that_another_process_has_ended_before_its_note_was_known_is_what_it_became(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)

        async def noted(claimed: PaymentRecord, answer: StoredResponse) -> PaymentRecord:
            """The commit is kept and its answer lost; somebody whose clock is ahead asks for the money meanwhile."""
            await it.books.ledger.record_settled(await settling(claimed, answer), TRANSACTION)
            return unavailable()

        settling = it.books.ledger.begin_settlement
        monkeypatch.setattr(it.books.ledger, "begin_settlement", noted)
        sold = await it.checkout.settle(record, ANSWER)
        assert (sold.state, sold.transaction, sold.answer) == ("settled", TRANSACTION, ANSWER)
        assert (it.facilitator.asked, it.books.counted) == ([], [(1, "risk")])


async def test_an_outcome_that_cannot_be_entered_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop(tmp_path) as it:
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        with monkeypatch.context() as patched:
            patched.setattr(it.books.ledger, "record_settled", unavailable)
            for attempt in (it.checkout.settle(record, ANSWER), it.checkout.claim(OURS, checked)):
                with pytest.raises(ServiceError) as caught:
                    await attempt
                assert caught.value.code == "PAYMENT_PENDING"
        assert (await it.checkout.claim(OURS, checked)).answer == ANSWER
        assert it.books.counted == [(1, "risk")]


async def test_a_settlement_goes_on_when_whoever_waits_for_it_is_cancelled(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        it.facilitator.outcomes.append(Settled(TRANSACTION))
        checked = it.checked()
        record = await it.checkout.claim(OURS, checked)
        settling = asyncio.create_task(it.checkout.settle(record, ANSWER))
        await asyncio.sleep(0)
        settling.cancel()  # before the answer is kept, and before anybody is asked
        with pytest.raises(asyncio.CancelledError):
            await settling
        again = asyncio.create_task(it.checkout.claim(OURS, checked))
        it.facilitator.gate.set()
        assert (await patiently(again, it.clock)).transaction == TRANSACTION


async def test_a_till_that_closes_leaves_what_it_asked_for_to_whoever_opens_next(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        record = await it.checkout.claim(OURS, it.checked())
        settling = asyncio.create_task(it.checkout.settle(record, ANSWER))
        async with asyncio.timeout(10):
            while not it.facilitator.asked:  # noqa: ASYNC110 -- a fake tells nobody
                await asyncio.sleep(0.001)
        await it.checkout._settlement.close()
        with pytest.raises(asyncio.CancelledError):
            await settling
        found = await it.books.ledger.find(record.receipt_id)
        assert found is not None
        assert found.state == "settling"


# What is told.


@pytest.mark.promise("pay.response-headers")
def test_the_outcome_is_told_to_v2_and_v1_clients_by_the_names_each_knows() -> None:
    record = PaymentRecord(
        id=1,
        receipt_id="rcp_1",
        state="settled",
        payment=payment(),
        purchase=OURS,
        claimed_ms=0,
        transaction=TRANSACTION,
    )
    told = {"success": True, "transaction": TRANSACTION, "payer": wallet().address.lower()}
    fields = dict(outcome_headers(record))
    assert json.loads(b64decode(fields[b"payment-response"])) == {**told, "network": "eip155:84532"}
    assert json.loads(b64decode(fields[b"x-payment-response"])) == {**told, "network": "base-sepolia"}
    assert fields[b"x-receipt-id"] == b"rcp_1"


def test_a_failed_outcome_names_no_transaction_and_no_receipt() -> None:
    record = PaymentRecord(
        id=1,
        receipt_id="rcp_1",
        state="failed",
        payment=payment(),
        purchase=OURS,
        claimed_ms=0,
        reason="insufficient_funds",
    )
    fields = dict(outcome_headers(record))
    told = json.loads(b64decode(fields[b"payment-response"]))
    assert (told["success"], told["transaction"], told["errorReason"]) == (False, "", "insufficient_funds")
    assert b"x-receipt-id" not in fields


async def test_a_till_that_closes_leaves_nothing_running(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.facilitator.gate.clear()
        record = await it.checkout.claim(OURS, it.checked())
        settling = asyncio.create_task(it.checkout.settle(record, ANSWER))
        while not it.checkout._settlement._attempts:  # noqa: ASYNC110 - it begins in its own time
            await asyncio.sleep(0)
        (closing,) = it.checkout._settlement._attempts.values()
        await it.checkout._settlement.close()
        assert closing.done()
        with pytest.raises(asyncio.CancelledError):
            await settling


async def test_a_settlement_that_is_over_is_not_remembered(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        assert (await it.sold(it.checked())).state == "settled"
        await asyncio.sleep(0)
        assert it.checkout._settlement._attempts == {}


def test_a_failure_without_a_reason_is_told_by_the_word_that_clients_know() -> None:
    record = PaymentRecord(id=1, receipt_id="rcp_1", state="failed", payment=payment(), purchase=OURS, claimed_ms=0)
    assert NotSettledError(record).reason == "unexpected_settle_error"


class Refusing:
    """An admission that finds every payment not worth the work."""

    async def check(self, _: PaymentRecord) -> NoReturn:
        raise PaymentRefusedError("insufficient_funds", "The payer's token balance is below the price.")


@pytest.mark.promise("pay.verify-first")
async def test_a_payment_that_is_not_admitted_is_given_back_before_the_work(tmp_path: Path) -> None:
    async with shop(tmp_path) as it:
        it.checkout._verifier = cast(PaymentVerifier, Refusing())
        checked = it.checked()
        with pytest.raises(PaymentRefusedError):
            await it.checkout.claim(OURS, checked)
        assert await it.books.ledger.find_by_authorization(checked.payment) is None
        it.checkout._verifier = None
        assert (await it.checkout.claim(OURS, checked)).state == "claimed"


@pytest.mark.promise("pay.verify-first")
async def test_a_payment_that_the_verifier_accepts_is_claimed(tmp_path: Path) -> None:
    seen: list[PaymentRecord] = []

    class Accepting:
        async def check(self, claim: PaymentRecord) -> None:
            seen.append(claim)

    async with shop(tmp_path) as it:
        it.checkout._verifier = cast(PaymentVerifier, Accepting())
        claim = await it.checkout.claim(OURS, it.checked())
    assert (claim.state, seen) == ("claimed", [claim])

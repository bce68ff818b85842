"""Each step of a payment is durable before the next is taken, and none is taken twice."""

import asyncio
import re
from hashlib import sha256
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from service.access.caller import Caller
from service.base62 import decode
from service.clock import DAY_MS
from service.errors import ServiceError
from service.payments.audit import audit_payments
from service.payments.records import PaymentRecord, new_claim, new_receipt_id
from service.payments.transactions import ATTEMPT_MS
from service.storage.engine import DatabaseError
from service.storage.response_store import StoredResponse
from service.storage.writer import TransactionError
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.shop import ANSWER, TRANSACTION, Shop, purchase
from tests.payments.signing import payment, wallet

OTHER_TRANSACTION = "0x" + "cd" * 32
NOTHING = StoredResponse(200, (), b"")


async def begun(shop: Shop) -> PaymentRecord:
    """A payment that somebody is about to be asked for."""
    return await shop.begun()


async def written(shop: Shop) -> None:
    """Wait until what was handed over before is written."""
    await asyncio.sleep(0)
    await shop.database.write(lambda _: None)


async def test_a_payment_goes_its_way_and_every_step_is_written(shop: Shop) -> None:
    paid = payment()
    claim = new_claim(purchase(), paid, START_MS)
    begun = await shop.ledger.begin_settlement(claim, ANSWER)
    assert begun == replace(claim, id=begun.id, state="settling", answer=ANSWER)
    assert await shop.ledger.get(begun.id) == begun
    settled = await shop.ledger.record_settled(begun, TRANSACTION)
    assert (settled.state, settled.transaction, settled.settled_ms) == ("settled", TRANSACTION, START_MS)
    assert await shop.ledger.find(claim.receipt_id) == settled
    shop.ledger.delivered(settled)
    await written(shop)
    assert await shop.ledger.find_by_authorization(paid) == replace(settled, state="delivered")
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.database.inspect(audit_payments) == []


async def test_a_settled_row_says_how_and_for_what(shop: Shop) -> None:
    record = await shop.ledger.record_settled(await begun(shop), TRANSACTION)
    row = await shop.database.read("SELECT settlement, response_hash, event_id, due_ms FROM payments")
    assert row == [("remote", sha256(ANSWER.body).hexdigest(), 1, None)]
    assert await shop.ledger.read_due(START_MS + DAY_MS, 10) == []
    assert record.receipt_id.startswith("rcp_")


async def test_what_was_paid_for_touches_no_quota_and_is_never_given_back(tmp_path: Path, clock: FakeClock) -> None:
    path, caller = tmp_path / "one.db", Caller(1, "api_key", 1)
    dying = await Shop(path, clock).open()
    await dying.meter.charge(caller, "coin.risk")
    await dying.ledger.record_settled(await begun(dying), TRANSACTION)
    assert (await dying.meter.quota_status(caller)).used == 1
    await dying.die()
    shop = await Shop(path, clock).open()
    assert (await shop.meter.quota_status(caller)).used == 0, "the question, whose answer never left, is given back"
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.meter.verify() == []
    assert await shop.database.inspect(audit_payments) == []
    await shop.close()


@pytest.mark.promise("pay.claimed")
async def test_of_twenty_claims_at_once_one_is_stored_and_all_find_it(shop: Shop) -> None:
    paid = payment()
    records = await asyncio.gather(*(shop.begun(paid=paid) for _ in range(20)))
    assert len({record.receipt_id for record in records}) == 1
    assert {record.state for record in records} == {"settling"}
    assert all(record.answer == ANSWER for record in records)
    assert await shop.states() == ["settling"]


@pytest.mark.promise("pay.claimed")
async def test_another_signature_on_the_same_nonce_is_the_same_payment(shop: Shop) -> None:
    paid = payment()
    record = await shop.begun(paid=paid)
    changed = replace(paid, signature="0x" + "11" * 65, valid_before_s=paid.valid_before_s + 1)
    assert await shop.begun(purchase(user_id=2), changed, NOTHING) == record


async def test_another_payer_may_use_the_same_nonce(shop: Shop) -> None:
    first, second = payment(), payment(wallet(2))
    await shop.begun(paid=first)
    record = await shop.begun(paid=replace(second, nonce=first.nonce))
    assert await shop.states() == ["settling", "settling"]
    assert await shop.ledger.find_by_authorization(record.payment) == record


async def test_a_payment_that_is_stored_already_is_found_as_it_stands_with_its_answer(shop: Shop) -> None:
    settled = await shop.ledger.record_settled(await begun(shop), TRANSACTION)
    assert await shop.begun(paid=settled.payment, answer=NOTHING) == settled


@pytest.mark.parametrize("insert", ["INSERT", "INSERT OR REPLACE"])
async def test_a_second_row_of_an_authorization_is_not_written_and_replaces_nothing(shop: Shop, insert: str) -> None:
    record = await shop.ledger.record_settled(await begun(shop), TRANSACTION)
    if insert == "INSERT" or not shop.database.shared:
        sql = f"{insert} INTO payments SELECT * FROM payments"  # noqa: S608 -- a constant
        assert await shop.database.write(lambda connection: connection.execute(sql).rowcount) == 0
    assert await shop.ledger.get(record.id) == record


async def test_a_claim_with_the_receipt_id_of_another_payment_is_a_defect_and_not_stored(shop: Shop) -> None:
    record = await begun(shop)
    claim = replace(new_claim(purchase(), payment(), START_MS), receipt_id=record.receipt_id)
    with pytest.raises(RuntimeError, match="was not stored"):
        await shop.ledger.begin_settlement(claim, ANSWER)
    assert await shop.states() == ["settling"]


async def test_a_note_that_cannot_be_written_is_told_in_the_log(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    shop = await Shop(tmp_path / "one.db", clock).open()
    record = await shop.ledger.record_settled(await begun(shop), TRANSACTION)
    await shop.die()
    shop.ledger.delivered(record)
    await asyncio.sleep(0)
    said = [record for record in caplog.records if record.name == "verdict.payments"]
    assert [record.message for record in said] == ["A payment could not be updated."]
    assert "stopping" in vars(said[0])["reason"]


@pytest.mark.promise("pay.settled-after-run")
async def test_settled_twice_is_entered_once(shop: Shop) -> None:
    record = await begun(shop)
    first, second = await asyncio.gather(
        shop.ledger.record_settled(record, TRANSACTION), shop.ledger.record_settled(record, OTHER_TRANSACTION)
    )
    assert first == second
    shop.ledger.delivered(first)
    third = await shop.ledger.record_settled(record, OTHER_TRANSACTION)
    assert (third.state, third.transaction) == ("delivered", TRANSACTION)
    assert await shop.paid() == [(1, "coin.risk")]


@pytest.mark.promise("pay.settled-after-run")
async def test_receipt_and_usage_are_entered_together_or_not_at_all(shop: Shop) -> None:
    record = await begun(shop)
    breaking = "CREATE TRIGGER broken BEFORE UPDATE OF event_id ON payments BEGIN SELECT RAISE(ABORT, 'broken'); END"
    await shop.database.write(lambda connection: connection.execute(breaking).rowcount)
    with pytest.raises(DatabaseError, match="broken"):
        await shop.ledger.record_settled(record, TRANSACTION)
    assert (await shop.states(), await shop.paid()) == (["settling"], [])
    await shop.database.write(lambda connection: connection.execute("DROP TRIGGER broken").rowcount)
    await shop.ledger.record_settled(record, TRANSACTION)
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.database.inspect(audit_payments) == []


async def test_nothing_is_settled_that_nobody_was_asked_for(shop: Shop) -> None:
    record = await begun(shop)
    strange = replace(record, receipt_id=new_receipt_id(START_MS))
    for wrong in (new_claim(purchase(), payment(), START_MS), strange):
        for step in (
            shop.ledger.record_settled(wrong, TRANSACTION),
            shop.ledger.record_failed(wrong, "insufficient_funds", None),
            shop.ledger.postpone(wrong, "timeout", None, START_MS),
        ):
            with pytest.raises(RuntimeError, match="was not submitted"):
                await step
    assert await shop.states() == ["settling"]


async def test_a_failed_payment_is_settled_if_the_chain_says_so_later_and_its_answer_is_still_there(
    shop: Shop,
) -> None:
    record = await begun(shop)
    failed = await shop.ledger.record_failed(record, "insufficient_funds", START_MS + 90_000)
    assert (failed.state, failed.reason) == ("failed", "insufficient_funds")
    (due,) = await shop.ledger.read_due(START_MS + 90_000, 10)
    settled = await shop.ledger.record_settled(due, TRANSACTION)
    assert (settled.state, settled.reason, settled.answer) == ("settled", None, ANSWER)
    assert await shop.paid() == [(1, "coin.risk")]


async def test_of_a_final_failure_nothing_is_kept_and_nothing_looked_at_again(shop: Shop) -> None:
    record = await begun(shop)
    await shop.ledger.record_failed(record, "insufficient_funds", START_MS + 1)
    await shop.ledger.record_failed(record, "expired_unsettled", None)
    await shop.ledger.postpone(record, "timeout", None, START_MS)
    assert await shop.ledger.read_due(START_MS + DAY_MS, 10) == []
    found = await shop.ledger.get(record.id)
    assert found is not None
    assert (found.state, found.reason, found.answer) == ("failed", "expired_unsettled", None)


async def test_money_that_has_moved_is_neither_failed_nor_asked_about(shop: Shop) -> None:
    record = await begun(shop)
    settled = await shop.ledger.record_settled(record, TRANSACTION)
    assert await shop.ledger.record_failed(record, "expired_unsettled", None) == settled
    assert await shop.ledger.postpone(record, "timeout", None, START_MS) == settled
    assert await shop.ledger.get(record.id) == settled


async def test_a_refusal_that_counts_only_first_is_not_entered_once_somebody_else_has_asked(shop: Shop) -> None:
    record = await begun(shop)
    await shop.ledger.postpone(record, "timeout", None, START_MS)
    assert (await shop.ledger.record_failed(record, "insufficient_funds", None, first=True)).state == "settling"
    assert (await shop.ledger.record_failed(record, "insufficient_funds", None)).state == "failed"


async def test_a_postponed_payment_is_due_at_its_time_and_keeps_the_transaction_that_is_known(shop: Shop) -> None:
    record = await begun(shop)
    told = await shop.ledger.postpone(record, "pending", TRANSACTION, START_MS + 2_000)
    assert (told.state, told.reason, told.transaction, told.answer) == ("settling", "pending", TRANSACTION, ANSWER)
    assert await shop.ledger.read_due(START_MS + 1_999, 10) == []
    again = await shop.ledger.postpone(record, "timeout", None, START_MS + 4_000)
    assert (again.reason, again.transaction) == ("timeout", TRANSACTION)
    assert await shop.ledger.read_due(START_MS + 4_000, 10) == [replace(again, answer=None)]


async def test_a_failure_that_is_looked_at_again_stays_the_failure_it_was(shop: Shop) -> None:
    record = await begun(shop)
    await shop.ledger.record_failed(record, "insufficient_funds", START_MS + 1_000)
    again = await shop.ledger.postpone(record, "timeout", None, START_MS + 2_000)
    assert (again.state, again.reason) == ("failed", "insufficient_funds")
    assert await shop.ledger.read_due(START_MS + 1_999, 10) == []
    assert [due.state for due in await shop.ledger.read_due(START_MS + 2_000, 10)] == ["failed"]


async def test_a_settlement_is_left_to_whoever_began_it_for_a_while(shop: Shop) -> None:
    await begun(shop)
    assert await shop.ledger.read_due(START_MS + ATTEMPT_MS - 1, 10) == []
    assert len(await shop.ledger.read_due(START_MS + ATTEMPT_MS, 10)) == 1


async def test_what_is_longest_due_comes_first_and_no_more_than_is_wanted(shop: Shop) -> None:
    records = [await begun(shop) for _ in range(3)]
    for record, at_ms in zip(records, (30, 10, 20), strict=True):
        await shop.ledger.postpone(record, "timeout", None, START_MS + at_ms)
    due = await shop.ledger.read_due(START_MS + 30, 2)
    assert [record.id for record in due] == [records[1].id, records[2].id]


async def test_answers_that_leave_one_after_the_other_are_each_noted_also_after_one_that_could_not_be(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold = [await shop.ledger.record_settled(await shop.begun(paid=payment(wallet(n))), TRANSACTION) for n in (1, 2, 3)]
    with monkeypatch.context() as patched:
        patched.setattr(shop.database, "submit", Mock(side_effect=ServiceError("UNAVAILABLE", "Not now.")))
        shop.ledger.delivered(sold[0])
        await asyncio.sleep(0)
    for record, states in (
        (sold[1], ["settled", "delivered", "settled"]),
        (sold[2], ["settled", "delivered", "delivered"]),
    ):
        shop.ledger.delivered(record)
        await written(shop)
        assert await shop.states() == states


async def test_only_a_settled_payment_is_delivered(shop: Shop) -> None:
    record = await begun(shop)
    shop.ledger.delivered(record)
    await written(shop)
    assert await shop.states() == ["settling"]
    settled = await shop.ledger.record_settled(record, TRANSACTION)
    shop.ledger.delivered(replace(settled, receipt_id=new_receipt_id(START_MS)))
    await written(shop)
    assert await shop.states() == ["settled"]


async def test_many_answers_leaving_at_once_are_noted_in_few_closures(shop: Shop) -> None:
    records = await asyncio.gather(*(begun(shop) for _ in range(30)))
    settled = [await shop.ledger.record_settled(record, TRANSACTION) for record in records]
    before = shop.database.closures
    for record in settled:
        shop.ledger.delivered(record)
    await written(shop)
    assert await shop.states() == ["delivered"] * 30
    assert shop.database.closures - before < 5


async def test_after_a_transaction_that_could_not_be_begun_later_answers_that_left_are_noted(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = [await shop.ledger.record_settled(await begun(shop), TRANSACTION) for _ in range(2)]
    writer = shop.database._writer
    with monkeypatch.context() as patched:
        patched.setattr(
            writer.session, "begin", Mock(side_effect=TransactionError("it is not its turn", "SQLITE_BUSY"))
        )
        shop.ledger.delivered(first)
        with pytest.raises(ServiceError):
            await written(shop)
    shop.ledger.delivered(second)
    await written(shop)
    assert await shop.states() == ["settled", "delivered"]


async def test_what_a_dead_process_was_settling_is_due_at_once_and_what_a_living_one_is_settling_is_not(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "two.db"
    dying, shop = await Shop(path, clock).open(), await Shop(path, clock).open()
    record = await begun(dying)
    assert await shop.ledger.read_due(START_MS, 10) == []
    await dying.die()
    (due,) = await shop.ledger.read_due(START_MS, 10)
    assert due == replace(record, answer=None)
    await shop.ledger.postpone(due, "timeout", None, START_MS + 2_000)
    assert await shop.ledger.read_due(START_MS, 10) == [], "it is in the hands of a process that lives"
    await shop.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE payments SET state = 'failed', settled_ms = NULL", "never changed"),
        ("UPDATE payments SET tx = '0x'", "never changed"),
        ("DELETE FROM payments", "never deleted"),
    ],
)
async def test_money_that_has_moved_stays_moved_whoever_writes(shop: Shop, sql: str, said: str) -> None:
    record = await shop.ledger.record_settled(await begun(shop), TRANSACTION)
    with pytest.raises(DatabaseError, match=said):
        await shop.database.write(lambda connection: connection.execute(sql).rowcount)
    assert await shop.ledger.get(record.id) == record


@pytest.mark.promise("pay.claimed")
@pytest.mark.parametrize("field", ["asset", "payer", "nonce", "network"])
async def test_a_key_that_is_not_in_its_normal_form_is_not_written(shop: Shop, field: str) -> None:
    paid = payment()
    strange = replace(paid, **{field: getattr(paid, field).upper()})
    with pytest.raises(DatabaseError, match=r"(?i)check"):
        await shop.begun(paid=strange)


async def test_a_payment_of_another_amount_than_the_price_is_not_written(shop: Shop) -> None:
    with pytest.raises(DatabaseError, match=r"value = price|check"):
        await shop.begun(replace(purchase(), price=50_000))


async def test_an_answer_of_any_bytes_is_kept_as_it_was(shop: Shop) -> None:
    answer = StoredResponse(203, ((b"x-a", bytes(range(32, 256))), (b"x-a", b"")), bytes(range(256)) * 300)
    record = await shop.begun(answer=answer)
    found = await shop.ledger.get(record.id)
    assert found is not None
    assert found.answer == answer


def test_receipt_ids_ascend_with_time_and_end_in_fifteen_random_characters() -> None:
    drawn = [new_receipt_id(START_MS + place // 2) for place in range(200)]
    assert all(re.fullmatch(r"rcp_[0-9A-Za-z]{22}", receipt_id) for receipt_id in drawn)
    assert [receipt_id[:11] for receipt_id in drawn] == sorted(receipt_id[:11] for receipt_id in drawn)
    assert len({receipt_id[11:] for receipt_id in drawn}) == 200
    assert decode(drawn[0][4:11]) == START_MS

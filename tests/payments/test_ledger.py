"""Each step of a payment is durable before the next is taken, and none is taken twice."""

import asyncio
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from service.access.caller import Caller
from service.clock import DAY_MS, SECOND_MS
from service.errors import ServiceError
from service.payments.audit import audit_payments
from service.payments.payment import Entry, PaidAnswer
from service.payments.rows import new_receipt_id
from service.payments.steps import FLIGHT_MS, LEASE_MS
from service.storage.engine import Connection, DatabaseError
from service.storage.writer import Answer, LostError, Work
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.shop import ANSWER, TRANSACTION, Shop, order
from tests.payments.signing import payment, wallet

OTHER_TRANSACTION = "0x" + "cd" * 32


async def begun(shop: Shop) -> Entry:
    """A payment that somebody is about to be asked for."""
    _, entry = await shop.ledger.claim(order(), payment())
    return await shop.ledger.settling(entry, ANSWER)


async def test_a_payment_goes_its_way_and_every_step_is_written(shop: Shop) -> None:
    paid = payment()
    claim, entry = await shop.ledger.claim(order(), paid)
    assert (claim, entry.state, entry.payment, entry.order) == ("fresh", "claimed", paid, order())
    assert await shop.ledger.get(entry.id) == entry
    begun = await shop.ledger.settling(entry, ANSWER)
    assert (begun.state, begun.answer) == ("settling", ANSWER)
    assert await shop.ledger.get(entry.id) == begun
    settled = await shop.ledger.settled(begun, TRANSACTION)
    assert (settled.state, settled.transaction, settled.settled_ms) == ("settled", TRANSACTION, START_MS)
    assert await shop.ledger.find(entry.receipt_id) == settled
    shop.ledger.delivered(settled)
    await shop.database.write(lambda _: None)
    assert await shop.ledger.held(paid) == replace(settled, state="delivered")
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.database.inspect(audit_payments) == []


async def test_a_settled_row_says_how_and_for_what(shop: Shop) -> None:
    entry = await shop.ledger.settled(await begun(shop), TRANSACTION)
    row = await shop.database.read("SELECT settlement, response_hash, event_id, due_ms FROM payments")
    assert row == [("remote", sha256(ANSWER.body).hexdigest(), 1, None)]
    assert await shop.ledger.due(START_MS + DAY_MS, 10) == []
    assert entry.receipt_id.startswith("rcp_")


async def test_what_was_paid_for_touches_no_quota_and_is_never_given_back(tmp_path: Path, clock: FakeClock) -> None:
    path, caller = tmp_path / "one.db", Caller(1, "api_key", 1)
    dying = await Shop(path, clock).open()
    await dying.meter.charge(caller, "coin.risk")
    await dying.ledger.settled(await begun(dying), TRANSACTION)
    assert (await dying.meter.standing(caller)).used == 1
    await dying.die()
    shop = await Shop(path, clock).open()
    assert (await shop.meter.standing(caller)).used == 0, "the question, whose answer never left, is given back"
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.meter.verify() == []
    assert await shop.database.inspect(audit_payments) == []
    await shop.close()


@pytest.mark.promise("pay.claimed")
async def test_of_twenty_claims_at_once_one_is_fresh(shop: Shop) -> None:
    paid = payment()
    claims = await asyncio.gather(*(shop.ledger.claim(order(), paid) for _ in range(20)))
    assert sorted(claim for claim, _ in claims) == ["fresh"] + ["same"] * 19
    assert {entry.receipt_id for _, entry in claims} == {claims[0][1].receipt_id}
    assert await shop.states() == ["claimed"]


@pytest.mark.promise("pay.claimed")
@pytest.mark.parametrize(
    "wanted",
    [order(user_id=2), order(request="GET /api/cli/coin/risk/ETH\n"), order(request="GET /api/cli/coin/risk/BTC?a\n")],
    ids=["another user", "another path", "another query"],
)
async def test_a_payment_that_was_claimed_buys_nothing_else(shop: Shop, wanted: object) -> None:
    paid = payment()
    assert isinstance(wanted, type(order()))
    _, held = await shop.ledger.claim(order(), paid)
    assert await shop.ledger.claim(wanted, paid) == ("other", held)
    await shop.ledger.settled(await shop.ledger.settling(held, ANSWER), TRANSACTION)
    claim, entry = await shop.ledger.claim(wanted, paid)
    assert (claim, entry.answer) == ("other", None), "what was bought is not for whoever knows the payment"


@pytest.mark.promise("pay.claimed")
async def test_another_signature_on_the_same_nonce_is_the_same_payment(shop: Shop) -> None:
    paid = payment()
    _, entry = await shop.ledger.claim(order(), paid)
    changed = replace(paid, signature="0x" + "11" * 65, valid_before_s=paid.valid_before_s + 1)
    assert await shop.ledger.claim(order(), changed) == ("same", entry)


async def test_another_payer_may_use_the_same_nonce(shop: Shop) -> None:
    first, second = payment(), payment(wallet(2))
    await shop.ledger.claim(order(), first)
    claim, entry = await shop.ledger.claim(order(), replace(second, nonce=first.nonce))
    assert claim == "fresh"
    assert await shop.ledger.held(entry.payment) == entry


async def test_the_same_payment_for_the_same_request_finds_the_answer_and_where_it_stands(shop: Shop) -> None:
    settled = await shop.ledger.settled(await begun(shop), TRANSACTION)
    assert await shop.ledger.claim(order(), settled.payment) == ("same", settled)


async def test_a_released_payment_may_be_used_again_for_anything(shop: Shop) -> None:
    paid = payment()
    _, first = await shop.ledger.claim(order(), paid)
    await shop.ledger.release(first)
    assert await shop.states() == ["released"]
    other = order(user_id=2, request="GET /api/cli/regime\n", offer_id="regime")
    claim, second = await shop.ledger.claim(other, paid)
    assert (claim, second.order, second.id) == ("fresh", other, first.id)
    assert second.receipt_id != first.receipt_id


async def test_a_claim_that_was_lost_can_neither_be_released_nor_settled(shop: Shop) -> None:
    paid = payment()
    _, lost = await shop.ledger.claim(order(), paid)
    await shop.ledger.release(lost)
    _, held = await shop.ledger.claim(order(user_id=2), paid)
    await shop.ledger.release(lost)
    with pytest.raises(ServiceError, match="nothing was charged") as told:
        await shop.ledger.settling(lost, ANSWER)
    assert (told.value.code, told.value.headers) == ("UNAVAILABLE", {"Retry-After": "1"})
    assert await shop.ledger.get(held.id) == held


async def test_what_somebody_was_asked_for_is_not_released(shop: Shop) -> None:
    entry = await begun(shop)
    await shop.ledger.release(entry)
    assert await shop.states() == ["settling"]


async def test_a_release_that_cannot_be_written_waits_for_the_lease_and_raises_nothing(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    shop = await Shop(tmp_path / "one.db", clock).open()
    _, entry = await shop.ledger.claim(order(), payment())
    await shop.die()
    await shop.ledger.release(entry)
    shop.ledger.delivered(entry)
    said = [record for record in caplog.records if record.name == "verdict.payments"]
    assert [record.message for record in said] == [
        "a claim waits for its lease to run out",
        "a note on a payment could not be made",
    ]
    assert all("stopping" in vars(record)["reason"] for record in said)
    assert vars(said[0])["payment"] == entry.id


async def test_whoever_is_gone_before_its_claim_is_made_holds_nothing(shop: Shop) -> None:
    claiming = asyncio.create_task(shop.ledger.claim(order(), payment()))
    await asyncio.sleep(0)
    claiming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claiming
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["released"]


async def test_whoever_is_gone_and_held_nothing_takes_nothing_from_who_does(shop: Shop) -> None:
    paid = payment()
    await shop.ledger.claim(order(), paid)
    claiming = asyncio.create_task(shop.ledger.claim(order(), paid))
    await asyncio.sleep(0)
    claiming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claiming
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["claimed"]


@pytest.mark.promise("pay.settled-after-run")
async def test_settled_twice_is_entered_once(shop: Shop) -> None:
    entry = await begun(shop)
    first, second = await asyncio.gather(
        shop.ledger.settled(entry, TRANSACTION), shop.ledger.settled(entry, OTHER_TRANSACTION)
    )
    assert first == second
    shop.ledger.delivered(first)
    third = await shop.ledger.settled(entry, OTHER_TRANSACTION)
    assert (third.state, third.transaction) == ("delivered", TRANSACTION)
    assert await shop.paid() == [(1, "coin.risk")]


@pytest.mark.promise("pay.settled-after-run")
async def test_receipt_and_usage_are_entered_together_or_not_at_all(shop: Shop) -> None:
    entry = await begun(shop)
    breaking = "CREATE TRIGGER broken BEFORE UPDATE OF event_id ON payments BEGIN SELECT RAISE(ABORT, 'broken'); END"
    await shop.database.write(lambda connection: connection.execute(breaking).rowcount)
    with pytest.raises(DatabaseError, match="broken"):
        await shop.ledger.settled(entry, TRANSACTION)
    assert (await shop.states(), await shop.paid()) == (["settling"], [])
    await shop.database.write(lambda connection: connection.execute("DROP TRIGGER broken").rowcount)
    await shop.ledger.settled(entry, TRANSACTION)
    assert await shop.paid() == [(1, "coin.risk")]
    assert await shop.database.inspect(audit_payments) == []


async def test_nothing_is_settled_that_nobody_was_asked_for(shop: Shop) -> None:
    _, entry = await shop.ledger.claim(order(), payment())
    strange = replace(entry, receipt_id=new_receipt_id())
    for wrong in (entry, strange):
        for step in (
            shop.ledger.settled(wrong, TRANSACTION),
            shop.ledger.failed(wrong, "insufficient_funds", None),
            shop.ledger.postpone(wrong, "timeout", None, START_MS),
        ):
            with pytest.raises(RuntimeError, match="nobody was asked"):
                await step
    assert await shop.states() == ["claimed"]


async def test_a_failed_payment_is_settled_if_the_chain_says_so_later_and_its_answer_is_still_there(
    shop: Shop,
) -> None:
    entry = await begun(shop)
    failed = await shop.ledger.failed(entry, "insufficient_funds", START_MS + 90_000)
    assert (failed.state, failed.reason) == ("failed", "insufficient_funds")
    (due,) = await shop.ledger.due(START_MS + 90_000, 10)
    settled = await shop.ledger.settled(due, TRANSACTION)
    assert (settled.state, settled.reason, settled.answer) == ("settled", None, ANSWER)
    assert await shop.paid() == [(1, "coin.risk")]


async def test_of_a_final_failure_nothing_is_kept_and_nothing_looked_at_again(shop: Shop) -> None:
    entry = await begun(shop)
    await shop.ledger.failed(entry, "insufficient_funds", START_MS + 1)
    await shop.ledger.failed(entry, "expired_unsettled", None)
    await shop.ledger.postpone(entry, "timeout", None, START_MS)
    assert await shop.ledger.due(START_MS + DAY_MS, 10) == []
    found = await shop.ledger.get(entry.id)
    assert found is not None
    assert (found.state, found.reason, found.answer) == ("failed", "expired_unsettled", None)


async def test_money_that_has_moved_is_neither_failed_nor_asked_about(shop: Shop) -> None:
    entry = await begun(shop)
    settled = await shop.ledger.settled(entry, TRANSACTION)
    assert await shop.ledger.failed(entry, "expired_unsettled", None) == settled
    assert await shop.ledger.postpone(entry, "timeout", None, START_MS) == settled
    assert await shop.ledger.get(entry.id) == settled


async def test_a_refusal_that_counts_only_first_is_not_entered_once_somebody_else_has_asked(shop: Shop) -> None:
    entry = await begun(shop)
    await shop.ledger.postpone(entry, "timeout", None, START_MS)
    assert (await shop.ledger.failed(entry, "insufficient_funds", None, first=True)).state == "settling"
    assert (await shop.ledger.failed(entry, "insufficient_funds", None)).state == "failed"


async def test_a_postponed_payment_is_due_at_its_time_and_keeps_the_transaction_that_is_known(shop: Shop) -> None:
    entry = await begun(shop)
    told = await shop.ledger.postpone(entry, "pending", TRANSACTION, START_MS + 2_000)
    assert (told.state, told.reason, told.transaction, told.answer) == ("settling", "pending", TRANSACTION, ANSWER)
    assert await shop.ledger.due(START_MS + 1_999, 10) == []
    again = await shop.ledger.postpone(entry, "timeout", None, START_MS + 4_000)
    assert (again.reason, again.transaction) == ("timeout", TRANSACTION)
    assert await shop.ledger.due(START_MS + 4_000, 10) == [replace(again, answer=None)]


async def test_a_failure_that_is_looked_at_again_stays_the_failure_it_was(shop: Shop) -> None:
    entry = await begun(shop)
    await shop.ledger.failed(entry, "insufficient_funds", START_MS + 1_000)
    again = await shop.ledger.postpone(entry, "timeout", None, START_MS + 2_000)
    assert (again.state, again.reason) == ("failed", "insufficient_funds")
    assert await shop.ledger.due(START_MS + 1_999, 10) == []
    assert [due.state for due in await shop.ledger.due(START_MS + 2_000, 10)] == ["failed"]


async def test_a_settlement_is_left_to_whoever_began_it_for_a_while(shop: Shop) -> None:
    await begun(shop)
    assert await shop.ledger.due(START_MS + FLIGHT_MS - 1, 10) == []
    assert len(await shop.ledger.due(START_MS + FLIGHT_MS, 10)) == 1


async def test_what_is_longest_due_comes_first_and_no_more_than_is_wanted(shop: Shop) -> None:
    entries = [await begun(shop) for _ in range(3)]
    for entry, at_ms in zip(entries, (30, 10, 20), strict=True):
        await shop.ledger.postpone(entry, "timeout", None, START_MS + at_ms)
    due = await shop.ledger.due(START_MS + 30, 2)
    assert [entry.id for entry in due] == [entries[1].id, entries[2].id]


async def test_answers_that_leave_one_after_the_other_are_each_noted_also_after_one_that_could_not_be(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold = [
        await shop.ledger.settled(
            await shop.ledger.settling((await shop.ledger.claim(order(), payment(wallet(n))))[1], ANSWER), TRANSACTION
        )
        for n in (1, 2, 3)
    ]
    with monkeypatch.context() as patched:
        patched.setattr(shop.database, "submit", Mock(side_effect=ServiceError("UNAVAILABLE", "Not now.")))
        shop.ledger.delivered(sold[0])
    for entry, states in ((sold[1], ["delivered", "delivered", "settled"]), (sold[2], ["delivered"] * 3)):
        shop.ledger.delivered(entry)
        await shop.database.write(lambda _: None)
        assert await shop.states() == states


async def test_answers_are_noted_also_after_a_note_that_was_written_before_its_submission_returned(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = shop.database.submit

    def submit_and_wait(work: Work[Any], answer: Answer) -> None:
        written = Event()

        def run(connection: Connection) -> Any:
            try:
                return work(connection)
            finally:
                written.set()

        submit(run, answer)
        assert written.wait(60)

    settled = [await shop.ledger.settled(await begun(shop), TRANSACTION) for _ in range(2)]
    monkeypatch.setattr(shop.database, "submit", submit_and_wait)
    for entry in settled:
        shop.ledger.delivered(entry)
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["delivered", "delivered"]


async def test_only_a_settled_payment_is_delivered(shop: Shop) -> None:
    entry = await begun(shop)
    shop.ledger.delivered(entry)
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["settling"]
    settled = await shop.ledger.settled(entry, TRANSACTION)
    shop.ledger.delivered(replace(settled, receipt_id=new_receipt_id()))
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["settled"]


async def test_many_answers_leaving_at_once_are_noted_in_few_closures(shop: Shop) -> None:
    entries = await asyncio.gather(*(begun(shop) for _ in range(30)))
    settled = [await shop.ledger.settled(entry, TRANSACTION) for entry in entries]
    before = shop.database.closures
    for entry in settled:
        shop.ledger.delivered(entry)
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["delivered"] * 30
    assert shop.database.closures - before < 5


async def test_after_a_transaction_that_could_not_be_begun_answers_that_left_are_noted_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = [await shop.ledger.settled(await begun(shop), TRANSACTION) for _ in range(2)]
    writer = shop.database._writer
    with monkeypatch.context() as patched:
        patched.setattr(writer._session, "begin", Mock(side_effect=LostError("it is not its turn", "SQLITE_BUSY")))
        shop.ledger.delivered(first)
        with pytest.raises(ServiceError):
            await shop.database.write(lambda _: None)
    shop.ledger.delivered(second)
    await shop.database.write(lambda _: None)
    assert await shop.states() == ["delivered", "delivered"]


async def test_a_claim_whose_process_died_is_free_on_sight(tmp_path: Path, clock: FakeClock) -> None:
    path, paid = tmp_path / "two.db", payment()
    dying, shop = await Shop(path, clock).open(), await Shop(path, clock).open()
    _, first = await dying.ledger.claim(order(), paid)
    assert await shop.ledger.claim(order(), paid) == ("same", first)
    assert await shop.ledger.recover() == 0
    await dying.die()
    claim, second = await shop.ledger.claim(order(user_id=2), paid)
    assert (claim, second.receipt_id != first.receipt_id) == ("fresh", True)
    await shop.close()


async def test_a_start_releases_what_dead_processes_had_claimed(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "two.db"
    dying = await Shop(path, clock).open()
    await dying.ledger.claim(order(), payment())
    await begun(dying)
    await dying.die()
    shop = await Shop(path, clock).open()
    assert await shop.ledger.recover() == 1
    assert await shop.states() == ["released", "settling"]
    await shop.close()


async def test_what_a_dead_process_was_settling_is_due_at_once_and_what_a_living_one_is_settling_is_not(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "two.db"
    dying, shop = await Shop(path, clock).open(), await Shop(path, clock).open()
    entry = await begun(dying)
    assert await shop.ledger.due(START_MS, 10) == []
    await dying.die()
    (due,) = await shop.ledger.due(START_MS, 10)
    assert due == replace(entry, answer=None)
    await shop.ledger.postpone(due, "timeout", None, START_MS + 2_000)
    assert await shop.ledger.due(START_MS, 10) == [], "it is in the hands of a process that lives"
    await shop.close()


async def test_a_claim_whose_lease_has_run_out_is_released_whoever_holds_it(shop: Shop, clock: FakeClock) -> None:
    _, entry = await shop.ledger.claim(order(), payment())
    await clock.advance(LEASE_MS / SECOND_MS)
    await shop.ledger.prune()
    assert await shop.states() == ["claimed"]
    await clock.advance(0.001)
    await shop.ledger.prune()
    assert await shop.states() == ["released"]
    with pytest.raises(ServiceError):
        await shop.ledger.settling(entry, ANSWER)


async def test_a_payment_that_bought_nothing_is_forgotten_a_day_after_its_window(shop: Shop, clock: FakeClock) -> None:
    _, entry = await shop.ledger.claim(order(), payment())
    await shop.ledger.release(entry)
    kept = await begun(shop)
    clock.set_wall(entry.payment.valid_before_s * SECOND_MS + DAY_MS)
    await shop.ledger.prune()
    assert await shop.states() == ["released", "settling"]
    clock.set_wall(clock.now_ms() + SECOND_MS)
    await shop.ledger.prune()
    assert await shop.states() == ["settling"]
    assert await shop.ledger.get(kept.id) == kept
    assert await shop.ledger.get(entry.id) is None


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE payments SET state = 'failed', settled_ms = NULL", "never changed"),
        ("UPDATE payments SET tx = '0x'", "never changed"),
        ("DELETE FROM payments", "never deleted"),
        ("INSERT INTO payments SELECT * FROM payments", "written once"),
    ],
)
async def test_money_that_has_moved_stays_moved_whoever_writes(shop: Shop, sql: str, said: str) -> None:
    entry = await shop.ledger.settled(await begun(shop), TRANSACTION)
    with pytest.raises(DatabaseError, match=said):
        await shop.database.write(lambda connection: connection.execute(sql).rowcount)
    assert await shop.ledger.get(entry.id) == entry


@pytest.mark.promise("pay.claimed")
@pytest.mark.parametrize("field", ["asset", "payer", "nonce", "network"])
async def test_a_key_that_is_not_in_its_normal_form_is_not_written(shop: Shop, field: str) -> None:
    paid = payment()
    strange = replace(paid, **{field: getattr(paid, field).upper()})
    with pytest.raises(DatabaseError, match=r"(?i)check"):
        await shop.ledger.claim(order(), strange)


async def test_a_payment_of_another_amount_than_the_price_is_not_written(shop: Shop) -> None:
    with pytest.raises(DatabaseError, match=r"value = price|check"):
        await shop.ledger.claim(replace(order(), price=50_000), payment())


async def test_an_answer_of_any_bytes_is_kept_as_it_was(shop: Shop) -> None:
    answer = PaidAnswer(203, ((b"x-a", bytes(range(32, 256))), (b"x-a", b"")), bytes(range(256)) * 300)
    _, entry = await shop.ledger.claim(order(), payment())
    await shop.ledger.settling(entry, answer)
    found = await shop.ledger.get(entry.id)
    assert found is not None
    assert found.answer == answer


def test_the_name_of_a_receipt_is_drawn_of_all_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Mock(return_value=62**22 - 1)
    monkeypatch.setattr("secrets.randbelow", draw)
    assert len(new_receipt_id()) == len("rcp_") + 22
    draw.assert_called_once_with(62**22)

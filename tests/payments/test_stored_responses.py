"""Answers that were paid for are kept for a day, within bounds, and not dropped while they may yet have to be given."""

import random
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import SECOND_MS
from service.payments import responses, transactions
from service.payments.records import PaymentRecord
from service.storage import response_store, rows
from service.storage.response_store import KEPT_MS, MAX_RESPONSE_BYTES, StoredResponse, pack, unpack
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.shop import ANSWER, TRANSACTION, Shop


def noise(size: int) -> StoredResponse:
    """An answer that cannot be made smaller."""
    return replace(ANSWER, body=random.Random(size).randbytes(size))  # noqa: S311 -- any bytes do


async def begun(shop: Shop, answer: StoredResponse = ANSWER) -> PaymentRecord:
    return await shop.begun(answer=answer)


async def sold(shop: Shop, answer: StoredResponse = ANSWER) -> PaymentRecord:
    return await shop.ledger.record_settled(await begun(shop, answer), TRANSACTION)


async def kept(shop: Shop) -> list[int]:
    """The payments whose answers are kept."""
    return [row[0] for row in await shop.database.read("SELECT payment_id FROM payment_answers ORDER BY payment_id")]


async def test_an_answer_is_dropped_after_a_day_and_not_before(shop: Shop, clock: FakeClock) -> None:
    first = await sold(shop)
    clock.set_wall(START_MS + KEPT_MS - 1)
    second = await sold(shop)
    await shop.ledger.prune()
    assert await kept(shop) == [first.id, second.id]
    clock.set_wall(START_MS + KEPT_MS)
    await shop.ledger.prune()
    assert await kept(shop) == [second.id]
    assert await shop.begun(paid=first.payment) == replace(first, answer=None)


async def test_it_is_told_how_many_were_dropped(shop: Shop, clock: FakeClock) -> None:
    for _ in range(3):
        await sold(shop)
    clock.set_wall(START_MS + KEPT_MS)
    dropped = [
        await shop.database.write(lambda connection: responses.prune(connection, clock.now_ms())) for _ in range(2)
    ]
    assert dropped == [3, 0]


async def test_an_answer_that_may_yet_have_to_be_given_is_not_dropped(shop: Shop, clock: FakeClock) -> None:
    await begun(shop)
    await shop.ledger.record_failed(await begun(shop), "insufficient_funds", START_MS + 90 * SECOND_MS)
    await sold(shop)
    clock.set_wall(START_MS + 2 * KEPT_MS)
    await shop.ledger.prune()
    assert await kept(shop) == [1, 2]


async def test_an_answer_whose_settlement_took_days_is_kept_for_a_day_from_then_on(
    shop: Shop, clock: FakeClock
) -> None:
    record = await shop.ledger.postpone(await begun(shop), "timeout", None, START_MS)
    clock.set_wall(START_MS + 3 * KEPT_MS)
    await shop.ledger.record_settled(record, TRANSACTION)
    clock.set_wall(START_MS + 4 * KEPT_MS - 1)
    await shop.ledger.prune()
    assert await kept(shop) == [record.id]
    clock.set_wall(START_MS + 4 * KEPT_MS)
    await shop.ledger.prune()
    assert await kept(shop) == []


async def test_more_than_fits_into_one_sweep_is_dropped(
    shop: Shop, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "_SWEEP_ROWS", 2)
    for _ in range(5):
        await sold(shop)
    clock.set_wall(START_MS + KEPT_MS)
    await shop.ledger.prune()
    assert await kept(shop) == []


async def test_of_more_than_may_be_kept_the_oldest_go_first(
    shop: Shop, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        await sold(shop, noise(10_000))
        await clock.advance(1)
    ((size,),) = await shop.database.read("SELECT bytes FROM payment_answers WHERE payment_id = 4")
    monkeypatch.setattr(response_store, "MAX_TOTAL_BYTES", 2 * size)
    await shop.ledger.prune()
    assert await kept(shop) == [3, 4]


async def test_a_burst_is_held_within_bounds_without_waiting_for_the_hour(
    shop: Shop, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_store, "MAX_TOTAL_BYTES", 50_000)
    monkeypatch.setattr(transactions, "CHECK_BYTES", 20_000)
    for _ in range(20):
        await sold(shop, noise(10_000))
        await clock.advance(1)
    ((total,),) = await shop.database.read("SELECT sum(bytes) FROM payment_answers")
    assert 40_000 < total < 85_000


async def test_an_answer_too_large_to_be_kept_goes_out_once(shop: Shop) -> None:
    record = await sold(shop, noise(MAX_RESPONSE_BYTES + 1))
    assert record.answer == noise(MAX_RESPONSE_BYTES + 1)
    assert await kept(shop) == []
    again = await shop.begun(paid=record.payment)
    assert (again.receipt_id, again.state, again.answer) == (record.receipt_id, "settled", None)


async def test_what_counts_is_the_size_on_disk() -> None:
    plain = replace(ANSWER, body=b"a" * (4 * MAX_RESPONSE_BYTES))
    packed = await pack(plain)
    assert packed is not None
    assert len(packed) < MAX_RESPONSE_BYTES / 10
    assert unpack(packed) == plain
    assert await pack(noise(MAX_RESPONSE_BYTES)) is None


async def test_a_reopened_store_still_has_the_answer(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "one.db"
    shop = await Shop(path, clock).open()
    record = await sold(shop)
    await shop.close()
    shop = await Shop(path, clock).open()
    assert await shop.ledger.find(record.receipt_id) == record
    await shop.close()


def test_one_answer_may_take_half_a_mebibyte_and_all_of_them_a_quarter_of_a_gibibyte() -> None:
    assert (MAX_RESPONSE_BYTES, response_store.MAX_TOTAL_BYTES) == (524_288, 268_435_456)


async def test_a_small_response_is_stored_as_it_is_and_a_larger_one_deflated() -> None:
    small, large = (replace(ANSWER, body=b"x" * size) for size in (1_000, 3_000))
    plain, deflated = await pack(small), await pack(large)
    assert plain is not None
    assert deflated is not None
    assert small.body in plain
    assert len(deflated) < len(plain)
    assert (unpack(plain), unpack(deflated)) == (small, large)


async def test_a_small_response_that_was_stored_deflated_is_still_read() -> None:
    assert unpack(rows.pack(msgspec.msgpack.encode(ANSWER))) == ANSWER

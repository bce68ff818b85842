"""Receipts are what the ledger says, signed so that any wallet's code can tell by whom."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.errors import ServiceError
from service.payments.audit import find_payment_row, read_payments, read_unsettled
from service.payments.receipts import _PAGE, ReceiptService, ReceiptSigner, find_receipt, read_receipts, signer_of
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.cursor import Cursors
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database
from tests.payments.receipts import RECEIPT, put, receipt_id

KEY = bytes.fromhex("17" * 32)
SIGNER = ReceiptSigner(KEY)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as opened:
        yield opened


@pytest.fixture
def desk(database: Database) -> ReceiptService:
    return ReceiptService(database, SIGNER, Cursors(bytes(32)))


async def paid(database: Database, number: int = 1, **changes: Any) -> None:
    await database.write(lambda connection: put(connection, number, **changes))


@pytest.mark.promise("pay.receipts")
async def test_a_receipt_says_what_was_bought_by_whom_and_for_how_much(
    database: Database, desk: ReceiptService
) -> None:
    await paid(database)
    signed = await desk.get(7, receipt_id(1))
    assert signed.receipt == RECEIPT
    assert signed.signer == Account.from_key(KEY).address


@pytest.mark.parametrize("state", ["settled", "delivered"])
async def test_there_is_a_receipt_from_the_settlement_on(database: Database, desk: ReceiptService, state: str) -> None:
    await paid(database, state=state)
    assert (await desk.get(7, receipt_id(1))).receipt == RECEIPT


@given(
    st.builds(
        lambda text, number: replace(RECEIPT, resource=text, user_id=number), st.text(), st.integers(0, 2**53 - 1)
    )
)
def test_any_wallets_code_finds_the_signer_from_the_canonical_text(receipt: Any) -> None:
    signed = SIGNER.sign(receipt)
    # Python's own encoder writes text and whole numbers as RFC 8785 wants them.
    text = json.dumps(msgspec.to_builtins(receipt), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    found = Account.recover_message(encode_defunct(text=text), signature=signed.signature)
    assert found == signed.signer == SIGNER.address == signer_of(receipt, signed.signature)


async def test_the_same_receipt_is_signed_the_same(database: Database, desk: ReceiptService) -> None:
    await paid(database)
    assert await desk.get(7, receipt_id(1)) == await desk.get(7, receipt_id(1))


@pytest.mark.promise("pay.receipts")
@pytest.mark.parametrize(("user", "number"), [(8, 1), (7, 2)], ids=["another's", "nobody's"])
async def test_a_receipt_of_another_is_not_found_just_as_one_that_is_not_there(
    database: Database, desk: ReceiptService, user: int, number: int
) -> None:
    await paid(database)
    with pytest.raises(ServiceError) as caught:
        await desk.get(user, receipt_id(number))
    assert (caught.value.code, caught.value.message) == ("NOT_FOUND", f"You have no receipt {receipt_id(number)}.")


async def test_a_payment_that_is_not_settled_yet_says_so_to_its_owner_alone(
    database: Database, desk: ReceiptService
) -> None:
    await paid(database, state="settling")
    with pytest.raises(ServiceError) as caught:
        await desk.get(7, receipt_id(1))
    assert (caught.value.code, caught.value.headers) == ("PAYMENT_PENDING", {"Retry-After": "2"})
    assert caught.value.details == {"payment": receipt_id(1)}
    with pytest.raises(ServiceError, match="You have no receipt"):
        await desk.get(8, receipt_id(1))


async def test_where_nothing_was_charged_there_is_no_receipt(database: Database, desk: ReceiptService) -> None:
    await paid(database, state="failed")
    with pytest.raises(ServiceError, match="Nothing was charged") as caught:
        await desk.get(7, receipt_id(1))
    assert caught.value.code == "NOT_FOUND"


async def test_a_list_is_of_the_callers_own_and_newest_first(database: Database, desk: ReceiptService) -> None:
    await paid(database, 1)
    await paid(database, 2, settled_ms=START_MS + 1_000)
    await paid(database, 3, user_id=8)
    await paid(database, 4, state="failed")
    page = await desk.page(7, 50, None)
    assert [receipt.id for receipt in page.receipts] == [receipt_id(1), receipt_id(2)]
    assert page.next_cursor is None
    assert (await desk.page(9, 50, None)).receipts == []


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    settled=st.lists(st.integers(0, 3), max_size=12),
    later=st.lists(st.integers(4, 5), max_size=3),
    limit=st.integers(1, 5),
)
def test_pages_hold_every_receipt_once_whatever_is_bought_meanwhile(
    tmp_path_factory: pytest.TempPathFactory, settled: list[int], later: list[int], limit: int
) -> None:
    async def walk() -> None:
        async with open_database(tmp_path_factory.mktemp("pages") / "verdict.db", FakeClock()) as database:
            desk = ReceiptService(database, SIGNER, Cursors(bytes(32)))
            for number, at in enumerate(settled):
                await paid(database, number, settled_ms=START_MS + at)
            page = await desk.page(7, limit, None)
            for number, at in enumerate(later, start=len(settled)):
                await paid(database, number, settled_ms=START_MS + at)
            seen = [receipt.id for receipt in page.receipts]
            while page.next_cursor is not None:
                assert len(page.receipts) == limit
                page = await desk.page(7, limit, page.next_cursor)
                seen += [receipt.id for receipt in page.receipts]
            purchase = sorted(range(len(settled)), key=lambda number: (settled[number], number), reverse=True)
            assert seen == [receipt_id(number) for number in purchase]

    asyncio.run(walk())


async def test_anothers_cursor_is_refused(database: Database, desk: ReceiptService) -> None:
    for number in range(3):
        await paid(database, number)
    cursor = (await desk.page(7, 2, None)).next_cursor
    with pytest.raises(ServiceError) as caught:
        await desk.page(8, 2, cursor)
    assert (caught.value.code, caught.value.details) == ("BAD_REQUEST", {"parameter": "cursor"})


async def test_a_page_is_read_by_the_index_of_receipts(database: Database) -> None:
    (step,) = await database.read(f"EXPLAIN QUERY PLAN {_PAGE}", (7, 1, 1, 51))
    assert step[3].startswith("SEARCH payments USING INDEX payments_of_user (user_id=?")


async def test_an_operator_reads_every_payment_and_every_receipt(database: Database) -> None:
    await paid(database, 1, settled_ms=START_MS + 9_000)
    await paid(database, 2, user_id=8)
    await paid(database, 3, state="settling", reason="timeout")
    await paid(database, 4, state="failed", claimed_ms=START_MS - 1)

    def look(connection: Connection) -> None:
        assert [row.receipt_id for row in read_payments(connection)] == [receipt_id(n) for n in (4, 3, 2, 1)]
        assert [row.receipt_id for row in read_payments(connection, user_id=8)] == [receipt_id(2)]
        assert [row.receipt_id for row in read_payments(connection, 7, "failed")] == [receipt_id(4)]
        assert read_unsettled(connection) == [(receipt_id(3), START_MS)]
        assert [receipt.id for receipt in read_receipts(connection)] == [receipt_id(2), receipt_id(1)]
        found = find_payment_row(connection, receipt_id(3))
        assert found is not None
        assert (found.state, found.reason, found.user_id, found.transaction) == ("settling", "timeout", 7, None)
        assert find_payment_row(connection, receipt_id(9)) is None
        assert find_receipt(connection, receipt_id(3)) is None
        assert find_receipt(connection, receipt_id(2)) == replace(RECEIPT, id=receipt_id(2), user_id=8, nonce=nonce(2))

    await database.inspect(look)


def nonce(number: int) -> str:
    return f"0x{number:064x}"

"""Receipts over HTTP."""

from functools import partial

import msgspec
import pytest
from eth_account import Account

from service.errors import ServiceError
from service.payments.receipts import ReceiptSigner
from service.wire.payment import ReceiptList, SignedReceipt
from service.wire.queries import OfReceipt, ReceiptsQuery
from tests.payments.receipts import put, receipt_id
from tests.routes.conftest import RECEIPT_KEY, Table


@pytest.mark.promise("pay.receipts")
async def test_an_owner_reads_its_receipt_and_nobody_else_does(table: Table) -> None:
    owner, other = await table.sign_in(1), await table.sign_in(2)
    await table.database.write(lambda connection: put(connection, 1, user_id=owner.user_id))
    signed = await table.data(SignedReceipt, "receipts.get", owner, OfReceipt(receipt_id(1)))
    assert list(msgspec.to_builtins(signed)) == ["receipt", "signer", "signature"]
    assert ",".join(msgspec.to_builtins(signed.receipt)) == (
        "id,route,method,resource,request_hash,response_hash,price_usdc,amount,asset,network,payer,pay_to,nonce,"
        "transaction,settlement,claimed_at,settled_at,user_id,schema"
    )
    assert signed.signer == Account.from_key(RECEIPT_KEY).address == ReceiptSigner(RECEIPT_KEY).address
    with pytest.raises(ServiceError) as caught:
        await table.call("receipts.get", other, OfReceipt(receipt_id(1)))
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.promise("pay.receipts")
async def test_a_caller_lists_its_own_receipts_page_by_page(table: Table) -> None:
    owner, other = await table.sign_in(1), await table.sign_in(2)
    for number, user in enumerate((owner, owner, other), start=1):
        await table.database.write(partial(put, number=number, user_id=user.user_id))
    first = await table.data(ReceiptList, "receipts.list", owner, ReceiptsQuery(limit=1))
    second = await table.data(ReceiptList, "receipts.list", owner, ReceiptsQuery(limit=1, cursor=first.next_cursor))
    assert [receipt.id for page in (first, second) for receipt in page.receipts] == [receipt_id(2), receipt_id(1)]
    assert second.next_cursor is None


async def test_without_a_caller_the_gate_is_shut_even_where_it_is_missing(table: Table) -> None:
    for offer_id, parameters in (("receipts.get", OfReceipt(receipt_id(1))), ("receipts.list", ReceiptsQuery())):
        with pytest.raises(ServiceError) as caught:
            await table.call(offer_id, None, parameters)
        assert caught.value.code == "AUTH_REQUIRED"

"""What a caller can prove of a paid call, from outside."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from service.settings import NOBODY
from tests.fakes.asgi import Reply, ask
from tests.payments.signing import header, pay_v2, row, wallet
from tests.service.indoors import RISK, Indoors, Kept


async def pay(house: Indoors, key: str, target: str = RISK) -> Reply:
    """Pay for a call with a fresh signature."""
    payload = pay_v2(wallet(), row(pay_to=NOBODY), now_ms=house.clock.now_ms())
    return await ask(house.service.app, target, key=key, headers={"payment-signature": header(payload)})


async def receipt(house: Indoors, key: str, paid: Reply) -> Any:
    """The receipt that an answer names."""
    reply = await house.ask(f"/api/receipts/{paid.headers['x-receipt-id']}", key=key)
    assert reply.status == 200
    return reply.json


@pytest.mark.slow
@pytest.mark.promise("pay.receipts")
async def test_a_paid_call_can_be_proven_to_somebody_who_knows_only_the_manifest(kept: Kept, tmp_path: Path) -> None:
    target = "/api/cli/coin/historical/BTC?unit=d&count=30"
    async with kept.reopened(tmp_path / "data") as house:
        paid = await pay(house, kept.key, target)
        assert paid.status == 200
        signed = await receipt(house, kept.key, paid)
        manifest = (await house.ask("/api/cli/manifest")).json["data"]
    told = signed["receipt"]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    signer = Account.recover_message(encode_defunct(text=text), signature=signed["signature"])
    assert signer == signed["signer"] == manifest["receiptSigner"]
    assert told["request_hash"] == hashlib.sha256(f"GET {target}\n".encode()).hexdigest()
    assert told["response_hash"] == hashlib.sha256(paid.body).hexdigest()
    assert (told["route"], told["method"]) == ("coin.historical", "GET")
    assert told["resource"] == f"http://api.example.org{target}"
    assert (told["price_usdc"], told["amount"]) == ("0.005", "5000")
    assert (told["payer"], told["pay_to"]) == (wallet().address, manifest["payTo"])
    assert (told["network"], told["settlement"]) == (manifest["networks"][0], manifest["settlement"])


@pytest.mark.promise("pay.receipts")
async def test_receipts_are_their_owners_alone_and_reading_them_costs_nothing(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        other = await house.make_key()
        paid = [await pay(house, kept.key) for _ in range(2)]
        ids = [reply.headers["x-receipt-id"] for reply in paid]
        listed = (await house.ask("/api/receipts", key=kept.key)).json
        assert sorted(row["id"] for row in listed["receipts"]) == sorted(ids)
        assert listed["next_cursor"] is None
        for _ in range(12):
            refused = await house.ask(f"/api/receipts/{ids[0]}", key=other)
            assert (refused.status, refused.code) == (404, "NOT_FOUND")
            assert (await house.ask("/api/receipts", key=other)).json == {"receipts": [], "next_cursor": None}
        assert (await house.ask(RISK, key=other)).status == 200
        for target in ("/api/receipts", f"/api/receipts/{ids[0]}"):
            assert (await house.ask(target)).status == 403
            assert (await house.ask(target, "HEAD", key=kept.key)).status == 200
        for wrong in ("/api/receipts/rcp_x", "/api/receipts?limit=0", "/api/receipts?cursor=x", "/api/receipts?a=1"):
            assert (await house.ask(wrong, key=kept.key)).status == 400


async def test_a_receipt_outlives_the_service_that_wrote_it(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        paid = await pay(house, kept.key)
        before = await receipt(house, kept.key, paid)
        async with kept.beside(house) as again:
            assert await receipt(again, kept.key, paid) == before

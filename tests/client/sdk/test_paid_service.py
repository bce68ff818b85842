"""The public client against a running service that sells its answers without an account."""

import asyncio
import json
from pathlib import Path

import pytest

from service.client import AsyncVerdict, Verdict, Wallet
from tests.fakes.serving import serving, wait_until

pytestmark = [pytest.mark.gate, pytest.mark.process]


def test_answers_are_bought_without_an_account_and_their_receipts_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    wallet = Wallet(b"\x5a" * 32)

    async def buy(url: str) -> str | None:
        async with AsyncVerdict(url, wallet=wallet) as client:
            return (await client.question("price of ETH")).receipt_id

    with serving(tmp_path / "data", anonymous="pay") as service:
        wait_until(lambda: service.ask("/readyz")[0] == 200)
        url = f"http://127.0.0.1:{service.port}"
        with Verdict(url, wallet=wallet) as client:
            bought = {client.coin_risk("BTC").receipt_id, client.coin_risk("BTC").receipt_id, asyncio.run(buy(url))}
    files = (tmp_path / "state" / "verdict" / "paying" / "receipts").glob("*.json")
    receipts = [json.loads(file.read_text()) for file in files]
    assert {receipt["id"] for receipt in receipts} == bought
    assert [receipt["faults"] for receipt in receipts] == [[], [], []]

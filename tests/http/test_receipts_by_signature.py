"""A payment without an account: its receipt is read with the payer's signature, and with nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from eth_account.messages import encode_defunct

from service.clock import SECOND_MS
from service.payments.facilitators.port import Unknown
from tests.fakes.asgi import Reply, ask
from tests.http.stage import RISK, Stage, staged
from tests.http.test_pay import signed
from tests.payments.signing import wallet

WINDOW_S = 60
HIGH_S = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path, anonymous="pay") as stage:
        yield stage


async def bought(stage: Stage, key: str | None = None) -> str:
    """Pay for a call: the receipt's id."""
    reply = await ask(stage.app, RISK, key=key, headers=signed(stage))
    assert reply.status == 200
    return str(reply.headers["x-receipt-id"])


def proof(stage: Stage, receipt: str, *, payer: int = 1, off_s: int = 0) -> dict[str, str]:
    """What a payer sends to read a receipt: signed by eth_account, which shares no code with ours."""
    at_s = stage.clock.now_ms() // SECOND_MS + off_s
    text = encode_defunct(text=f"Read receipt {receipt}\nTime: {at_s}")
    signature: Any = wallet(payer).sign_message(text).signature
    return {"x-payer-time": str(at_s), "x-payer-signature": "0x" + signature.hex().removeprefix("0x")}


async def read(stage: Stage, receipt: str, headers: dict[str, str], key: str | None = None) -> Reply:
    return await ask(stage.app, f"/api/receipts/{receipt}", key=key, headers=headers)


@pytest.mark.promise("pay.keyless-receipts")
async def test_the_payer_reads_the_receipt_of_its_payment(stage: Stage) -> None:
    receipt = await bought(stage)
    reply = await read(stage, receipt, proof(stage, receipt))
    assert reply.status == 200
    told = reply.json["receipt"]
    assert (told["id"], told["payer"], told["user_id"]) == (receipt, wallet().address, 0)
    upper = proof(stage, receipt)
    upper["x-payer-signature"] = "0x" + upper["x-payer-signature"][2:].upper()
    assert (await read(stage, receipt, upper)).status == 200


@pytest.mark.promise("pay.keyless-receipts")
async def test_receipts_stay_readable_where_paying_without_an_account_is_switched_off(tmp_path: Path) -> None:
    async with staged(tmp_path, anonymous="pay") as stage:
        receipt = await bought(stage)
    async with staged(tmp_path) as stage:
        assert (await read(stage, receipt, proof(stage, receipt))).status == 200


@pytest.mark.promise("pay.keyless-receipts")
async def test_the_wrong_signer_gets_404(stage: Stage) -> None:
    receipt = await bought(stage)
    reply = await read(stage, receipt, proof(stage, receipt, payer=2))
    assert (reply.status, reply.json["error"]["code"]) == (404, "NOT_FOUND")
    unknown = "rcp_" + "0" * 22
    missing = await read(stage, unknown, proof(stage, unknown))
    assert missing.json["error"]["message"].replace(unknown, receipt) == reply.json["error"]["message"]


async def test_a_signature_for_one_receipt_reads_no_other(stage: Stage) -> None:
    first, second = await bought(stage), await bought(stage)
    assert (await read(stage, second, proof(stage, first))).status == 404


async def test_a_signature_that_belongs_to_no_key_is_404(stage: Stage) -> None:
    receipt = await bought(stage)
    good = proof(stage, receipt)
    s = HIGH_S - int(good["x-payer-signature"][66:130], 16)
    for signature in ("0x" + "00" * 65, f"{good['x-payer-signature'][:66]}{s:064x}1b"):
        assert (await read(stage, receipt, good | {"x-payer-signature": signature})).status == 404


@pytest.mark.promise("pay.keyless-receipts")
async def test_the_signature_is_good_for_a_minute_before_and_after_its_time(stage: Stage) -> None:
    receipt = await bought(stage)
    for off_s in (-WINDOW_S, WINDOW_S):
        assert (await read(stage, receipt, proof(stage, receipt, off_s=off_s))).status == 200
    for off_s in (-WINDOW_S - 1, WINDOW_S + 1):
        reply = await read(stage, receipt, proof(stage, receipt, off_s=off_s))
        assert (reply.status, reply.json["error"]["code"]) == (401, "AUTH_INVALID")
        assert str(stage.clock.now_ms() // SECOND_MS) in reply.json["error"]["message"]
    late = proof(stage, receipt) | {"x-payer-time": str(stage.clock.now_ms() // SECOND_MS + 1)}
    assert (await read(stage, receipt, late)).status == 404, "the time is signed too"


@pytest.mark.slow
@pytest.mark.promise("pay.keyless-receipts")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-payer-time", None),
        ("x-payer-time", "soon"),
        ("x-payer-time", "-1"),
        ("x-payer-time", "1.5"),
        ("x-payer-time", "9" * 13),
        ("x-payer-signature", None),
        ("x-payer-signature", "0x12"),
        ("x-payer-signature", "zz" + "11" * 65),
    ],
)
async def test_headers_that_cannot_be_read_are_400_and_named(stage: Stage, name: str, value: str | None) -> None:
    receipt = await bought(stage)
    headers = proof(stage, receipt)
    del headers[name]
    reply = await read(stage, receipt, headers if value is None else headers | {name: value})
    assert reply.status == 400
    assert reply.json["error"]["details"]["parameter"].lower() == name


async def test_without_token_and_signature_a_receipt_is_403(stage: Stage) -> None:
    reply = await read(stage, await bought(stage), {})
    assert (reply.status, reply.json["error"]["code"]) == (403, "AUTH_REQUIRED")


@pytest.mark.promise("pay.receipts", "pay.keyless-receipts")
async def test_an_account_and_a_payer_without_one_never_read_each_others_receipts(stage: Stage) -> None:
    key = await stage.key()
    of_account, of_payer = await bought(stage, key), await bought(stage)
    assert (await read(stage, of_account, {}, key)).status == 200
    assert (await read(stage, of_account, proof(stage, of_account))).status == 404
    assert (await read(stage, of_payer, proof(stage, of_payer), key)).status == 404


@pytest.mark.promise("pay.keyless-receipts")
async def test_a_receipt_that_is_not_settled_yet_is_503_to_its_payer(stage: Stage) -> None:
    stage.facilitator.outcomes += [Unknown("timeout")]
    pending = await ask(stage.app, RISK, headers=signed(stage))
    receipt = pending.json["error"]["details"]["payment"]
    reply = await read(stage, receipt, proof(stage, receipt))
    assert (reply.status, reply.json["error"]["code"]) == (503, "PAYMENT_PENDING")

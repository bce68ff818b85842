"""What callers see of a facilitator that fails, over the whole service.

Nothing is served unpaid, nothing is credited on a doubtful answer, and nobody is asked to sign again while the outcome
is unknown. The chain ends every doubt: with what was bought, for the one price, or with a payment that has failed.
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast
from unittest.mock import patch

import pytest

from service.payments.facilitators import remote
from tests.fakes.asgi import Reply
from tests.fakes.facilitator import Answer, says
from tests.payments.signing import PRICE, SEPOLIA
from tests.service.indoors import Kept
from tests.service.selling import Selling, outcome_of, payer_of, selling
from tests.upstream import faults

PATIENCE_S = 60.0


TRANSACTION: Final = "0x" + "ab" * 32
GOOD: Final = {"success": True, "transaction": TRANSACTION, "network": SEPOLIA}
PENDING: Final = {**GOOD, "success": False, "errorReason": "settlement_pending"}
HTML: Final = b"<html><body><h1>502 Bad Gateway</h1></body></html>"

FAULTS: Final[Mapping[str, Answer]] = {
    "hangs": faults.hang,
    "drops the connection": faults.reset,
    "HTML 502": faults.answer(502, HTML, Content_Type="text/html"),
    "HTML at 200": faults.html,
    "400 with JSON": says({"error": "bad request"}, 400),
    "503 with the body of a success": says(GOOD, 503),
    "not JSON": says(b"settled"),
    "truncated": faults.cut_short,
    "truncated JSON": says(b'{"success":true,"transaction":"0x'),
    "empty": says(b""),
    "a list": says([GOOD]),
    'success "true"': says(GOOD | {"success": "true"}),
    "success 1": says(GOOD | {"success": 1}),
    "no transaction": says(GOOD | {"transaction": ""}),
    "transaction null": says(GOOD | {"transaction": None}),
    "other network": says(GOOD | {"network": "eip155:8453"}),
    "other payer": says(GOOD | {"payer": "0x" + "11" * 20}),
    "a redirect": faults.redirect("http://127.0.0.1:9/settle"),
    "20 MB": faults.answer(200, b'{"success":true}' + b" " * 20_000_000),
    "endless": faults.endless,
    "pending at 200": says(PENDING),
    "pending at 500": says(PENDING, 500),
    "invalid_transaction_state": says({**PENDING, "errorReason": "invalid_transaction_state"}),
    "transaction_failed": says({"success": False, "errorReason": "transaction_failed", "network": SEPOLIA}),
    "nonce used": says({"success": False, "errorReason": "invalid_exact_evm_nonce_already_used"}),
    "simulation failed": says({"success": False, "errorReason": "invalid_exact_evm_transaction_simulation_failed"}),
    "insufficient funds": says({"success": False, "errorReason": "insufficient_funds", "network": SEPOLIA}),
}


@pytest.fixture
def _impatience() -> Iterator[None]:
    """Wait for a facilitator that hangs only as long as another one takes on a busy machine."""
    with patch.object(remote, "DEADLINE_S", 3.0):
        yield


def check_pending(reply: Reply) -> None:
    """The one answer that makes no client sign again."""
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
    assert reply.headers.keys().isdisjoint({"payment-required", "payment-response", "x-payment-response"})
    assert reply.json["error"]["details"]["payment"].startswith("rcp_")
    assert "accepts" not in reply.json


async def until_nothing_is_open(shop: Selling) -> None:
    """Let time pass until the outcome of every payment is known."""
    async with asyncio.timeout(PATIENCE_S):
        while "settling" in dict(await shop.states()):
            await shop.house.clock.advance(20)


@pytest.mark.slow
@pytest.mark.promise("pay.unknown-503", "errors.payment-pending", "pay.replay", "pay.remote", "pay.chain-endpoint")
@pytest.mark.usefixtures("_impatience")
async def test_whatever_a_facilitator_does_wrong_every_payment_ends_as_the_chain_says(
    kept: Kept, tmp_path: Path
) -> None:
    assert len(FAULTS) == 27
    async with selling(kept, tmp_path) as shop:
        beside = shop.facilitator
        unmoved: list[dict[str, str]] = []
        retried: list[dict[str, str]] = []
        left: list[dict[str, str]] = []
        for fault in FAULTS.values():
            beside.node.down = True
            beside.before = fault
            unmoved.append(await shop.signed(payer=1))
            check_pending(await shop.ask(payment=unmoved[-1]))
            beside.before, beside.after = None, fault
            for payments in (retried, left):
                payments.append(await shop.signed(payer=2))
                check_pending(await shop.ask(payment=payments[-1]))
            check_pending(await shop.ask(payment=retried[-1]))
            beside.node.down = False
            assert (await shop.ask(payment=retried[-1])).status == 200
            beside.after = None
        assert len(beside.moved) == 2 * len(FAULTS)
        beside.before = faults.reset
        await until_nothing_is_open(shop)
        count = len(FAULTS)
        assert await shop.books() == [("delivered", count), ("failed", count), ("settled", count)]
        for payment in unmoved:
            refused = await shop.ask(payment=payment)
            assert (refused.status, refused.json["error"]["message"].endswith("Nothing was charged.")) == (402, True)
        assert [(await shop.ask(payment=payment)).status for payment in left] == [200] * count
        assert len(beside.moved) == 2 * count


@pytest.mark.promise("pay.chain-endpoint")
async def test_an_answer_that_is_lost_is_found_on_the_chain_at_once(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        shop.facilitator.after = faults.reset
        payment = await shop.signed()
        first = await shop.ask(payment=payment)
        assert (first.status, transaction_of(first)) == (200, shop.facilitator.moved[0].transaction)
        assert (await shop.ask(payment=payment)).headers["x-receipt-id"] == first.headers["x-receipt-id"]
        assert await shop.books() == [("delivered", 1)]


async def stopped(shop: Selling) -> str | None:
    """The payment for which `/readyz` says that payments are stopped."""
    payments = (await shop.ask("/readyz")).json["payments"]
    assert payments["ready"] == ("payment" not in payments)
    return cast("str | None", payments.get("payment"))


def transaction_of(reply: Reply) -> str:
    transaction: str = outcome_of(reply)["transaction"]
    return transaction


@pytest.mark.promise("errors.payment-refused", "pay.verify-first")
async def test_a_payer_without_money_is_told_so_before_the_work_and_may_sign_again(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        payer = payer_of(payment)
        shop.facilitator.balances[payer] = PRICE - 1
        for _ in range(2):
            refused = await shop.ask(payment=payment)
            assert (refused.status, refused.json["error"]["details"]) == (402, {"reason": "insufficient_funds"})
            assert refused.json["accepts"]
        assert (shop.facilitator.verified, shop.facilitator.asked) == (2, [])
        shop.facilitator.balances[payer] = PRICE
        assert (await shop.ask(payment=await shop.signed())).status == 200
        assert await shop.books() == [("delivered", 1)]


@pytest.mark.slow
@pytest.mark.promise("pay.verify-first")
@pytest.mark.usefixtures("_impatience")
@pytest.mark.parametrize("name", ["drops the connection", "HTML 502", "not JSON", "empty", "a redirect", "hangs"])
async def test_a_facilitator_that_cannot_verify_is_503_and_nothing_is_claimed(
    kept: Kept, tmp_path: Path, name: str
) -> None:
    async with selling(kept, tmp_path) as shop:
        shop.facilitator.verifying = FAULTS[name]
        payment = await shop.signed()
        reply = await shop.ask(payment=payment)
        assert (reply.status, reply.code) == (503, "UNAVAILABLE")
        assert "payment-required" not in reply.headers
        assert await shop.books() == []
        assert shop.facilitator.asked == []
        shop.facilitator.verifying = None
        assert (await shop.ask(payment=payment)).status == 200


@pytest.mark.slow
@pytest.mark.promise("pay.reports-checked", "pay.false-report-stops")
async def test_a_facilitator_that_lies_about_success_is_found_out_within_a_minute_and_stopped(
    kept: Kept, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with selling(kept, tmp_path) as shop:
        honest = await shop.signed(payer=2)
        assert (await shop.ask(payment=honest)).status == 200
        shop.facilitator.before = says(GOOD)
        served = await shop.ask(payment=await shop.signed())
        assert served.status == 200
        async with asyncio.timeout(PATIENCE_S):
            while "failed" not in dict(await shop.states()) or not await stopped(shop):
                await shop.house.clock.advance(1)
        assert dict(await shop.states())["failed"] == 1
        assert "A facilitator reported a settlement that is not on the chain." in caplog.text
        receipt = await shop.ask(f"/api/receipts/{served.headers['x-receipt-id']}")
        assert receipt.status == 404
        shop.facilitator.before = None
        refused = await shop.ask(payment=await shop.signed())
        assert (refused.status, refused.code) == (503, "UNAVAILABLE")
        assert "Payments are stopped" in refused.json["error"]["message"]
        assert (await shop.ask(payment=honest)).status == 200, "what was bought is still given"
        assert (await stopped(shop)) == served.headers["x-receipt-id"]
        assert (await shop.books())[0] == ("delivered", 1)

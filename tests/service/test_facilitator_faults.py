"""What callers see of a facilitator that fails (robustness.md, "Facilitator"), over the whole service.

Nothing is served unpaid, nothing is credited on a doubtful answer, and nobody is asked to sign again while the outcome
is unknown: the answer is 503 until the facilitator says more, and then what was bought, for the one price.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pytest

from service.payments.facilitators import remote
from tests.fakes.asgi import Reply
from tests.fakes.facilitator import Answer, says
from tests.payments.signing import PRICE, SEPOLIA
from tests.service.indoors import Kept
from tests.service.selling import Selling, outcome_of, payer_of, selling
from tests.upstream import faults

pytestmark = pytest.mark.unmeasured

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
}


@pytest.fixture(autouse=True)
def _impatience() -> Iterator[None]:
    with patch.object(remote, "DEADLINE_S", 0.2):
        yield


def check_pending(reply: Reply) -> None:
    """The one answer that makes no client sign again."""
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
    assert reply.headers.keys().isdisjoint({"payment-required", "payment-response", "x-payment-response"})
    assert reply.json["error"]["details"]["payment"].startswith("rcp_")
    assert "accepts" not in reply.json


async def check_fault(shop: Selling, name: str) -> None:
    """Meet a fault before and after the money has moved; then let the same payments go on."""
    moved = len(shop.facilitator.moved)
    shop.facilitator.before = FAULTS[name]
    unmoved, lost = await shop.signed(payer=1), await shop.signed(payer=2)
    check_pending(await shop.ask(payment=unmoved))
    assert len(shop.facilitator.moved) == moved
    shop.facilitator.before, shop.facilitator.after = None, FAULTS[name]
    check_pending(await shop.ask(payment=lost))
    assert len(shop.facilitator.moved) == moved + 1
    check_pending(await shop.ask(payment=lost))
    shop.facilitator.after = None
    bought = [await shop.ask(payment=payment) for payment in (unmoved, lost, unmoved, lost)]
    assert [reply.status for reply in bought] == [200] * 4
    assert [reply.headers["x-receipt-id"] for reply in bought[:2]] == [
        reply.headers["x-receipt-id"] for reply in bought[2:]
    ]
    assert {move.transaction for move in shop.facilitator.moved} >= {transaction_of(reply) for reply in bought}
    assert len(shop.facilitator.moved) == moved + 2


def transaction_of(reply: Reply) -> str:
    transaction: str = outcome_of(reply)["transaction"]
    return transaction


@pytest.mark.promise("pay.unknown-503", "errors.payment-pending", "pay.replay", "pay.remote")
async def test_whatever_a_facilitator_does_wrong_nothing_is_served_unpaid_credited_on_doubt_or_signed_again(
    kept: Kept, tmp_path: Path
) -> None:
    async with selling(kept, tmp_path) as shop:
        for name in FAULTS:
            await check_fault(shop, name)
        assert await shop.books() == [("delivered", 2 * len(FAULTS))]
        assert shop.facilitator.verified == 0


@pytest.mark.promise("pay.unknown-503")
async def test_a_facilitator_that_refuses_what_it_has_settled_itself_never_has_its_payer_sign_again(
    kept: Kept, tmp_path: Path
) -> None:
    async with selling(kept, tmp_path) as shop:
        shop.facilitator.repeats = "refused"
        shop.facilitator.after = faults.reset
        payment = await shop.signed()
        check_pending(await shop.ask(payment=payment))
        shop.facilitator.after = None
        check_pending(await shop.ask(payment=payment))
        shop.facilitator.balances = dict.fromkeys((move.payer for move in shop.facilitator.moved), 0)
        check_pending(await shop.ask(payment=payment))
        await shop.house.clock.advance(600)
        check_pending(await shop.ask(payment=payment))
        assert len(shop.facilitator.moved) == 1
        shop.facilitator.repeats = "replayed"
        assert (await shop.ask(payment=payment)).status == 200
        assert await shop.books() == [("delivered", 1)]


@pytest.mark.promise("errors.payment-refused")
async def test_a_payer_without_money_is_told_so_and_may_sign_again(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        payer = payer_of(payment)
        shop.facilitator.balances[payer] = PRICE - 1
        for _ in range(2):
            refused = await shop.ask(payment=payment)
            assert (refused.status, refused.json["error"]["details"]) == (402, {"reason": "insufficient_funds"})
            assert refused.json["accepts"]
            assert not outcome_of(refused)["success"]
        assert len(shop.facilitator.asked) == 1
        shop.facilitator.balances[payer] = PRICE
        assert (await shop.ask(payment=await shop.signed())).status == 200
        assert await shop.books() == [("delivered", 1), ("failed", 1)]

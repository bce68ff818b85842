"""The checks of `x402-conformance` that a resource server is put through with a facilitator at fault, by their names.

R3 to R9 are `test_facilitator_faults.py`; R14, a crash while money moves, is `test_payment_kill.py`; R12 and R13 are
about an extension that is not offered here, but that one payment is one settlement at one process and at two is held
by `test_payment_sale.py`. The checks that only look (P1 to P7) are run by the tool itself.
"""

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.asgi import Reply
from tests.fakes.facilitator import PATIENCE_S, held, says
from tests.payments.signing import PAYEE, PRICE, SEPOLIA, header, pay_v2, row, wallet
from tests.service.indoors import RISK, Kept, until
from tests.service.selling import Selling, outcome_of, payer_of, read, selling
from tests.upstream import faults

WALKFORWARD = "/api/cli/walkforward"
HISTORICAL = "/api/cli/coin/historical/BTC"
ALTERED: Sequence[dict[str, Any]] = (
    {"payTo": "0x" + "33" * 20},
    {"asset": "0x" + "33" * 20},
    {"amount": "1"},
    {"network": "eip155:8453"},
    {"extra": {"name": "USD Coin", "version": "2"}},
)
PATHS = (
    "/api/cli/coin/risk/BTC%2F",
    "/api/cli/coin/risk/%2e%2e%2frisk%2fBTC",
    "/api/cli/coin/risk/..%2Frisk%2FBTC",
    "/api/cli/coin/./risk/BTC",
    "/api/cli//coin/risk/BTC",
    "/api/cli/coin/risk/BTC/",
    "/api%2Fcli/coin/risk/BTC",
    "/api/cli/coin/risk/BTC%00",
    "/api/cli/coin/risk/BTC;a=b",
    "/api/cli/coin/x/../risk/BTC",
)
MALFORMED = ("!!not-base64!!", "bm90IGpzb24=", "W10=", "bnVsbA==", "NQ==")
"""Not base64, not JSON, a list, null, a number."""

OWN = {"date", "x-request-id"}
"""Header fields that differ from answer to answer."""


def data_of(reply: Reply) -> Any:
    assert reply.status == 200, reply.body
    return reply.json["data"]


def is_unasked(shop: Selling) -> bool:
    return (shop.facilitator.asked, shop.facilitator.moved) == ([], [])


async def test_r0_an_unpaid_request_is_answered_402_with_an_offer(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        due = await shop.ask(key=await shop.spent_key())
        assert (due.status, due.headers["cache-control"]) == (402, "private, no-store")
        offer = read({"payment-required": due.headers["payment-required"]})
        assert offer["accepts"] == [row()]
        assert is_unasked(shop)


@pytest.mark.promise("pay.remote", "pay.response-headers")
async def test_r1_r10_a_settled_payment_is_served_with_its_outcome(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        reply = await shop.ask(payment=payment, key=await shop.spent_key())
        (moved,) = shop.facilitator.moved
        assert data_of(reply)["symbol"] == "BTC"
        assert outcome_of(reply) == {
            "success": True,
            "transaction": moved.transaction,
            "network": SEPOLIA,
            "payer": payer_of(payment),
        }
        assert (moved.pay_to, moved.value) == (PAYEE, PRICE)
        assert await shop.books() == [("delivered", 1)]


@pytest.mark.promise("pay.replay")
async def test_r2_r20b_the_same_payment_again_is_the_same_answer_and_no_second_settlement(
    kept: Kept, tmp_path: Path
) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        replies = [await shop.ask(payment=payment) for _ in range(3)]
        assert {(reply.status, reply.body) for reply in replies} == {(200, replies[0].body)}
        assert (len(shop.facilitator.asked), len(shop.facilitator.moved)) == (1, 1)


async def test_r11a_a_cheap_routes_payment_does_not_buy_a_dear_routes_answer(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        refused = await shop.ask(WALKFORWARD, payment=await shop.signed(RISK))
        assert refused.status == 402
        reason = refused.json["error"]["details"]["reason"]
        assert reason == "invalid_payment_requirements"
        assert is_unasked(shop)


async def test_r11b_altered_terms_are_refused_before_anybody_is_asked(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        for altered in ALTERED:
            payment = pay_v2(wallet(), row() | altered, now_ms=shop.house.clock.now_ms())
            refused = await shop.ask(payment={"PAYMENT-SIGNATURE": header(payment)})
            assert (refused.status, bool(refused.json["error"]["details"]["reason"])) == (402, True), altered
        assert is_unasked(shop)


@pytest.mark.promise("errors.payment-reused")
async def test_r11d_a_payment_for_one_query_does_not_buy_another(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed(f"{HISTORICAL}?count=24")
        assert (await shop.ask(f"{HISTORICAL}?count=24", payment=payment)).status == 200
        other = await shop.ask(f"{HISTORICAL}?count=25", payment=payment)
        assert (other.status, other.code) == (409, "PAYMENT_REUSED")
        assert len(shop.facilitator.moved) == 1


async def test_r11e_no_way_of_writing_a_path_gets_round_the_price(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        key = await shop.spent_key()
        statuses = {path: (await shop.ask(path, key=key)).status for path in PATHS}
        assert set(statuses.values()) <= {400, 402, 404}, statuses
        assert is_unasked(shop)


async def test_r11f_a_receipt_names_what_was_asked_for_and_not_what_the_payer_wrote(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payload = read(await shop.signed())
        payload["resource"]["url"] = "https://elsewhere.example/api/cli/walkforward"
        reply = await shop.ask(payment={"PAYMENT-SIGNATURE": header(payload)})
        assert reply.status == 200
        (asked,) = shop.facilitator.asked
        assert asked["paymentPayload"]["resource"]["url"].endswith(RISK)
        receipt = await shop.ask(f"/api/receipts/{reply.headers['x-receipt-id']}")
        assert receipt.json["receipt"]["resource"].endswith(RISK)


@pytest.mark.promise("pay.failed-run-free")
async def test_r15_a_request_that_fails_is_not_settled(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        for target, status in {"/api/cli/coin/risk/NOWHERE": 404, f"{RISK}?unknown=1": 400}.items():
            failed = await shop.ask(target, payment=payment)
            assert failed.status == status
            assert failed.headers.keys().isdisjoint({"payment-response", "x-payment-response"})
        assert is_unasked(shop)
        assert (await shop.ask(payment=payment)).status == 200


async def test_r16_a_paid_head_is_not_settled(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        reply = await shop.ask(method="HEAD", payment=payment)
        assert (reply.status, reply.body) == (200, b"")
        assert reply.headers.keys().isdisjoint({"payment-response", "x-payment-response"})
        assert is_unasked(shop)
        assert (await shop.ask(payment=payment)).status == 200


async def test_r16a_an_unpaid_head_shows_the_offer_of_get(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        key = await shop.spent_key()
        get, head = [await shop.ask(method=method, key=key) for method in ("GET", "HEAD")]
        assert (get.status, head.status, head.body) == (402, 402, b"")
        assert head.headers["payment-required"] == get.headers["payment-required"]


async def test_r17_r22_a_paid_answer_is_the_routes_own_and_for_no_cache(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        free, paid = await shop.ask(), await shop.ask(payment=await shop.signed())
        assert data_of(free) == data_of(paid)
        assert free.headers["cache-control"] == paid.headers["cache-control"] == "private, no-store"
        added = paid.headers.keys() - free.headers.keys()
        assert added == {"payment-response", "x-payment-response", "x-receipt-id"}
        same = free.headers.keys() & paid.headers.keys() - OWN - {"ratelimit"}
        assert {name: free.headers[name] for name in same} == {name: paid.headers[name] for name in same}


@pytest.mark.promise("pay.unknown-503")
async def test_r18_a_pending_settlement_is_named_and_served_once_it_is_final(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        transaction = "0x" + "cd" * 32
        pending = {"success": False, "errorReason": "settlement_pending", "transaction": transaction}
        shop.facilitator.before = says(pending | {"network": SEPOLIA})
        waiting = [await shop.ask(payment=payment) for _ in range(2)]
        assert {(reply.status, reply.code) for reply in waiting} == {(503, "PAYMENT_PENDING")}
        named = [reply.json["error"]["details"] for reply in waiting]
        assert [each["transaction"] for each in named] == [transaction] * 2
        shop.facilitator.before = says({"success": True, "transaction": transaction, "network": SEPOLIA})
        final = [await shop.ask(payment=payment) for _ in range(2)]
        assert [outcome_of(reply)["transaction"] for reply in final] == [transaction] * 2
        assert len(shop.facilitator.asked) == 3
        assert {each["payment"] for each in named} == {reply.headers["x-receipt-id"] for reply in final}


@pytest.mark.slow
async def test_r18_a_settlement_nobody_answered_is_finished_without_the_payer(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        payment = await shop.signed()
        shop.facilitator.after = faults.reset
        shop.facilitator.node.down = True
        assert (await shop.ask(payment=payment)).code == "PAYMENT_PENDING"
        shop.facilitator.after = None
        shop.facilitator.node.down = False
        for _ in range(30):
            await shop.house.pass_time(1, 1)
        assert await shop.books() == [("settled", 1)]
        assert (await shop.ask(payment=payment)).status == 200
        assert len(shop.facilitator.moved) == 1


async def test_r23_a_payer_that_leaves_while_it_is_settled_pays_once_and_finds_its_answer(
    kept: Kept, tmp_path: Path
) -> None:
    async with selling(kept, tmp_path) as shop:
        payment, gate = await shop.signed(), asyncio.Event()
        shop.facilitator.before = held(gate)
        leaving = asyncio.ensure_future(shop.ask(payment=payment))
        await until(lambda: bool(shop.facilitator.asked))
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        gate.set()
        asking = asyncio.ensure_future(shop.ask(payment=payment))
        async with asyncio.timeout(PATIENCE_S):
            while not asking.done():  # it waits for the first request's settlement
                await shop.house.pass_time(0.05, 0.05)
        assert (await asking).status == 200
        assert (len(shop.facilitator.asked), len(shop.facilitator.moved)) == (1, 1)
        assert await shop.books() == [("delivered", 1)]


async def test_r24_a_header_that_is_no_payment_is_a_structured_error(kept: Kept, tmp_path: Path) -> None:
    async with selling(kept, tmp_path) as shop:
        for name, value in product(("PAYMENT-SIGNATURE", "X-PAYMENT"), MALFORMED):
            reply = await shop.ask(payment={name: value})
            assert (reply.status, reply.code, bool(reply.json["error"]["message"])) == (400, "BAD_REQUEST", True)
        assert is_unasked(shop)

"""Paying without an account, where `VERDICT_ANONYMOUS=pay`: a payment is all that a priced route wants."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.payments.audit import audit_payments
from service.payments.facilitators.port import SettlementRefused, Unknown
from tests.fakes.asgi import Reply, ask
from tests.fakes.engine import PROSE
from tests.http.stage import ASK, RISK, SLOW, STREAM, TIER, Stage, staged
from tests.http.test_pay import outcome, paid_for, signed, states
from tests.http.test_pay_question import DEAR, JSON, PATH, question
from tests.payments.signing import answer, wallet


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path, anonymous="pay") as stage:
        yield stage


async def buy(stage: Stage, payment: Mapping[str, str], target: str = RISK) -> Reply:
    return await ask(stage.app, target, headers=payment)


async def put(stage: Stage, body: bytes, **headers: str) -> Reply:
    """Ask a question without a token."""
    return await ask(stage.app, PATH, "POST", headers={**JSON, **headers}, body=body)


async def accounts(stage: Stage) -> list[tuple[int, int]]:
    """Users, and those of them who have used questions."""
    return await stage.db.read("SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM quota)")


# What is asked for.


@pytest.mark.promise("pay.keyless")
@pytest.mark.parametrize("path", [RISK, SLOW, STREAM, TIER])
async def test_by_default_a_call_without_a_token_is_403(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        for headers in ({}, signed(stage)):
            reply = await ask(stage.app, path, headers=headers)
            assert (reply.status, reply.json["error"]["code"]) == (403, "AUTH_REQUIRED")


@pytest.mark.promise("pay.keyless")
@pytest.mark.parametrize("path", [RISK, SLOW])
@pytest.mark.parametrize("version", [1, 2])
async def test_a_priced_route_without_a_token_is_402_and_its_challenge_buys_the_answer(
    stage: Stage, path: str, version: Any
) -> None:
    due = await ask(stage.app, path)
    assert due.status == 402
    assert due.json["error"]["code"] == "PAYMENT_REQUIRED"
    assert "verdict login" in due.json["error"]["message"]
    assert due.json["accepts"][0]["maxAmountRequired"] == "5000"
    assert [way["method"] for way in due.json["gate"]["unlock"]] == ["x402", "login"]
    quota = {"used": 0, "limit": 0, "remaining": 0, "period": "lifetime", "wall": "grant"}
    assert due.json["gate"]["quota"] == quota
    assert "ratelimit" not in due.headers
    assert stage.desk.calls == 0
    payment = answer(wallet(), due.headers["payment-required"], version=version, now_ms=stage.clock.now_ms())
    reply = await buy(stage, payment, path)
    assert (reply.status, reply.json["data"]) == (200, {"symbol": "BTC"})
    assert outcome(reply)["payer"] == wallet().address.lower()


@pytest.mark.promise("pay.keyless-metering")
async def test_a_payment_without_an_account_makes_no_user_and_moves_no_counter(stage: Stage) -> None:
    key = await stage.key()
    before = await accounts(stage)
    for _ in range(2):
        assert (await buy(stage, signed(stage))).status == 200
    assert await accounts(stage) == before == [(1, 0)]
    assert await paid_for(stage) == [("coin.risk", 2)]
    assert await stage.db.read("SELECT DISTINCT user_id FROM payments") == [(0,)]
    assert await stage.meter.verify() == []
    assert await stage.db.inspect(audit_payments) == []
    assert (await ask(stage.app, RISK, key=key)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("pay.keyless")
async def test_a_token_that_is_not_good_is_401_with_a_payment_and_without(stage: Stage) -> None:
    for payment in ({}, signed(stage)):
        reply = await ask(stage.app, RISK, key="verdict_sk_nonsense", headers=payment)
        assert (reply.status, reply.json["error"]["code"]) == (401, "AUTH_INVALID")
    assert await states(stage) == []


@pytest.mark.promise("pay.keyless")
@pytest.mark.parametrize("path", [STREAM, "/api/cli/watch/prices", TIER, "/api/keys"])
async def test_what_cannot_be_paid_for_stays_403(stage: Stage, path: str) -> None:
    for payment in ({}, signed(stage)):
        reply = await ask(stage.app, path, headers=payment)
        assert (reply.status, reply.json["error"]["code"]) == (403, "AUTH_REQUIRED")


async def test_parameters_are_checked_before_payment(stage: Stage) -> None:
    for payment in ({}, signed(stage)):
        reply = await ask(stage.app, f"{RISK}?more=1", headers=payment)
        assert (reply.status, reply.json["error"]["code"]) == (400, "BAD_REQUEST")


async def test_head_is_the_402_of_get_without_its_body(stage: Stage) -> None:
    for payment in ({}, signed(stage)):
        reply = await ask(stage.app, RISK, "HEAD", headers=payment)
        assert (reply.status, reply.body) == (402, b"")
        assert "payment-required" in reply.headers


async def test_calls_without_a_token_are_limited_by_network(tmp_path: Path) -> None:
    async with staged(tmp_path, anonymous="pay", rate_burst=2, rate_per_minute=1) as stage:
        assert [(await ask(stage.app, RISK)).status for _ in range(3)] == [402, 402, 429]
        assert (await ask(stage.app, RISK, headers=signed(stage))).status == 429


async def test_a_route_with_a_body_is_sold_without_a_token(stage: Stage) -> None:
    body = b'{"text":"?"}'
    assert (await ask(stage.app, ASK, "POST", headers=JSON, body=body)).status == 402
    reply = await ask(stage.app, ASK, "POST", headers={**JSON, **signed(stage, DEAR)}, body=body)
    assert (reply.status, reply.json["data"]) == (200, {"text": "?"})


# The same payment again.


@pytest.mark.promise("pay.keyless-replay")
async def test_the_same_payment_gets_the_stored_answer_and_another_request_is_409(stage: Stage) -> None:
    payment = signed(stage)
    first = await buy(stage, payment)
    await stage.clock.advance(300)
    again = await buy(stage, payment)
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["x-receipt-id"] == first.headers["x-receipt-id"]
    other = signed(stage)
    assert (await buy(stage, other)).status == 200
    reply = await buy(stage, other, SLOW)
    assert (reply.status, reply.json["error"]["code"]) == (409, "PAYMENT_REUSED")
    assert await paid_for(stage) == [("coin.risk", 2)]


@pytest.mark.promise("pay.keyless-replay")
async def test_a_payment_of_an_account_and_one_without_are_not_the_same_request(stage: Stage) -> None:
    key, payment = await stage.key(), signed(stage)
    assert (await buy(stage, payment)).status == 200
    with_key = await ask(stage.app, RISK, key=key, headers=payment)
    assert (with_key.status, with_key.json["error"]["code"]) == (409, "PAYMENT_REUSED")
    assert "details" not in with_key.json["error"]


@pytest.mark.promise("pay.keyless-replay")
async def test_an_unknown_outcome_is_503_and_a_refusal_402_also_without_an_account(stage: Stage) -> None:
    stage.facilitator.outcomes += [Unknown("timeout"), SettlementRefused("insufficient_funds")]
    payment = signed(stage)
    pending = await buy(stage, payment)
    assert (pending.status, pending.json["error"]["code"]) == (503, "PAYMENT_PENDING")
    refused = await buy(stage, signed(stage, payer=2))
    assert (refused.status, refused.json["error"]["details"]["reason"]) == (402, "insufficient_funds")
    assert [way["method"] for way in refused.json["gate"]["unlock"]] == ["x402", "login"]


@pytest.mark.promise("pay.keyless")
async def test_what_costs_nothing_or_fails_leaves_unpaid(stage: Stage) -> None:
    for symbol, status in (("UNSURE", 200), ("NOWHERE", 404), ("DOWN", 502)):
        assert (await buy(stage, signed(stage), RISK.replace("BTC", symbol))).status == status
    assert (stage.facilitator.asked, await states(stage)) == ([], [])


# Questions.


@pytest.mark.promise("pay.keyless", "pay.keyless-replay")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_question_without_a_token_is_402_as_text_and_a_payment_buys_it_once(stage: Stage, version: Any) -> None:
    due = await put(stage, question())
    assert (due.status, type(due.json["error"])) == (402, str)
    payment = answer(wallet(), due.headers["payment-required"], version=version, now_ms=stage.clock.now_ms())
    first, again = [await put(stage, question(), **payment) for _ in range(2)]
    assert (first.status, first.body.decode(), again.body) == (200, PROSE, first.body)
    other = await put(stage, question("eth?"), **payment)
    assert (other.status, list(other.json)) == (409, ["error"])
    assert (await paid_for(stage), len(stage.engine.asked)) == ([("question", 1)], 1)


@pytest.mark.promise("pay.keyless")
async def test_a_device_has_its_free_question_first_and_pays_for_the_next(stage: Stage) -> None:
    body = question(deviceId="device-1")
    assert (await put(stage, body)).status == 200
    due = await put(stage, body)
    assert (due.status, type(due.json["error"])) == (402, str)
    assert (await put(stage, body, **signed(stage, DEAR))).status == 200
    assert await paid_for(stage) == [("question", 1)]
    assert await stage.meter.verify() == []


async def test_a_payment_leaves_the_free_question_of_its_device_alone(stage: Stage) -> None:
    body = question(deviceId="device-1")
    assert (await put(stage, body, **signed(stage, DEAR))).status == 200
    assert (await put(stage, body)).status == 200


async def test_an_idempotency_key_of_a_device_whose_question_is_spent_gets_the_challenge(stage: Stage) -> None:
    body = question(deviceId="device-1")
    assert (await put(stage, body)).status == 200
    assert (await put(stage, body, **{"idempotency-key": "k"})).status == 402


async def test_one_callers_idempotency_key_never_gives_it_what_another_payer_bought(stage: Stage) -> None:
    key = {"idempotency-key": "1"}
    assert (await put(stage, question(), **key, **signed(stage, DEAR))).status == 200
    assert (await put(stage, question(), **key)).status == 402
    assert (await put(stage, question(), **key, **signed(stage, DEAR, payer=2))).status == 200
    assert await paid_for(stage) == [("question", 2)]


async def test_a_network_whose_devices_had_their_free_questions_is_429_and_may_pay(stage: Stage) -> None:
    bodies = [question(deviceId=f"device-{number}") for number in range(50)]
    assert [(await put(stage, body)).status for body in bodies][-1] == 429
    assert (await put(stage, bodies[-1], **signed(stage, DEAR))).status == 200


async def test_a_question_that_cannot_be_read_is_400_and_its_payment_given_back(stage: Stage) -> None:
    reply = await put(stage, json.dumps({"messages": []}).encode(), **signed(stage, DEAR))
    assert (reply.status, await states(stage)) == (400, [])

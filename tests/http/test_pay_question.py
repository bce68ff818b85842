"""A question that is paid for: its body is part of what is bought, and it is settled before its first byte leaves."""

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.payments.facilitators.port import Unknown
from service.wire.ask import Done, Failed
from tests.fakes.asgi import Reply, ask, conversing, scope_of
from tests.fakes.engine import EVENTS, PROSE, TEXTS
from tests.http.stage import Stage, staged
from tests.http.test_pay import outcome, paid_for, signed, states
from tests.http.wire import until
from tests.payments.signing import answer, wallet

PATH = "/api/cli"
DEAR = 50_000
JSON = {"content-type": "application/json"}
SSE = {"accept": "text/event-stream"}
ANSWERED = {"accept": "application/json"}


def question(text: str = "btc?", **further: object) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], **further}).encode()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path) as stage:
        yield stage


async def buy(
    stage: Stage, key: str | None, payment: Mapping[str, str], body: bytes = b"", **further: Mapping[str, str]
) -> Reply:
    headers = {**JSON, **payment, **further.get("headers", {})}
    return await ask(stage.app, PATH, "POST", key=key, headers=headers, body=body or question())


@pytest.mark.promise("question.settles-first", "question.price", "pay.headers", "pay.no-quota")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("headers", [{}, SSE, ANSWERED])
async def test_a_payment_buys_an_answer_in_any_form_and_costs_no_question(
    stage: Stage, version: int, headers: Mapping[str, str]
) -> None:
    key = await stage.key()
    plain = await buy(stage, key, {}, headers=headers)
    reply = await buy(stage, key, signed(stage, DEAR, version=version), headers=headers)
    assert (reply.status, reply.body) == (200, plain.body)
    assert reply.headers["content-type"] == plain.headers["content-type"]
    assert outcome(reply)["success"] is True
    assert reply.headers["x-receipt-id"] == stage.facilitator.asked[0].receipt_id
    assert "ratelimit" not in reply.headers
    assert await paid_for(stage) == [("question", 1)]


@pytest.mark.promise("question.settles-first")
async def test_nothing_leaves_before_the_payment_is_settled(stage: Stage) -> None:
    stage.facilitator.gate.clear()
    fields = {**JSON, "authorization": f"Bearer {await stage.key()}", **signed(stage, DEAR)}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), question()) as talk:
        await until(lambda: bool(stage.facilitator.asked))
        assert (stage.engine.ended, talk.sent.qsize(), await states(stage)) == (["closed"], 0, ["settling"])
        stage.facilitator.gate.set()
        assert (await talk.head())["status"] == 200
        assert b"".join([piece async for piece in talk.pieces()]).decode() == PROSE


@pytest.mark.promise("question.challenge-error")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_spent_caller_signs_what_the_challenge_asks_for_and_has_its_answer(stage: Stage, version: Any) -> None:
    key = await stage.key()
    for _ in range(10):
        assert (await buy(stage, key, {})).status == 200
    due = await buy(stage, key, {})
    assert (due.status, type(due.json["error"])) == (402, str)
    required = json.loads(b64decode(due.headers["payment-required"]))
    assert required["resource"]["mimeType"] == "text/plain"
    said = answer(wallet(), due.headers["payment-required"], version=version, now_ms=stage.clock.now_ms())
    reply = await buy(stage, key, said)
    assert (reply.status, reply.body.decode()) == (200, PROSE)
    assert (await buy(stage, key, {})).status == 402


@pytest.mark.promise("pay.replay", "question.settles-first")
async def test_the_same_payment_again_gets_the_same_answer_and_with_another_body_is_409(stage: Stage) -> None:
    key, payment = await stage.key(), signed(stage, DEAR)
    first = await buy(stage, key, payment)
    again = await buy(stage, key, payment)
    assert (again.status, again.body, len(stage.engine.asked)) == (200, first.body, 1)
    other = await buy(stage, key, payment, question("eth?"))
    assert (other.status, list(other.json)) == (409, ["error"])
    assert await paid_for(stage) == [("question", 1)]


@pytest.mark.promise("pay.failed-run-free", "question.failure")
@pytest.mark.parametrize("headers", [{}, SSE, ANSWERED])
async def test_an_answer_that_cannot_be_finished_is_not_sold_in_any_form(
    stage: Stage, headers: Mapping[str, str]
) -> None:
    key, payment = await stage.key(), signed(stage, DEAR)
    stage.engine.says = (*EVENTS[:-1], Failed("the writer failed"))
    reply = await buy(stage, key, payment, headers=headers)
    assert (reply.status, reply.json) == (500, {"error": "the writer failed"})
    assert (stage.facilitator.asked, await states(stage), await stage.used()) == ([], [], [])
    stage.engine.says = EVENTS
    assert (await buy(stage, key, payment, headers=headers)).status == 200


@pytest.mark.promise("pay.failed-run-free")
async def test_what_costs_nothing_is_told_and_its_payment_given_back(stage: Stage) -> None:
    key, payment = await stage.key(), signed(stage, DEAR)
    stage.engine.counted = False
    reply = await buy(stage, key, payment)
    assert (reply.status, reply.body.decode()) == (200, PROSE)
    assert "payment-response" not in reply.headers
    assert (await states(stage), await stage.used()) == ([], [])
    refused = await buy(stage, key, payment, b'{"messages":[]}')
    assert (refused.status, await states(stage)) == (400, [])


@pytest.mark.promise("errors.payment-refused", "question.challenge-error", "question.failure")
async def test_a_payment_that_is_not_good_is_told_why_as_text_with_the_challenge(stage: Stage) -> None:
    key = await stage.key()
    reply = await buy(stage, key, signed(stage, 5_000))
    assert (reply.status, type(reply.json["error"])) == (402, str)
    assert json.loads(b64decode(reply.headers["payment-required"]))["error"] == "invalid_payment_requirements"
    assert reply.json["accepts"][0]["maxAmountRequired"] == str(DEAR)
    unread = await buy(stage, key, {"x-payment": "!"})
    assert (unread.status, list(unread.json)) == (400, ["error"])
    assert stage.engine.asked == []


@pytest.mark.promise("pay.unknown-503", "question.failure")
async def test_an_unknown_outcome_is_503_in_the_routes_own_words_and_the_answer_is_kept(stage: Stage) -> None:
    key, payment = await stage.key(), signed(stage, DEAR)
    stage.facilitator.outcomes.append(Unknown("it did not answer", None))
    reply = await buy(stage, key, payment)
    assert (reply.status, list(reply.json), reply.headers["retry-after"]) == (503, ["error"], "2")
    assert "Send the same payment again" in reply.json["error"]
    again = await buy(stage, key, payment)
    assert (again.status, again.body.decode(), len(stage.engine.asked)) == (200, PROSE, 1)


@pytest.mark.promise("question.settles-first")
async def test_who_has_paid_and_leaves_gets_its_answer_when_it_comes_again(stage: Stage) -> None:
    key, payment = await stage.key(), signed(stage, DEAR)
    more = asyncio.Event()
    stage.engine.says = (*EVENTS[:3], more, *TEXTS, EVENTS[-1])
    fields = {**JSON, "authorization": f"Bearer {key}", **payment}
    async with conversing(stage.app, scope_of(PATH, "POST", fields), question()) as talk:
        await until(lambda: bool(stage.engine.asked))
        talk.leave()
        more.set()
    assert stage.engine.ended == ["closed"]
    assert isinstance(stage.engine.says[-1], Done)
    again = await buy(stage, key, payment)
    assert (again.status, again.body.decode(), len(stage.engine.asked)) == (200, PROSE, 1)
    assert await paid_for(stage) == [("question", 1)]


@pytest.mark.promise("question.anonymous-403")
async def test_without_a_token_a_payment_changes_nothing(stage: Stage) -> None:
    for payment in (signed(stage, DEAR), {"x-payment": "!"}):
        reply = await buy(stage, None, payment)
        assert (reply.status, list(reply.json), "payment-required" in reply.headers) == (403, ["error"], False)
    reply = await buy(stage, None, signed(stage, DEAR), question(deviceId="a-device"))
    assert (reply.status, reply.body.decode(), await states(stage)) == (200, PROSE, [])

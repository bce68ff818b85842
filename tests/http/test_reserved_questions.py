"""Questions that are only reserved for calls under way: 429 to be repeated in a second, never a bill."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.asgi import Reply, ask, conversing, scope_of
from tests.http.questions import question
from tests.http.stage import PRICES, RISK, SLOW, Stage, staged
from tests.http.test_pay import signed
from tests.http.wire import served, until

WAIT = "Your remaining questions are reserved for calls that are still being answered. Try again in 1 s."


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path, rate_per_minute=1_000_000, rate_burst=1_000_000) as opened:
        yield opened


async def hold(stage: Stage, key: str, calls: int, target: str = SLOW) -> list["asyncio.Task[Reply]"]:
    """Start calls of a route that waits, until each has reserved its question."""
    stage.desk.gate.clear()
    started = stage.desk.entered
    held = [asyncio.create_task(ask(stage.app, target, key=key)) for _ in range(calls)]
    await until(lambda: stage.desk.entered == started + calls)
    return held


@pytest.mark.promise("quota.402-spent")
async def test_of_300_parallel_questions_of_a_new_user_10_are_answered_and_none_gets_a_bill(stage: Stage) -> None:
    key = await stage.key()
    stage.engine.gate.clear()
    calls = [asyncio.create_task(question(stage, key)) for _ in range(300)]
    await until(lambda: sum(call.done() for call in calls) == 290)
    stage.engine.gate.set()
    replies = await asyncio.gather(*calls)
    assert Counter(reply.status for reply in replies) == {200: 10, 429: 290}
    refused = [reply for reply in replies if reply.status == 429]
    assert {reply.headers["retry-after"] for reply in refused} == {"1"}
    assert {reply.headers["ratelimit"] for reply in refused} == {'"questions";r=0;t=1'}
    assert all(reply.json == {"error": WAIT} for reply in refused)
    assert not any("payment-required" in reply.headers for reply in refused)
    assert (await question(stage, key)).status == 402
    assert await stage.used() == [("question", 10)]


@pytest.mark.promise("quota.402-spent")
async def test_300_parallel_questions_that_all_fail_cost_nothing_and_nobody_gets_a_bill(stage: Stage) -> None:
    key = await stage.key()
    stage.engine.counted = False
    replies = await asyncio.gather(*(question(stage, key) for _ in range(300)))
    assert {reply.status for reply in replies} == {200, 429}
    assert await stage.used() == []
    assert (await question(stage, key)).status == 200


@pytest.mark.promise("quota.402-spent")
async def test_while_calls_hold_the_last_questions_every_route_says_wait_and_then_the_bill_comes(stage: Stage) -> None:
    key = await stage.key()
    held = await hold(stage, key, 10)
    for _ in range(2):  # the second time, the refusal is looked up without the writer
        for target in (RISK, SLOW, PRICES):
            for method in ("GET", "HEAD"):
                reply = await ask(stage.app, target, method, key=key)
                assert (reply.status, reply.headers["retry-after"]) == (429, "1")
                assert "payment-required" not in reply.headers
        error = (await ask(stage.app, RISK, key=key)).json["error"]
        assert (error["code"], error["message"]) == ("RATE_LIMITED", WAIT)
        assert (error["details"]["tier"], error["details"]["used"], error["details"]["limit"]) == ("free", 10, 10)
        assert error["details"]["quota"] == {"limit": 10, "wall": "grant"}
    stage.desk.gate.set()
    assert [reply.status for reply in await asyncio.gather(*held)] == [200] * 10
    reply = await ask(stage.app, RISK, key=key)
    assert reply.status == 402
    quota = {"used": 10, "limit": 10, "remaining": 0, "period": "lifetime", "wall": "grant"}
    assert reply.json["gate"]["quota"] == quota


async def test_a_caller_on_a_kept_connection_is_told_to_wait_as_well(stage: Stage) -> None:
    key = await stage.key()
    held = await hold(stage, key, 10)
    async with served(stage.app) as wire:
        for _ in range(2):
            reply = await wire.get(RISK.encode(), b"Authorization: Bearer " + key.encode())
            assert (reply.status, reply.code, reply.headers["retry-after"]) == (429, "RATE_LIMITED", "1")
    stage.desk.gate.set()
    await asyncio.gather(*held)


async def test_a_stream_that_opens_meanwhile_is_told_to_wait_and_opens_once_a_question_comes_back(stage: Stage) -> None:
    key = await stage.key()
    for _ in range(9):
        await ask(stage.app, RISK, key=key)
    (held,) = await hold(stage, key, 1, SLOW.replace("BTC", "DOWN"))
    reply = await ask(stage.app, PRICES, key=key)
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (429, "RATE_LIMITED", "1")
    stage.desk.gate.set()
    assert (await held).status == 502
    async with conversing(stage.app, scope_of(PRICES, "GET", {"authorization": f"Bearer {key}"})) as watch:
        assert (await watch.head())["status"] == 200
        watch.leave()


@pytest.mark.promise("quota.402-spent")
async def test_the_challenge_of_a_refused_payment_does_not_count_calls_that_are_under_way(stage: Stage) -> None:
    key = await stage.key()
    await ask(stage.app, RISK, key=key)
    held = await hold(stage, key, 9)
    reply = await ask(stage.app, RISK, key=key, headers=signed(stage, price=4_000))
    assert (reply.status, reply.json["gate"]["quota"]["used"]) == (402, 1)
    stage.desk.gate.set()
    await asyncio.gather(*held)

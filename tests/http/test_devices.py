"""The question route without a token: one answer a device, whatever comes at once."""

import asyncio
from pathlib import Path

import pytest

from service.errors import ServiceError
from tests.fakes.asgi import ask
from tests.fakes.engine import EVENTS, PROSE
from tests.http.questions import asked, body_of, conversing, devices, events, question, reserved, scope
from tests.http.stage import RISK, staged
from tests.http.test_pay import signed, states
from tests.http.wire import until

DEVICE = "device-0001"
TOKEN_NEEDED = (
    "Send an API key or a session token as `Authorization: Bearer …` (run `verdict login`), "
    "or a `deviceId` in the body for one free question."
)


@pytest.mark.promise("question.device-once")
async def test_of_twenty_calls_at_once_with_one_device_exactly_one_is_answered(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        replies = await asyncio.gather(*(question(stage, body=body_of(deviceId=DEVICE)) for _ in range(20)))
        assert sorted(reply.status for reply in replies) == [200] + [403] * 19
        (answer,) = [reply for reply in replies if reply.status == 200]
        assert answer.body.decode() == PROSE
        assert len(stage.engine.asked) == 1
        assert stage.engine.asked[0].caller is None
        assert await events(stage) == [(0, 1)]
        assert await stage.meter.verify() == []


@pytest.mark.promise("question.device-once", "question.anonymous-403")
async def test_a_device_that_has_had_its_answer_is_refused_for_ever(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 200
        for text in ("how is BTC doing", "and ETH?"):
            spent = await question(stage, body=body_of(text, deviceId=DEVICE))
            assert (spent.status, list(spent.json)) == (403, ["error"])
            assert "has been answered. Run `verdict login`" in spent.json["error"]
        assert (await question(stage, body=body_of(deviceId="device-0002"))).status == 200


@pytest.mark.slow
@pytest.mark.promise("question.anonymous-403")
@pytest.mark.parametrize(
    "body",
    [
        body_of(),
        body_of(deviceId=""),
        body_of(deviceId=None),
        body_of(deviceId=7),
        b"",
        b"no json",
        b"[]",
        b"[" * 60_000,
        b'{"deviceId": "\xff"}',
        body_of(walletAddress="0x" + "ab" * 20),
    ],
)
async def test_without_a_token_and_without_a_device_it_is_403(tmp_path: Path, body: bytes) -> None:
    async with staged(tmp_path) as stage:
        refused = await question(stage, body=body)
        assert (refused.status, refused.json) == (403, {"error": TOKEN_NEEDED})
        assert (stage.engine.asked, await events(stage)) == ([], [])


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (body_of(deviceId="short"), {}, 400),
        (body_of(deviceId=DEVICE, archetype="guru"), {}, 400),
        (body_of(deviceId=DEVICE, colour="red"), {}, 400),
        (b'{"deviceId": "device-0001", "deviceId": "device-0002", "messages": []}', {}, 400),
        (body_of(deviceId=DEVICE), {"content_type": "text/plain"}, 415),
    ],
)
async def test_what_is_wrong_with_a_devices_body_is_said_and_costs_it_nothing(
    tmp_path: Path, body: bytes, headers: dict[str, str], status: int
) -> None:
    async with staged(tmp_path) as stage:
        assert (await question(stage, body=body, **headers)).status == status
        assert await devices(stage) == 0
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 200


async def test_a_token_that_is_not_good_is_401_though_a_device_is_named(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        for token in (key[:-1] + ("0" if key[-1] != "0" else "1"), "nonsense"):
            assert (await question(stage, token, body_of(deviceId=DEVICE))).status == 401
        basic = await question(stage, body=body_of(deviceId=DEVICE), authorization="Basic abc")
        assert basic.status == 401
        empty = await question(stage, body=body_of(deviceId=DEVICE), authorization="")
        assert empty.status == 403
        assert await devices(stage) == 0


async def test_with_a_token_the_device_is_neither_asked_for_nor_used(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert (await question(stage, key, body_of(deviceId=DEVICE))).status == 200
        assert (await question(stage, key, body_of())).status == 200
        assert await events(stage) == [(1, 1), (1, 1)]
        assert await devices(stage) == 0


async def test_data_routes_need_a_token_as_ever(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        assert (await ask(stage.app, RISK)).code == "AUTH_REQUIRED"


async def test_a_payment_without_a_token_buys_nothing_and_is_not_taken(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        payment = signed(stage, 50_000)
        assert (await question(stage, body=body_of(), **payment)).status == 403
        assert (await question(stage, body=body_of(deviceId=DEVICE), **payment)).status == 200
        assert (await question(stage, body=body_of(deviceId=DEVICE), **payment)).status == 403
        assert await states(stage) == []


# What costs a device nothing.


async def test_an_answer_that_costs_nothing_leaves_a_device_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.engine.counted = False
        for _ in range(25):
            assert (await question(stage, body=body_of("hi", deviceId=DEVICE))).status == 200
        stage.engine.counted = True
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 200
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 403


async def test_a_question_that_fails_leaves_a_device_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.engine.error = ServiceError("UPSTREAM_5XX", "the venue does not answer")
        failed = await question(stage, body=body_of(deviceId=DEVICE))
        assert (failed.status, failed.json) == (502, {"error": "the venue does not answer"})
        stage.engine.error = None
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 200


async def test_a_peer_that_leaves_before_its_answer_begins_keeps_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.engine.gate.clear()
        async with conversing(stage.app, scope(), body_of(deviceId=DEVICE)) as conversation:
            await until(lambda: bool(stage.engine.asked))
            assert await reserved(stage) == 1
            conversation.leave()
        assert stage.engine.ended == ["cancelled"]
        assert await devices(stage) == 0


async def test_a_peer_that_leaves_amid_its_answer_has_had_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.engine.says = [*EVENTS[:4], asyncio.Event()]
        async with conversing(stage.app, scope(), body_of(deviceId=DEVICE)) as conversation:
            await conversation.head()
            conversation.leave()
        assert (await question(stage, body=body_of(deviceId=DEVICE))).status == 403
        assert await events(stage) == [(0, 1)]


async def test_while_a_device_is_answered_its_other_calls_are_told_so(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.engine.gate.clear()
        async with conversing(stage.app, scope(), body_of(deviceId=DEVICE)) as conversation:
            await until(lambda: bool(stage.engine.asked))
            busy = await question(stage, body=body_of(deviceId=DEVICE))
            assert (busy.status, "is being answered by another call" in busy.json["error"]) == (403, True)
            stage.engine.gate.set()
            assert (await conversation.head())["status"] == 200


# So many a network.


@pytest.mark.slow
@pytest.mark.promise("question.device-cap")
async def test_the_devices_of_a_network_have_twenty_questions_a_day(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        for number in range(20):
            body = body_of(deviceId=f"device-{number:04}")
            assert await asked(stage, body, client=f"198.51.100.{number}") == 200
        capped = body_of(deviceId="device-9999")
        assert await asked(stage, capped, client="198.51.100.200") == 429
        assert await asked(stage, capped, client="198.51.101.200") == 200
        await stage.clock.advance(12 * 3600)
        assert await asked(stage, body_of(deviceId="device-9998"), client="198.51.100.200") == 200


async def test_the_cap_says_when_to_come_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        for number in range(20):
            assert (await question(stage, body=body_of(deviceId=f"device-{number:04}"))).status == 200
        refused = await question(stage, body=body_of(deviceId="device-9999"))
        assert (refused.status, refused.headers["retry-after"]) == (429, str(12 * 3600))
        assert "try again after 00:00 UTC" in refused.json["error"]


async def test_behind_a_proxy_the_network_is_the_one_it_tells_of(tmp_path: Path) -> None:
    async with staged(tmp_path, trusted_proxies=("192.0.2.7",)) as stage:
        for number in range(20):
            body = body_of(deviceId=f"device-{number:04}")
            assert (await question(stage, body=body, x_forwarded_for=f"2001:db8:1:{number}::1")).status == 200
        capped = body_of(deviceId="device-9999")
        assert (await question(stage, body=capped, x_forwarded_for="2001:db8:1:ffff::9")).status == 429
        assert (await question(stage, body=capped, x_forwarded_for="2001:db8:2::9")).status == 200


async def test_callers_without_a_token_are_bound_to_the_rate_of_their_network(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=1, rate_burst=2) as stage:
        replies = [await question(stage, body=body_of()) for _ in range(3)]
        assert [reply.status for reply in replies] == [403, 403, 429]
        assert list(replies[2].json) == ["error"]

"""The Idempotency-Key of priced data routes: a repeated request is answered once and charged once."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.http.app import gates_of
from service.http.gates.idempotency import IdempotencyGate
from service.payments.facilitators.port import Unknown
from tests.fakes.asgi import Reply, ask
from tests.http.stage import ASK, RISK, SLOW, TIER, Stage, staged
from tests.http.test_pay import DEAR, JSON, paid_for, signed
from tests.http.test_pay_anonymous import accounts
from tests.http.wire import HOST, served, until

KEY = {"idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}
BODY = b'{"text":"?"}'
REPLAYED = "idempotency-replayed"


async def call(
    stage: Stage, path: str, token: str | None, headers: Mapping[str, str] = KEY, body: bytes = BODY
) -> Reply:
    """Call a route; a POST has this body."""
    if path == ASK:
        return await ask(stage.app, path, "POST", key=token, headers={**JSON, **headers}, body=body)
    return await ask(stage.app, path, key=token, headers=headers)


def price_of(path: str) -> int:
    return DEAR if path == ASK else 5_000


@pytest.mark.promise("question.idempotency")
async def test_of_the_data_routes_the_priced_ones_have_the_gate(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        with_gate = {
            route.name
            for route in stage.app.paths.routes
            if any(isinstance(gate, IdempotencyGate) for gate in gates_of(route.app))
        }
    assert with_gate == {"coin.risk", "slow", "ask"}


@pytest.mark.promise("question.idempotency")
@pytest.mark.parametrize(
    "path", [RISK, SLOW, ASK, RISK.lower(), RISK.replace("BTC", "ETH"), SLOW.replace("BTC", "SOL")]
)
async def test_a_repeated_call_replays_the_stored_response_uncharged(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        first = await call(stage, path, token)
        await stage.clock.advance(3_600)
        again = [await call(stage, path, token) for _ in range(3)]
        assert first.status == 200
        assert REPLAYED not in first.headers
        assert first.headers["ratelimit"] == '"questions";r=9'
        for reply in again:
            assert (reply.status, reply.body, reply.headers[REPLAYED]) == (200, first.body, "true")
        assert stage.desk.calls == 1
        assert [count for _, count in await stage.used()] == [1]
        assert await stage.meter.verify() == []


@pytest.mark.promise("question.idempotency")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (RISK.replace("BTC", "ETH"), BODY),
        (RISK.replace("BTC", "btc"), BODY),
        (RISK + "?x=1", BODY),
        (SLOW, BODY),
        (ASK, BODY),
        (ASK, b'{"text": "?"}'),
        (ASK, b"{}"),
    ],
)
async def test_another_request_with_the_same_key_is_409_and_costs_nothing(
    tmp_path: Path, path: str, body: bytes
) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        assert (await call(stage, RISK, token)).status == 200
        conflict = await call(stage, path, token, body=body)
        if "?" in path:
            assert conflict.status == 400, "wrong parameters are refused before"
        else:
            assert (conflict.status, conflict.json["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
        assert await stage.used() == [("coin.risk", 1)]


@pytest.mark.promise("question.idempotency", "pay.replay")
@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("path", [RISK, SLOW, ASK])
async def test_a_retry_with_a_new_payment_replays_and_leaves_the_payment_unused(
    tmp_path: Path, path: str, anonymous: bool
) -> None:
    async with staged(tmp_path, anonymous="pay" if anonymous else "login") as stage:
        token = None if anonymous else await stage.key()
        first, again = [await call(stage, path, token, KEY | signed(stage, price_of(path))) for _ in range(2)]
        assert (first.status, again.status, again.body, again.headers[REPLAYED]) == (200, 200, first.body, "true")
        assert again.headers["x-receipt-id"] == first.headers["x-receipt-id"]
        assert [count for _, count in await paid_for(stage)] == [1]
        assert (stage.desk.calls, len(stage.facilitator.asked)) == (1, 1)


@pytest.mark.promise("question.idempotency")
async def test_a_payers_key_is_its_own_and_its_other_request_is_409(tmp_path: Path) -> None:
    async with staged(tmp_path, anonymous="pay") as stage:
        assert (await call(stage, RISK, None, KEY | signed(stage))).status == 200
        for other in (KEY | signed(stage, payer=2), KEY | signed(stage, payer=3, version=1)):
            assert REPLAYED not in (await call(stage, RISK, None, other)).headers
        assert (await call(stage, SLOW, None, KEY | signed(stage))).status == 409
        assert (await call(stage, RISK, None)).status == 402, "without a payment nobody is known"
        wrong = signed(stage, 4_999)
        assert (await call(stage, RISK, None, KEY | wrong)).status == 402, "an invalid payment proves nothing"
        token = await stage.key()
        assert REPLAYED not in (await call(stage, RISK, token)).headers
        assert await paid_for(stage) == [("coin.risk", 3)]
        assert await accounts(stage) == [(1, 1)]


@pytest.mark.promise("question.idempotency")
@pytest.mark.parametrize("anonymous", [False, True])
async def test_after_an_unknown_outcome_a_retry_with_another_payment_gets_what_was_bought(
    tmp_path: Path, anonymous: bool
) -> None:
    async with staged(tmp_path, anonymous="pay" if anonymous else "login") as stage:
        token = None if anonymous else await stage.key()
        stage.facilitator.outcomes += [Unknown("a timeout")]
        assert (await call(stage, RISK, token, KEY | signed(stage))).status == 503
        bought = await call(stage, RISK, token, KEY | signed(stage))
        assert (bought.status, bought.json["data"]) == (200, {"symbol": "BTC"})
        assert await paid_for(stage) == [("coin.risk", 1)]


@pytest.mark.promise("question.idempotency")
@pytest.mark.parametrize("symbol", ["NOWHERE", "DOWN", "BROKEN"])
async def test_a_failure_is_not_stored_and_its_key_is_free(tmp_path: Path, symbol: str) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        failed = await call(stage, RISK.replace("BTC", symbol), token)
        assert failed.status >= 400
        assert REPLAYED not in (await call(stage, RISK, token)).headers
        assert await stage.used() == [("coin.risk", 1)]


async def test_a_refusal_for_a_spent_quota_frees_the_key_for_a_payment(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        for _ in range(10):
            await call(stage, RISK, token, {})
        assert (await call(stage, RISK, token)).status == 402
        assert (await call(stage, RISK, token, KEY | signed(stage))).status == 200
        assert (await call(stage, RISK, token)).headers[REPLAYED] == "true"


@pytest.mark.promise("question.idempotency")
async def test_twenty_calls_at_once_with_one_key_cost_one_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.desk.gate.clear()
        calls = [asyncio.ensure_future(call(stage, SLOW, token)) for _ in range(20)]
        await until(lambda: stage.desk.entered == 1)
        stage.desk.gate.set()
        while not all(task.done() for task in calls):
            await stage.clock.advance(0.05)
            await stage.db.read("SELECT 1")
        replies = [task.result() for task in calls]
        assert {(reply.status, reply.body) for reply in replies} == {(200, replies[0].body)}
        assert (sum(REPLAYED in reply.headers for reply in replies), stage.desk.entered) == (19, 1)
        assert await stage.used() == [("slow", 1)]


async def test_a_response_that_cannot_be_stored_is_503_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "the store is full")

    async with staged(tmp_path) as stage:
        token = await stage.key()
        with monkeypatch.context() as patched:
            patched.setattr(stage.meter.idempotency, "store", fail)
            assert (await call(stage, RISK, token)).status == 503
        assert await stage.used() == []
        assert (await call(stage, RISK, token)).headers["ratelimit"] == '"questions";r=9'


async def test_head_and_free_routes_do_not_use_the_key(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        assert (await ask(stage.app, RISK, "HEAD", key=token, headers=KEY)).status == 200
        assert (await call(stage, TIER, token)).status == 200
        assert REPLAYED not in (await call(stage, RISK, token)).headers


@pytest.mark.promise("meter.head-free")
async def test_head_with_the_key_of_a_stored_response_has_its_headers_once_the_quota_is_spent(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token, other = await stage.key(), {"idempotency-key": "another"}
        stored = await call(stage, RISK, token)
        for _ in range(9):
            assert (await ask(stage.app, RISK, key=token)).status == 200
        for target, headers, status, replayed in (
            (RISK, KEY, 200, "true"),
            (RISK, other, 402, None),
            (RISK, {"idempotency-key": "é"}, 402, None),
            (RISK, {}, 402, None),
            (RISK + "?x=1", KEY, 400, None),
        ):
            head = await ask(stage.app, target, "HEAD", key=token, headers=headers)
            assert (head.status, head.body, head.headers.get(REPLAYED)) == (status, b"", replayed), (target, headers)
        head = await ask(stage.app, RISK, "HEAD", key=token, headers=KEY)
        assert head.headers["content-length"] == stored.headers["content-length"]
        await stage.clock.advance(86_401)
        assert REPLAYED not in (await ask(stage.app, RISK, "HEAD", key=token, headers=KEY)).headers
        assert await stage.used() == [("coin.risk", 10)]


@pytest.mark.parametrize("key", ["", "z" * 256, "tab\there", "é", " " * 256, "\x7f"])
async def test_a_malformed_key_is_400_on_a_data_route_too(tmp_path: Path, key: str) -> None:
    async with staged(tmp_path) as stage:
        refused = await call(stage, RISK, await stage.key(), {"idempotency-key": key})
        assert (refused.status, refused.json["error"]["details"]) == (400, {"parameter": "Idempotency-Key"})
        assert await stage.used() == []


@pytest.mark.promise("question.idempotency")
async def test_the_fast_path_replays_the_same_bytes_on_one_connection(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        fields = HOST + b"Authorization: Bearer %b\r\nIdempotency-Key: a\r\n" % (await stage.key()).encode()
        request = b"GET %b HTTP/1.1\r\n" % RISK.encode() + fields
        replies = await wire.say(request + b"\r\n", request + b"\r\n", request + b"Connection: close\r\n\r\n")
        assert [reply.headers.get(REPLAYED) for reply in replies] == [None, "true", "true"]
        assert len({reply.body for reply in replies}) == 1
        assert await stage.used() == [("coin.risk", 1)]

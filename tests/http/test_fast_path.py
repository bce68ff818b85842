"""The short way: the same gates and the same answers as the stack's, and nothing lost where it has to give way."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from service.errors import ServiceError
from service.http.app import App
from service.http.fast_path import FastPath, FastRequest
from service.http.gate import RequestGate, RouteEndpoint
from service.http.health import Health
from service.http.protocol import VerdictProtocol
from service.http.quota_response import PaymentRequiredResponse
from service.http.request import RequestContext
from service.http.response import Response, exact_response
from tests.fakes.asgi import Reply, ask
from tests.http.stage import RISK, SLOW, STREAM, TIER, staged
from tests.http.test_app import Doing
from tests.http.wire import Wire, served, until

OTHER = "/api/cli/coin/risk/"
PASSING = {"x-request-id", "date"}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each GET of a connection: whether it took the short way, with its head read or known."""
    taken: list[bool] = []
    run, repeat = FastRequest.run, FastRequest.repeat  # `repeat` calls `run`

    def running(request: FastRequest) -> bool:
        done = run(request)
        taken.append(done)
        return done

    def repeating(request: FastRequest) -> bool:
        done = repeat(request)
        if not done:  # it is read and run again
            taken.pop()
        return done

    monkeypatch.setattr(FastRequest, "run", running)
    monkeypatch.setattr(FastRequest, "repeat", repeating)
    return taken


def request(target: str, **headers: str) -> bytes:
    lines = {"Host": "api.example.org", **{name.replace("_", "-"): value for name, value in headers.items()}}
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"GET {target} HTTP/1.1\r\n{fields}\r\n".encode()


async def send(wire: Wire, target: str, **headers: str) -> Reply:
    peer = await wire.connect()
    try:
        await peer.say(request(target, **headers))
        return await peer.reply()
    finally:
        peer.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def comparable(reply: Reply) -> tuple[int, dict[str, str], Any]:
    fields = {name: value for name, value in reply.headers.items() if name not in PASSING}
    return reply.status, fields, json.loads(reply.body.replace(reply.headers["x-request-id"].encode(), b"ID"))


TARGETS = [
    RISK,
    RISK,
    OTHER + "btc",
    OTHER + "NOWHERE",
    OTHER + "DOWN",
    OTHER + "BROKEN",
    OTHER + "UNSURE",
    OTHER + "B-T-C",
    RISK + "?limit=1",
    RISK + "?a=verdict_sk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "/api/cli/nothing",
    "/api/keys",
    TIER,
    "/api/cli/manifest",
    STREAM,
    *[RISK] * 9,
    STREAM,
]


async def test_responses_headers_counts_and_logs_are_the_same_with_and_without_the_fast_path(
    tmp_path: Path, hurried: list[bool], caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        staged(tmp_path / "a") as one,
        staged(tmp_path / "b") as other,
        served(one.app, shortcut=False) as plain,
        served(other.app) as fast,
    ):
        here, there = bearer(await one.key()), bearer(await other.key())
        for target in TARGETS:
            caplog.clear()
            slow = await send(plain, target, **here)
            logged = [record.getMessage() for record in caplog.records]
            caplog.clear()
            assert comparable(await send(fast, target, **there)) == comparable(slow), target
            assert [record.getMessage() for record in caplog.records] == logged, target
            assert comparable(await ask(one.app, "/nowhere")) == comparable(await ask(other.app, "/nowhere"))
        assert await other.used() == await one.used()
        assert other.app.answers == one.app.answers
        measured = [{name: sum(each.counts) for name, each in it.app.latencies.routes.items()} for it in (one, other)]
        assert measured[0] == measured[1]
        assert sum(measured[0].values()) == sum(one.app.answers.values())
        assert fast.state.total_requests == plain.state.total_requests
    assert hurried.count(True) > len(TARGETS) // 2


def test_the_fast_path_refuses_gates_and_endpoints_that_it_does_not_know() -> None:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("nothing is called")

    unknown = Route("/a", Doing(endpoint), methods=["GET"], name="a")
    with pytest.raises(TypeError, match="neither a gate nor an endpoint"):
        FastPath(App([unknown], []))

    class Wrapping(RequestGate):
        wraps = True

    wrapped = Route("/a", Health({}), methods=["GET"], name="a", middleware=[Middleware(Wrapping)])
    with pytest.raises(TypeError, match="does not know what Wrapping does"):
        FastPath(App([wrapped], []))


async def test_an_endpoint_that_waits_without_saying_so_is_a_defect_and_an_answer() -> None:
    class Late(RouteEndpoint):
        async def respond(self, _: RequestContext) -> Response:
            raise AssertionError("nothing is awaited")

    async with served(App([Route("/a", Late(), methods=["GET"], name="a")], [])) as wire:
        assert (await send(wire, "/a")).code == "INTERNAL"


async def test_a_gate_of_every_request_can_answer_in_place_of_its_route() -> None:
    class Closed(RequestGate):
        def check(self, _: RequestContext) -> Response:
            return exact_response(204, [])

    route = Route("/a", Health({}), methods=["GET"], name="a")
    async with served(App([route], [Middleware(Closed)])) as wire:
        assert (await send(wire, "/a")).status == 204


async def test_who_is_not_known_by_heart_goes_through_the_stack_once(tmp_path: Path, hurried: list[bool]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert [(await send(wire, RISK, **key)).status for _ in range(2)] == [200, 200]
        assert (await send(wire, RISK)).code == "AUTH_REQUIRED"
        assert (await send(wire, RISK, **bearer("nonsense"))).code == "AUTH_INVALID"
        assert (await send(wire, RISK, **key, X_PAYMENT="e30=")).code == "BAD_REQUEST"
        assert await stage.used() == [("coin.risk", 2)]
        assert stage.desk.calls == 2
    assert hurried == [False, True, True, False, False]


async def test_the_quota_of_a_free_route_is_read_on_the_fast_path_and_waited_for_if_the_store_is_busy(
    tmp_path: Path, hurried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "busy")

    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        replies = [await send(wire, TIER, **key) for _ in range(2)]
        monkeypatch.setattr(stage.db, "read_now", fail)
        replies.append(await send(wire, TIER, **key))
    assert [reply.headers["ratelimit"] for reply in replies] == ['"questions";r=10'] * 3
    assert hurried == [False, True, False]


async def test_a_request_without_a_token_gets_its_challenge_on_the_fast_path(
    tmp_path: Path, hurried: list[bool]
) -> None:
    async with staged(tmp_path, anonymous="pay") as stage, served(stage.app) as wire:
        assert [(await send(wire, RISK)).code for _ in range(2)] == ["PAYMENT_REQUIRED"] * 2
    assert hurried == [True, True]


async def test_a_payment_takes_the_stack_and_counts_to_the_rate_once(tmp_path: Path, hurried: list[bool]) -> None:
    async with staged(tmp_path, rate_per_minute=1, rate_burst=3) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert (await send(wire, RISK, **key)).status == 200
        assert [(await send(wire, RISK, **key, X_PAYMENT="e30=")).status for _ in range(3)] == [400, 400, 429]
    assert hurried == [False, False, False, True]  # the last one is refused by its rate, before its payment is read


async def test_answers_are_counted_by_route_and_status_both_ways(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        for target in (RISK, RISK, OTHER + "NOWHERE", "/nowhere", *[RISK] * 9):
            await send(wire, target, **key)
        assert dict(stage.app.answers) == {
            ("coin.risk", 200): 10,
            ("coin.risk", 404): 1,
            ("coin.risk", 402): 1,
            ("none", 404): 1,
        }


async def test_pipelined_answers_keep_their_order_whatever_way_they_go(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        stage.desk.gate.clear()
        peer = await wire.connect()
        await peer.say(request(RISK, **key) + request(SLOW, **key) + request(OTHER + "ETH", **key))
        assert (await peer.reply()).json["data"] == {"symbol": "BTC"}
        stage.desk.gate.set()
        assert [(await peer.reply()).json["data"]["symbol"] for _ in range(2)] == ["BTC", "ETH"]
        peer.close()


async def test_an_answer_that_cannot_be_counted_is_not_given_and_its_neighbours_are_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "The store is away.", headers={"Retry-After": "1"})

    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert (await send(wire, RISK, **key)).status == 200
        with monkeypatch.context() as patched:
            patched.setattr(stage.db, "submit", refuse)
            reply = await send(wire, RISK, **key)
        assert (reply.code, reply.headers["retry-after"]) == ("UNAVAILABLE", "1")
        assert await stage.used() == [("coin.risk", 1)]


async def test_an_answer_that_cannot_be_written_breaks_off_its_connection_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = VerdictProtocol.write

    def clumsy(connection: VerdictProtocol, data: bytes) -> None:
        if b"CLUMSY" in data:
            raise RuntimeError("a header holds a line break")
        write(connection, data)

    monkeypatch.setattr(VerdictProtocol, "write", clumsy)
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert (await send(wire, RISK, **key)).status == 200
        one, other = await wire.connect(), await wire.connect()
        await one.say(request(OTHER + "CLUMSY", **key))
        await other.say(request(OTHER + "ETH", **key))
        assert (await other.reply()).status == 200
        assert await one.closed() == b""
        other.close()


async def test_a_peer_that_leaves_before_its_answer_is_counted_keeps_its_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        await send(wire, RISK, **key)
        await until(lambda: not wire.state.connections)
        peer = await wire.connect()
        await until(lambda: bool(wire.state.connections))
        (connection,) = wire.state.connections
        connection.data_received(request(RISK, **key))
        await asyncio.sleep(0)
        connection.connection_lost(None)
        connection.transport.abort()
        await stage.meter.charge(await stage.access.authenticator.authenticate(await stage.key()), "later")
        await stage.db.write(lambda _: None)
        assert await stage.used() == [("coin.risk", 1), ("later", 1)]
        peer.close()


async def test_a_peer_that_leaves_before_its_turn_comes_asks_nothing(tmp_path: Path, hurried: list[bool]) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        peer = await wire.connect()
        await until(lambda: bool(wire.state.connections))
        (connection,) = wire.state.connections
        connection.data_received(request(RISK, **key))
        connection.connection_lost(None)
        connection.transport.abort()
        await asyncio.sleep(0)
        peer.close()
        assert stage.desk.calls == 0
    assert hurried == []


async def test_a_peer_that_leaves_while_a_gate_waits_gets_no_response() -> None:
    entered, opened = asyncio.Event(), asyncio.Event()

    class Waiting(RequestGate):
        async def check(self, _: RequestContext) -> Response:
            entered.set()
            await opened.wait()
            return exact_response(204, [])

    app = App([Route("/a", Health({}), methods=["GET"], name="a", middleware=[Middleware(Waiting)])], [])
    async with served(app) as wire:
        leaving = await wire.connect()
        await leaving.say(request("/a"))
        await asyncio.wait_for(entered.wait(), 20)
        (connection,), (task,) = wire.state.connections, wire.state.tasks
        connection.connection_lost(None)
        opened.set()
        await asyncio.wait_for(task, 20)
        connection.transport.close()
        assert await leaving.closed() == b""
        assert (await send(wire, "/a")).status == 204


async def test_a_reader_that_is_behind_is_answered_by_the_stack_which_waits_for_it(
    tmp_path: Path, hurried: list[bool]
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        peer = await wire.connect()
        await until(lambda: bool(wire.state.connections))
        (connection,) = wire.state.connections
        connection.pause_writing()
        await peer.say(request(RISK, **key))
        await until(lambda: bool(wire.state.tasks))
        connection.resume_writing()
        assert (await peer.reply()).status == 200
        peer.close()
    assert hurried == []


async def test_a_spent_caller_is_refused_on_the_short_way_and_nothing_is_written_for_it(
    tmp_path: Path, hurried: list[bool]
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert [(await send(wire, RISK, **key)).status for _ in range(11)] == [200] * 10 + [402]
        written = stage.db.transactions
        for headers in ({}, {"X-X402-Max-Version": "2"}, {"X-X402-Max-Version": "2"}):
            stack = await ask(stage.app, RISK, headers=key | headers)
            short = await send(wire, RISK, **key, **headers)
            assert comparable(short) == comparable(stack)
        assert (await send(wire, STREAM, **key)).code == "RATE_LIMITED"
        assert (await send(wire, OTHER + "NOWHERE", **key)).code == "UNKNOWN_SYMBOL"
        assert (await send(wire, OTHER + "UNSURE", **key)).status == 200
        assert stage.db.transactions == written + 3  # the stack's own
    assert all(hurried[1:])


async def test_a_spent_caller_of_a_route_that_waits_is_refused_before_it_runs(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = bearer(await stage.key())
        assert [(await ask(stage.app, SLOW, headers=key)).status for _ in range(11)] == [200] * 10 + [402]
        written = stage.db.transactions
        assert (await ask(stage.app, SLOW, headers=key)).code == "PAYMENT_REQUIRED"
        assert stage.db.transactions == written
        assert stage.desk.entered == 10


async def test_a_challenge_that_cannot_be_written_is_a_defect_and_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert [(await send(wire, RISK, **key)).status for _ in range(10)] == [200] * 10
        monkeypatch.setattr(PaymentRequiredResponse, "__call__", fail)
        assert [(await send(wire, RISK, **key)).code for _ in range(2)] == ["INTERNAL"] * 2

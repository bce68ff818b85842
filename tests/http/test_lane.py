"""The short way: the same gates and the same answers as the stack's, and nothing lost where it has to give way."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Scope

from service.errors import ServiceError
from service.http.again import Again
from service.http.app import App
from service.http.cycle import Cycle
from service.http.gates.due import PaymentDue
from service.http.whole import Whole
from tests.fakes.asgi import Reply, ask
from tests.http.stage import RISK, SLOW, STREAM, TIER, staged
from tests.http.wire import Wire, served, until

OTHER = "/api/cli/coin/risk/"
PASSING = {"x-request-id", "date"}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each GET of a connection: whether it took the short way, with its head read or known."""
    taken: list[bool] = []
    at_once, answer = App.at_once, Again.answer

    def noting(app: App, scope: Scope, cycle: Cycle) -> bool:
        taken.append(at_once(app, scope, cycle))
        return taken[-1]

    def knowing(again: Again) -> bool:
        done = answer(again)
        taken.extend([True] if done else [])  # else it goes the way of every other
        return done

    monkeypatch.setattr(App, "at_once", noting)
    monkeypatch.setattr(Again, "answer", knowing)
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


async def test_the_short_way_and_the_stack_give_the_same_answers_and_count_the_same(
    tmp_path: Path, hurried: list[bool]
) -> None:
    async with staged(tmp_path / "a") as one, staged(tmp_path / "b") as other, served(other.app) as wire:
        here, there = bearer(await one.key()), bearer(await other.key())
        for target in TARGETS:
            stack = await ask(one.app, target, headers=here)
            short = await send(wire, target, **there)
            assert comparable(short) == comparable(stack), target
        assert await other.used() == await one.used()
    assert hurried.count(True) > len(TARGETS) // 2


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


async def test_who_shows_no_token_where_payments_do_takes_the_stack(tmp_path: Path, hurried: list[bool]) -> None:
    async with staged(tmp_path, anonymous="pay") as stage, served(stage.app) as wire:
        assert [(await send(wire, RISK)).code for _ in range(2)] == ["PAYMENT_REQUIRED"] * 2
    assert hurried == [False, False]


async def test_a_payment_takes_the_stack_and_counts_to_the_rate_once(tmp_path: Path, hurried: list[bool]) -> None:
    async with staged(tmp_path, rate_per_minute=1, rate_burst=3) as stage, served(stage.app) as wire:
        key = bearer(await stage.key())
        assert (await send(wire, RISK, **key)).status == 200
        assert [(await send(wire, RISK, **key, X_PAYMENT="e30=")).status for _ in range(3)] == [400, 400, 429]
    assert hurried == [False, False, False, False]


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
    answer = Cycle.answer

    def clumsy(cycle: Cycle, whole: Whole, own: bytes, delivered: Callable[[], None] | None = None) -> None:
        if b"CLUMSY" in whole.body:
            raise RuntimeError("a header holds a line break")
        answer(cycle, whole, own, delivered)

    monkeypatch.setattr(Cycle, "answer", clumsy)
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
        await stage.meter.charge(await stage.access.doorkeeper.admit(await stage.key()), "later")
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
        monkeypatch.setattr(PaymentDue, "written", fail)
        assert [(await send(wire, RISK, **key)).code for _ in range(2)] == ["INTERNAL"] * 2

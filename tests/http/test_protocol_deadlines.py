"""Time on the wire: what comes too slowly is ended, costs others nothing, and a stop is graceful and bounded."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.app import App
from service.http.deadline import Deadline
from service.http.reader import Limits
from service.settings import Settings
from service.wiring.server import configure, configure_metrics
from tests.http.test_app import Doing
from tests.http.wire import HOST, HandMovedLoop, Peer, Wire, echo, served, until

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HEAD = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n"
LATE = 20.0


@pytest.mark.promise("errors.head-10s", "errors.body-15s")
def test_the_deadlines_are_those_of_the_contract() -> None:
    limits = Limits()
    assert (limits.head_s, limits.body_s, limits.stall_s) == (10, 15, 30)


@pytest.mark.parametrize("idle_s", [5, 10, 60, 75, 600])
@pytest.mark.parametrize("said", [b"", b"\r\n"], ids=["nothing", "an empty line"])
async def test_a_connection_that_asks_nothing_is_closed_without_a_word(said: bytes, idle_s: int) -> None:
    async with served(echo, idle_s=idle_s) as wire:
        peer = await wire.connect()
        await peer.say(said)
        await wire.has_heard(len(said))
        (connection,) = wire.state.connections
        wire.pass_time(idle_s - 0.1)
        assert not connection.transport.is_closing()
        wire.pass_time(0.2)
        assert await peer.closed() == b""


@pytest.mark.parametrize("idle_s", [5, 9, 75, 600])
async def test_a_connection_that_asks_nothing_more_is_closed_without_a_word(idle_s: int) -> None:
    async with served(echo, idle_s=idle_s) as wire:
        peer = await wire.connect()
        for _ in range(3):
            await peer.say(GET)
            assert (await peer.reply()).status == 200
            wire.pass_time(idle_s - 0.1)
        wire.pass_time(0.2)
        assert await peer.closed() == b""


@pytest.mark.parametrize("pause_s", [4, 9.9, 10, 11, 30, 60, 74.9])
async def test_a_client_that_posts_again_and_again_keeps_its_connection(pause_s: float) -> None:
    post = HEAD + b"12345"
    async with served(echo) as wire:
        peer = await wire.connect()
        for _ in range(20):
            await peer.say(post)
            assert (await peer.reply()).status == 200
            wire.pass_time(pause_s)
        assert len(wire.state.connections) == 1
        peer.close()


@pytest.mark.parametrize("idle_s", [5, 75, 600])
def test_both_servers_of_a_process_close_idle_connections_as_the_settings_say(idle_s: int) -> None:
    settings = Settings(idle_timeout=idle_s)
    assert configure(echo, settings).timeout_keep_alive == idle_s
    assert configure_metrics(echo, settings).timeout_keep_alive == idle_s


@pytest.mark.promise("errors.head-10s")
async def test_a_head_that_drips_is_cut_off_with_408() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        for byte in GET[:-2]:
            await peer.say(bytes([byte]))
        await wire.has_heard(len(GET) - 2)
        wire.pass_time(10)
        (reply,) = await peer.rest()
    assert (reply.status, reply.code, reply.headers["connection"]) == (408, "REQUEST_TIMEOUT", "close")


async def test_dripping_does_not_move_the_deadline() -> None:
    begun = b"GET / HTTP/1.1\r\nX: "
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(begun)
        await wire.has_heard(len(begun))
        for second in range(10):
            await peer.say(b"A")
            await wire.has_heard(len(begun) + second + 1)
            wire.pass_time(1)
        (reply,) = await peer.rest()
    assert reply.status == 408


async def test_the_head_of_a_second_request_has_a_deadline_of_its_own() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        await peer.say(GET + b"GET /dripped")
        first = await peer.reply()
        wire.pass_time(10)
        (second,) = await peer.rest()
    assert (first.status, second.status) == (200, 408)


async def test_the_time_of_a_head_stands_still_while_its_sender_waits_for_an_answer() -> None:
    release = asyncio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        await release.wait()
        await echo(scope, receive, send)

    async with served(held) as wire:
        peer = await wire.connect()
        await peer.say(GET + b"GET /begun")
        await wire.has_heard(len(GET + b"GET /begun"))
        wire.pass_time(100)
        release.set()
        assert (await peer.reply()).status == 200
        await peer.say(b" HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await peer.reply()).body == b"GET /begun? "
        peer.close()


@pytest.mark.promise("errors.body-15s")
async def test_a_body_that_drips_is_cut_off_with_408() -> None:
    async with served(echo) as wire:
        peer = await wire.connect()
        for part in (HEAD, b"a", b"b"):
            await peer.say(part)
        await wire.has_heard(len(HEAD) + 2)
        wire.pass_time(15)
        (reply,) = await peer.rest()
    assert (reply.status, reply.code) == (408, "REQUEST_TIMEOUT")


async def test_a_body_that_drips_behind_an_answer_ends_the_connection_quietly() -> None:
    async def hasty(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with served(hasty) as wire:
        peer = await wire.connect()
        await peer.say(HEAD)
        assert (await peer.reply()).status == 200
        wire.pass_time(15)
        assert await peer.closed() == b""


async def test_a_body_that_drips_under_an_answer_lets_the_answer_finish() -> None:
    release = asyncio.Event()

    async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await release.wait()
        await send({"type": "http.response.body", "body": b"two"})

    async with served(streaming) as wire:
        peer = await wire.connect()
        await peer.say(HEAD)
        await peer.reader.readuntil(b"one\r\n")
        wire.pass_time(15)
        release.set()
        assert await peer.closed() == b"3\r\ntwo\r\n0\r\n\r\n"


async def test_a_reader_that_takes_nothing_is_dropped() -> None:
    ended = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await one(receive, send)) is None:
            pass
        ended.set()

    async def one(receive: Receive, send: Send) -> str | None:
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
        return "gone" if not wire.state.connections else None

    async with served(endless) as wire:
        peer = await stuck(wire)
        await wire.pass_time_until(ended.is_set)
        peer.close()


async def test_a_reader_that_leaves_the_end_of_its_answer_lying_is_dropped() -> None:
    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b"x" * 1_000_000})

    async with served(large) as wire:
        peer = await stuck(wire)
        await wire.pass_time_until(lambda: not wire.state.connections)
        peer.close()


async def test_a_reader_that_takes_something_now_and_then_is_waited_for() -> None:
    body = b"x" * 400_000

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"end"})

    async with served(large) as wire:
        peer = await stuck(wire)
        connection: Any = next(iter(wire.state.connections))
        said, taken = b"", connection._count_taken()
        while not said.endswith(b"end\r\n0\r\n\r\n"):
            piece = await asyncio.wait_for(peer.reader.read(65_536), LATE)
            assert piece, "it was dropped"
            said += piece
            if connection.flow.write_paused and connection._count_taken() > taken:
                taken = connection._count_taken()
                wire.pass_time(29)
        peer.close()


async def stuck(wire: Wire) -> Peer:
    """A peer that asks, and reads only when told to; it has little room, and so much is sent that it is full."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)  # noqa: FBT003
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", wire.port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=65_536)
    peer = Peer(reader, writer)
    await peer.say(GET)
    await until(lambda: any(connection.flow.write_paused for connection in wire.state.connections))  # type: ignore[union-attr]
    return peer


async def test_fifty_dripping_and_fifty_silent_connections_cost_the_others_nothing() -> None:
    async with served(echo) as wire:
        slow = [await wire.connect() for _ in range(100)]
        for peer in slow[:50]:
            await peer.say(b"GET / HTT")
        others = await asyncio.gather(*(wire.get(b"/%d" % number) for number in range(50)))
        assert [reply.body for reply in others] == [b"GET /%d? " % number for number in range(50)]
        await until(lambda: len(wire.state.connections) == 100)
        for peer in slow:
            peer.close()


@asynccontextmanager
async def running(app: ASGIApp, drain_s: int) -> AsyncIterator[tuple[uvicorn.Server, Wire]]:
    """The server as it is configured for the service, stopped on leaving."""
    uvicorn_server = uvicorn.Server(configure(app, Settings(drain_seconds=drain_s)))
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(uvicorn_server.serve(sockets=[listener]))
    await until(lambda: bool(uvicorn_server.started))
    try:
        yield uvicorn_server, Wire(listener.getsockname()[1], uvicorn_server.server_state)
    finally:
        uvicorn_server.should_exit = True
        await asyncio.wait_for(serving, LATE)


async def test_a_stop_closes_idle_connections_at_once_and_lets_open_requests_finish() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await release.wait()
        await echo(scope, receive, send)

    async with running(held, drain_s=60) as (uvicorn_server, wire):
        idle, busy, pipelining = [await wire.connect() for _ in range(3)]
        await busy.say(GET)
        await pipelining.say(GET + GET)
        await begun.wait()
        uvicorn_server.should_exit = True
        assert await idle.closed() == b""
        release.set()
        (answer,) = await busy.rest()
        first, last = await pipelining.rest()
    assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert (first.status, last.status) == (200, 200)


async def test_a_stop_answers_503_where_the_drain_is_over() -> None:
    async def forever(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    front = App([Route("/", Doing(forever), methods=["GET"])], [])
    async with running(front, drain_s=0) as (uvicorn_server, wire):
        peer = await wire.connect()
        await peer.say(GET)
        await until(lambda: bool(wire.state.tasks))
        uvicorn_server.should_exit = True
        reply = await peer.reply()
        peer.close()
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "UNAVAILABLE", "1")


async def test_a_stop_does_not_wait_for_a_refused_peer_that_never_closes() -> None:
    async with running(echo, drain_s=0) as (_, wire):
        peer = await wire.connect()
        await peer.say(b"nonsense\r\n\r\n")
        await peer.reply()
    peer.close()


async def test_a_deadline_moved_later_rings_late_and_one_moved_earlier_rings_early() -> None:
    loop: Any = HandMovedLoop()
    rung: list[tuple[str, float]] = []
    late, early, cleared = (
        Deadline(loop, lambda name=name: rung.append((name, loop.time())))  # type: ignore[misc]
        for name in ("late", "early", "never")
    )
    late.set(1)
    late.set(4)
    early.set(100)
    early.set(2)
    cleared.set(1)
    cleared.clear()
    loop.pass_time(50)
    assert rung == [("early", 2), ("late", 4)]
    early.close()
    late.set(100)
    late.close()
    loop.pass_time(200)
    assert len(rung) == 2

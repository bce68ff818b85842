"""Time on the wire: what comes too slowly is ended, costs others nothing, and a stop is graceful and bounded."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.app import App
from service.http.deadline import Deadline
from service.http.reader import Limits
from service.settings import Settings
from service.wiring.server import configure
from tests.http.test_app import Doing
from tests.http.wire import HOST, Peer, Wire, echo, served, until

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HEAD = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n"
SOON = 0.03
LATE = 5.0


@pytest.mark.promise("errors.head-10s", "errors.body-15s")
def test_the_deadlines_are_those_of_the_contract() -> None:
    limits = Limits()
    assert (limits.idle_s, limits.head_s, limits.body_s, limits.stall_s) == (10, 10, 15, 30)


@pytest.mark.parametrize("said", [b"", b"\r\n"], ids=["nothing", "an empty line"])
async def test_a_connection_that_asks_nothing_is_closed_without_a_word(said: bytes) -> None:
    async with served(echo, idle_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(said)
        assert await peer.closed() == b""


async def test_a_connection_that_asks_nothing_more_is_closed_without_a_word() -> None:
    async with served(echo, idle_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(GET)
        assert (await peer.reply()).status == 200
        assert await peer.closed() == b""


@pytest.mark.promise("errors.head-10s")
async def test_a_head_that_drips_is_cut_off_with_408() -> None:
    async with served(echo, head_s=SOON) as wire:
        peer = await wire.connect()
        for byte in GET[:-2]:
            await peer.say(bytes([byte]))
        (reply,) = await peer.rest()
    assert (reply.status, reply.code, reply.headers["connection"]) == (408, "REQUEST_TIMEOUT", "close")


async def test_dripping_does_not_move_the_deadline() -> None:
    async with served(echo, head_s=SOON) as wire:
        peer = await wire.connect()

        async def drip() -> None:
            while True:
                await peer.say(b"G" if not sent else b"A")
                sent.append(1)
                await asyncio.sleep(SOON / 10)

        sent: list[int] = []
        await peer.say(b"GET / HTTP/1.1\r\nX: ")
        dripping = asyncio.create_task(drip())
        (reply,) = await peer.rest()
        dripping.cancel()
    assert reply.status == 408


async def test_the_head_of_a_second_request_has_a_deadline_of_its_own() -> None:
    async with served(echo, head_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(GET + b"GET /dripped")
        first, second = await peer.rest()
    assert (first.status, second.status) == (200, 408)


async def test_the_time_of_a_head_stands_still_while_its_sender_waits_for_an_answer() -> None:
    release = asyncio.Event()

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        await release.wait()
        await echo(scope, receive, send)

    async with served(held, head_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(GET + b"GET /begun")
        await asyncio.sleep(SOON * 3)
        release.set()
        assert (await peer.reply()).status == 200
        await peer.say(b" HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await peer.reply()).body == b"GET /begun? "
        peer.close()


@pytest.mark.promise("errors.body-15s")
async def test_a_body_that_drips_is_cut_off_with_408() -> None:
    async with served(echo, body_s=SOON) as wire:
        (reply,) = await wire.say(HEAD, b"a", b"b")
    assert (reply.status, reply.code) == (408, "REQUEST_TIMEOUT")


async def test_a_body_that_drips_behind_an_answer_ends_the_connection_quietly() -> None:
    async def hasty(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with served(hasty, body_s=SOON, linger_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(HEAD)
        assert (await peer.reply()).status == 200
        assert await peer.closed() == b""


async def test_a_body_that_drips_under_an_answer_lets_the_answer_finish() -> None:
    release = asyncio.Event()

    async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await release.wait()
        await send({"type": "http.response.body", "body": b"two"})

    async with served(streaming, body_s=SOON) as wire:
        peer = await wire.connect()
        await peer.say(HEAD)
        await peer.reader.readuntil(b"one\r\n")
        await asyncio.sleep(SOON * 2)
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

    async with served(endless, stall_s=SOON) as wire:
        peer = await stuck(wire)
        await asyncio.wait_for(ended.wait(), LATE)
        peer.close()


async def test_a_reader_that_leaves_the_end_of_its_answer_lying_is_dropped() -> None:
    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b"x" * 1_000_000})

    async with served(large, stall_s=SOON) as wire:
        peer = await stuck(wire)
        await until(lambda: not wire.state.connections)
        peer.close()


async def test_a_reader_that_takes_something_now_and_then_is_waited_for() -> None:
    body = b"x" * 400_000

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"end"})

    async with served(large, stall_s=SOON * 3) as wire:
        peer = await stuck(wire)
        taken = b""
        while not taken.endswith(b"end\r\n0\r\n\r\n"):
            taken += await asyncio.wait_for(peer.reader.read(65_536), LATE)
            await asyncio.sleep(SOON / 10)
        peer.close()


async def stuck(wire: Wire) -> Peer:
    """A peer that asks and reads only when told to, with little room to have things sent ahead."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)  # noqa: FBT003
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", wire.port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=65_536)
    peer = Peer(reader, writer)
    await peer.say(GET)
    return peer


async def test_fifty_dripping_and_fifty_silent_connections_cost_the_others_nothing() -> None:
    async with served(echo, idle_s=LATE, head_s=LATE) as wire:
        slow = [await wire.connect() for _ in range(100)]
        for peer in slow[:50]:
            await peer.say(b"GET / HTT")
        others = await asyncio.gather(*(wire.get(b"/%d" % number) for number in range(50)))
        assert [reply.body for reply in others] == [b"GET /%d? " % number for number in range(50)]
        assert len(wire.state.connections) == 100
        for peer in slow:
            peer.close()


@asynccontextmanager
async def running(app: ASGIApp, drain_s: int = 1) -> AsyncIterator[tuple[uvicorn.Server, Wire]]:
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

    async with running(held) as (uvicorn_server, wire):
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
    loop = asyncio.get_running_loop()
    rung: list[str] = []
    late, early, cleared = (Deadline(loop, lambda name=name: rung.append(name)) for name in ("late", "early", "never"))  # type: ignore[misc]
    late.set(SOON)
    late.set(SOON * 4)
    early.set(LATE)
    early.set(SOON * 2)
    cleared.set(SOON)
    cleared.clear()
    await until(lambda: len(rung) == 2)
    assert rung == ["early", "late"]
    early.close()
    late.set(LATE)
    late.close()

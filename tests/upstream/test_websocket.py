"""The WebSocket session: frames handed on, nonsense counted, breaks mended."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import WSMsgType, web

from service.upstream.replay.server import replay_server
from service.upstream.websocket import (
    FIRST_PAUSE_S,
    LARGEST_FRAME,
    LONGEST_PAUSE_S,
    PING_S,
    Frame,
    UpstreamSocket,
    open_socket,
)
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES, listening

Script = Callable[[web.WebSocketResponse, asyncio.Event], Awaitable[None]]
"""What a server does with one connection; the event is set by the next thing the client says."""


class Mids(msgspec.Struct, frozen=True):
    mids: dict[str, str]


DECODERS = {"allMids": msgspec.json.Decoder(Mids)}
MIDS = '{"channel":"allMids","data":{"mids":{"BTC":"1.0"}}}'


class Ear:
    """Collects frames, and waits for them."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[Frame] = asyncio.Queue()

    def __call__(self, frame: Frame) -> None:
        self.frames.put_nowait(frame)

    async def next(self) -> Frame:
        async with asyncio.timeout(20):
            return await self.frames.get()


class Server(msgspec.Struct):
    """A venue that follows a script a connection; the last one is repeated."""

    url: str
    said: asyncio.Queue[str]
    scripts: list[Script]

    async def heard(self) -> str:
        async with asyncio.timeout(20):
            return await self.said.get()


@asynccontextmanager
async def scripted(*scripts: Script) -> AsyncIterator[Server]:
    server = Server("", asyncio.Queue(), list(scripts))

    async def serve(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        script = server.scripts[0] if len(server.scripts) == 1 else server.scripts.pop(0)
        spoken = asyncio.Event()
        reading = asyncio.create_task(read(socket, spoken))
        await script(socket, spoken)
        await reading
        return socket

    async def read(socket: web.WebSocketResponse, spoken: asyncio.Event) -> None:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                server.said.put_nowait(message.data)
                spoken.set()

    app = web.Application()
    app.router.add_get("/ws", serve)
    async with listening(app) as url:
        server.url = url + "/ws"
        yield server


@asynccontextmanager
async def heard_from(url: str, clock: FakeClock) -> AsyncIterator[tuple[UpstreamSocket, Ear]]:
    ear = Ear()
    async with open_socket("hyperliquid", url, clock, [{"type": "allMids"}], DECODERS) as socket:
        listening_task = asyncio.create_task(socket.listen(ear))
        try:
            yield socket, ear
        finally:
            listening_task.cancel()
            await asyncio.gather(listening_task, return_exceptions=True)
    assert not socket.connected


async def rest(clock: FakeClock, seconds: float) -> None:
    """Wait until something sleeps for exactly that long, then let the time pass."""
    async with asyncio.timeout(20):
        while not any(due == pytest.approx(clock.elapsed_s + seconds) for due, _, _ in clock._sleepers):  # noqa: ASYNC110 the fake clock has no event for it
            await asyncio.sleep(0)
    await clock.advance(seconds)


def saying(*frames: str | bytes, then_close: bool = False) -> Script:
    async def script(socket: web.WebSocketResponse, spoken: asyncio.Event) -> None:
        await spoken.wait()
        for frame in frames:
            await (socket.send_bytes(frame) if isinstance(frame, bytes) else socket.send_str(frame))
        if then_close:
            await socket.close()

    return script


async def test_frames_are_decoded_and_handed_on(clock: FakeClock) -> None:
    async with scripted(saying(MIDS)) as server, heard_from(server.url, clock) as (socket, ear):
        assert await ear.next() == Frame("allMids", Mids({"BTC": "1.0"}), clock.now_ms())
        assert await server.heard() == '{"method":"subscribe","subscription":{"type":"allMids"}}'
        assert (socket.connected, socket.connections, socket.malformed) == (True, 1, 0)


async def test_a_greeting_in_plain_text_is_not_an_error(clock: FakeClock) -> None:
    async with (
        scripted(saying("Websocket connection established.", MIDS)) as server,
        heard_from(server.url, clock) as (socket, ear),
    ):
        await ear.next()
        assert socket.malformed == 0


async def test_malformed_frames_are_skipped_and_counted(clock: FakeClock) -> None:
    nonsense = ("hello", "{", "[]", '{"data":1}', '{"channel":"allMids","data":{"mids":7}}', "[" * 100_000, b"\x00")
    async with (
        scripted(saying(MIDS, *nonsense, '{"channel":"allMids"}', MIDS)) as server,
        heard_from(server.url, clock) as (socket, ear),
    ):
        await ear.next()
        await ear.next()
        assert socket.malformed == len(nonsense) + 1


async def test_other_channels_are_dropped_and_an_error_is_logged(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    frames = ('{"channel":"pong"}', '{"channel":"subscriptionResponse","data":{}}', '{"channel":"error","data":"no"}')
    with caplog.at_level(logging.WARNING, "verdict.upstream"):
        async with scripted(saying(*frames, MIDS)) as server, heard_from(server.url, clock) as (socket, ear):
            await ear.next()
            assert (socket.malformed, ear.frames.qsize()) == (0, 0)
    assert [getattr(record, "channel", None) for record in caplog.records] == ["error"]


async def test_a_broken_connection_is_made_again_and_subscribed_again(clock: FakeClock) -> None:
    async with scripted(saying(MIDS, then_close=True)) as server, heard_from(server.url, clock) as (socket, ear):
        for connection in (1, 2, 3):
            await ear.next()
            assert "subscribe" in await server.heard()
            assert socket.connections == connection
            await rest(clock, FIRST_PAUSE_S)


async def test_pauses_double_up_to_a_minute_and_start_over_with_a_good_frame(clock: FakeClock) -> None:
    closing = saying(then_close=True)
    async with (
        scripted(*[closing] * 8, saying(MIDS, then_close=True)) as server,
        heard_from(server.url, clock) as (_, ear),
    ):
        for pause_s in (1, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S):
            await rest(clock, pause_s)
        await ear.next()
        await rest(clock, FIRST_PAUSE_S)


async def test_a_venue_that_is_down_is_tried_again_without_its_url_in_the_log(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "verdict.upstream"):
        async with heard_from("http://127.0.0.1:9/ws?key=hunter2", clock):
            await rest(clock, 1)
            await rest(clock, 2)
    assert [record.getMessage() for record in caplog.records] == ["Waiting for Hyperliquid feed: connection refused"]
    assert "hunter2" not in caplog.text


async def test_a_redirect_is_never_followed(clock: FakeClock) -> None:
    visited: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        visited.append(request.path)
        raise web.HTTPFound("/elsewhere")

    app = web.Application()
    app.router.add_get("/{path:.*}", redirect)
    async with listening(app) as url, heard_from(url + "/ws", clock):
        await rest(clock, 1)
    assert set(visited) == {"/ws"}


async def test_a_frame_beyond_the_cap_ends_the_connection(clock: FakeClock) -> None:
    huge = f'{{"channel":"allMids","data":{{"mids":{{"BTC":"{"1" * LARGEST_FRAME}"}}}}}}'
    async with scripted(saying(huge), saying(MIDS)) as server, heard_from(server.url, clock) as (socket, ear):
        await rest(clock, FIRST_PAUSE_S)
        await ear.next()
        assert socket.connections == 2


async def test_a_ping_is_sent_every_half_minute(clock: FakeClock) -> None:
    async def answering(socket: web.WebSocketResponse, spoken: asyncio.Event) -> None:
        for _ in range(3):
            await spoken.wait()
            spoken.clear()
            await socket.send_str(MIDS)

    async with scripted(answering) as server, heard_from(server.url, clock) as (socket, ear):
        await ear.next()
        await rest(clock, PING_S)
        await ear.next()
        await rest(clock, PING_S)
        await ear.next()
        assert socket.connections == 1
        assert [await server.heard() for _ in range(3)][1:] == ['{"method":"ping"}'] * 2


async def test_a_connection_that_goes_silent_is_given_up(clock: FakeClock) -> None:
    async with scripted(saying(MIDS), saying(MIDS)) as server, heard_from(server.url, clock) as (socket, ear):
        await ear.next()
        await rest(clock, PING_S)
        await rest(clock, PING_S)
        await rest(clock, FIRST_PAUSE_S)
        await ear.next()
        assert socket.connections == 2


@pytest.mark.slow
async def test_it_listens_to_the_replay_for_an_hour_without_a_break(clock: FakeClock) -> None:
    async with (
        replay_server(FIXTURES, clock, "shifted") as replay,
        heard_from(replay.url + "/ws", clock) as (socket, ear),
    ):
        first = await ear.next()
        for _ in range(120):
            await clock.advance(30)
            await drained(ear)
        assert (socket.connections, socket.malformed) == (1, 0)
    assert len(first.value.mids) == 80


async def drained(ear: Ear) -> None:
    """Wait for the frames of half a minute."""
    for _ in range(6):
        await ear.next()

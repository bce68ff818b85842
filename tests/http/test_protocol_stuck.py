"""A stream whose reader is slow, says more than it should, or leaves: who is waited for, how long, and what is left."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from service.access.caller import Caller
from service.access.stream_expiry import CHECK_EVERY_S, StreamExpiry
from service.http import streaming
from service.http.streaming import StreamEndpoint
from service.routes.call import StreamRoute
from tests.fakes.asgi import scope_of
from tests.fakes.clock import FakeClock
from tests.http.stage import PRICES, staged
from tests.http.test_protocol_streams import GET, LATE, Front, opened, stuck
from tests.http.wire import HOST, served, until


class Guarded(Front):
    """Streams of a credential that can be revoked."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.revoked = False
        self.stream_expiry = StreamExpiry(self.clock, self._stands)
        self._stream = StreamEndpoint(StreamRoute(lambda _: None, self._join), self.stream_expiry, "fixtures")

    async def revoke(self) -> None:
        self.revoked = True
        await self.clock.advance(CHECK_EVERY_S)

    def _stands(self, _: Caller) -> bool:
        return not self.revoked


@asynccontextmanager
async def guarded() -> AsyncIterator[Guarded]:
    front = Guarded()
    watching = asyncio.create_task(front.stream_expiry.watch())
    try:
        yield front
    finally:
        watching.cancel()


@pytest.mark.promise("revocation.streams")
async def test_a_revoked_stream_is_over_soon_also_where_its_reader_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "END_S", 0.03)
    async with guarded() as front, served(front) as wire:
        peer, lines = await stuck(wire, front)
        await front.revoke()
        assert lines.reason == "revoked"
        await front.revoke()  # each look says it again
        await until(lambda: not wire.state.connections and not wire.state.tasks)
        assert lines.closed
        assert not front.stream_expiry._open
        peer.close()


async def test_a_revoked_stream_whose_reader_reads_has_its_last_line() -> None:
    async with guarded() as front, served(front) as wire:
        peer, _ = await opened(wire, front)
        await front.revoke()
        assert b'"reason":"revoked"' in await peer.closed()


@pytest.mark.machine
async def test_a_reader_that_takes_less_than_the_kernel_makes_room_for_keeps_its_stream() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        connection: Any = next(iter(wire.state.connections))
        waiting, taken = connection.transport.get_write_buffer_size(), connection._taken
        while connection._count_taken() == taken:
            await asyncio.wait_for(peer.reader.read(256), LATE)
        assert connection.transport.get_write_buffer_size() == waiting, "the kernel took none of it"
        reasons = []
        for _ in range(2):
            connection._writing_expired()
            reasons.append(lines.reason)
        assert reasons == [None, "slow-reader"], "it has to take something again"
        peer.close()


async def test_a_reader_that_asked_for_more_behind_a_stream_is_heard_to_leave() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await opened(wire, front, GET + GET)
        peer.close()
        await until(lambda: lines.closed and not wire.state.connections)
    assert len(front.followed) == 1


async def test_what_a_reader_says_during_a_stream_neither_ends_it_nor_is_kept() -> None:
    front = Front()
    async with served(front, body_bytes=1_000) as wire:
        head = b"GET /watch HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n"
        peer, lines = await opened(wire, front, head)
        wire.pass_time(15)
        await peer.say(b"\0" * 5_000 + GET)
        await wire.has_heard(len(head) + 5_000 + len(GET))
        assert not lines.closed
        lines.end("limit")
        assert b'"reason":"limit"' in await peer.closed()


async def test_a_stop_that_waits_no_longer_breaks_a_stuck_stream_off_without_ado(tmp_path: Path) -> None:
    stalled = asyncio.Event()

    async def receive() -> Message:
        return await asyncio.Future()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            stalled.set()
            await asyncio.Future()

    async with staged(tmp_path) as stage:
        scope = scope_of(PRICES, "GET", {"authorization": f"Bearer {await stage.key()}"})
        answering = asyncio.create_task(stage.app(scope, receive, send))
        await asyncio.wait_for(stalled.wait(), LATE)
        answering.cancel()
        await asyncio.wait({answering}, timeout=LATE)
        assert answering.cancelled(), "no failure that would be logged"
        assert stage.desk.followed[-1].closed
        assert not stage.access.stream_expiry._open


async def test_a_connection_that_is_gone_leaves_nothing_to_the_garbage_collector() -> None:
    front = Front()
    async with served(front) as wire:
        peer, _ = await opened(wire, front)
        gone = weakref.ref(next(iter(wire.state.connections)))
        gc.disable()
        try:
            peer.close()
            await until(lambda: gone() is None)
        finally:
            gc.enable()

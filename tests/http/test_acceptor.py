"""Accepting connections within limits, on real sockets."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from uvicorn.server import ServerState

from service.http.acceptor import Acceptor
from service.http.connections import PROBES, ConnectionLimits
from tests.fakes.asgi import Reply
from tests.fakes.clock import FakeClock
from tests.http.test_protocol_streams import Tls, tls
from tests.http.wire import HOST, Peer, Wire, echo, until

__all__ = ["tls"]

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
UNFINISHED = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n"


class Accepting(Wire):
    """A listening socket behind limits."""

    def __init__(self, acceptor: Acceptor, limits: ConnectionLimits, port: int, state: ServerState) -> None:
        super().__init__(port, state)
        self.acceptor = acceptor
        self.limits = limits

    async def asked(self, request: bytes) -> tuple[Peer, Reply]:
        peer = await self.connect()
        await peer.say(request)
        return peer, await peer.reply()


@asynccontextmanager
async def accepting(most: int = 2, context: ssl.SSLContext | None = None) -> AsyncIterator[Accepting]:
    config = uvicorn.Config(echo, http="httptools", ws="none", lifespan="off", log_config=None, proxy_headers=False)
    config.load()
    config.ssl = context
    state, limits = ServerState(), ConnectionLimits(most, 100, (), FakeClock())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        acceptor = Acceptor(listener, config, state, limits)
        wire = Accepting(acceptor, limits, listener.getsockname()[1], state)
        try:
            yield wire
        finally:
            wire.hang_up()
            acceptor.close()
            for connection in list(state.connections):
                connection.transport.abort()
            await acceptor.wait_closed()
            await until(lambda: not limits.open)


async def test_a_connection_is_answered_and_its_place_is_free_when_it_is_gone() -> None:
    async with accepting() as wire:
        peer, reply = await wire.asked(GET)
        assert (reply.status, wire.limits.open) == (200, 1)
        peer.close()
        await until(lambda: not wire.limits.open)


@pytest.mark.promise("connections.idle")
async def test_a_new_connection_replaces_idle_ones_and_is_answered() -> None:
    async with accepting() as wire:
        idle = [await wire.connect() for _ in range(2)]
        await until(lambda: wire.limits.open == 2)
        _, reply = await wire.asked(GET)
        assert reply.status == 200
        assert [await peer.closed() for peer in idle] == [b"", b""]


@pytest.mark.promise("connections.probes", "connections.refused")
async def test_when_all_are_busy_probes_are_answered_anything_else_is_503_and_the_rest_is_refused() -> None:
    async with accepting() as wire:
        for _ in range(2):
            busy = await wire.connect()
            await busy.say(UNFINISHED)
        await until(lambda: len(wire.state.tasks) == 2)
        _, health = await wire.asked(HEALTH)
        other, refused = await wire.asked(GET)
        assert health.status == 200
        assert (refused.status, refused.code, refused.headers["connection"]) == (503, "UNAVAILABLE", "close")
        assert await other.closed() == b""
        for _ in range(PROBES - 1):
            busy = await wire.connect()
            await busy.say(UNFINISHED.replace(b"POST / ", b"POST /healthz "))
        await until(lambda: len(wire.state.tasks) == PROBES + 1)
        peer = await wire.connect()
        beyond = await peer.reply()
        assert (beyond.status, beyond.code, beyond.headers["retry-after"]) == (503, "UNAVAILABLE", "1")
        assert await peer.closed() == b""


@pytest.mark.promise("connections.files")
async def test_a_process_without_a_descriptor_left_replaces_idle_connections_and_accepts_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with accepting(most=9) as wire:
        idle = await wire.connect()
        await until(lambda: wire.limits.open == 1)
        listener = wire.acceptor._listener
        failures = [errno.EMFILE, errno.ECONNABORTED]

        class Failing:
            def accept(self) -> object:
                if failures:
                    raise OSError(failures.pop(0), "injected")
                return listener.accept()

            def fileno(self) -> int:
                return listener.fileno()

        wire.acceptor._listener = Failing()  # type: ignore[assignment] # as a process without descriptors sees it
        _, reply = await wire.asked(GET)
        assert reply.status == 200
        assert await idle.closed() == b""
        assert wire.limits.refused["files"] == 1
        wire.acceptor._listener = listener
    assert [record.getMessage() for record in caplog.records] == [
        "connection refused: This process has no file descriptor left."
    ]


@pytest.mark.parametrize("turns", range(4))
async def test_a_stop_in_the_moment_a_connection_is_opened_closes_it(turns: int) -> None:
    async with accepting() as wire:
        with socket.create_connection(("127.0.0.1", wire.port)) as peer:
            wire.acceptor._accept()
            for _ in range(turns):
                await asyncio.sleep(0)
            wire.acceptor.close()
            for connection in list(wire.state.connections):
                connection.shutdown()
            await until(lambda: not wire.state.connections and not wire.limits.open)
            assert peer.recv(1) == b""


@pytest.mark.process
@pytest.mark.promise("connections.idle")
async def test_connections_whose_tls_handshake_never_ends_are_counted_and_replaced(tls: Tls) -> None:
    async with accepting(context=tls.server) as wire:
        silent = [await wire.connect() for _ in range(2)]
        await until(lambda: wire.limits.open == 2)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.port, ssl=context)
        peer = Peer(reader, writer)
        await peer.say(GET)
        assert (await peer.reply()).status == 200
        assert [await one.closed() for one in silent] == [b"", b""]
        writer.transport.abort()


@pytest.mark.process
async def test_a_failed_handshake_frees_its_place_and_a_stop_gives_up_those_under_way(tls: Tls) -> None:
    async with accepting(context=tls.server) as wire:
        peer = await wire.connect()
        await peer.say(GET)
        await peer.closed()
        await until(lambda: not wire.limits.open)
        silent = await wire.connect()
        await until(lambda: wire.limits.open == 1)
        wire.acceptor.close()
        await wire.acceptor.wait_closed()
        assert await silent.closed() == b""


@pytest.mark.process
async def test_over_tls_a_connection_too_many_is_closed_without_a_word(tls: Tls) -> None:
    async with accepting(most=-PROBES, context=tls.server) as wire:
        peer = await wire.connect()
        assert await peer.closed() == b""
        assert wire.limits.refused["total"] == 1


async def test_a_stop_gives_up_the_next_attempt_to_accept() -> None:
    async with accepting() as wire:
        wire.acceptor._wait_for_files()
        wire.acceptor.close()
        retry = wire.acceptor._retry
        assert retry is not None
        assert retry.cancelled()

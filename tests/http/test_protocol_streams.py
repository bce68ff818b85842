"""A stream on a connection: how little waits for a reader, what one that takes nothing is told, and what it costs."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
from typing import Any, NamedTuple

import pytest
from starlette.types import Receive, Scope, Send

from service.access.caller import Caller
from service.access.stream_expiry import StreamExpiry
from service.http.protocol import STREAM_BYTES
from service.http.request import PeerGoneError, RequestContext
from service.http.streaming import StreamEndpoint
from service.routes.call import Call, StreamRoute
from tests.fakes.clock import FakeClock
from tests.fakes.following import OPEN, Lines
from tests.http.wire import HOST, Peer, Wire, served, until

GET = b"GET /watch HTTP/1.1\r\n" + HOST + b"\r\n"
LATE = 20.0
PIECE = b'{"type":"event","data":"%b"}\n' % (b"x" * 65_536)
MANY = 8
"""Pieces that fill what the kernels of both ends take, several times over."""


class Front:
    """A stream for whoever asks."""

    def __init__(self) -> None:
        self.followed: list[Lines] = []
        watching = StreamRoute(lambda _: None, self._join)
        self._stream = StreamEndpoint(watching, StreamExpiry(FakeClock(), lambda _: True), "fixtures")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["verdict"] = request = RequestContext(scope)
        request.connect(receive, send)
        request.caller = Caller(1, "api_key", 1)
        try:
            await self._stream(scope, receive, request.send)
        except PeerGoneError:
            return
        finally:
            del scope["verdict"]

    def _join(self, call: Call[Any, Any]) -> Lines:
        self.followed.append(Lines(call))
        return self.followed[-1]


class Tls(NamedTuple):
    """Both sides of a connection that is encrypted."""

    server: ssl.SSLContext
    client: ssl.SSLContext


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    cert, secret = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*command, "-keyout", secret, "-out", cert, *subject], check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(cert, secret)
    return Tls(server, ssl.create_default_context(cafile=str(cert)))


async def opened(wire: Wire, front: Front, request: bytes = GET) -> tuple[Peer, Lines]:
    """A reader that has its first line."""
    peer = await wire.connect()
    await peer.say(request)
    async with asyncio.timeout(LATE):
        await peer.reader.readuntil(OPEN)
    return peer, front.followed[-1]


async def stuck(wire: Wire, front: Front) -> tuple[Peer, Lines]:
    """A reader with little room, which reads only when told to; so much is said that it is full."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)  # noqa: FBT003 - the name of the argument is not ours
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", wire.port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=1)
    peer = Peer(reader, writer)
    await peer.say(GET)
    (connection,) = wire.state.connections
    await until(lambda: bool(front.followed))
    lines = front.followed[-1]
    while not connection.flow.write_paused:  # type: ignore[union-attr]
        lines.say(PIECE)
        await until(lambda: not lines.waiting)
    return peer, lines


def last_of(said: bytes) -> Any:
    """The last line of a chunked answer that is whole."""
    assert said.endswith(b"\r\n0\r\n\r\n")
    return json.loads(said.removesuffix(b"\r\n0\r\n\r\n").splitlines()[-1])


async def test_a_stream_has_its_connection_to_itself_and_ends_with_it() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await opened(wire, front, GET + GET)
        lines.end("end")
        said = await peer.closed()
    assert last_of(said) == {"type": "close", "reason": "end"}
    assert len(front.followed) == 1
    assert lines.closed


async def test_a_reader_of_http_1_0_gets_lines_without_chunks_until_it_is_closed() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await opened(wire, front, GET.replace(b"1.1", b"1.0"))
        lines.say(b'{"type":"event"}\n')
        lines.end("limit")
        said = await peer.closed()
    assert said.splitlines()[-1] == b'{"type":"close","reason":"limit"}'
    assert said.endswith(b"}\n")


async def test_a_head_alone_leaves_the_connection_as_a_stream_would() -> None:
    async with served(Front()) as wire:
        peer = await wire.connect()
        await peer.say(GET.replace(b"GET", b"HEAD"))
        reply = await peer.reply(bodiless=True)
        assert await peer.closed() == b""
    assert (reply.status, reply.headers["content-type"]) == (200, "application/x-ndjson")


async def test_a_reader_that_leaves_is_noticed_at_once() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await opened(wire, front)
        peer.close()
        await until(lambda: lines.closed and not wire.state.tasks)


async def test_a_reader_that_closes_its_sending_half_has_left() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await opened(wire, front)
        peer.writer.write_eof()
        await until(lambda: lines.closed)
        await peer.closed()


async def test_the_kernel_holds_little_for_a_reader() -> None:
    front = Front()
    async with served(front) as wire:
        peer, _ = await opened(wire, front)
        (connection,) = wire.state.connections
        end: Any = connection.transport.get_extra_info("socket")
        assert STREAM_BYTES <= end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * STREAM_BYTES
        peer.close()


async def test_a_reader_whose_network_is_gone_is_given_up_a_minute_after_it_was_last_heard_of() -> None:
    front = Front()
    async with served(front) as wire:
        peer, _ = await opened(wire, front)
        (connection,) = wire.state.connections
        end: Any = connection.transport.get_extra_info("socket")
        assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000
        peer.close()


@pytest.mark.slow
async def test_what_a_reader_has_not_taken_keeps_more_from_being_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        connection: Any = next(iter(wire.state.connections))
        take, unsent = lines.take, list[int]()

        def take_and_note() -> bytes:
            unsent.append(connection.transport.get_write_buffer_size())
            return take()

        monkeypatch.setattr(lines, "take", take_and_note)
        for _ in range(MANY):
            lines.say(PIECE)
            await asyncio.sleep(0)
        reading = asyncio.create_task(peer.closed())
        await until(lambda: not lines.waiting)
        lines.end("end")
        said = await asyncio.wait_for(reading, LATE)
    assert last_of(said) == {"type": "close", "reason": "end"}
    assert said.count(b'"type":"event"') > MANY, "nothing was lost"
    assert {*unsent} == {0}


@pytest.mark.promise("watch.slow")
async def test_a_reader_that_took_nothing_and_takes_again_finds_that_its_stream_has_ended() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        lines.say(PIECE)
        await wire.pass_time_until(lambda: lines.reason)
        assert lines.reason == "slow-reader"
        await until(lambda: lines.closed)
        said = await peer.closed()  # while no more time passes: it has as long as anybody who is shown out
        assert not wire.state.tasks
    assert last_of(said) == {"type": "close", "reason": "slow-reader"}
    assert said.count(b'"type":"event"') == lines.taken - 2, "what had been taken for it, and no more"


@pytest.mark.promise("watch.slow")
async def test_a_reader_that_takes_nothing_still_is_dropped_and_leaves_nothing_behind() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        await wire.pass_time_until(lambda: not wire.state.connections and not wire.state.tasks)
        assert lines.reason == "slow-reader"
        peer.close()


async def test_a_stream_that_was_ended_for_another_reason_says_that_to_a_reader_that_takes_nothing() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        lines.end("revoked")
        await wire.pass_time_until(lambda: lines.ended)
        await until(lambda: lines.closed)
        assert last_of(await peer.closed()) == {"type": "close", "reason": "revoked"}


async def test_a_reader_that_takes_something_now_and_then_keeps_its_stream() -> None:
    front = Front()
    async with served(front) as wire:
        peer, lines = await stuck(wire, front)
        for _ in range(MANY):
            before = lines.taken
            lines.say(PIECE)
            while lines.taken == before:
                assert await asyncio.wait_for(peer.reader.read(4_096), LATE), "it was dropped"
            wire.pass_time(29)
        assert lines.reason is None
        peer.close()


async def test_a_reader_that_takes_nothing_costs_the_others_nothing() -> None:
    front = Front()
    async with served(front) as wire:
        slow, _ = await stuck(wire, front)
        others = [await opened(wire, front) for _ in range(20)]
        for number in range(50):
            for _, lines in others:
                lines.say(b'{"type":"event","number":%d}\n' % number)
            for peer, _ in others:
                await asyncio.wait_for(peer.reader.readuntil(b'"number":%d}\n' % number), LATE)
        for peer, _ in [*others, (slow, None)]:
            peer.close()


@pytest.mark.process
async def test_a_stream_over_tls_goes_on_and_parts_with_a_reader_that_takes_nothing(tls: Tls) -> None:
    front = Front()
    async with served(front, tls=tls.server) as wire:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", wire.port, ssl=tls.client, server_hostname="localhost"
        )
        writer.write(GET)
        async with asyncio.timeout(LATE):
            while OPEN.strip() not in await reader.readline():
                pass
            (lines,) = front.followed
            for number in range(3):
                lines.say(b'{"type":"event","number":%d}\n' % number)
                while b'"number":%d' % number not in await reader.readline():
                    pass
            while not lines.closed:
                lines.say(PIECE)
                wire.pass_time(1)
                await asyncio.sleep(0)
        await wire.pass_time_until(lambda: not wire.state.connections and not wire.state.tasks)
        assert lines.reason == "slow-reader"
        Peer(reader, writer).close()

"""The real connection class on a real socket, and a peer that says exactly the bytes it is told to.

The time of the connections' deadlines is moved by hand: a slow machine lets none of them pass.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from service.http.app import App
from service.http.fast_path import FastPath
from service.http.protocol import VerdictProtocol
from service.http.reader import Limits
from tests.fakes.asgi import Reply

PATIENCE_S = 20.0
HOST = b"Host: api.example.org\r\n"


class Timer:
    """A callback that is due at a moment."""

    def __init__(self, when_s: float, call: Callable[[], None], timers: "list[Timer]") -> None:
        self.when_s = when_s
        self.call = call
        self._timers = timers

    def cancel(self) -> None:
        """Forget the callback, which leads back to its connection."""
        if self in self._timers:
            self._timers.remove(self)


class HandMovedLoop:
    """The running event loop with a time of its own, which passes when a test says so."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._now_s = 0.0
        self._timers: list[Timer] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def time(self) -> float:
        """The time that has passed."""
        return self._now_s

    def call_at(self, when_s: float, call: Callable[[], None]) -> Timer:
        """Call a function when its moment has come."""
        timer = Timer(when_s, call, self._timers)
        self._timers.append(timer)
        return timer

    def pass_time(self, seconds: float) -> None:
        """Let time pass and call what comes due, in order."""
        end_s = self._now_s + seconds
        while due := [timer for timer in self._timers if timer.when_s <= end_s]:
            timer = min(due, key=lambda timer: timer.when_s)
            timer.cancel()
            self._now_s = max(self._now_s, timer.when_s)
            timer.call()
        self._now_s = end_s


class Wire:
    """A listening socket and what stands behind it.

    Attributes:
        heard: How many bytes have come from peers.
    """

    def __init__(self, port: int, state: ServerState, loop: HandMovedLoop | None = None) -> None:
        self.port = port
        self.state = state
        self.heard = 0
        self._loop = loop or HandMovedLoop()
        self._peers: list[Peer] = []

    def pass_time(self, seconds: float) -> None:
        """Let time pass for the deadlines of all connections."""
        self._loop.pass_time(seconds)

    async def pass_time_until(self, condition: Callable[[], object]) -> None:
        """Let time pass second by second until something is so."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.pass_time(1)
                await asyncio.sleep(0)

    async def has_heard(self, count: int) -> None:
        """Wait until so many bytes have come on open connections."""
        await until(lambda: bool(self.state.connections) and self.heard >= count)

    async def connect(self) -> "Peer":
        """Open a connection."""
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.port))
        self._peers.append(peer)
        return peer

    def hang_up(self) -> None:
        """Close what a test that failed has left open, so that the tests after it are not blamed."""
        for peer in self._peers:
            peer.close()

    async def say(self, *parts: bytes) -> list[Reply]:
        """Say the parts one after the other on a connection of their own and read what comes until it is closed."""
        peer = await self.connect()
        for part in parts:
            await peer.say(part)
        return await peer.rest()

    async def get(self, target: bytes = b"/", *lines: bytes, method: bytes = b"GET") -> Reply:
        """One request on a connection of its own."""
        fields = b"".join(line + b"\r\n" for line in lines)
        request = method + b" " + target + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n" + fields + b"\r\n"
        (reply,) = await self.say(request)
        return reply


class Peer:
    """The other end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        """Send; an end that is closed already is no failure."""
        self.writer.write(data)
        try:
            await self.writer.drain()
        except ConnectionError:
            return
        await asyncio.sleep(0)

    async def reply(self, *, bodiless: bool = False) -> Reply:
        """Read one answer."""
        async with asyncio.timeout(PATIENCE_S):
            head = await self.reader.readuntil(b"\r\n\r\n")
            status, headers = read_head(head)
            if bodiless or status == 204:
                return Reply(status, headers, b"")
            if headers.get("transfer-encoding") == "chunked":
                return Reply(status, headers, await self._chunks())
            return Reply(status, headers, await self.reader.readexactly(int(headers["content-length"])))

    async def _chunks(self) -> bytes:
        whole = b""
        while size := int(await self.reader.readline(), 16):
            whole += (await self.reader.readexactly(size + 2))[:-2]
        assert await self.reader.readline() == b"\r\n"
        return whole

    async def rest(self) -> list[Reply]:
        """Read answers until the other end closes; whatever is left of one is a failure."""
        replies = []
        async with asyncio.timeout(PATIENCE_S):
            try:
                while not self.reader.at_eof():
                    replies.append(await self.reply())
                    await asyncio.sleep(0)
            except asyncio.IncompleteReadError as error:
                assert error.partial == b"", error.partial  # noqa: PT017
        self.close()
        return replies

    async def closed(self) -> bytes:
        """Wait for the other end to close; what it said until then."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""
            finally:
                self.close()

    def close(self) -> None:
        """Close this end."""
        self.writer.close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - no event is set for what is waited for
            await asyncio.sleep(0.005)


def read_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers by lower-case name."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return int(first.split(" ")[1]), {name.lower(): value for name, _, value in pairs}


@asynccontextmanager
async def served(
    app: ASGIApp, *, tls: SSLContext | None = None, shortcut: bool = True, idle_s: int = 75, **limits: Any
) -> AsyncIterator[Wire]:
    """Serve an application over the real connection class, under these limits, with or without the fast path."""

    class Bounded(VerdictProtocol):
        def data_received(self, data: bytes) -> None:
            wire.heard += len(data)
            super().data_received(data)

    Bounded.limits = Limits(**limits)
    config = uvicorn.Config(
        app, ws="none", lifespan="off", log_config=None, proxy_headers=False, timeout_keep_alive=idle_s
    )
    config.load()
    fast_path = FastPath(app) if isinstance(app, App) and shortcut else None
    state = ServerState()
    state.default_headers = [(b"date", b"Fri, 25 Jul 2025 12:00:00 GMT")]
    loop: Any = HandMovedLoop()
    listener = socket.create_server(("127.0.0.1", 0))
    # Connections inherit it: a reader that takes nothing is then felt after kilobytes, not megabytes.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
    server = await asyncio.get_running_loop().create_server(
        lambda: Bounded(config, state, fast_path, loop), sock=listener, ssl=tls
    )
    wire = Wire(server.sockets[0].getsockname()[1], state, loop)
    try:
        yield wire
    finally:
        wire.hang_up()
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        for task in list(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)
        await server.wait_closed()


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what was asked: method, target and body."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        if not message["more_body"]:
            break
    said = b"%b %b?%b %b" % (scope["method"].encode(), scope["raw_path"], scope["query_string"], body)
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(said))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": said})

"""One request and its answer: the ASGI side of a connection, with no I/O of its own but the transport's `write`."""

import asyncio
import logging
from typing import Any, Final, Protocol

from starlette.types import ASGIApp, Message, Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

log: Final = logging.getLogger("verdict.http")

_WITHOUT_BODY: Final = frozenset({204, 304})


class Connection(Protocol):
    """What a cycle needs of the connection it belongs to."""

    transport: asyncio.Transport
    flow: FlowControl
    loop: asyncio.AbstractEventLoop

    def standing_fields(self) -> bytes:
        """Header lines that every answer carries."""

    def answered(self, cycle: "Cycle") -> None:
        """Note that the whole answer was written."""

    def drop(self) -> None:
        """Break the connection: an answer was begun that cannot be finished."""


class Cycle:
    """Reads one request's body and writes its answer, head and first chunk in one piece.

    Args:
        connection: The connection.
        scope: The ASGI scope of the request.
        keep_alive: Whether the connection may serve another request afterwards.
        expects_continue: Whether the peer waits for `100 Continue` before it sends the body.
    """

    __slots__ = (
        "_bodiless",
        "_body",
        "_chunked",
        "_connection",
        "_expects_continue",
        "_head",
        "_more_body",
        "_news",
        "_owed",
        "_waiter",
        "body_bytes",
        "complete",
        "disconnected",
        "keep_alive",
        "scope",
        "started",
    )

    def __init__(self, connection: Connection, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        self._expects_continue = expects_continue
        self.started = self.complete = self.disconnected = False
        self._body = bytearray()
        self.body_bytes = 0
        self._more_body = True
        self._news = False
        self._waiter: asyncio.Future[None] | None = None
        self._head = b""
        self._chunked = self._bodiless = False
        self._owed: int | None = None

    async def run(self, app: ASGIApp) -> None:
        """Let the application answer; break the connection if it does not finish what it began."""
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            log.exception("a request failed outside the application's own guard")
        finally:
            if not self.complete and not self.disconnected:
                self._connection.drop()

    def feed(self, body: bytes) -> None:
        """Take a piece of the request's body."""
        self.body_bytes += len(body)
        if not self.complete:
            self._body += body
        self._tell()

    def finish(self) -> None:
        """Note that the request was read to its end."""
        self._more_body = False
        self._tell()

    def abandon(self) -> None:
        """The peer is gone, or has been answered over the application's head."""
        self.disconnected = True
        self._tell()

    async def receive(self) -> Message:
        """Wait for more of the body, or for the end of the exchange."""
        if self._expects_continue and not self.disconnected:
            self._expects_continue = False
            self._connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self._news or self.disconnected or self.complete):
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        self._news = False
        body = bytes(self._body)
        self._body.clear()
        return {"type": "http.request", "body": body, "more_body": self._more_body}

    async def send(self, message: Message) -> None:
        """Write the head (held until the first piece of body) or a piece of the body.

        `delivered`, a callable in the last body message, is called right before the last byte is handed over.

        Raises:
            RuntimeError: If the application breaks the order or the length it promised, or smuggles a line break.
        """
        if self._connection.flow.write_paused and not self.disconnected:
            await self._connection.flow.drain()
        if self.disconnected:
            return
        if message["type"] == "http.response.start":
            self._begin(message)
        else:
            self._write(message)

    def _begin(self, message: Message) -> None:
        if self.started:
            raise RuntimeError("the answer was begun twice")
        status: int = message["status"]
        fields: list[tuple[bytes, bytes]] = message["headers"]
        block = b"".join([b"%b: %b\r\n" % field for field in fields])
        if block.count(b"\n") != len(fields) or block.count(b"\r") != len(fields) or b"\0" in block:
            raise RuntimeError("a header holds a line break or a NUL")
        named = dict(fields)
        self._bodiless = status in _WITHOUT_BODY or self.scope["method"] == "HEAD"
        if b"content-length" in named:
            self._owed = int(named[b"content-length"])
        elif not self._bodiless:
            self._chunked = self.scope["http_version"] == "1.1"
            self.keep_alive = self.keep_alive and self._chunked
        self._head = b"".join(
            (
                STATUS_LINE[status],
                self._connection.standing_fields(),
                block,
                b"transfer-encoding: chunked\r\n" if self._chunked else b"",
                self._last_lines(named),
            )
        )
        self.started = True

    def _last_lines(self, named: dict[bytes, bytes]) -> bytes:
        if b"connection" in named:
            self.keep_alive = self.keep_alive and named[b"connection"].lower() != b"close"
            return b"\r\n"
        return b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n"

    def _write(self, message: Message) -> None:
        if not self.started or self.complete:
            raise RuntimeError("a body outside of an answer")
        body: bytes = message.get("body", b"")
        last = not message.get("more_body", False)
        data = self._head + self._framed(body, last=last)
        self._head = b""
        if last:
            self.complete = True
            delivered: Any = message.get("delivered")
            if delivered is not None:
                delivered()
        if data:
            self._connection.transport.write(data)
        if last:
            self._tell()
            self._connection.answered(self)

    def _framed(self, body: bytes, *, last: bool) -> bytes:
        if self._bodiless:
            return b""
        if self._chunked:
            chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            return chunk + b"0\r\n\r\n" if last else chunk
        if self._owed is not None:
            self._owed -= len(body)
            if self._owed < 0 or (last and self._owed):
                raise RuntimeError("the body is not as long as its Content-Length says")
        return body

    def _tell(self) -> None:
        self._news = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

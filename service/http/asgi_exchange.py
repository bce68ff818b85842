"""The ASGI side of a connection: one request and its response."""

import asyncio
import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from service.http.request import DELIVERY, Delivery, RequestContext
from service.http.response import Response, header_lines

log: Final = logging.getLogger("verdict.http")

_WITHOUT_BODY: Final = frozenset({204, 304})
_cached_lines: Final = lru_cache(maxsize=1024)(header_lines)
"""Header lines of quota and origin: within a second they are the same for all with the same quota left."""


class ExchangeConnection(Protocol):
    """What an exchange needs of the connection it belongs to."""

    flow: FlowControl
    tasks: set[asyncio.Task[None]]
    loop: asyncio.AbstractEventLoop

    def write(self, data: bytes) -> None:
        """Send bytes, or queue them."""

    def common_lines(self) -> bytes:
        """Header lines of every response."""

    def answered(self, exchange: "AsgiExchange") -> None:
        """Note that the whole response was written."""

    def drop(self) -> None:
        """Break the connection: a response was started that cannot be finished."""

    def hold_little(self) -> None:
        """Buffer little for the peer: the response that starts has no end."""


class AsgiExchange:
    """Reads one request's body and writes its answer, head and first piece of body in one write.

    Args:
        connection: The connection.
        scope: The ASGI scope of the request.
        keep_alive: Whether the connection may serve another request afterwards.
        expects_continue: Whether the peer waits for `100 Continue` before it sends the body.

    Attributes:
        scope: The ASGI scope of the request, as long as it is not answered.
        task: Runs it; one of the connection's `tasks` until it ends.
        head: The bytes of the request, if they are one complete head that leaves the connection open.
    """

    task: asyncio.Task[None]
    started = False
    complete = False
    head = b""
    disconnected = False
    _persists = b""
    _body: bytearray | None = None
    _more_body = True
    _has_news = False
    _waiter: asyncio.Future[None] | None = None
    _head = b""
    _bodiless = False
    _chunked = False
    _owed: int | None = None
    _delivery: Delivery | None = None

    def __init__(
        self, connection: ExchangeConnection, scope: Scope, *, keep_alive: bool, expects_continue: bool
    ) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        if keep_alive and scope["http_version"] == "1.0":
            self._persists = b"connection: keep-alive\r\n"
        self._expects_continue = expects_continue

    async def run(self, app: ASGIApp) -> None:
        """Let the application answer; break the connection if it does not finish what it began."""
        self._delivery = Delivery()
        self.scope["extensions"] = {DELIVERY: self._delivery}
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            log.exception("A request failed outside the application's error handling.")
        finally:
            self.scope = {}  # it leads back here, and a ring would wait for the garbage collector
            self._connection.tasks.discard(self.task)
            if not self.complete and not self.disconnected:
                self._connection.drop()

    def restart(self) -> None:
        """Become the exchange of the next request on the connection, once the last one is answered."""
        self.started = self.complete = False

    def respond(
        self, request: RequestContext, response: Response, before_write: Callable[[], None] | None = None
    ) -> None:
        """Write a complete response to a GET, in place of `run`. Breaks the connection if it fails; never raises.

        Args:
            request: The request, with its own headers.
            response: The response.
            before_write: Called directly before the bytes are written.
        """
        connection = self._connection
        self.started = self.complete = True
        self.scope = {}
        request.status = response.status
        try:
            own = self._persists if self.keep_alive else b"connection: close\r\n"
            if request.response_headers:
                own += _cached_lines(tuple(request.response_headers))
            data = b"%b%b%bx-request-id: %b\r\n%b\r\n%b" % (
                STATUS_LINE[response.status],
                connection.common_lines(),
                response.lines,
                request.request_id,
                own,
                response.body,
            )
            if before_write is not None:
                before_write()
            connection.write(data)
            connection.answered(self)
        except Exception:
            log.exception("A response could not be written.", extra={"request_id": request.request_id.decode()})
            connection.drop()

    def finish_stream(self) -> bool:
        """Finish a stream whose peer takes nothing, in place of the application.

        Returns:
            Whether there was such a stream; the application sees a disconnect.
        """
        if self._delivery is None or self._delivery.last_piece is None or self.complete or not self.started:
            return False
        self._write({"type": "http.response.body", "body": self._delivery.last_piece()})
        return True

    def feed(self, body: bytes) -> None:
        """Take a piece of the request's body; it is not read once the response is complete."""
        if self._body is None:
            self._body = bytearray()
        self._body += body
        self._notify()

    def finish(self) -> None:
        """Note that the request was read to its end."""
        self._more_body = False
        self._notify()

    def abandon(self) -> None:
        """Note that the peer is gone, or was answered by the connection."""
        self.disconnected = True
        self._notify()

    async def receive(self) -> Message:
        """Wait for more of the body, or for the end of the exchange."""
        if self._expects_continue and not self.disconnected:
            self._expects_continue = False
            self._connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self._has_news or self.disconnected or self.complete):
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        self._has_news = False
        body, self._body = self._body or b"", None
        return {"type": "http.request", "body": bytes(body), "more_body": self._more_body}

    async def send(self, message: Message) -> None:
        """Write the head (held until the first piece of body) or a piece of the body.

        Raises:
            RuntimeError: If the application breaks the order or the promised length, or sends a line break in a header.
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
            raise RuntimeError("The response was started twice.")
        status: int = message["status"]
        fields: list[tuple[bytes, bytes]] = message["headers"]
        block = header_lines(fields)
        named = dict(fields)
        if status in _WITHOUT_BODY or self.scope["method"] == "HEAD":
            self._bodiless = True
        elif b"content-length" in named:
            self._owed = int(named[b"content-length"])
        elif self.scope["http_version"] == "1.1":
            self._chunked = True
            block += b"transfer-encoding: chunked\r\n"
        else:
            self.keep_alive = False
        if named.get(b"connection", b"").lower() == b"close":
            self.keep_alive = False
        elif not self.keep_alive:
            block += b"connection: close\r\n"
        else:
            block += self._persists
        self._head = b"%b%b%b\r\n" % (STATUS_LINE[status], self._connection.common_lines(), block)
        if self._delivery is not None and self._delivery.last_piece is not None:
            self._connection.hold_little()
        self.started = True

    def _write(self, message: Message) -> None:
        if not self.started or self.complete:
            raise RuntimeError("A body was sent outside of a response.")
        last = not message.get("more_body", False)
        data = self._head + self._framed(message.get("body", b""), last=last)
        self._head = b""
        self.complete = last
        if data:
            if self._delivery is not None and self._delivery.before_write is not None:
                self._delivery.before_write()
                self._delivery.before_write = None
            self._connection.write(data)
        if last:
            if self._waiter is not None:
                self._notify()
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
                raise RuntimeError("The body does not have the length that Content-Length says.")
        return body

    def _notify(self) -> None:
        self._has_news = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

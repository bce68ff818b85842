"""One request and its answer: the ASGI side of a connection, with no I/O of its own but the transport's `write`."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from service.http.whole import Whole, lines_of

log: Final = logging.getLogger("verdict.http")

_WITHOUT_BODY: Final = frozenset({204, 304})


class Connection(Protocol):
    """What a cycle needs of the connection it belongs to."""

    flow: FlowControl
    tasks: set[asyncio.Task[None]]
    loop: asyncio.AbstractEventLoop

    def write(self, data: bytes) -> None:
        """Send bytes, or queue them."""

    def common_lines(self) -> bytes:
        """Header lines that every answer carries."""

    def answered(self, cycle: "Cycle") -> None:
        """Note that the whole answer was written."""

    def drop(self) -> None:
        """Break the connection: an answer was begun that cannot be finished."""

    def hold_little(self) -> None:
        """Have little wait for the peer on our side: the answer that begins has no end of its own."""


class Cycle:
    """Reads one request's body and writes its answer, head and first piece of body in one write.

    Args:
        connection: The connection.
        scope: The ASGI scope of the request.
        keep_alive: Whether the connection may serve another request afterwards.
        expects_continue: Whether the peer waits for `100 Continue` before it sends the body.

    Attributes:
        scope: The ASGI scope of the request, as long as it is not answered.
        task: Runs it; one of the connection's `tasks` until it ends.
        mark: What its head is remembered by, if it may be.
    """

    task: asyncio.Task[None]
    started = False
    complete = False
    mark = b""
    disconnected = False
    _body: bytearray | None = None
    _more_body = True
    _news = False
    _waiter: asyncio.Future[None] | None = None
    _head = b""
    _bodiless = False
    _chunked = False
    _owed: int | None = None
    _delivered: Callable[[], None] | None = None
    _parting: Callable[[], bytes] | None = None

    def __init__(self, connection: Connection, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        self._expects_continue = expects_continue

    async def run(self, app: ASGIApp) -> None:
        """Let the application answer; break the connection if it does not finish what it began."""
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            log.exception("a request failed outside the application's own guard")
        finally:
            self.scope = {}  # it leads back here, and a ring would wait for the garbage collector
            self._connection.tasks.discard(self.task)
            if not self.complete and not self.disconnected:
                self._connection.drop()

    def renew(self) -> None:
        """Become the cycle of the next request on its connection, now that its last one is answered."""
        self.started = self.complete = False

    def answer(self, whole: Whole, own: bytes, delivered: Callable[[], None] | None = None) -> None:
        """Write a whole answer to a GET: for whoever does not `run` as an application.

        Args:
            whole: The answer.
            own: Further header lines, of this answer alone.
            delivered: Called right before its bytes are handed over.
        """
        connection = self._connection
        if not self.keep_alive:
            own += b"connection: close\r\n"
        self.started = self.complete = True
        self.scope = {}
        data = b"%b%b%b%b\r\n%b" % (
            STATUS_LINE[whole.status],
            connection.common_lines(),
            whole.lines,
            own,
            whole.body,
        )
        if delivered is not None:
            delivered()
        connection.write(data)
        connection.answered(self)

    def drop(self) -> None:
        """Break off: what was begun cannot be finished."""
        self._connection.drop()

    def part(self) -> bool:
        """Finish an endless answer over the application's head, though its peer takes nothing: say what is to be said.

        Returns:
            Whether there was such an answer; the application is told that its peer has left.
        """
        if self._parting is None or self.complete:
            return False
        self._write({"type": "http.response.body", "body": self._parting()})
        return True

    def feed(self, body: bytes) -> None:
        """Take a piece of the request's body; nobody reads it once the answer is complete."""
        if self._body is None:
            self._body = bytearray()
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
            self._connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self._news or self.disconnected or self.complete):
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        self._news = False
        body, self._body = self._body or b"", None
        return {"type": "http.request", "body": bytes(body), "more_body": self._more_body}

    async def send(self, message: Message) -> None:
        """Write the head (held until the first piece of body) or a piece of the body.

        The head's message may hold callables of ours: `delivered` is called right before the first bytes are handed
        over; `parting` says that the answer has no end of its own, and gives its last words once its peer takes nothing
        any more.

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
        block = lines_of(fields)
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
        self._head = b"%b%b%b\r\n" % (STATUS_LINE[status], self._connection.common_lines(), block)
        self._delivered = message.get("delivered")
        self._parting = message.get("parting")
        if self._parting is not None:
            self._connection.hold_little()
        self.started = True

    def _write(self, message: Message) -> None:
        if not self.started or self.complete:
            raise RuntimeError("a body outside of an answer")
        last = not message.get("more_body", False)
        data = self._head + self._framed(message.get("body", b""), last=last)
        self._head = b""
        self.complete = last
        if data:
            if self._delivered is not None:
                self._delivered()
                self._delivered = None
            self._connection.write(data)
        if last:
            if self._waiter is not None:
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

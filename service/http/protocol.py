"""The connection: uvicorn's httptools protocol, made strict, bounded in time and size, and thrifty with writes.

The parser (llhttp) refuses most malformed messages by itself; what it lets through is refused in `head`. Every refusal
is JSON, keeps the order of pipelined answers, and ends the connection: what follows a broken message has no certain
meaning.
"""

import asyncio
from collections import deque
from typing import Any, Final

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from service.errors import ServiceError
from service.http import errors
from service.http.cycle import Cycle
from service.http.deadline import Deadline
from service.http.exchange import next_request_id
from service.http.head import Head, Limits, too_large
from service.wire.envelope import failure

# What is being read.
_NOTHING: Final = 0
_HEAD: Final = 1
_BODY: Final = 2


class VerdictProtocol(HttpToolsProtocol):
    """One connection, given to uvicorn as its `http` class.

    `limits` is a class attribute: a subclass may be tighter.
    """

    limits = Limits()

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._phase = _NOTHING
        self._head = Head(self.limits)
        self._upgrading = self._resuming = self._deaf = False
        self._timed = self._turned = False
        self._raw_bytes = 0
        self._read: Cycle = None  # type: ignore[assignment]  # set before a body is read
        self._answering: Cycle | None = None
        self._queue: deque[Cycle] = deque()
        self._last_words = b""
        self._fields: tuple[object, bytes] = (None, b"")
        self._peer: dict[str, Any] = {}
        self._reading = Deadline(self.loop, self._reading_expired)
        self._writing = Deadline(self.loop, self._writing_expired)
        self._unsent = 0

    # The transport.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Greet a peer: it has `idle_s` to begin a request."""
        self.connections.add(self)
        self.transport = transport
        self.flow = FlowControl(transport)
        self._peer = {
            "server": get_local_addr(transport),
            "client": get_remote_addr(transport),
            "scheme": "https" if is_ssl(transport) else "http",
        }
        self._reading.set(self.limits.idle_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Tell every request of the connection that its peer is gone."""
        self.connections.discard(self)
        self._deaf = True
        for cycle in (self._answering, *self._queue):
            if cycle is not None:
                cycle.abandon()
        self._queue.clear()
        self._reading.close()
        self._writing.close()
        self.flow.resume_writing()
        self.parser = None

    def eof_received(self) -> bool:  # type: ignore[override]
        """Let a peer that closed its sending half still have the answer that is being made."""
        cycle = self._answering
        if cycle is None or cycle.started or self._phase != _NOTHING or self._peer["scheme"] == "https":
            return False
        self._deaf = True
        (self._queue[-1] if self._queue else cycle).keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; refuse what is malformed or too much."""
        if self._deaf:
            return
        self._turned = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self._refuse(_reason(error))
            return
        if self._phase != _NOTHING:
            self._bound(len(data))
        elif self._answering is not None:
            self._reading.clear()

    def pause_writing(self) -> None:
        """The peer reads more slowly than we write: give it `stall_s` to take anything."""
        self.flow.pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self.flow.resume_writing()
        self._writing.clear()

    # The parser.

    def on_message_begin(self) -> None:
        """A request begins."""
        if not self._resuming:
            self._head = Head(self.limits)
            self._turn(_HEAD)

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        if not self._resuming:
            self._head.add_target(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        if not self._resuming:
            self._head.add_field(name, value)

    def on_headers_complete(self) -> None:
        """Start answering, or queue behind the answers that are still due."""
        if self._resuming:
            return
        parser = self.parser
        method = parser.get_method().decode("ascii")
        self._upgrading = parser.should_upgrade()
        if method == "CONNECT":
            raise ServiceError("METHOD_NOT_ALLOWED", "this service is not a proxy", headers={"Allow": errors.METHODS})
        if len(self._queue) >= self.limits.pipelined:
            raise ServiceError("BAD_REQUEST", f"at most {self.limits.pipelined} requests may wait on one connection")
        version = parser.get_http_version()
        cycle = Cycle(
            self,
            self._head.scope(method, version, self._peer),
            keep_alive=version == "1.1" and parser.should_keep_alive(),
            expects_continue=self._head.expects_continue and version == "1.1",
        )
        self._read = cycle
        self._turn(_BODY)
        if self._answering is None:
            self._answer(cycle)
        else:
            self.flow.pause_reading()
            self._queue.append(cycle)

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body on, up to the cap; what nobody waits for any more is counted all the same."""
        cycle = self._read
        cycle.feed(body)
        if cycle.body_bytes > self.limits.body_bytes:
            raise too_large(self.limits)

    def on_message_complete(self) -> None:
        """The request was read to its end."""
        if self._upgrading:
            return
        self._phase = _NOTHING
        self._read.finish()
        if self._answering is None:
            self._reading.set(self.limits.idle_s)

    # The answers.

    def standing_fields(self) -> bytes:
        """Header lines that uvicorn gives every answer (Date), joined once for each second."""
        fields = self.server_state.default_headers
        if fields is not self._fields[0]:
            self._fields = (fields, b"".join([b"%b: %b\r\n" % field for field in fields]))
        return self._fields[1]

    def answered(self, cycle: Cycle) -> None:
        """Go on with the next request, or wait for one."""
        self.server_state.total_requests += 1
        if not cycle.keep_alive:
            self._hang_up()
        elif self._queue:
            self._answer(self._queue.popleft())
        else:
            self._answering = None
            if self._last_words:
                self._speak()
                return
            self.flow.resume_reading()
            if self._phase == _NOTHING:
                self._reading.set(self.limits.idle_s)
            elif self._phase == _HEAD:
                self._bound(0)

    def drop(self) -> None:
        """Break the connection: an answer was begun that cannot be finished."""
        self.transport.abort()

    def shutdown(self) -> None:
        """Finish what was asked, then close; uvicorn calls this when the service stops."""
        if self._answering is None:
            self._hang_up()
        else:
            (self._queue[-1] if self._queue else self._answering).keep_alive = False

    def _answer(self, cycle: Cycle) -> None:
        self._answering = cycle
        task = self.loop.create_task(cycle.run(self.app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # Limits and refusals.

    def _turn(self, phase: int) -> None:
        self._phase = phase
        self._turned = True
        self._timed = False
        self._raw_bytes = 0

    def _bound(self, arrived: int) -> None:
        """Bound an unfinished request in time and bytes; a head's time runs only while its sender is owed nothing."""
        limits = self.limits
        if not self._turned:
            self._raw_bytes += arrived
        in_head = self._phase == _HEAD
        if self._raw_bytes > (limits.raw_head_bytes if in_head else limits.raw_body_bytes):
            code = "HEADERS_TOO_LARGE" if in_head else "PAYLOAD_TOO_LARGE"
            self._refuse(ServiceError(code, "a request without an end"))
        elif not self._timed and not (in_head and self._answering is not None):
            self._timed = True
            self._reading.set(limits.head_s if in_head else limits.body_s)

    def _reading_expired(self) -> None:
        if self._deaf:
            self.transport.abort()
        elif self._phase == _NOTHING:
            self._hang_up()
        else:
            part = "head" if self._phase == _HEAD else "body"
            self._refuse(ServiceError("REQUEST_TIMEOUT", f"the request's {part} did not arrive in time"))

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Go on in HTTP/1.1 (RFC 9110 §7.8); the parser cannot, so a new one is shown the framing of what follows."""
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        length = b"content-length: %d" % self._head.content_length
        framing = b"transfer-encoding: chunked" if self._head.chunked else length
        self._upgrading = False
        self._resuming = True
        self.parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % framing)
        self._resuming = False
        self.data_received(rest)

    def _refuse(self, error: ServiceError) -> None:
        """Answer in place of the application, after the answers that are due, and close."""
        self._deaf = True
        if self._phase == _BODY:
            cycle = self._read
            if cycle.started:
                cycle.keep_alive = False
                if cycle.complete:
                    self._linger()
                return
            cycle.abandon()
            if cycle is self._answering:
                self._answering = None
            else:
                self._queue.remove(cycle)
        self._last_words = self._write_up(error)
        if self._answering is None:
            self._speak()

    def _write_up(self, error: ServiceError) -> bytes:
        body = failure(error)
        fields = [
            *errors.fields(error, len(body)),
            (b"x-request-id", next_request_id()),
            (b"connection", b"close"),
        ]
        lines = b"".join([b"%b: %b\r\n" % field for field in fields])
        return b"%b%b%b\r\n%b" % (STATUS_LINE[error.status], self.standing_fields(), lines, body)

    def _speak(self) -> None:
        self.transport.write(self._last_words)
        self._linger()

    def _linger(self) -> None:
        """Close so that a peer that is still sending can read what was said (RFC 9112 §9.6)."""
        self._deaf = True
        if self.transport.is_closing() or not self.transport.can_write_eof():
            self._hang_up()
            return
        self.transport.write_eof()
        self.flow.resume_reading()
        self._reading.set(self.limits.linger_s)

    def _hang_up(self) -> None:
        self._deaf = True
        self._reading.clear()
        self.transport.close()
        self._await_reader()

    def _await_reader(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        if self._unsent:
            self._writing.set(self.limits.stall_s)

    def _writing_expired(self) -> None:
        """Drop a reader that took nothing; give one that took something more time."""
        if self.transport.get_write_buffer_size() >= self._unsent:
            self.transport.abort()
        else:
            self._await_reader()


def _reason(error: Exception) -> ServiceError:
    """What a failure inside the parser means: our own refusal from a callback, or the parser's complaint."""
    if isinstance(error.__context__, ServiceError):
        return error.__context__
    return ServiceError("BAD_REQUEST", f"malformed HTTP request: {error}")

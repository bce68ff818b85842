"""One connection of a uvicorn server: strict HTTP/1.1 with limits of time and size.

Every refusal is JSON, keeps the order of pipelined responses, and closes the connection: bytes after a malformed
message are ambiguous. `reader` decides what is malformed.
"""

import asyncio
import socket
import sys
from collections import deque
from struct import Struct
from typing import Final

from starlette.types import ASGIApp, Scope
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from service.errors import ServiceError
from service.http.asgi_exchange import AsgiExchange
from service.http.deadline import Deadline
from service.http.fast_path import FastPath, FastRequest
from service.http.reader import BODY, HEAD, NOTHING, Limits, RequestReader
from service.http.request import next_request_id
from service.http.response import failure_response

STREAM_BYTES: Final = 32 * 1024
"""Send buffer of a stream's socket; Linux doubles it for its own bookkeeping."""

GONE_MS: Final = 60_000
"""TCP user timeout of a stream (RFC 5482). A heartbeat every 15 s asks for an acknowledgement. Without it, a phone
that lost its network would use one of its credential's streams for 15 minutes."""

LONGEST_REMEMBERED: Final = 2_048
"""Longest request, in bytes, that a connection keeps to recognise the next one by; the token is among them."""

_ACKNOWLEDGED: Final = Struct("=120xQ")
"""`tcpi_bytes_acked` of `struct tcp_info` (linux/tcp.h, since 4.1)."""


class VerdictProtocol(asyncio.Protocol):
    """One connection of a uvicorn server.

    `limits` is a class attribute: a subclass may be tighter.

    Args:
        config: Of the server; loaded. `timeout_keep_alive`: seconds that a connection may be without a request.
        server_state: Of the server.
        fast_path: Answers GETs without a task, if it can.
        loop: The event loop; by default the one that runs.
    """

    limits = Limits()
    transport: asyncio.Transport
    flow: FlowControl

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        fast_path: FastPath | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.app: ASGIApp = config.loaded_app
        self.loop = loop or asyncio.get_running_loop()
        self.server_state = server_state
        self.connections = server_state.connections
        self.tasks = server_state.tasks
        self.scheme = "http"
        self._idle_s = config.timeout_keep_alive
        self._fast_path = fast_path
        self._reader: RequestReader
        self._repeatable: FastRequest | None = None
        self._deaf = False
        self._timed = 0
        self._read: AsgiExchange
        self._answering: AsgiExchange | None = None
        self._queue: deque[AsgiExchange] = deque()
        self._refusal = b""
        self._common: tuple[object, bytes] = (None, b"")
        self._reading = Deadline(self.loop, self._reading_expired)
        self._writing = Deadline(self.loop, self._writing_expired)
        self._taken = 0

    # The transport.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        self.connections.add(self)  # type: ignore[arg-type] # uvicorn calls only `shutdown`
        self.transport = transport
        self.flow = FlowControl(transport)
        self.scheme = "https" if is_ssl(transport) else "http"
        peer = {"server": get_local_addr(transport), "client": get_remote_addr(transport), "scheme": self.scheme}
        self._reader = RequestReader(self.limits, self, peer)
        self._reading.set(self._idle_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Tell every request that the peer is gone, and break reference cycles: the garbage collector runs late."""
        self.connections.discard(self)
        self._deaf = True
        for exchange in (self._answering, *self._queue):
            if exchange is not None:
                exchange.abandon()
        self._queue.clear()
        self._answering = None
        self._repeatable = None
        vars(self).pop("_read", None)
        self._reader.close()
        self._reading.close()
        self._writing.close()
        self.flow.resume_writing()

    def eof_received(self) -> bool:
        """Let a peer that closed its sending half still receive the running response."""
        exchange = self._answering
        if exchange is None or exchange.started or self._reader.phase != NOTHING or self.scheme == "https":
            return False
        self._deaf = True
        (self._queue[-1] if self._queue else exchange).keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; refuse what is malformed or too large."""
        if self._deaf:
            return
        quiet = self._answering is None and self._reader.phase == NOTHING and not self.flow.write_paused
        if (
            quiet
            and self._repeatable is not None
            and self._repeatable.exchange.head == data
            and self._repeat(self._repeatable)
        ):
            return
        try:
            self._reader.feed(data)
        except ServiceError as error:
            self._refuse(error)
            return
        if quiet:
            self._note_head(data)
        if self._reader.phase != NOTHING:
            self._await_rest()
        elif self._answering is not None:
            self._reading.clear()

    def _repeat(self, last: FastRequest) -> bool:
        """Answer a request with the same bytes as the last one, without parsing it; whether that is done."""
        self._answering = last.exchange
        if not last.repeat():
            self._answering = None
            return False
        if self._answering is not None:
            self._reading.clear()
        return True

    def _note_head(self, data: bytes) -> None:
        """Note the bytes of a request that are one complete head and leave the connection open."""
        exchange = self._answering
        if (
            exchange is not None
            and exchange.keep_alive
            and not self._queue
            and self._reader.phase == NOTHING
            and len(data) <= LONGEST_REMEMBERED
            and data.find(b"\r\n\r\n") == len(data) - 4
        ):
            exchange.head = data

    def pause_writing(self) -> None:
        """The peer reads slowly: it has `stall_s` to take anything."""
        self.flow.pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self.flow.resume_writing()
        self._writing.clear()

    def write(self, data: bytes) -> None:
        """Write bytes, which reach the kernel at once if nothing waits before them.

        So a response has left directly after it was marked as delivered. (uvloop before 0.23 held writes until the end
        of the loop's turn: a process killed then had counted a call that it never answered.)
        """
        if not self.transport.is_closing():
            self.transport.write(data)

    # The reader.

    def request_begun(self, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        """Start answering, or queue behind earlier requests.

        Raises:
            ServiceError: BAD_REQUEST if too many requests wait.
        """
        if len(self._queue) >= self.limits.pipelined:
            raise ServiceError("BAD_REQUEST", f"At most {self.limits.pipelined} requests may wait on one connection.")
        self._read = exchange = AsgiExchange(self, scope, keep_alive=keep_alive, expects_continue=expects_continue)
        if self._answering is None:
            self._answer(exchange)
        else:
            self.flow.pause_reading()
            self._queue.append(exchange)

    def body_read(self, body: bytes) -> None:
        """Pass a piece of body to its request."""
        self._read.feed(body)

    def request_read(self) -> None:
        """Note the end of a request."""
        self._read.finish()
        if self._answering is None:
            self._reading.set(self._idle_s)

    # The answers.

    def common_lines(self) -> bytes:
        """Header lines of every response (Date), joined once a second."""
        fields = self.server_state.default_headers
        if fields is not self._common[0]:
            self._common = (fields, b"".join([b"%b: %b\r\n" % field for field in fields]))
        return self._common[1]

    def answered(self, exchange: AsgiExchange) -> None:
        """Go on with the next request, or wait for one."""
        self.server_state.total_requests += 1
        if not exchange.keep_alive:
            self._hang_up()
        elif self._queue:
            self._answer(self._queue.popleft())
        else:
            self._answering = None
            if self._refusal:
                self._send_refusal()
                return
            self.flow.resume_reading()
            if self._reader.phase == NOTHING:
                self._reading.set(self._idle_s)
            else:
                self._await_rest()

    def start(self, exchange: AsgiExchange, app: ASGIApp) -> None:
        """Run an exchange as a task."""
        exchange.task = self.loop.create_task(exchange.run(app))
        self.tasks.add(exchange.task)

    def drop(self) -> None:
        """Break the connection: a response was started that cannot be finished."""
        self.transport.abort()

    def hold_little(self) -> None:
        """Buffer little for the reader of a stream, and pause the connection while anything waits.

        A reader that takes nothing is then noticed after kilobytes instead of megabytes, which a slow stream would take
        hours to fill. Later requests on the connection are ignored, but it is read on, to notice that the peer leaves.
        """
        self._deaf = True
        self._queue.clear()
        self._reading.clear()
        self.flow.resume_reading()
        self.transport.set_write_buffer_limits(high=1)  # with 0, a TLS transport pauses when nothing waits, for good
        end: socket.socket = self.transport.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BYTES)
        if sys.platform == "linux":  # pragma: no branch - elsewhere a lost reader is noticed later
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_MS)

    def shutdown(self) -> None:
        """Finish open requests, then close. uvicorn calls this when the service stops."""
        if self._answering is not None:
            (self._queue[-1] if self._queue else self._answering).keep_alive = False
        elif not self._deaf:
            self._hang_up()

    def _answer(self, exchange: AsgiExchange) -> None:
        self._answering = exchange
        if self._fast_path is not None and exchange.scope["method"] == "GET":
            self.loop.call_soon(self._answer_fast, exchange, self._fast_path)
        else:
            self.start(exchange, self.app)

    def _answer_fast(self, exchange: AsgiExchange, fast_path: FastPath) -> None:
        """Answer without a task if the fast path can and the peer takes what it is sent."""
        if exchange.disconnected:
            return
        if self.flow.write_paused:
            self.start(exchange, self.app)
            return
        request = fast_path.start(exchange.scope, exchange)
        if request is None:
            self.start(exchange, fast_path.rest)
        elif exchange.head and request.passed:
            self._repeatable = request

    # Deadlines and refusals.

    def _await_rest(self) -> None:
        """Start the deadline of an unfinished request, once; a head's only while no response is due."""
        reader = self._reader
        if reader.phase == HEAD and self._answering is not None:
            self._reading.clear()
        elif self._timed != reader.turns:
            self._timed = reader.turns
            self._reading.set(self.limits.body_s if reader.phase == BODY else self.limits.head_s)

    def _reading_expired(self) -> None:
        phase = self._reader.phase
        if self._deaf:
            self.transport.abort()
        elif phase == NOTHING:
            self._hang_up()
        else:
            part = "head" if phase == HEAD else "body"
            self._refuse(
                ServiceError("REQUEST_TIMEOUT", f"The request's {part} did not arrive in time. Send it again.")
            )

    def _refuse(self, error: ServiceError) -> None:
        """Answer in place of the application, after earlier responses, and close."""
        self._deaf = True
        if self._reader.phase == BODY:
            exchange = self._read
            if exchange.started:
                exchange.keep_alive = False
                if exchange.complete:
                    self._linger()
                return
            exchange.abandon()
            if exchange is self._answering:
                self._answering = None
            else:
                self._queue.remove(exchange)
        self._refusal = self._encode_refusal(error)
        if self._answering is None:
            self._send_refusal()

    def _encode_refusal(self, error: ServiceError) -> bytes:
        refusal = failure_response(error, self._reader.path)
        own = b"x-request-id: %b\r\nconnection: close\r\n" % next_request_id()
        return b"%b%b%b%b\r\n%b" % (STATUS_LINE[refusal.status], self.common_lines(), refusal.lines, own, refusal.body)

    def _send_refusal(self) -> None:
        self.write(self._refusal)
        self._linger()

    def _linger(self) -> None:
        """Close so that a peer that is still sending can read the response (RFC 9112 §9.6)."""
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
        self._await_taking()

    def _await_taking(self) -> None:
        if self.transport.get_write_buffer_size():
            self._taken = self._count_taken()
            self._writing.set(self.limits.stall_s)

    def _count_taken(self) -> int:
        """Bytes that the peer acknowledged. The write buffer shrinks only in steps of a third of the kernel's."""
        if sys.platform != "linux":  # pragma: no cover - elsewhere the kernel does not tell
            return -self.transport.get_write_buffer_size()
        end: socket.socket = self.transport.get_extra_info("socket")
        info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.size)
        taken: int = _ACKNOWLEDGED.unpack(info)[0]
        return taken

    def _writing_expired(self) -> None:
        """Drop a peer that took nothing; give one that took something more time.

        A stream first gets its last line, in case its reader takes that much.
        """
        if self._count_taken() > self._taken:
            self._await_taking()
        elif self._answering is not None and self._answering.finish_stream():
            self._writing.set(self.limits.linger_s)
        else:
            self.transport.abort()

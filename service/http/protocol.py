"""The connection: uvicorn's httptools protocol, made strict, bounded in time and size, and thrifty with writes.

Every refusal is JSON, keeps the order of pipelined answers, and ends the connection: what follows a broken message has
no certain meaning. What makes a message broken is `reader`'s to say.
"""

import asyncio
import socket
import sys
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from starlette.types import ASGIApp, Scope
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from service.errors import ServiceError
from service.http import errors
from service.http.again import Again
from service.http.cycle import Cycle
from service.http.deadline import Deadline
from service.http.exchange import next_request_id
from service.http.heads import Heads, Known, is_one_head, mark_of
from service.http.reader import BODY, HEAD, NOTHING, Limits, Reader

STREAM_BYTES: Final = 32 * 1024
"""What the kernel may hold for the reader of a stream; Linux takes twice as much, for its own book-keeping."""

GONE_MS: Final = 60_000
"""So long after the kernel last heard of a stream's reader that owes it an answer, its connection is broken (RFC 5482):
a heartbeat in fifteen seconds sees to it that it is asked. Else a phone that lost its network would hold a seat for a
quarter of an hour."""

_ACKNOWLEDGED: Final = Struct("=120xQ")
"""`tcpi_bytes_acked` of `struct tcp_info` (linux/tcp.h, since 4.1)."""


class VerdictProtocol(HttpToolsProtocol):
    """One connection, given to uvicorn as its `http` class.

    `limits` is a class attribute: a subclass may be tighter. An application may offer `at_once`, a short way for GETs.
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
        del self.parser  # uvicorn's: never used, and a ring with this
        self._at_once: Callable[[Scope, Cycle], bool] | None = getattr(self.app, "at_once", None)
        self._heads: Heads | None = getattr(self.app, "heads", None)
        self._reader: Reader
        self._again: Again | None = None
        self._deaf = False
        self._timed = 0
        self._read: Cycle
        self._answering: Cycle | None = None
        self._queue: deque[Cycle] = deque()
        self._last_words = b""
        self._common: tuple[object, bytes] = (None, b"")
        self._reading = Deadline(self.loop, self._reading_expired)
        self._writing = Deadline(self.loop, self._writing_expired)
        self._taken = 0

    # The transport.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Greet a peer: it has `idle_s` to begin a request."""
        self.connections.add(self)
        self.transport = transport
        self.flow = FlowControl(transport)
        self.scheme = "https" if is_ssl(transport) else "http"
        peer = {"server": get_local_addr(transport), "client": get_remote_addr(transport), "scheme": self.scheme}
        self._reader = Reader(self.limits, self, peer)
        self._reading.set(self.limits.idle_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Tell every request of the connection that its peer is gone; let go of all that leads back here.

        What leads back would wait for the garbage collector, which comes to what has grown old after gigabytes.
        """
        self.connections.discard(self)
        self._deaf = True
        for cycle in (self._answering, *self._queue):
            if cycle is not None:
                cycle.abandon()
        self._queue.clear()
        self._answering = None
        self._again = None
        vars(self).pop("_read", None)
        self._reader.close()
        self._reading.close()
        self._writing.close()
        self.flow.resume_writing()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Let a peer that closed its sending half still have the answer that is being made."""
        cycle = self._answering
        if cycle is None or cycle.started or self._reader.phase != NOTHING or self.scheme == "https":
            return False
        self._deaf = True
        (self._queue[-1] if self._queue else cycle).keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Read what arrived; refuse what is malformed or too much."""
        if self._deaf:
            return
        mark = b""
        if self._heads is not None and self._answering is None and self._is_quiet():
            again = self._again
            if again is None or again.head != data:
                mark = mark_of(data)
                again = self._recall(data, self._heads.find(mark))
            if again is not None and self._hear_again(again):
                return
        try:
            self._reader.feed(data)
        except ServiceError as error:
            self._refuse(error)
            return
        if mark and is_one_head(data):
            self._have_noted(mark)
        if self._reader.phase != NOTHING:
            self._await_rest()
        elif self._answering is not None:
            self._reading.clear()

    def _is_quiet(self) -> bool:
        """Whether nothing is being read or kept from being written: what comes now begins a request."""
        return self._reader.phase == NOTHING and not self.flow.write_paused

    def _recall(self, head: bytes, known: Known | None) -> Again | None:
        """What answers a head here that has come before, here or on another connection."""
        if known is None:
            return None
        cycle = Cycle(self, {}, keep_alive=True, expects_continue=False)
        again: Again = self.app.again(head, known, self._reader.base, cycle)
        self._again = again
        return again

    def _hear_again(self, again: Again) -> bool:
        """Answer a request whose head has come before, without reading it; whether that is done."""
        self._answering = again.cycle
        if not again.answer():
            self._answering = None
            return False
        if self._answering is not None:
            self._reading.clear()
        return True

    def _have_noted(self, mark: bytes) -> None:
        """Let a head be remembered that was read as one request, whole, which leaves the connection open."""
        cycle = self._answering
        if cycle is not None and not self._queue and cycle.keep_alive and self._reader.phase == NOTHING:
            cycle.mark = mark

    def pause_writing(self) -> None:
        """The peer reads more slowly than we write: give it `stall_s` to take anything."""
        self.flow.pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self.flow.resume_writing()
        self._writing.clear()

    def write(self, data: bytes) -> None:
        """Hand bytes to the transport, which hands them to the kernel at once where nothing is waiting before them.

        An answer that is marked as delivered has left a moment later: a process killed between the two would have
        counted a call that it never answered. (uvloop before 0.23 held writes until the end of the loop's turn.)
        """
        if not self.transport.is_closing():
            self.transport.write(data)

    # The reader.

    def request_begun(self, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        """Start answering, or queue behind the answers that are still due.

        Raises:
            ServiceError: BAD_REQUEST if too many requests wait.
        """
        if len(self._queue) >= self.limits.pipelined:
            raise ServiceError("BAD_REQUEST", f"at most {self.limits.pipelined} requests may wait on one connection")
        self._read = cycle = Cycle(self, scope, keep_alive=keep_alive, expects_continue=expects_continue)
        if self._answering is None:
            self._answer(cycle)
        else:
            self.flow.pause_reading()
            self._queue.append(cycle)

    def body_read(self, body: bytes) -> None:
        """Hand a piece of body to the request it belongs to."""
        self._read.feed(body)

    def request_read(self) -> None:
        """Note the end of a request."""
        self._read.finish()
        if self._answering is None:
            self._reading.set(self.limits.idle_s)

    # The answers.

    def common_lines(self) -> bytes:
        """Header lines that uvicorn gives every answer (Date), joined once for each second."""
        fields = self.server_state.default_headers
        if fields is not self._common[0]:
            self._common = (fields, b"".join([b"%b: %b\r\n" % field for field in fields]))
        return self._common[1]

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
            if self._reader.phase == NOTHING:
                self._reading.set(self.limits.idle_s)
            else:
                self._await_rest()

    def start(self, cycle: Cycle, app: ASGIApp) -> None:
        """Run a cycle as a task."""
        cycle.task = self.loop.create_task(cycle.run(app))
        self.tasks.add(cycle.task)

    def drop(self) -> None:
        """Break the connection: an answer was begun that cannot be finished."""
        self.transport.abort()

    def hold_little(self) -> None:
        """Let no more wait than the kernel takes at once, and that be little; a connection that waits is paused.

        A reader that takes nothing is then noticed after some kilobytes instead of megabytes, which a slow stream would
        take hours to fill, and which a thousand of such readers would cost the machine. What it says meanwhile is of no
        account, requests behind this one included; that it leaves is heard only by reading on.
        """
        self._deaf = True
        self._queue.clear()
        self._reading.clear()
        self.flow.resume_reading()
        self.transport.set_write_buffer_limits(high=1)  # with 0, a TLS transport pauses when nothing waits, for good
        end: socket.socket = self.transport.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BYTES)
        if sys.platform == "linux":  # pragma: no branch - elsewhere a reader whose network is gone is missed later
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_MS)

    def shutdown(self) -> None:
        """Finish what was asked, then close; uvicorn calls this when the service stops."""
        if self._answering is not None:
            (self._queue[-1] if self._queue else self._answering).keep_alive = False
        elif not self._deaf:
            self._hang_up()

    def _answer(self, cycle: Cycle) -> None:
        self._answering = cycle
        if self._at_once is not None and cycle.scope["method"] == "GET":
            self.loop.call_soon(self._hurry, cycle)
        else:
            self.start(cycle, self.app)

    def _hurry(self, cycle: Cycle) -> None:
        """Answer without a task, if the application can and the peer takes what it is sent."""
        if cycle.disconnected:
            return
        if self.flow.write_paused or self._at_once is None or not self._at_once(cycle.scope, cycle):
            self.start(cycle, self.app)

    # Deadlines and refusals.

    def _await_rest(self) -> None:
        """Start the time of an unfinished request, once; a head's runs only while its sender is owed nothing."""
        reader = self._reader
        if self._timed != reader.turns and (reader.phase == BODY or self._answering is None):
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
            self._refuse(ServiceError("REQUEST_TIMEOUT", f"the request's {part} did not arrive in time"))

    def _refuse(self, error: ServiceError) -> None:
        """Answer in place of the application, after the answers that are due, and close."""
        self._deaf = True
        if self._reader.phase == BODY:
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
        said = errors.written(error, self._reader.path)
        own = b"x-request-id: %b\r\nconnection: close\r\n" % next_request_id()
        return b"%b%b%b%b\r\n%b" % (STATUS_LINE[said.status], self.common_lines(), said.lines, own, said.body)

    def _speak(self) -> None:
        self.write(self._last_words)
        self._linger()

    def _linger(self) -> None:
        """Close so that a peer that is still sending can read what was said (RFC 9112 §9.6)."""
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
        """Bytes that the peer took so far; what waits here gets less only with a third of what the kernel holds."""
        if sys.platform != "linux":  # pragma: no cover - where the kernel does not tell, that third must do
            return -self.transport.get_write_buffer_size()
        end: socket.socket = self.transport.get_extra_info("socket")
        info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.size)
        taken: int = _ACKNOWLEDGED.unpack(info)[0]
        return taken

    def _writing_expired(self) -> None:
        """Drop a peer that took nothing; give one that took something more time.

        A stream is said to be at its end first, in case its reader takes that much after all.
        """
        if self._count_taken() > self._taken:
            self._await_taking()
        elif self._answering is not None and self._answering.part():
            self._writing.set(self.limits.linger_s)
        else:
            self.transport.abort()

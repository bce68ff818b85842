"""Accepts connections on a listening socket, within limits, and goes on when the process runs out of descriptors.

An event loop's own server accepts before a limit can refuse, and does not count connections during TLS handshakes.
"""

import asyncio
import errno
import math
from contextlib import suppress
from functools import partial
from socket import socket
from typing import Final

from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from service.errors import ServiceError
from service.http.connections import ConnectionLimits, Slot, unavailable
from service.http.fast_path import FastPath
from service.http.health import LIVE, READY
from service.http.metrics import PATH as METRICS
from service.http.protocol import VerdictProtocol
from service.http.response import failure_response

_PAUSE_S: Final = 0.1
"""Until the next attempt when no descriptor is left."""

_PROBE_PATHS: Final = frozenset({LIVE, READY, METRICS})
_HANDSHAKE_S: Final = 10.0
_NO_FILES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class LimitedProtocol(VerdictProtocol):
    """One connection with a slot, which it holds until it is closed, or is idle and replaced.

    Args:
        config: Of the server.
        state: Of the server.
        slot: Its slot.
        fast_path: Answers GETs without a task, if it can.
    """

    def __init__(self, config: Config, state: ServerState, slot: Slot, fast_path: FastPath | None) -> None:
        super().__init__(config, state, fast_path)
        slot.connection = self
        self.opening: asyncio.Task[object] | None = None
        self._slot = slot
        self._opened_by = math.inf if config.ssl is None else self.loop.time() + _HANDSHAKE_S

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; a TLS handshake is done by now."""
        self.opening = None
        self._opened_by = math.inf
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the slot."""
        self._slot.release()
        super().connection_lost(exc)

    def request_begun(self, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        """Start answering; on a connection for probes, only probes.

        Raises:
            ServiceError: UNAVAILABLE for other requests on such a connection.
        """
        if self._slot.probes_only and scope["path"] not in _PROBE_PATHS:
            raise unavailable("All connections of this service are in use.")
        super().request_begun(scope, keep_alive=keep_alive, expects_continue=expects_continue)

    @property
    def idle_until(self) -> float:
        """When it is closed without a request, in the loop's time; infinite while a request is running."""
        return math.inf if self._answering is not None else min(self._reading.due, self._opened_by)

    def discard(self) -> None:
        """Close it at once."""
        if self.opening is not None:
            self.opening.cancel()
        else:
            self.transport.abort()


class Acceptor:
    """Accepts on one listening socket. Has the methods that uvicorn calls on a server.

    Args:
        listener: Listens already; its owner closes it after `close`.
        config: Of the server; loaded.
        state: Of the server.
        limits: Decide which connections are accepted.
        fast_path: Of the application, if it has one.
    """

    def __init__(
        self,
        listener: socket,
        config: Config,
        state: ServerState,
        limits: ConnectionLimits,
        fast_path: FastPath | None = None,
    ) -> None:
        self._listener = listener
        self._config = config
        self._state = state
        self._limits = limits
        self._fast_path = fast_path
        self._tls = config.ssl
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._closed = False
        listener.settimeout(0)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Stop accepting, abort TLS handshakes, and shut down what is about to be opened.

        Without TLS a connection is there in the loop's next turns. uvloop would not tell it that it is lost if its
        opening were cancelled.
        """
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._listener)
        if self._tls is not None:
            for task in self._opening:
                task.cancel()

    async def wait_closed(self) -> None:
        """Wait until the handshakes that `close` aborted have ended."""
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _accept(self) -> None:
        """Accept one connection per turn of the event loop, so that other work goes on and closed ones are gone."""
        try:
            end, address = self._listener.accept()
        except OSError as error:
            if error.errno in _NO_FILES:
                self._wait_for_files()
            return  # another worker was faster, or the peer has left
        try:
            slot = self._limits.admit(address[0])
        except ServiceError as refusal:
            self._refuse(end, refusal)
        else:
            self._open(end, slot)

    def _wait_for_files(self) -> None:
        """Close idle connections and retry soon; the socket stays readable, so waiting on it would spin."""
        self._limits.refuse("files", "")
        self._limits.replace_idle()
        self._loop.remove_reader(self._listener)
        self._retry = self._loop.call_later(_PAUSE_S, self._loop.add_reader, self._listener, self._accept)

    def _open(self, end: socket, slot: Slot) -> None:
        protocol = LimitedProtocol(self._config, self._state, slot, self._fast_path)
        handshake_s = None if self._tls is None else _HANDSHAKE_S
        opening = self._loop.connect_accepted_socket(
            lambda: protocol, end, ssl=self._tls, ssl_handshake_timeout=handshake_s
        )
        task: asyncio.Task[object] = self._loop.create_task(opening)
        protocol.opening = task
        self._opening.add(task)
        task.add_done_callback(partial(self._opened, end, slot, protocol))

    def _opened(self, end: socket, slot: Slot, protocol: LimitedProtocol, task: asyncio.Task[object]) -> None:
        self._opening.discard(task)
        if task.cancelled() or task.exception() is not None:  # the handshake failed or was aborted
            slot.release()
            end.close()
        elif self._closed:
            protocol.shutdown()

    def _refuse(self, end: socket, refusal: ServiceError) -> None:
        with end, suppress(OSError):
            end.settimeout(0)
            if self._tls is None:  # nothing can be sent before a handshake
                said = failure_response(refusal, b"")
                end.send(b"%bconnection: close\r\n%b\r\n%b" % (STATUS_LINE[said.status], said.lines, said.body))

"""uvicorn without signal handlers, and with an acceptor that keeps to limits."""

import contextlib
from collections.abc import Callable, Iterator
from socket import socket

import uvicorn
from starlette.types import ASGIApp

from service.http.acceptor import Acceptor
from service.http.connections import ConnectionLimits


class Server(uvicorn.Server):
    """A server that is stopped by its owner and says when it listens.

    Args:
        config: What to serve, and how.
        limits: Of open connections, shared by the servers of a process.
        started: Called once it accepts connections.
    """

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._limits = limits
        self._announce = started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: uvicorn would raise them again before the rooms behind the server have closed."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Accept connections, then say so."""
        acceptors = [Acceptor(end, self.config, self.server_state, self._limits) for end in sockets or ()]
        self.servers = acceptors  # type: ignore[assignment] # uvicorn closes them and waits for them, no more
        self.started = True
        self._announce()

    def stop(self) -> None:
        """Stop accepting, let open answers end, then return from `serve`. Asking again changes nothing."""
        self.should_exit = True


def configure_metrics(app: ASGIApp) -> uvicorn.Config:
    """The configuration of the server of `/metrics`: for scrapers on the operator's own network."""
    return uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )

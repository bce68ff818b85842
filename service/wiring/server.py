"""uvicorn without signal handlers, with an acceptor that keeps connection limits, and its configuration."""

import contextlib
from collections.abc import Callable, Iterator
from socket import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from service.http.acceptor import Acceptor
from service.http.connections import ConnectionLimits
from service.http.fast_path import FastPath
from service.settings import Settings

_BACKLOG: Final = 2_048
_METRICS_DRAIN_S: Final = 1


class Server(uvicorn.Server):
    """A server that is stopped by its owner and says when it listens.

    Args:
        config: What to serve, and how.
        limits: Of open connections, shared by the servers of a process.
        started: Called once it accepts connections.
        fast_path: Of the application, if it has one.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        limits: ConnectionLimits,
        started: Callable[[], None],
        fast_path: FastPath | None = None,
    ) -> None:
        super().__init__(config)
        self._fast_path = fast_path
        self._limits = limits
        self._announce = started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ignore signals: uvicorn would raise them again before the packages have closed."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Accept connections, then say so."""
        acceptors = [
            Acceptor(end, self.config, self.server_state, self._limits, self._fast_path) for end in sockets or ()
        ]
        self.servers = acceptors  # type: ignore[assignment] # uvicorn closes them and waits for them, no more
        self.started = True
        self._announce()

    def stop(self) -> None:
        """Stop accepting, let open answers end, then return from `serve`. Asking again changes nothing."""
        self.should_exit = True


def configure(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """The configuration of one process's server. Its `serve` takes sockets that are bound already.

    Args:
        app: The application.
        settings: TLS, how long a connection may be idle, and how long a stop waits for open answers.
    """
    return _configure(
        app,
        settings,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=settings.drain_seconds,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )


def configure_metrics(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """The configuration of the server of `/metrics`: for scrapers on the operator's own network."""
    return _configure(app, settings, timeout_graceful_shutdown=_METRICS_DRAIN_S)


def _configure(app: ASGIApp, settings: Settings, **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools",  # not used: `Acceptor` makes the connections
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=settings.idle_timeout,
        proxy_headers=False,  # `RequestLimiter` reads them, by the same rule for every hop
        **options,
    )

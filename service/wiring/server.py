"""uvicorn without a will of its own."""

import contextlib
from collections.abc import Callable, Iterator
from socket import socket

import uvicorn
from starlette.types import ASGIApp


class Server(uvicorn.Server):
    """A server that is stopped by its owner and says when it listens.

    Args:
        config: What to serve, and how.
        started: Called once it accepts connections.
    """

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: uvicorn would raise them again before the rooms behind the server have closed."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        self._announce()

    def stop(self) -> None:
        """Stop accepting, let open answers end, then return from `serve`. Asking again changes nothing."""
        self.should_exit = True


def configure_metrics(app: ASGIApp) -> uvicorn.Config:
    """The configuration of the server of `/metrics`: for scrapers on the operator's own network."""
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )

"""The service for any ASGI server: `uvicorn --factory service.wiring.asgi:create`.

`verdict serve` serves the same application on connections of its own, which add strict HTTP parsing, connection limits
and the fast path, and it serves `/metrics`. Another server brings its own HTTP parser and limits.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from service.clock import Clock
from service.settings import Settings, of_this_process
from service.wiring.build import build
from service.wiring.clocks import choose_clock


class HostedService:
    """Opens the service when its server starts, closes it when the server stops.

    Args:
        settings: The settings; the server decides about address, port and TLS.
        clock: The clock of all packages.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._router = Router(lifespan=self._open)
        self._app: ASGIApp = self._router

    @asynccontextmanager
    async def _open(self, _app: object) -> AsyncIterator[None]:
        async with build(self._settings, self._clock) as service:
            self._app = service.app
            yield
            service.streams.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or the server's lifespan."""
        app = self._router if scope["type"] == "lifespan" else self._app
        await app(scope, receive, send)


def create() -> HostedService:
    """Create the application from the environment's settings.

    Raises:
        SettingsError: If a setting is not valid.
    """
    settings = of_this_process()
    return HostedService(settings, choose_clock(settings))

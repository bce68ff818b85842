"""The gate of the request rate: approximate, generous, and the same for free and counted calls."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.exchange import Exchange
from service.http.throttle import Throttle


class Rate:
    """Counts the request.

    Args:
        app: What stands behind the gate.
        throttle: The count.
    """

    def __init__(self, app: ASGIApp, throttle: Throttle) -> None:
        self._app = app
        self._throttle = throttle

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Let a request through that comes slowly enough.

        Raises:
            ServiceError: RATE_LIMITED.
        """
        exchange: Exchange = scope["verdict"]
        self._throttle.count(exchange.caller, scope)
        return self._app(scope, receive, send)

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
        self.app = app
        self._throttle = throttle

    def check(self, scope: Scope, exchange: Exchange) -> bool:
        """Count the request.

        Returns:
            True: nothing here takes waiting.

        Raises:
            ServiceError: RATE_LIMITED.
        """
        self._throttle.count(exchange.caller, scope)
        return True

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Let a request through that comes slowly enough.

        Raises:
            ServiceError: RATE_LIMITED.
        """
        self.check(scope, scope["verdict"])
        return self.app(scope, receive, send)

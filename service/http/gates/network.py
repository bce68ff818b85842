"""The gate of sign-in: which network a request comes from, as a keyed hash."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.devices import VisitorForm
from service.http.exchange import Exchange
from service.http.throttle import Throttle


class Network:
    """Writes the network into the exchange.

    Args:
        app: What stands behind the gate.
        throttle: Knows where a request comes from.
        form: Hashes it.
    """

    def __init__(self, app: ASGIApp, throttle: Throttle, form: VisitorForm) -> None:
        self._app = app
        self._throttle = throttle
        self._form = form

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Go on."""
        exchange: Exchange = scope["verdict"]
        exchange.network = self._form.account_network(self._throttle.host_of(scope))
        return self._app(scope, receive, send)

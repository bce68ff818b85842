"""The gate of the parameters: what is malformed, or names what there is not, is refused before anything is counted."""

from collections.abc import Awaitable, Callable
from typing import cast

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.exchange import Exchange
from service.http.parameters import decode
from service.wire.offers import Offer


class Parameters:
    """Decodes path and query into the struct the offer declares.

    Args:
        app: What stands behind the gate.
        offer: The route.
        known: Refuses parameters that name what there is not.
    """

    def __init__(self, app: ASGIApp, offer: Offer, known: Callable[[Struct], object]) -> None:
        self.app = app
        self._offer = offer
        self._known = known

    def read(self, scope: Scope, exchange: Exchange) -> bool:
        """Decode path and query.

        Returns:
            True: nothing here takes waiting.

        Raises:
            ServiceError: BAD_REQUEST.
        """
        exchange.parameters = decode(self._offer, exchange.path_params, scope["query_string"])
        return True

    def check(self, scope: Scope, exchange: Exchange) -> bool:  # noqa: ARG002 -- the form of every gate's checks
        """Ask the route whether it knows what they name.

        Returns:
            True: nothing here takes waiting.

        Raises:
            ServiceError: What the route says of things it does not know.
        """
        self._known(cast("Struct", exchange.parameters))
        return True

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Let a request through that says what the route takes.

        Raises:
            ServiceError: BAD_REQUEST, or what the route says of things it does not know.
        """
        exchange: Exchange = scope["verdict"]
        self.read(scope, exchange)
        self.check(scope, exchange)
        return self.app(scope, receive, send)

"""Where the way of a caller with a token and that of one without part."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.exchange import Exchange


class Fork:
    """Sends each caller its way: neither way needs to know of the other's gates.

    Args:
        known: Where callers go who have shown a token.
        stranger: Where those go who have none.
    """

    def __init__(self, known: ASGIApp, stranger: ASGIApp) -> None:
        self._known = known
        self._stranger = stranger

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Go on."""
        exchange: Exchange = scope["verdict"]
        way = self._stranger if exchange.caller is None else self._known
        return way(scope, receive, send)

"""The gate of the body: the last one, since what has to be paid for is asked to be paid for before anybody reads it."""

from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.body import read_body
from service.http.exchange import Exchange


class Body:
    """Decodes the body into the struct the offer declares. Routes that take none do not have this gate.

    Args:
        app: What stands behind the gate.
        kind: The struct.
    """

    def __init__(self, app: ASGIApp, kind: type[Struct]) -> None:
        self.app = app
        self._kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through whose body is what the route takes.

        Raises:
            ServiceError: BAD_REQUEST, UNSUPPORTED_MEDIA_TYPE.
            PeerGoneError: If the peer left.
        """
        exchange: Exchange = scope["verdict"]
        exchange.body = await read_body(self._kind, exchange.headers, receive)
        await self.app(scope, receive, send)

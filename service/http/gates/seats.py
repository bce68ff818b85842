"""The gate of the streams: each credential may have a few open at a time, over all processes."""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.stream_limit import MOST, StreamLimit
from service.errors import ServiceError
from service.http.exchange import Exchange

_WAIT_S: Final = 15
"""A reader that went without a word is noticed when something is sent to it: with the next heartbeat, at the latest."""


class Seats:
    """Lets a request through that may have one more stream; HEAD, which opens none, in any case.

    Args:
        app: What stands behind the gate.
        limit: Counts open streams, for all streams.
    """

    def __init__(self, app: ASGIApp, limit: StreamLimit) -> None:
        self.app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a lease while the stream is open.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`; UNAVAILABLE; or what the stream fails with.
        """
        if scope["method"] == "HEAD":
            await self.app(scope, receive, send)
            return
        exchange: Exchange = scope["verdict"]
        lease_id = await self._limit.acquire(exchange.known_caller.credential_id)
        if lease_id is None:
            raise ServiceError(
                "RATE_LIMITED",
                f"at most {MOST} streams may be open with one credential; close one of them",
                headers={"Retry-After": str(_WAIT_S)},
            )
        try:
            await self.app(scope, receive, send)
        finally:
            self._limit.release(lease_id)

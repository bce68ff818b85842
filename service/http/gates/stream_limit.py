"""The stream limit gate: a credential may have a few open streams, over all processes."""

from typing import Final

from starlette.types import ASGIApp, Receive, Send

from service.access.stream_limit import MAX_STREAMS, StreamLimit
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.request import RequestContext

_WAIT_S: Final = 15
"""A reader that left without closing is noticed at the next heartbeat, within this time."""


class StreamLimitGate(RequestGate):
    """Holds a lease while a stream is open; HEAD needs none.

    Args:
        app: The application behind the gate.
        limit: Counts open streams.
    """

    wraps = True

    def __init__(self, app: ASGIApp, limit: StreamLimit) -> None:
        super().__init__(app)
        self._limit = limit

    def check(self, request: RequestContext) -> None:
        """Let every request pass: the lease is taken by `wrap`, which releases it."""

    async def wrap(self, request: RequestContext, receive: Receive, send: Send) -> None:
        """Run the stream with a lease.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`; UNAVAILABLE; or the stream's error.
        """
        if request.scope["method"] == "HEAD":
            await self.app(request.scope, receive, send)
            return
        lease_id = await self._limit.acquire(request.known_caller.credential_id)
        if lease_id is None:
            raise ServiceError(
                "RATE_LIMITED",
                f"A credential may have {MAX_STREAMS} open streams. Close one of them.",
                headers={"Retry-After": str(_WAIT_S)},
            )
        try:
            await self.app(request.scope, receive, send)
        finally:
            self._limit.release(lease_id)

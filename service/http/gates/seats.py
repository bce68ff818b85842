"""The gate of the streams: each credential may have a few open at a time, in one process."""

from collections import Counter
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.errors import ServiceError
from service.http.exchange import Exchange

MOST: Final = 3
"""Streams a credential."""

_WAIT_S: Final = 15
"""A reader that went without a word is noticed when something is sent to it: with the next heartbeat, at the latest."""

Taken = Counter[tuple[str, int]]
"""Kind and id of a credential → its open streams."""


class Seats:
    """Lets a request through that may have one more stream; HEAD, which opens none, in any case.

    Args:
        app: What stands behind the gate.
        taken: The count, shared by all streams.
    """

    def __init__(self, app: ASGIApp, taken: Taken) -> None:
        self.app = app
        self._taken = taken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a seat while the stream is open.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After`; or what the stream fails with.
        """
        if scope["method"] == "HEAD":
            await self.app(scope, receive, send)
            return
        exchange: Exchange = scope["verdict"]
        caller = exchange.known_caller
        seat = caller.kind, caller.credential_id
        if self._taken[seat] >= MOST:
            raise ServiceError(
                "RATE_LIMITED",
                f"at most {MOST} streams may be open with one credential; close one of them",
                headers={"Retry-After": str(_WAIT_S)},
            )
        self._taken[seat] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._taken[seat] -= 1
            if not self._taken[seat]:
                del self._taken[seat]

"""Closes streams whose credential expired or was revoked, or whose tier ended. Checks every second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from service.access.caller import Caller
from service.clock import Clock
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending

CHECK_EVERY_S: Final = 1.0
"""With the second after which a change made in another process is known, well within the five that are promised."""

_REVOKED: Final = ErrorBody("AUTH_INVALID", "The credential that this stream was opened with was revoked.")
_EXPIRED: Final = ErrorBody("AUTH_INVALID", "The credential that this stream was opened with has expired.")
_TIER_ENDED: Final = ErrorBody(
    "RATE_LIMITED", "The tier that this stream was opened with has ended: open it again as what the user is now."
)


class ExpiringStream(Protocol):
    """An open stream."""

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """End the stream with a reason."""


class StreamExpiry:
    """Ends streams that their reader may no longer follow.

    Args:
        clock: Time.
        valid: Whether the credential of a caller is still valid.
    """

    def __init__(self, clock: Clock, valid: Callable[[Caller], bool]) -> None:
        self._clock = clock
        self._valid = valid
        self._open: dict[ExpiringStream, Caller] = {}

    @contextmanager
    def track(self, stream: ExpiringStream, caller: Caller) -> Iterator[None]:
        """Check a stream while it is open."""
        self._open[stream] = caller
        try:
            yield
        finally:
            del self._open[stream]

    async def watch(self) -> None:
        """Check every open stream each second. Runs until cancelled."""
        while True:
            await self._clock.sleep(CHECK_EVERY_S)
            for stream, caller in tuple(self._open.items()):
                self._look(stream, caller)

    def _look(self, stream: ExpiringStream, caller: Caller) -> None:
        now_ms = self._clock.now_ms()
        if not self._valid(caller):
            stream.end("revoked", _EXPIRED if _has_passed(caller.expires_ms, now_ms) else _REVOKED)
        elif _has_passed(caller.entitlement_ends_ms, now_ms):
            stream.end("quota", _TIER_ENDED)


def _has_passed(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and now_ms >= at_ms

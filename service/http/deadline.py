"""A deadline that moves with every request and seldom touches the event loop's timers."""

import asyncio
import math
from collections.abc import Callable


class Deadline:
    """Calls `expire` once when the time that was set last has passed.

    Moving it later is one assignment: the armed timer checks the time when it fires.

    Args:
        loop: The loop whose time counts.
        expire: Called when the time has passed.
    """

    __slots__ = ("_armed", "_due", "_expire", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, expire: Callable[[], None]) -> None:
        self._loop = loop
        self._expire = expire
        self._due = math.inf
        self._armed = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Expire after this many seconds."""
        self._due = self._loop.time() + seconds
        if self._due < self._armed:
            self._arm()

    @property
    def due(self) -> float:
        """When it expires, in the loop's time; infinite while it is not set."""
        return self._due

    def clear(self) -> None:
        """Do not expire until it is set again."""
        self._due = math.inf

    def close(self) -> None:
        """Cancel the timer for good and drop the callback."""
        self._expire = _nothing
        self._due = self._armed = math.inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = self._due
        self._timer = self._loop.call_at(self._due, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._armed = math.inf
        if self._due == math.inf:
            return
        # A timer may ring up to its clock's resolution early.
        if self._loop.time() + 0.002 >= self._due:
            self._due = math.inf
            self._expire()
        else:
            self._arm()


def _nothing() -> None:
    """The callback of a closed deadline."""

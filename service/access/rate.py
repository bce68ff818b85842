"""How many requests a credential may make: the generic cell rate algorithm, in memory, one clock reading a request.

Source: ITU-T I.371, GCRA in its virtual-scheduling form.
"""

from collections.abc import Hashable
from typing import Final

from service.clock import Clock

MOST_KEYS: Final = 50_000

_MINUTE_S: Final = 60.0
_ROUNDING_S: Final = 1e-6
"""A wait shorter than this is what adding floats left over."""


class RequestRate:
    """A rate with bursts, for each key on its own. Each process keeps its own, so several allow several times as much.

    Memory is bounded by two generations of keys. A key that was not seen for as long as a spent burst takes to refill
    is as good as new and may be forgotten, so the older generation is dropped whole; beyond `MOST_KEYS` it is dropped
    sooner, and a few keys get their burst back early.

    Args:
        clock: Its monotonic time counts.
        per_minute: Requests a minute that can be kept up.
        burst: Requests that may come at once, after a rest.
    """

    def __init__(self, clock: Clock, per_minute: int, burst: int) -> None:
        self._now = clock.monotonic
        self._interval_s = _MINUTE_S / per_minute
        self._ahead_s = self._interval_s * (burst - 1)
        self._window_s = self._interval_s * burst
        self._young: dict[Hashable, float] = {}
        self._old: dict[Hashable, float] = {}
        self._turn_at = self._now() + self._window_s

    def take(self, key: Hashable) -> float | None:
        """Count a request.

        Args:
            key: Who asks.

        Returns:
            `None` if it may go on; else the seconds after which the next one may, and this one counts for nothing.
        """
        now = self._now()
        if now >= self._turn_at or len(self._young) >= MOST_KEYS:
            self._turn(now)
        due = self._young.get(key)
        if due is None:
            due = self._old.get(key, now)
        due = max(due, now)
        wait_s = due - self._ahead_s - now
        if wait_s > _ROUNDING_S:
            return wait_s
        self._young[key] = due + self._interval_s
        return None

    def _turn(self, now: float) -> None:
        self._old, self._young = self._young, {}
        self._turn_at = now + self._window_s

"""Limits of requests to one upstream: weight per minute, a share of retries, and a pause while it is down."""

import asyncio
from typing import Final

from service.clock import Clock

SHARE: Final = 0.8
"""Of a venue's published budget we use at most this much: others may share our address."""

BURST: Final = 0.25
"""The part of our share that may be spent at once. It refills with the rest, so any 60 s hold at most our share."""

FEW: Final = 30
"""A budget of fewer calls a minute has no burst: they are spread evenly, and a call an hour more is worth having."""

RETRY_SHARE: Final = 0.1
MOST_RETRIES: Final = 10.0
FAILURES_TO_OPEN: Final = 5
OPEN_S: Final = 10.0


class WeightBudget:
    """A token bucket in the venue's own weights, first come first served.

    A bucket that refills steadily, not a window that empties at once: while history is being fetched, a price
    waits a second or two, never a minute.

    Args:
        clock: Monotonic time and sleep.
        per_minute: The venue's published budget, weight a minute.
    """

    def __init__(self, clock: Clock, per_minute: int) -> None:
        share = per_minute * SHARE
        self._clock = clock
        self._most = share * BURST if per_minute >= FEW else 0.0
        self._per_second = (share - self._most) / 60
        self._left = self._most
        self._at = clock.monotonic()
        self._turn = asyncio.Lock()

    async def take(self, weight: int) -> None:
        """Wait until this weight may be spent, and spend it. One above the burst is spent into debt."""
        async with self._turn:
            while not self._spend(weight):
                await self._clock.sleep((min(weight, self._most) - self._left) / self._per_second)

    def wait_s(self, weight: int, others_per_second: float) -> float:
        """Seconds until so much weight has been spent, if it is asked for from now on.

        Args:
            weight: In the venue's own weights.
            others_per_second: Weight that other calls spend meanwhile.
        """
        left = self._left + (self._clock.monotonic() - self._at) * self._per_second
        pace = max(self._per_second - others_per_second, self._per_second / 4)
        return max(0.0, weight - min(self._most, left)) / pace

    def take_now(self, weight: int) -> bool:
        """Spend this weight if that needs no waiting."""
        return not self._turn.locked() and self._spend(weight)

    def _spend(self, weight: int) -> bool:
        now = self._clock.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        # Sleeping for exactly the missing weight may fall short by a float's last bit.
        enough = self._left >= min(weight, self._most) - 1e-6
        if enough:
            self._left -= weight
        return enough


class RetryBudget:
    """Retries in proportion to calls: a tenth of them, so that an outage is not answered with twice the load."""

    def __init__(self) -> None:
        self._left = MOST_RETRIES

    def deposit(self) -> None:
        """Note a call."""
        self._left = min(MOST_RETRIES, self._left + RETRY_SHARE)

    def withdraw(self) -> bool:
        """Whether one retry may be made; it is spent if so."""
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Breaker:
    """Opens after five failures in a row; after ten seconds one call may try, and its outcome decides.

    It also holds the pause an upstream asks for: nothing is sent before that is over.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._shut_until = 0.0
        self._paused_until = 0.0

    def wait_s(self) -> float:
        """Seconds until a call may be made; 0 is now."""
        return max(0.0, max(self._shut_until, self._paused_until) - self._clock.monotonic())

    def enter(self) -> None:
        """Note that a call is made. After an outage it is the one that tries: the others are held off meanwhile."""
        if self._failures >= FAILURES_TO_OPEN:
            self._shut_until = self._clock.monotonic() + OPEN_S

    def succeeded(self) -> None:
        """It answered, if only to refuse."""
        self._failures = 0
        self._shut_until = 0.0

    def failed(self) -> None:
        """It broke, was late, or spoke nonsense."""
        self._failures += 1
        if self._failures >= FAILURES_TO_OPEN:
            self._shut_until = self._clock.monotonic() + OPEN_S

    def pause(self, seconds: float) -> None:
        """Send nothing for that long."""
        self._paused_until = max(self._paused_until, self._clock.monotonic() + seconds)

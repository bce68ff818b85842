"""An event loop that tells when nothing is under way, and a clock that is moved by hand on it."""

import asyncio
import heapq
import selectors
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Final, TypeVar

T = TypeVar("T")

FROZEN_MS: Final = 1_753_487_999_999
"""2025-07-25T23:59:59.999Z, the last instant of the recording (`frozen_at` of its metadata)."""

_CALM: Final = 3
"""Times in a row that the loop waited for a millisecond and nothing came: a loopback socket delivers at once."""


class IdleSelector(selectors.DefaultSelector):
    """Counts how often in a row the loop had nothing to run and nothing came."""

    def __init__(self) -> None:
        super().__init__()
        self.calm = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for sockets; the loop gives a timeout above 0 only if it has nothing to run."""
        events = super().select(timeout)
        if events:
            self.calm = 0
        elif timeout is None or timeout > 0:
            self.calm += 1
        return events


def run(work: Callable[["HandClock"], Coroutine[Any, Any, T]], at_ms: int = FROZEN_MS, *, frozen: bool = True) -> T:
    """Run a coroutine on a loop and a clock of its own.

    Args:
        work: Gets the clock.
        at_ms: Where the clock begins, epoch milliseconds.
        frozen: Whether wall time stands still while seconds pass.
    """
    selector = IdleSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        return runner.run(work(HandClock(selector, at_ms, frozen=frozen)))


class HandClock:
    """Time that passes only when it is told to; everything under way comes to its end before time moves on.

    Args:
        selector: Of the loop that it is used on.
        at_ms: Wall time at the beginning.
        frozen: Whether wall time stands still.
    """

    def __init__(self, selector: IdleSelector, at_ms: int, *, frozen: bool) -> None:
        self.at_ms = at_ms
        self.frozen = frozen
        self._selector = selector
        self._elapsed_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic(self) -> float:
        return self._elapsed_s

    async def sleep(self, seconds: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed_s + max(seconds, 0), next(self._order), waiter))
        await waiter

    async def advance(self, seconds: float) -> None:
        """Let time pass: whoever sleeps wakes in order, each when the one before has nothing more to do."""
        end_s = self._elapsed_s + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end_s:
            self._move(self._sleepers[0][0])
            self._wake()
            await self.settle()
        self._move(end_s)

    async def jump(self, seconds: float) -> None:
        """Let time pass at once, as for a machine that was suspended: whoever is due wakes once."""
        await self.settle()
        self._move(self._elapsed_s + seconds)
        self._wake()
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is under way but what waits for time."""
        self._selector.calm = 0
        while self._selector.calm < _CALM:  # noqa: ASYNC110 - the selector tells, not an event
            await asyncio.sleep(0.001)

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self._elapsed_s:
            waiter = heapq.heappop(self._sleepers)[2]
            if not waiter.done():
                waiter.set_result(None)

    def _move(self, to_s: float) -> None:
        if not self.frozen:
            self.at_ms += round(to_s * 1_000) - round(self._elapsed_s * 1_000)
        self._elapsed_s = max(to_s, self._elapsed_s)

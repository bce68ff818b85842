"""An event loop that knows when it is idle, and a clock that a test moves."""

import asyncio
import heapq
import selectors
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Final, TypeVar

T = TypeVar("T")

FROZEN_MS: Final = 1_753_487_999_999
"""2025-07-25T23:59:59.999Z, the last instant of the recording (`frozen_at` of its metadata)."""

_IDLE_WAITS: Final = 3
"""Empty waits of a millisecond in a row after which the loop is idle. A loopback socket delivers at once."""


class IdleSelector(selectors.DefaultSelector):
    """Counts consecutive waits in which the loop had nothing to run and no event arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.empty_waits = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for sockets; the loop gives a timeout above 0 only if it has nothing to run."""
        events = super().select(timeout)
        if events:
            self.empty_waits = 0
        elif timeout is None or timeout > 0:
            self.empty_waits += 1
        return events


def run(work: Callable[["ManualClock"], Coroutine[Any, Any, T]], at_ms: int = FROZEN_MS, *, frozen: bool = True) -> T:
    """Run a coroutine on a new event loop with a new clock.

    Args:
        work: Gets the clock.
        at_ms: Where the clock begins, epoch milliseconds.
        frozen: Whether wall time stands still while seconds pass.
    """
    selector = IdleSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        return runner.run(work(ManualClock(selector, at_ms, frozen=frozen)))


class ManualClock:
    """A clock that a test moves. Work in progress ends before time moves on.

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
        """Move time forward and wake sleepers in order; before each one, work in progress ends."""
        end_s = self._elapsed_s + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end_s:
            self._move(self._sleepers[0][0])
            self._wake()
            await self.settle()
        self._move(end_s)

    async def jump(self, seconds: float) -> None:
        """Move time forward in one step, as after a suspend: each sleeper that is due wakes once."""
        await self.settle()
        self._move(self._elapsed_s + seconds)
        self._wake()
        await self.settle()

    async def settle(self) -> None:
        """Wait until the loop is idle: only sleepers are left."""
        self._selector.empty_waits = 0
        while self._selector.empty_waits < _IDLE_WAITS:  # noqa: ASYNC110 - the selector counts, no event is set
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

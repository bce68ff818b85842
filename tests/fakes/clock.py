"""A clock moved by hand: nothing waits, everything that slept until then wakes when time is moved."""

import asyncio
import heapq
from itertools import count

from service.clock import SECOND_MS

START_MS = 1_753_444_800_000
"""2025-07-25T12:00:00Z, inside the recordings."""


class FakeClock:
    def __init__(self, at_ms: int = START_MS) -> None:
        self.at_ms = at_ms
        self.elapsed_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic(self) -> float:
        return self.elapsed_s

    async def sleep(self, seconds: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.elapsed_s + seconds, next(self._order), waiter))
        await waiter

    def set_wall(self, at_ms: int) -> None:
        """Set wall time alone, as an operator or NTP would: sleepers do not wake."""
        self.at_ms = at_ms

    async def advance(self, seconds: float) -> None:
        """Let time pass: wake sleepers in order, letting each run before the next."""
        end = self.elapsed_s + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, waiter = heapq.heappop(self._sleepers)
            self._move(max(due, self.elapsed_s))
            if not waiter.done():
                waiter.set_result(None)
            await self.settle()
        self._move(end)
        await self.settle()

    async def settle(self) -> None:
        """Let everything that is ready run."""
        for _ in range(20):
            await asyncio.sleep(0)

    def _move(self, to_s: float) -> None:
        self.at_ms += round((to_s - self.elapsed_s) * SECOND_MS)
        self.elapsed_s = to_s

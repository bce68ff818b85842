"""What is done again and again: a table of steps, each with its rhythm, run together and ended together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from service.clock import Clock
from service.market.loops import keep_doing


class Loop(NamedTuple):
    """A step that is done again and again.

    Only the process that leads does it, and only once `after` is set, where there is such an event. What is marked
    `everywhere` is done in every process. Where there is `wake`, setting it ends the pause between two steps.
    """

    name: str
    step: Callable[[], Awaitable[None]]
    every_s: float
    after: asyncio.Event | None = None
    everywhere: bool = False
    wake: asyncio.Event | None = None


class _Alarm:
    """A clock whose sleep an event ends.

    Args:
        clock: What tells time.
        wake: The event; it is cleared once it has woken somebody.
    """

    def __init__(self, clock: Clock, wake: asyncio.Event) -> None:
        self.now_ms = clock.now_ms
        self.monotonic = clock.monotonic
        self._clock = clock
        self._wake = wake

    async def sleep(self, seconds: float) -> None:
        """Wait for that long, or for the event."""
        waits = [asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(self._wake.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._wake.clear()


@asynccontextmanager
async def running(table: Sequence[Loop], leader: Callable[[], bool], clock: Clock) -> AsyncIterator[None]:
    """Run loops until the block ends.

    Args:
        table: What is done.
        leader: Whether this process is the one that fetches and concludes.
        clock: Where time is waited for.
    """
    tasks = [asyncio.create_task(_run(loop, leader, clock)) for loop in table]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(loop: Loop, leader: Callable[[], bool], clock: Clock) -> None:
    async def step() -> None:
        if loop.everywhere or leader():
            await loop.step()

    if loop.after is not None:
        await loop.after.wait()
    await keep_doing(loop.name, step, loop.every_s, clock if loop.wake is None else _Alarm(clock, loop.wake))

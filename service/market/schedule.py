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
    `everywhere` is done in every process.
    """

    name: str
    step: Callable[[], Awaitable[None]]
    every_s: float
    after: asyncio.Event | None = None
    everywhere: bool = False


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
    await keep_doing(loop.name, step, loop.every_s, clock)

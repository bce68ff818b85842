"""What is done again and again: a table of steps, each with its rhythm, run together and ended together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from msgspec import Struct, field

from service.clock import Clock, sleep_or_wake
from service.market.loops import keep_doing

_LOOK_S: Final = 1.0
"""How often it is looked whether this process still leads, beside a step that has no end of its own."""


class Signal:
    """Wakes every loop that follows it, each by an event of its own: the loop that wakes first clears only its own."""

    def __init__(self) -> None:
        self._followers: list[asyncio.Event] = []

    def follow(self) -> asyncio.Event:
        """A new event, set by every `set` from now on."""
        event = asyncio.Event()
        self._followers.append(event)
        return event

    def set(self) -> None:
        """Set the events of all followers."""
        for event in self._followers:
            event.set()


class Loop(NamedTuple):
    """A step that is done again and again.

    Only the process that leads does it, and only once `after` is set, where there is such an event. What is marked
    `everywhere` is done in every process. Where there is `wake`, setting it ends the pause between two steps. A step
    that is `endless` is ended when its process does not lead any more.
    """

    name: str
    step: Callable[[], Awaitable[None]]
    every_s: float
    after: asyncio.Event | None = None
    everywhere: bool = False
    wake: asyncio.Event | None = None
    endless: bool = False


def noting(step: Callable[[], Awaitable[None]], tried: asyncio.Event) -> Callable[[], Awaitable[None]]:
    """Make a step that sets an event once it has been done, whatever came of it."""

    async def noted() -> None:
        try:
            await step()
        finally:
            tried.set()

    return noted


def set_event() -> asyncio.Event:
    """An event that is set."""
    event = asyncio.Event()
    event.set()
    return event


class Lead(Struct, frozen=True):
    """Who does what only one process of a store does, and from when on.

    `held` says whether this process is the one that fetches and concludes. No loop begins before `begun` is set, where
    there is such an event: a service that still opens its rooms is not kept from answering. What readiness does not
    wait for begins once `ready` is set.
    """

    held: Callable[[], bool]
    begun: asyncio.Event | None = None
    ready: asyncio.Event = field(default_factory=set_event)


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
        await sleep_or_wake(self._clock, seconds, self._wake)


@asynccontextmanager
async def running(table: Sequence[Loop], lead: Lead, clock: Clock) -> AsyncIterator[None]:
    """Run loops until the block ends.

    Args:
        table: What is done.
        lead: Whether this process is the one that fetches and concludes.
        clock: Where time is waited for.
    """
    tasks = [asyncio.create_task(_run(loop, lead, clock)) for loop in table]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(loop: Loop, lead: Lead, clock: Clock) -> None:
    async def step() -> None:
        if loop.everywhere or lead.held():
            await (_while_leading(loop.step, lead.held, clock) if loop.endless else loop.step())

    for event in (lead.begun, loop.after):
        if event is not None:
            await event.wait()
    await keep_doing(loop.name, step, loop.every_s, clock if loop.wake is None else _Alarm(clock, loop.wake))


async def _while_leading(step: Callable[[], Awaitable[None]], leader: Callable[[], bool], clock: Clock) -> None:
    """Do a step that has no end of its own until this process does not lead any more, or the step fails."""
    doing = asyncio.ensure_future(step())
    try:
        while leader() and not doing.done():
            look = asyncio.ensure_future(clock.sleep(_LOOK_S))
            try:
                await asyncio.wait((doing, look), return_when=asyncio.FIRST_COMPLETED)
            finally:
                look.cancel()
    finally:
        doing.cancel()
        await asyncio.wait((doing,))
    if not doing.cancelled():
        doing.result()

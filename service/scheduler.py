"""Runs periodic tasks: with backoff after failures, on the leading process or on all, until the service stops."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from msgspec import Struct, field

from service.clock import Clock, sleep_or_wake
from service.errors import ServiceError

MAX_BACKOFF_S: Final = 60.0

_LEADER_CHECK_S: Final = 1.0
"""Seconds between two checks that this process still leads, while a long-running step runs."""

_log: Final = logging.getLogger("verdict.scheduler")


class EventFanout:
    """Sets one event per subscriber, so that a subscriber that clears its event does not clear the others'."""

    def __init__(self) -> None:
        self._events: list[asyncio.Event] = []

    def subscribe(self) -> asyncio.Event:
        """Return a new event that every later `set` sets."""
        event = asyncio.Event()
        self._events.append(event)
        return event

    def set(self) -> None:
        """Set the events of all subscribers."""
        for event in self._events:
            event.set()


class PeriodicTask(NamedTuple):
    """A step that runs again and again.

    Attributes:
        name: Its name in the log.
        step: What runs.
        every_s: Seconds from start to start.
        after: The first run waits for this event.
        every_process: Run in every process; otherwise only in the one that leads.
        wake: Setting this event ends the pause between two runs.
        long_running: The step does not end by itself; cancel it when this process stops leading.
    """

    name: str
    step: Callable[[], Awaitable[None]]
    every_s: float
    after: asyncio.Event | None = None
    every_process: bool = False
    wake: asyncio.Event | None = None
    long_running: bool = False


def already_set() -> asyncio.Event:
    """Return an event that is set."""
    event = asyncio.Event()
    event.set()
    return event


class Leadership(Struct, frozen=True):
    """Which tasks this process may run, and when they start.

    Attributes:
        is_leader: Whether this process is the one that fetches and computes.
        started: No task starts before this event, so that tasks do not delay the start of the service.
        ready: Set when the service is ready; work that readiness does not need waits for it.
    """

    is_leader: Callable[[], bool]
    started: asyncio.Event | None = None
    ready: asyncio.Event = field(default_factory=already_set)


def setting_when_done(step: Callable[[], Awaitable[None]], event: asyncio.Event) -> Callable[[], Awaitable[None]]:
    """Wrap a step so that it sets an event after each run, also a failed one."""

    async def wrapped() -> None:
        try:
            await step()
        finally:
            event.set()

    return wrapped


@asynccontextmanager
async def running_tasks(tasks: Sequence[PeriodicTask], leadership: Leadership, clock: Clock) -> AsyncIterator[None]:
    """Run periodic tasks until the block ends."""
    running = [asyncio.create_task(_run(task, leadership, clock)) for task in tasks]
    try:
        yield
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def run_forever(name: str, step: Callable[[], Awaitable[None]], every_s: float, clock: Clock) -> None:
    """Run a step again and again until cancelled, whatever it raises.

    A failure doubles the pause, up to a minute; a step with a longer pause therefore runs sooner after a failure. A
    failure is logged as a warning if its code differs from that of the failure before it. `Retry-After` of an upstream
    is the session's business: a step may have another upstream to ask.

    Args:
        name: Its name in the log.
        step: What runs.
        every_s: Seconds from start to start.
        clock: Measures the pauses.
    """
    failures, logged = 0, ""
    while True:
        started_s, pause_s = clock.monotonic(), every_s
        try:
            await step()
        except ServiceError as error:
            failures += 1
            pause_s = _backoff(every_s, failures)
            level = logging.DEBUG if error.code == logged else logging.WARNING
            logged = error.code
            _log.log(level, "Refresh failed.", extra={"loop": name, "code": error.code, "pause_s": pause_s})
        except Exception:  # noqa: BLE001 - a defect must not end the loop; the log has its traceback
            failures += 1
            pause_s = _backoff(every_s, failures)
            _log.exception("Refresh raised an unexpected exception.", extra={"loop": name, "pause_s": pause_s})
        else:
            failures, logged = 0, ""
        await clock.sleep(max(0.0, started_s + pause_s - clock.monotonic()))


def _backoff(every_s: float, failures: int) -> float:
    return min(every_s * 2.0 ** min(failures - 1, 10), MAX_BACKOFF_S)


class _WakeableClock:
    """A clock whose sleep ends early when an event is set; the sleep clears the event."""

    def __init__(self, clock: Clock, wake: asyncio.Event) -> None:
        self.now_ms = clock.now_ms
        self.monotonic = clock.monotonic
        self._clock = clock
        self._wake = wake

    async def sleep(self, seconds: float) -> None:
        """Wait for the time or the event."""
        await sleep_or_wake(self._clock, seconds, self._wake)


async def _run(task: PeriodicTask, leadership: Leadership, clock: Clock) -> None:
    async def step() -> None:
        if task.every_process or leadership.is_leader():
            await (_while_leading(task.step, leadership.is_leader, clock) if task.long_running else task.step())

    for event in (leadership.started, task.after):
        if event is not None:
            await event.wait()
    await run_forever(task.name, step, task.every_s, clock if task.wake is None else _WakeableClock(clock, task.wake))


async def _while_leading(step: Callable[[], Awaitable[None]], is_leader: Callable[[], bool], clock: Clock) -> None:
    """Run a long-running step until it ends, it fails, or this process stops leading."""
    running = asyncio.ensure_future(step())
    try:
        while is_leader() and not running.done():
            pause = asyncio.ensure_future(clock.sleep(_LEADER_CHECK_S))
            try:
                await asyncio.wait((running, pause), return_when=asyncio.FIRST_COMPLETED)
            finally:
                pause.cancel()
    finally:
        running.cancel()
        await asyncio.wait((running,))
    if not running.cancelled():
        running.result()

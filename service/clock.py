"""Time. The only module that reads it; others get a `Clock`.

Wall time is an integer: milliseconds since the Unix epoch, UTC. Durations inside the process come from `monotonic`.
"""

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import asyncio

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
LATEST_MS: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z, the last instant that ISO 8601 writes with four digits."""


class Clock(Protocol):
    """Where time comes from: the system's, a frozen one for replays, a hand-moved one in tests."""

    def now_ms(self) -> int:
        """Wall time, epoch milliseconds UTC. May go backwards when the machine's clock is set."""

    def monotonic(self) -> float:
        """Seconds that never go backwards, from an arbitrary start."""

    async def sleep(self, seconds: float) -> None:
        """Wait for that long on this clock."""


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """Wall time, epoch milliseconds UTC."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that never go backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        import asyncio  # noqa: PLC0415 - half of the time that a command on the command line has to start in

        await asyncio.sleep(seconds)


class FrozenClock(SystemClock):
    """Wall time that stands still at a recorded instant, so that a replay gives the same bytes for ever.

    Args:
        at_ms: The instant, epoch milliseconds UTC.
    """

    def __init__(self, at_ms: int) -> None:
        self._at_ms = at_ms

    def now_ms(self) -> int:
        """The recorded instant."""
        return self._at_ms


async def sleep_or_wake(clock: Clock, seconds: float, wake: "asyncio.Event") -> None:
    """Wait for that long, or until an event is set; it is cleared, so that it ends one wait.

    Args:
        clock: On which to wait.
        seconds: How long at most.
        wake: What ends the wait.
    """
    import asyncio  # noqa: PLC0415 - half of the time that a command on the command line has to start in

    waits = [asyncio.ensure_future(clock.sleep(seconds)), asyncio.ensure_future(wake.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)
    wake.clear()


def iso(at_ms: int) -> str:
    """Write epoch milliseconds as ISO 8601 UTC with milliseconds and `Z`."""
    seconds, millis = divmod(at_ms, SECOND_MS)
    return f"{_whole_second(seconds)}.{millis:03d}Z"


@lru_cache(maxsize=4096)
def _whole_second(seconds: int) -> str:
    # Formatting a date takes two microseconds, twice for every answer; within a second it is the same.
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)\Z", re.ASCII)
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


def parse_iso(text: str) -> int:
    """Read an ISO 8601 instant as RFC 3339 writes it: date, `T`, time, and a zone.

    Returns:
        Epoch milliseconds UTC; what is finer is cut off.

    Raises:
        ValueError: If the text is not such an instant, has no zone, or lies outside 1970 to 9999.
    """
    if _INSTANT.match(text):
        try:
            at_ms = (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
        except ValueError:
            at_ms = -1
        if 0 <= at_ms <= LATEST_MS:
            return at_ms
    raise ValueError("an instant is written like 2026-01-31T00:00:00Z, with its zone")


def day_of(at_ms: int) -> int:
    """The UTC day an instant lies in, counted from 1970-01-01."""
    return at_ms // DAY_MS


def midnight_after(at_ms: int) -> int:
    """The next 00:00 UTC strictly after an instant, epoch milliseconds."""
    return (day_of(at_ms) + 1) * DAY_MS

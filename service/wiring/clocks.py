"""Chooses the clock of the service and of its commands."""

from service.clock import Clock, FrozenClock, SystemClock
from service.settings import Settings


def choose_clock(settings: Settings) -> Clock:
    """The system's clock; for a replay at recorded time, a clock stopped at the recording's end.

    Raises:
        FixtureError: If the recording cannot be read.
    """
    if settings.source == "fixtures" and settings.replay == "frozen":
        from service.upstream.replay.recording import frozen_at  # noqa: PLC0415 - only a replay needs it

        return FrozenClock(frozen_at(settings.fixtures_dir))
    return SystemClock()

"""Which clock a service, and the commands beside it, run on."""

from service.clock import Clock, FrozenClock, SystemClock
from service.settings import Settings


def choose_clock(settings: Settings) -> Clock:
    """The system's clock; where a recording is replayed at its own time, one that stands at the recording's end.

    Raises:
        FixtureError: If there is no recording to take the instant from.
    """
    if settings.source == "fixtures" and settings.replay == "frozen":
        from service.upstream.replay.recording import frozen_at  # noqa: PLC0415 - only a replay needs it

        return FrozenClock(frozen_at(settings.fixtures_dir))
    return SystemClock()

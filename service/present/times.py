"""Dates, instants and durations as text. Instants are ISO 8601 UTC, as the service writes them."""

from typing import Final

_DAY_S: Final = 86_400
_UNITS: Final = ((2 * _DAY_S, _DAY_S, "days"), (3_600, 3_600, "h"), (60, 60, "min"))


def day(instant: str) -> str:
    """The UTC day of an instant or of a date: `2025-07-25`."""
    return instant[:10]


def moment(instant: str) -> str:
    """An instant to the minute: `2025-07-25 23:59 UTC`."""
    return f"{instant[:16].replace('T', ' ')} UTC"


def short_moment(instant: str) -> str:
    """An instant to the minute where the year and the time zone are known: `07-25 23:59`."""
    return instant[5:16].replace("T", " ")


def duration(seconds: float) -> str:
    """A duration in its largest whole unit: `4 days`, `36 h`, `5 min`, `12 s`; days from 48 hours on."""
    for least_s, unit_s, unit in _UNITS:
        if seconds >= least_s:
            return f"{int(seconds // unit_s)} {unit}"
    return f"{int(max(seconds, 0))} s"

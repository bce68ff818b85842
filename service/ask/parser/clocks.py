"""Hours of a day in a question: "14:00 UTC yesterday", "2pm New York time on October 5". Pure."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from service.ask.parser.dates import FoundTime
from service.ask.parser.tokens import Token
from service.ask.parser.zones import FoundZone, UnclearTime, Zone, instant, shift_ms, zone_at
from service.ask.query import At
from service.clock import DAY_MS, HOUR_MS, iso

_MIDNIGHT: Final = "midnight"
_NOON: Final = frozenset({"noon", "midday"})
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(am|pm)?")
_MINUTE_MS: Final = 60_000
_SECOND_MS: Final = 1_000
_HALF_DAY: Final = 12
_MOST_MINUTES: Final = 59

DayAt = Callable[[int, int], FoundTime | None]
"""Reads the day at a token, where a clock shows so many milliseconds of the epoch."""


class _Shown(NamedTuple):
    """What a clock shows, milliseconds since midnight, its zone and where that is named, and the token after all."""

    since_ms: int
    end: int
    zone: Zone | UnclearTime | None = None
    places: range = range(0)
    midnight: bool = False

    def within(self, found: FoundZone | None) -> "_Shown":
        """The same in a zone that stands behind it."""
        if found is None:
            return self
        return self._replace(end=found.end, zone=found.zone, places=range(found.start, found.end))


def read_clock_time(tokens: Sequence[Token], at: int, now_ms: int, day_at: DayAt) -> FoundTime | None:
    """An hour of a day that begins at a token; null where none does. Without a zone it is one of UTC.

    A day is one of the calendar of the zone: "yesterday at 9am Tokyo time" is the day before the present day of Tokyo.
    Midnight is the last one; that of a day that is named may be either end of it.
    """
    shown = _shown(tokens, at)
    if shown is not None:
        day_begins = shown.end + (_word(tokens, shown.end) == "on")
        day = day_at(day_begins, now_ms)
        if day is not None:
            shown = shown._replace(end=day.end)
            shown = shown if shown.zone else shown.within(zone_at(tokens, day.end))
    else:
        day_begins, day = at, day_at(at, now_ms)
        shown = None if day is None else _shown(tokens, day.end + (_word(tokens, day.end) == "at"))
    shown_ms = now_ms + shift_ms(shown.zone, now_ms) if shown and isinstance(shown.zone, Zone) else now_ms
    if day is None and shown is not None and shown.midnight:
        return _found(shown_ms // DAY_MS * DAY_MS, shown)
    if day is None or shown is None or not isinstance(day.time, At):
        return None
    day = day_at(day_begins, shown_ms)
    if day is None or not isinstance(day.time, At):
        return None
    found = _found(day.time.at_ms, shown)
    return _either_midnight(day.time.at_ms, shown, found) if shown.midnight else found


def _either_midnight(day_ms: int, shown: _Shown, begun: FoundTime) -> FoundTime:
    """The midnights at which a day begins and ends, of which a question may mean either."""
    ended = _found(day_ms + DAY_MS, shown)
    times = [found.time for found in (begun, ended) if isinstance(found.time, At)]
    readings = tuple(f"{iso(time.at_ms)[:10]} {iso(time.at_ms)[11:16]} UTC" for time in times)
    return begun._replace(time=UnclearTime(_MIDNIGHT, readings))


def _found(day_ms: int, shown: _Shown) -> FoundTime:
    local_ms, zone = day_ms + shown.since_ms, shown.zone
    if isinstance(zone, UnclearTime):
        return FoundTime(zone, shown.end, shown.places)
    at_ms = local_ms if zone is None else instant(zone, local_ms)
    if isinstance(at_ms, UnclearTime):
        return FoundTime(at_ms, shown.end, shown.places)
    words = f"at {iso(at_ms)[11:16]} UTC on {iso(at_ms)[:10]}"
    if zone is not None and zone.name not in {"UTC", "GMT", "Z"}:
        words += f" ({iso(local_ms)[11:16]} {zone.name})"
    return FoundTime(At(at_ms, whole_day=False, words=words), shown.end, shown.places)


def _shown(tokens: Sequence[Token], at: int) -> _Shown | None:
    """The time since midnight that a clock shows, with its zone."""
    word = _word(tokens, at)
    if word.endswith("h") and _word(tokens, at - 1) == "at":
        word = f"{word.removesuffix('h')}:00"  # "at 14h"
    if word == _MIDNIGHT:
        return _Shown(0, at + 1, midnight=True).within(zone_at(tokens, at + 1))
    clock = _CLOCK.fullmatch("12pm" if word in _NOON else word)
    if clock is None or (clock[2] is None and clock[4] is None):
        return None
    hour, minute, second = int(clock[1]), int(clock[2] or 0), int(clock[3] or 0)
    if clock[4] is not None:
        if not 1 <= hour <= _HALF_DAY:
            return None
        hour = hour % _HALF_DAY + _HALF_DAY * (clock[4] == "pm")
    since_ms = hour * HOUR_MS + minute * _MINUTE_MS + second * _SECOND_MS
    if since_ms >= DAY_MS or max(minute, second) > _MOST_MINUTES:
        return None
    return _Shown(since_ms, at + 1).within(zone_at(tokens, at + 1))


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""

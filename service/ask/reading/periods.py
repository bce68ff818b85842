"""How far back, and for how long: periods in a text. Pure; weekdays and dates need to be told the present."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.ask.reading.numbers import loosely_at
from service.ask.reading.tokens import Token
from service.ask.reading.words import bag
from service.clock import DAY_MS
from service.wire.ask import Unit

_HOURS: Final[Mapping[str, float]] = {
    word: hours
    for words, hours in (
        ("h hr hrs hour hours", 1.0),
        ("d day days", 24.0),
        ("w wk wks week weeks", 168.0),
        ("fortnight fortnights", 336.0),
        ("mo mos mth month months", 720.0),
        ("quarter quarters", 2_160.0),
        ("y yr yrs year years", 8_760.0),
    )
    for word in words.split()
}
_DAY_H: Final = 24
_FEW_H: Final = 240
_COMPACT: Final = re.compile(
    r"(\d{1,5}(?:\.\d{1,3})?)(h|hr|hrs|hour|hours|d|day|days|w|wk|week|weeks|mo|month|months|y|yr|year)\Z"
)
_SINCE: Final = frozenset({"last", "past", "previous", "prior", "trailing"})
_THIS: Final = frozenset({"this", "current"})
_FUTURE: Final = bag(
    """
    will gonna predict prediction predictions forecast target would be become reach hit worth projected expect wont
    """
)
_HELD: Final = bag("for over during within")
_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}
_SURE_WEEKDAY: Final = 6
_MONTHS: Final = {
    name: month
    for month, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_FIRST_YEAR: Final = 2000
_LAST_YEAR: Final = 2100
_MOST_DAYS: Final = 36_500
_EPOCH_WEEKDAY: Final = 3
"""1970-01-01 was a Thursday."""


class Span(NamedTuple):
    """A period in a text.

    Attributes:
        start: The first of its words.
        end: Behind the last of them.
        hours: How long it is, or how long ago.
        ago: Whether it surely lies in the past.
        held: Whether it may be how long something is held.
        unit: How it is counted.
    """

    start: int
    end: int
    hours: float
    ago: bool
    held: bool
    unit: Unit


def find_spans(tokens: Sequence[Token], taken: set[int], now_ms: int | None) -> list[Span]:
    """Find the periods of a text, in its order.

    Args:
        tokens: Its words.
        taken: Those that are names.
        now_ms: The present, which weekdays and dates are counted from; null: they stand for nothing.
    """
    future = any(token.word in _FUTURE for token in tokens)
    spans: list[Span] = []
    at = 0
    while at < len(tokens):
        span = None if at in taken else _span(tokens, at, now_ms, future=future)
        if span is None:
            at += 1
        else:
            spans.append(span)
            at = span.end
    return spans


def _span(tokens: Sequence[Token], at: int, now_ms: int | None, *, future: bool) -> Span | None:
    word = tokens[at].word
    if word == "yesterday":
        return Span(at, at + 1, 24.0, ago=True, held=False, unit="d")
    if word == "overnight":
        return Span(at, at + 1, 12.0, ago=False, held=True, unit="h")
    if word in _SINCE | _THIS:
        return _relative(tokens, at, now_ms)
    return _counted(tokens, at, future=future) or (_calendar(tokens, at, now_ms) if now_ms is not None else None)


def _relative(tokens: Sequence[Token], at: int, now_ms: int | None) -> Span | None:
    """So: "Last week", "past 24 hours", "this month"; "this quarter" is as long as a whole one."""
    ahead = at + 1
    if ahead >= len(tokens):
        return None
    if tokens[at].word in _SINCE:
        counted = _counted(tokens, ahead, future=False)
        if counted is not None:
            return counted._replace(start=at, ago=True, held=tokens[at].word != "last" and counted.held)
        if now_ms is not None and tokens[ahead].word in _WEEKDAYS:
            weekday = _calendar(tokens, ahead, now_ms)
            return weekday and weekday._replace(start=at)
    hours = _HOURS.get(tokens[ahead].word)
    if hours is None or len(tokens[ahead].word) == 1:
        return None
    return Span(at, ahead + 1, hours, ago=True, held=False, unit="h" if hours < _DAY_H else "d")


def _counted(tokens: Sequence[Token], at: int, *, future: bool) -> Span | None:
    """So: "7 days", "24h", "a week", "two and a half days"."""
    compact = _COMPACT.match(tokens[at].name) if tokens[at].is_number and not tokens[at].sigil else None
    if compact is not None:
        value, end, unit = float(compact[1]), at + 1, compact[2]
    else:
        number = loosely_at(tokens, at)
        if number is None or tokens[at].sigil or at + number.size >= len(tokens):
            return None
        end = at + number.size
        unit = tokens[end].word
        if unit not in _HOURS or (len(unit) == 1 and not number.exact):
            return None
        value, end = number.value, end + 1
    return _placed(tokens, at, end, value * _HOURS[unit], future=future, whole=_HOURS[unit] >= _DAY_H)


def _placed(tokens: Sequence[Token], start: int, end: int, hours: float, *, future: bool, whole: bool) -> Span | None:
    before = tokens[start - 1].word if start else ""
    after = tokens[end].word if end < len(tokens) else ""
    if hours <= 0 or (before in {"in", "next", "within", "by"} and future) or before == "per" or after == "from":
        return None
    if after in {"old", "moving"} or (
        start and tokens[start].word in {"a", "an"} and before in {"times", "once", "twice"}
    ):
        return None
    unit: Unit = "d" if whole and (hours % _DAY_H == 0 or hours > _FEW_H) else "h"
    return Span(start, end, hours, ago=after in {"ago", "back", "earlier", "before"}, held=after != "ago", unit=unit)


def _calendar(tokens: Sequence[Token], at: int, now_ms: int) -> Span | None:
    """So: "Monday", "July 1", "1 July 2025", "2025-07-01": so many days back; nothing for what is still to come."""
    today = now_ms // DAY_MS
    for day, size in _days(tokens, at, today):
        if 0 <= today - day <= _MOST_DAYS:
            return Span(at, at + size, max(1, today - day) * 24.0, ago=True, held=False, unit="d")
    return None


def _days(tokens: Sequence[Token], at: int, today: int) -> Iterator[tuple[int, int]]:
    word = tokens[at].word
    if word in _WEEKDAYS and (len(word) >= _SURE_WEEKDAY or (at and tokens[at - 1].word in {"since", "on", "last"})):
        yield today - ((today + _EPOCH_WEEKDAY - _WEEKDAYS[word]) % 7 or 7), 1
    numbers = [_small(tokens, at + step) for step in range(3)]
    year, month, day = numbers
    if year and month and day and year >= _FIRST_YEAR and tokens[at + 1].gap == tokens[at + 2].gap == "-":
        yield from _dated(year, month, day, 3)
    if word in _MONTHS and at and tokens[at - 1].word == "since" and not numbers[1]:
        yield from ((found, 1) for found, _ in _written(1, _MONTHS[word], None, today))
    if word in _MONTHS and numbers[1]:
        yield from _written(numbers[1], _MONTHS[word], numbers[2], today)
    named = at + 2 if at + 1 < len(tokens) and tokens[at + 1].word == "of" else at + 1
    if numbers[0] and named < len(tokens) and tokens[named].word in _MONTHS:
        for found, size in _written(numbers[0], _MONTHS[tokens[named].word], _small(tokens, named + 1), today):
            yield found, size + named - at - 1


def _written(day: int, month: int, year: int | None, today: int) -> Iterator[tuple[int, int]]:
    """A day of a month, of the last one that has it where no year is named."""
    if year is not None and _FIRST_YEAR <= year < _LAST_YEAR:
        yield from _dated(year, month, day, 3)
        return
    this_year = 1970 + today * 400 // 146_097
    years = (this_year + 1, this_year, this_year - 1)
    past = [found for guess in years for found, _ in _dated(guess, month, day, 2) if found <= today]
    yield from ((found, 2) for found in past[:1])


def _small(tokens: Sequence[Token], at: int) -> int | None:
    """A number of at most four digits, an ordinal's ending aside."""
    if at >= len(tokens):
        return None
    digits = tokens[at].name.removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= len("2025") else None


def _dated(year: int, month: int, day: int, size: int) -> Iterator[tuple[int, int]]:
    """Days since 1970-01-01 of a date, if there is such a one: Howard Hinnant's days_from_civil."""
    if not (1 <= month <= 12 and 1 <= day <= _length(year, month)):  # noqa: PLR2004 - months of a year
        return
    shifted = year - (month <= 2)  # noqa: PLR2004 - the year begins in March
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    yield era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468, size


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]  # noqa: PLR2004

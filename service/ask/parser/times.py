"""Times in a question: windows, instants, days, calendar spans. Pure functions of the words and the present.

All calendar days are UTC. A week begins on Monday. A month counts 30 days, a year 365, except as calendar time.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from service.ask.parser.numbers import number_at
from service.ask.parser.tokens import Token
from service.ask.query import At, Between, Now, Time, Unit, Window
from service.clock import DAY_MS, HOUR_MS

_UNITS: Final[Mapping[str, tuple[Unit, int]]] = {
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("h", 1)),
    **dict.fromkeys(("d", "day", "days"), ("d", 1)),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), ("d", 7)),
    **dict.fromkeys(("mo", "mth", "month", "months"), ("d", 30)),
    **dict.fromkeys(("quarter", "quarters"), ("d", 90)),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), ("d", 365)),
    "fortnight": ("d", 14),
}
_NAMES: Final = {"h": "hour", "d": "day"}
_COMPACT: Final = re.compile(
    r"(\d+)-?(h|hr|hrs|d|day|days|w|wk|week|weeks|m|mo|mth|month|months|y|yr|year|years|hour|hours)"
)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        [
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        ]
    )
    for name in names.split()
}
_LAST: Final = frozenset({"last", "past", "previous", "trailing", "prior", "preceding", "recent"})
_ROLLING: Final = frozenset({"on", "over", "in", "for", "during", "within", "across", "through", "throughout", "of"})
_SINCE: Final = frozenset({"since", "from", "after", "starting"})
_UNTIL: Final = frozenset({"to", "until", "til", "till", "through", "and"})
_AGO: Final = frozenset({"ago", "back", "earlier", "before"})
_NOW: Final = (
    ("right", "now"),
    ("at", "the", "moment"),
    ("now",),
    ("currently",),
    ("rn",),
    ("atm",),
    ("at", "present"),
)
_ALL_TIME: Final = (
    "all time", "ever", "since listing", "since launch", "since inception", "on record", "in history", "of all time",
    "all recorded history", "since it was listed", "since listed", "since the listing", "since the beginning",
    "in your history", "recorded history", "full history", "whole history", "entire history", "all the data",
    "since the start of the data", "in the recorded history", "since records began",
)  # fmt: skip
_BARE: Final = frozenset({3, 5, 7, 10, 14, 24, 28, 30, 48, 60, 90, 180, 365})
_YEAR: Final = re.compile(r"20\d\d")
_QUARTER: Final = re.compile(r"q([1-4])")


class Found(NamedTuple):
    """A time, and the token after its last."""

    time: Time
    end: int


def read_time(tokens: Sequence[Token], at: int, now_ms: int) -> Found | None:
    """The time that begins at a token; null where none does. Leading prepositions belong to it."""
    return _Reader(tokens, now_ms).read(at)


class _Reader:
    def __init__(self, tokens: Sequence[Token], now_ms: int) -> None:
        self._tokens = tokens
        self._today = datetime.fromtimestamp(now_ms // 1000, UTC).date()
        self._now_ms = now_ms

    def word(self, at: int) -> str:
        return self._tokens[at].word if 0 <= at < len(self._tokens) else ""

    def _phrase(self, at: int, phrase: str) -> int | None:
        """The end of a phrase that stands at a token."""
        words = phrase.split()
        return at + len(words) if [self.word(at + step) for step in range(len(words))] == words else None

    def read(self, at: int) -> Found | None:
        for phrase in _ALL_TIME:
            if (end := self._phrase(at, phrase)) is not None:
                return Found(Between(0, None, "all recorded days"), end)
        start = at
        prepositions: set[str] = set()
        while (
            self.word(at) in _ROLLING | _SINCE | {"on", "at", "between", "the", "by", "as", "this", "over", "back"}
            and at - start < 4
        ):
            if self.word(at) == "this" and self.word(at + 1) not in _MONTHS and self.word(at + 1) not in _WEEKDAYS:
                break
            prepositions.add(self.word(at))
            at += 1
        found = self._bare(at, prepositions) if at < len(self._tokens) else None
        return found

    def _bare(self, at: int, before: set[str]) -> Found | None:
        since = bool(before & _SINCE)
        rolling = bool(before & _ROLLING)
        for reader in (self._ago, self._relative):
            if (found := reader(at, since=since, rolling=rolling)) is not None:
                return found
        window = self._window(at, last=False)
        if window is not None:
            return window
        day = self._day(at, since=since or bool(before & {"on", "at", "by", "as", "of", "in", "between"}))
        if day is not None:
            return self._from_day(day, before, since=since)
        return self._calendar(at, before, since=since)

    def _ago(self, at: int, *, since: bool, rolling: bool) -> Found | None:
        """So: "3 days ago", "a week ago", "yesterday", "the day before yesterday"."""
        for phrase, days in (("day before yesterday", 2), ("yesterday", 1), ("yesterdays", 1), ("last night", 1)):
            if (end := self._phrase(at, phrase)) is not None:
                return Found(self._since_or_day(self._today - timedelta(days), phrase, since=since), end)
        counted = self._counted(at)
        if counted is None or self.word(counted[2]) not in _AGO:
            return None
        count, unit, end = counted
        if self.word(end) == "back" and rolling:
            return None
        length = count * (HOUR_MS if unit == "h" else DAY_MS)
        words = f"{_counted_words(count, unit)} ago"
        if since:
            return Found(Window(count, unit, _counted_words(count, unit)), end + 1)
        if unit == "h":
            return Found(At(self._now_ms - length, whole_day=False, words=words), end + 1)
        day_ms = _ms(self._today - timedelta(count))
        return Found(At(day_ms, whole_day=True, words=words), end + 1)

    def _counted(self, at: int) -> tuple[int, Unit, int] | None:
        """A count, its unit (`h` or `d`) and where it ends: "7 days", "24h", "a week", "two weeks", "30-day"."""
        compact = _COMPACT.fullmatch(self.word(at)) if at < len(self._tokens) else None
        if (
            compact is not None
            and not self._tokens[at].sigil
            and (compact[2] != "m" or self._is_months(at, compact[1]))
        ):
            unit, times = _UNITS["month" if compact[2] == "m" else compact[2]]
            return int(compact[1]) * times, unit, at + 1
        if self.word(at) in {"a", "an", "one", "couple"} and self.word(at + 1) in _UNITS:
            unit, times = _UNITS[self.word(at + 1)]
            return (2 if self.word(at) == "couple" else 1) * times, unit, at + 2
        if self.word(at) == "a" and self.word(at + 1) == "couple":
            shift = 3 if self.word(at + 2) == "of" else 2
            if self.word(at + shift) in _UNITS:
                unit, times = _UNITS[self.word(at + shift)]
                return 2 * times, unit, at + shift + 1
        number = number_at(self._tokens, at) if at < len(self._tokens) else None
        if number is None or number.scaled or self._tokens[at].sigil or number.value != int(number.value):
            return None
        end = at + number.size
        if self.word(end) in {"calendar", "trading", "full", "consecutive", "straight"}:
            end += 1
        if self.word(end) not in _UNITS or number.value < 1 or number.value > 5_000:
            return None
        unit, times = _UNITS[self.word(end)]
        return int(number.value) * times, unit, end + 1

    def _is_months(self, at: int, count: str) -> bool:
        """Whether "3m" means months, not millions."""
        beside = {self.word(at - 1), self.word(at + 1)}
        return count in {"1", "3", "6", "12"} and not beside & {
            "long",
            "short",
            "position",
            "usd",
            "of",
            "in",
            "above",
            "below",
        }

    def _window(self, at: int, *, last: bool) -> Found | None:
        counted = self._counted(at)
        if counted is None or (not last and self.word(at) in {"a", "an"} and self.word(at - 1) == "per"):
            return None
        count, unit, end = counted
        return Found(Window(count, unit, _counted_words(count, unit)), end)

    def _relative(self, at: int, *, since: bool, rolling: bool) -> Found | None:
        """So: "today", "this week", "last month", "the past 24 hours", "ytd"."""
        word, after = self.word(at), self.word(at + 1)
        for phrase, first, said in (
            ("ytd", self._today.replace(month=1, day=1), "this year"),
            ("year to date", self._today.replace(month=1, day=1), "this year"),
            ("mtd", self._today.replace(day=1), "this month"),
            ("month to date", self._today.replace(day=1), "this month"),
            ("qtd", self._quarter(0), "this quarter"),
            ("wtd", self._today - timedelta(self._today.weekday()), "this week"),
            ("week to date", self._today - timedelta(self._today.weekday()), "this week"),
            ("today", self._today, "today"),
            ("todays", self._today, "today"),
            ("tonight", self._today, "today"),
            ("intraday", self._today, "today"),
            ("since midnight", self._today, "today"),
            ("midnight", self._today, "today"),
        ):
            if (end := self._phrase(at, phrase)) is not None:
                return Found(Between(_ms(first), None, said), end)
        if word == "overnight":
            return Found(Window(12, "h", "12 hours"), at + 1)
        if word == "this" or (word in {"the", "start", "beginning"} and since):
            at, word, after = self._skip_start(at)
            spans = {
                "day": self._today,
                "week": self._today - timedelta(self._today.weekday()),
                "month": self._today.replace(day=1),
                "quarter": self._quarter(0),
                "year": self._today.replace(month=1, day=1),
                "morning": self._today,
            }
            if after in spans:
                said = "today" if after in {"day", "morning"} else f"this {after}"
                end = at + 2
                if self.word(end) == "so" and self.word(end + 1) == "far":
                    end += 2
                return Found(Between(_ms(spans[after]), None, said), end)
        if word in _UNITS and len(word) > 2 and rolling and self.word(at - 1) in {"the", "a", "one"}:  # noqa: PLR2004 - no "d" or "mo"
            unit, times = _UNITS[word]
            return Found(Window(times, unit, _counted_words(times, unit)), at + 1)
        if word in _LAST:
            return self._last(at, since=since, rolling=rolling)
        return None

    def _skip_start(self, at: int) -> tuple[int, str, str]:
        """After "the start of the year" the year counts."""
        for phrase in (
            "the start of",
            "start of",
            "the start of the",
            "the beginning of the",
            "start of the",
            "beginning of the",
            "the start of this",
        ):
            if (end := self._phrase(at, phrase)) is not None:
                return end - 1, "this", self.word(end)
        return at, self.word(at), self.word(at + 1)

    def _last(self, at: int, *, since: bool, rolling: bool) -> Found | None:
        after = self.word(at + 1)
        if after in {"few", "couple"} and self.word(at + 2) in {"of", *_UNITS}:
            unit_at = at + (3 if self.word(at + 2) == "of" else 2)
            if self.word(unit_at) in _UNITS:
                unit, times = _UNITS[self.word(unit_at)]
                count = (3 if after == "few" else 2) * times
                return Found(Window(count, unit, _counted_words(count, unit)), unit_at + 1)
        bare = self._small(at + 1)
        if bare in _BARE and self.word(at + 2) not in _UNITS and self._counted(at + 1) is None:
            # "The last 7": days, or hours where no number of days is usual.
            unit = "h" if bare in {24, 48} else "d"
            return Found(Window(bare, unit, _counted_words(bare, unit)), at + 2)
        window = self._window(at + 1, last=True)
        if window is not None and self._tokens[at + 1].word not in {"a", "an"}:
            return window
        if after in _WEEKDAYS:
            day = self._today - timedelta((self._today.weekday() - _WEEKDAYS[after]) % 7 or 7)
            return Found(self._since_or_day(day, day.isoformat(), since=since), at + 2)
        if after in _MONTHS:
            return self._month(_MONTHS[after], None, at + 2, since=since)
        if after in {"day", "hour"}:
            return Found(Window(24, "h", "24 hours") if after == "day" else Window(1, "h", "1 hour"), at + 2)
        if after in {"week", "month", "quarter", "year", "fortnight"}:
            if after == "fortnight" or (rolling and self.word(at) != "previous") or self.word(at) == "past":
                unit, times = _UNITS[after]
                return Found(Window(times, unit, _counted_words(times, unit)), at + 2)
            first, end = self._previous(after)
            said = f"last {after}"
            return Found(Between(_ms(first), None if since else _ms(end), said), at + 2)
        return None

    def _previous(self, name: str) -> tuple[date, date]:
        """First day of the calendar week, month, quarter or year before this one, and of this one."""
        if name == "week":
            monday = self._today - timedelta(self._today.weekday())
            return monday - timedelta(7), monday
        if name == "month":
            first = self._today.replace(day=1)
            return (first - timedelta(1)).replace(day=1), first
        if name == "quarter":
            return self._quarter(1), self._quarter(0)
        return date(self._today.year - 1, 1, 1), date(self._today.year, 1, 1)

    def _quarter(self, back: int) -> date:
        months = self._today.year * 12 + (self._today.month - 1) // 3 * 3 - 3 * back
        return date(months // 12, months % 12 + 1, 1)

    def _day(self, at: int, *, since: bool) -> tuple[date, int] | None:
        """A calendar day: "2026-10-05", "October 5", "5th of October 2025", "Monday"."""
        word = self.word(at)
        numbers = [self._small(at + step) for step in range(3)]
        if (
            numbers[0]
            and _YEAR.fullmatch(word)
            and numbers[1]
            and numbers[2]
            and self._tokens[at + 1].gap in {"-", "/"}
        ):
            return _valid(numbers[0], numbers[1], numbers[2], at + 3)
        if word == "apr" and not since:
            return None
        if word in _MONTHS and numbers[1] and numbers[1] <= 31 and (len(word) > 3 or not self._tokens[at + 1].gap):
            year_at = at + 2
            year = self._small(year_at) if _YEAR.fullmatch(self.word(year_at)) else None
            return self._dated(numbers[1], _MONTHS[word], year, at + (3 if year else 2))
        named = at + 2 if self.word(at + 1) == "of" else at + 1
        if numbers[0] and numbers[0] <= 31 and self.word(named) in _MONTHS and (self.word(named) != "apr" or since):
            year = self._small(named + 1) if _YEAR.fullmatch(self.word(named + 1)) else None
            return self._dated(numbers[0], _MONTHS[self.word(named)], year, named + (2 if year else 1))
        if word in _WEEKDAYS and (len(word) > 3 or since):
            return self._today - timedelta((self._today.weekday() - _WEEKDAYS[word]) % 7 or 7), at + 1
        return None

    def _dated(self, day: int, month: int, year: int | None, end: int) -> tuple[date, int] | None:
        found = _valid(year or self._today.year, month, day, end)
        if found is not None and year is None and found[0] > self._today:
            return _valid(self._today.year - 1, month, day, end)
        return found

    def _from_day(self, day: tuple[date, int], before: set[str], *, since: bool) -> Found:
        first, end = day
        if (since or "between" in before) and self.word(end) in _UNTIL:
            last = self._day(end + 1, since=True) or self._calendar_day(end + 1)
            if last is not None:
                words = f"{first.isoformat()} to {last[0].isoformat()}"
                return Found(Between(_ms(first), _ms(last[0] + timedelta(1)), words), last[1])
            if self.word(end + 1) in {"now", "today", "date"}:
                return Found(Between(_ms(first), None, f"since {first.isoformat()}"), end + 2)
        return Found(self._since_or_day(first, first.isoformat(), since=since), end)

    def _calendar_day(self, at: int) -> tuple[date, int] | None:
        if self.word(at) == "yesterday":
            return self._today - timedelta(1), at + 1
        return None

    def _since_or_day(self, day: date, words: str, *, since: bool) -> Time:
        if since:
            said = f"since {day.isoformat()}" if words == day.isoformat() else f"since {words}"
            return Between(_ms(day), None, said)
        return At(_ms(day), whole_day=True, words=words)

    def _calendar(self, at: int, before: set[str], *, since: bool) -> Found | None:
        """So: "June", "in June 2025", "2025", "Q3"."""
        word = self.word(at)
        if word in _MONTHS and (word != "may" or before) and (len(word) > 3 or before):
            year = self._small(at + 1) if _YEAR.fullmatch(self.word(at + 1)) else None
            return self._month(_MONTHS[word], year, at + (2 if year else 1), since=since)
        if (quarter := _QUARTER.fullmatch(word)) is not None:
            year = self._small(at + 1) if _YEAR.fullmatch(self.word(at + 1)) else None
            number = int(quarter[1])
            first = date(year or self._today.year, 3 * number - 2, 1)
            if year is None and first > self._today:
                first = first.replace(year=first.year - 1)
            end = _months_later(first, 3)
            said = f"the quarter from {first.isoformat()}"
            return Found(Between(_ms(first), None if since else _ms(end), said), at + (2 if year else 1))
        if _YEAR.fullmatch(word) and before & {"in", "since", "during", "of", "from", "throughout", "for"}:
            if int(word) > self._today.year:
                return None
            first = date(int(word), 1, 1)
            return Found(
                Between(
                    _ms(first), None if since else _ms(date(int(word) + 1, 1, 1)), f"since {word}" if since else word
                ),
                at + 1,
            )
        return None

    def _month(self, month: int, year: int | None, end: int, *, since: bool) -> Found | None:
        first = date(year or self._today.year, month, 1)
        if year is None and first > self._today:
            first = first.replace(year=first.year - 1)
        until = _months_later(first, 1)
        words = f"{first:%B %Y}"
        return Found(Between(_ms(first), None if since else _ms(until), f"since {words}" if since else words), end)

    def _small(self, at: int) -> int | None:
        """A number of at most four digits, without an ordinal's ending."""
        word = re.sub(r"(?<=\d)(st|nd|rd|th)\Z", "", self.word(at))
        return int(word) if word.isascii() and word.isdigit() and len(word) <= len("2025") else None


def now_at(tokens: Sequence[Token], at: int) -> Found | None:
    """The present in its forms, which change nothing."""
    for words in _NOW:
        if tuple(token.word for token in tokens[at : at + len(words)]) == words:
            return Found(Now(), at + len(words))
    return None


def _valid(year: int, month: int, day: int, end: int) -> tuple[date, int] | None:
    try:
        return date(year, month, day), end
    except ValueError:
        return None


def _months_later(first: date, months: int) -> date:
    total = first.year * 12 + first.month - 1 + months
    return date(total // 12, total % 12 + 1, 1)


def _ms(day: date) -> int:
    return (day - date(1970, 1, 1)).days * DAY_MS


def _counted_words(count: int, unit: Unit) -> str:
    return f"{count} {_NAMES[unit]}{'' if count == 1 else 's'}"

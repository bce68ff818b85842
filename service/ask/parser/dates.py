"""Calendar days and spans in a question: dates, weekdays, months, quarters, years. Pure.

All calendar days are UTC. A week begins on Monday. A day or month without a year is the last one that has begun.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from service.ask.parser.tokens import Token
from service.ask.parser.zones import UnclearTime
from service.ask.query import At, Between, Time
from service.clock import DAY_MS


def _numbered(names: str, first: int) -> Mapping[str, int]:
    """Names to their number: a comma stands before the next number, a blank before another name of the same."""
    return {name: number for number, names in enumerate(names.split(","), first) for name in names.split()}


MONTHS: Final = _numbered(
    "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,october oct,"
    "november nov,december dec",
    first=1,
)
WEEKDAYS: Final = _numbered(
    "monday mon,tuesday tue tues,wednesday wed,thursday thu thur thurs,friday fri,saturday sat,sunday sun", first=0
)
_DAY_PREPOSITIONS: Final = frozenset({"on", "at", "by", "as", "of", "in", "between"})
UNTIL: Final = frozenset({"to", "until", "til", "till", "through"})
_UNTIL: Final = UNTIL | {"and"}
CLOSES: Final = frozenset({"its", "their", "close", "closing", "daily", "price"})
"""Words between "from" or "to" and a day at whose close a range begins or ends."""

_OF_A_CLOSE: Final = frozenset({"the", "of", "on"})
_IN_YEAR: Final = frozenset({"in", "since", "during", "of", "from", "throughout", "for"})
_YEAR: Final = re.compile(r"20\d\d")
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_PLACES: Final = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1, "final": -1,
}  # fmt: skip
_NAMED_DAYS: Final = {"halloween": (31, 10), "christmas": (25, 12)}
_EDGES: Final = frozenset({"start", "beginning", "end"})
_PART: Final = re.compile(r"(q(?=[1-4])|h(?=[12]))([1-4])")
_PARTS: Final = {"q": "quarter", "h": "half-year"}
_MONTHS_OF: Final = {"q": 3, "h": 6}
_ABBREVIATED: Final = 3
"""Letters of a short name of a month or weekday, which needs more around it than a long one."""


class FoundTime(NamedTuple):
    """A time, or why it is unclear, the token after its last, and the tokens that name its zone."""

    time: Time | UnclearTime
    end: int
    zone: range = range(0)


class Calendar:
    """Reads calendar times.

    Args:
        tokens: The text.
        today: The present day.
    """

    def __init__(self, tokens: Sequence[Token], today: date) -> None:
        self._tokens = tokens
        self.today = today

    def word(self, at: int) -> str:
        """The word of a token; empty outside the text."""
        return self._tokens[at].word if 0 <= at < len(self._tokens) else ""

    def phrase(self, at: int, phrase: str) -> int | None:
        """The end of a phrase that stands at a token."""
        words = phrase.split()
        return at + len(words) if [self.word(at + step) for step in range(len(words))] == words else None

    def small(self, at: int) -> int | None:
        """A number of at most four digits, without an ordinal's ending."""
        word = _ORDINAL.sub("", self.word(at))
        return int(word) if word.isascii() and word.isdigit() and len(word) <= len("2025") else None

    def begins(self, span: str, back: int = 0) -> date:
        """The first day of this day, week, month, quarter or year, or of one some before it."""
        if span == "day":
            return self.today - timedelta(back)
        if span == "week":
            return self.today - timedelta(self.today.weekday() + 7 * back)
        if span == "year":
            return date(self.today.year - back, 1, 1)
        length = 3 if span == "quarter" else 1
        return _months_later(self.today, length * ((self.today.month - 1) // length - back) - self.today.month + 1)

    def read(self, at: int, before: set[str], *, since: bool) -> FoundTime | None:
        """The calendar time at a token, after some prepositions: "October 5", "in June 2025", "2025", "Q3"."""
        day = self._named_day(at) or self._day(at, sure=since or bool(before & _DAY_PREPOSITIONS))
        if day is not None:
            whole = self.word(at) in _EDGES and self.word(at) != "end"
            return self._from_day(day, before, since=since, whole=whole)
        return self._month_at(at, before, since=since) or self._part_or_year(at, before, since=since)

    def part(self, at: int) -> FoundTime | None:
        """A part of a month or year: "first half of November", "last week of October", "third quarter of 2026"."""
        place, unit = _PLACES.get(self.word(at), 0), self.word(at + 1)
        if unit == "quarter" and place > 0:
            year = at + 3 if self.word(at + 2) == "of" else at + 2
            first, end = self._year_of(3 * place - 2, year)
            return FoundTime(between(first, _months_later(first, 3)), end)
        if self.word(at + 2) != "of" or not place or (named := self._named(at + 3)) is None:
            return None
        first, after, end = named
        if unit == "half" and place in {1, 2}:
            middle = first + timedelta(15) if after - first < timedelta(32) else _months_later(first, 6)
            first, after = (first, middle) if place == 1 else (middle, after)
        elif unit == "week" and after - first < timedelta(32):
            first = after - timedelta(7) if place < 0 else first + timedelta(7 * place - 7)
            after = first + timedelta(7)
        else:
            return None
        return FoundTime(between(first, after), self._again(first, after - timedelta(1), end))

    def _again(self, first: date, last: date, end: int) -> int:
        """The end of the days of a part where they are named as well: "(1st to 15th inclusive)"."""
        if [self.small(end), self.small(end + 2)] != [first.day, last.day] or self.word(end + 1) not in _UNTIL:
            return end
        return end + 3 + (self.word(end + 3) == "inclusive")

    def _named(self, at: int) -> tuple[date, date, int] | None:
        """A month, quarter, half or year, its first day, the day after its last and where it ends."""
        if (part := _PART.fullmatch(self.word(at))) is not None:
            months = _MONTHS_OF[part[1]]
            first, end = self._year_of(months * int(part[2]) - months + 1, at + 1)
            return first, _months_later(first, months), end
        if self.word(at) in MONTHS:
            first, end = self._year_of(MONTHS[self.word(at)], at + 1)
            return first, _months_later(first, 1), end
        if self._is_year(at):
            first = date(int(self.word(at)), 1, 1)
            return first, _months_later(first, 12), at + 1
        for back, word in enumerate(("this", "last")):
            if self.word(at) == word and self.word(at + 1) in {"month", "year"}:
                first = self.begins(self.word(at + 1), back)
                return first, _months_later(first, 12 if self.word(at + 1) == "year" else 1), at + 2
        return None

    def weekday(self, at: int) -> date | None:
        """The last day of a weekday's name."""
        number = WEEKDAYS.get(self.word(at))
        return None if number is None else self.today - timedelta((self.today.weekday() - number) % 7 or 7)

    def _day(self, at: int, *, sure: bool) -> tuple[date, int] | None:
        """A calendar day: "2026-10-05", "October 5", "5th of October 2025", "the 10th of this month", "Monday"."""
        word, numbers = self.word(at), [self.small(at + step) for step in range(3)]
        if word in _EDGES and self.word(at + 1) == "of" and (named := self._named(at + 2)) is not None:
            return named[0] if word != "end" else named[1] - timedelta(1), named[2]
        if _YEAR.fullmatch(word) and all(numbers) and self._tokens[at + 1].gap in {"-", "/"}:
            return _valid(numbers[0], numbers[1], numbers[2], at + 3)
        if word == "apr" and not sure:
            return None
        if word in MONTHS and numbers[1] and (len(word) > _ABBREVIATED or not self._tokens[at + 1].gap):
            return self._dated(numbers[1], MONTHS[word], at + 2)
        if (weekday := self.weekday(at)) is not None and (len(word) > _ABBREVIATED or sure):
            return weekday, at + 1
        number = 1 if word == "first" else numbers[0]
        return self._day_of_month(number, at + 1, sure=sure) if number else None

    def _named_day(self, at: int) -> tuple[date, int] | None:
        """A day that has a name: "Halloween", "Christmas day"."""
        named = _NAMED_DAYS.get(self.word(at))
        return None if named is None else self._dated(*named, at + 1 + (self.word(at + 1) == "day"))

    def _day_of_month(self, number: int, at: int, *, sure: bool) -> tuple[date, int] | None:
        """A numbered day before its month, which "between the 10th and the 20th of this month" names once."""
        named = at + 1 if self.word(at) == "of" else at
        if self.word(named) in MONTHS and (self.word(named) != "apr" or sure):
            return self._dated(number, MONTHS[self.word(named)], named + 1)
        if self.word(at) in _UNTIL and (sure or _ORDINAL.search(self.word(at - 1))):
            later = at + 2 if self.word(at + 1) == "the" else at + 1
            last = self._day_of_month(self.small(later) or 0, later + 1, sure=sure)
            return None if last is None else _valid(last[0].year, last[0].month, number, at)
        this = self.phrase(named, "this month") or (self.phrase(named, "the month") if named > at else None)
        before = self.phrase(named, "last month")
        end = this or before
        if end is None:
            return None
        first = self.begins("month", 1 if before else 0)
        return _valid(first.year, first.month, number, end)

    def _dated(self, day: int, month: int, at: int) -> tuple[date, int] | None:
        """A day of a month, with the year that may follow."""
        if self._is_year(at):
            return _valid(int(self.word(at)), month, day, at + 1)
        found = _valid(self.today.year, month, day, at)
        return _valid(self.today.year - 1, month, day, at) if found and found[0] > self.today else found

    def _is_year(self, at: int) -> bool:
        return _YEAR.fullmatch(self.word(at)) is not None and not self._tokens[at].sigil

    def _from_day(self, day: tuple[date, int], before: set[str], *, since: bool, whole: bool) -> FoundTime:
        """A day, or from it to another: "from October 5 to October 9", "since Monday", "since its close on Monday".

        `whole`: the first day counts as well, as in "from the start of October".
        """
        first, end = day
        closes = since and self.word(end) in {"close", "closing"}
        end = end + 1 if closes and self.word(end + 1) in _UNTIL else end
        if (since or "between" in before) and self.word(end) in _UNTIL:
            at = end + 1
            while self.word(at) in CLOSES | _OF_A_CLOSE:
                at += 1
            last = self._day(at, sure=True)
            if self.word(at) == "yesterday":
                last = self.begins("day", 1), at + 1
            if last is not None:
                words = f"{first.isoformat()} to {last[0].isoformat()}"
                stop = last[1] + 1 if closes and self.word(last[1]) in {"close", "closing"} else last[1]
                if whole:
                    return FoundTime(between(first, last[0] + timedelta(1)), stop)
                return FoundTime(Between(first_ms(first), first_ms(last[0] + timedelta(1)), words), stop)
            if self.word(at) in {"now", "today", "date"}:
                end, since = at + 1, True
        if closes or before & CLOSES:
            end += self.word(end) in {"close", "closing"}
            return FoundTime(
                Between(first_ms(first + timedelta(1)), None, f"since the close on {first.isoformat()}"), end
            )
        return FoundTime(since_or_day(first, first.isoformat(), since=since), end)

    def _month_at(self, at: int, before: set[str], *, since: bool) -> FoundTime | None:
        word = self.word(at)
        if word not in MONTHS or not (before or (word != "may" and len(word) > _ABBREVIATED)):
            return None
        return self.month(at, since=since)

    def month(self, at: int, *, since: bool) -> FoundTime:
        """The month whose name stands at a token, with the year that may follow."""
        first, end = self._year_of(MONTHS[self.word(at)], at + 1)
        end = self.phrase(end, "whole month") or self.phrase(end, "the whole month") or end
        return span(first, _months_later(first, 1), f"{first:%B %Y}", end, since=since)

    def _part_or_year(self, at: int, before: set[str], *, since: bool) -> FoundTime | None:
        """A quarter, half, week or year by its number: "Q3", "in H1 2026", "since week 12", "in 2025"."""
        part, led, named = _PART.fullmatch(self.word(at)), bool(before & _IN_YEAR), self._named(at)
        if part is not None and named is not None and (part[1] == "q" or led or self._is_year(at + 1)):
            first, after, end = named
            words = first.isoformat() if since else f"the {_PARTS[part[1]]} from {first.isoformat()}"
            return span(first, after, words, end, since=since)
        if led and self.word(at) == "week" and (week := self._week(at + 1)) is not None:
            words = week[0].isoformat() if since else f"the week from {week[0].isoformat()}"
            return span(week[0], week[0] + timedelta(7), words, week[1], since=since)
        if not self._is_year(at) or not led or int(self.word(at)) > self.today.year:
            return None
        first = date(int(self.word(at)), 1, 1)
        return span(first, _months_later(first, 12), self.word(at), at + 1, since=since)

    def _week(self, at: int) -> tuple[date, int] | None:
        """The first day of the ISO week whose number stands at a token, with the year that may follow, and its end."""
        year_at = at + 1 + (self.word(at + 1) in {"of", "in"})
        named = self._is_year(year_at)
        year, number = int(self.word(year_at)) if named else self.today.isocalendar().year, self.small(at)
        try:
            first = date.fromisocalendar(year, number or 0, 1)
            if first > self.today and not named:
                first = date.fromisocalendar(year - 1, number or 0, 1)
        except ValueError:
            return None
        return first, year_at + 1 if named else at + 1

    def _year_of(self, month: int, at: int) -> tuple[date, int]:
        """The first of a month in the year at a token, or the last such month that has begun."""
        if self._is_year(at):
            return date(int(self.word(at)), month, 1), at + 1
        first = date(self.today.year, month, 1)
        return (first.replace(year=first.year - 1) if first > self.today else first), at


def between(first: date, after: date) -> Between:
    """Days of which all count: a change is from the close before them."""
    return Between(
        first_ms(first), first_ms(after), f"from {first.isoformat()} until {(after - timedelta(1)).isoformat()}"
    )


def span(first: date, after: date, words: str, end: int, *, since: bool) -> FoundTime:
    """A calendar span, or the time since it began."""
    if since:
        return FoundTime(Between(first_ms(first), None, f"since {words}"), end)
    return FoundTime(Between(first_ms(first), first_ms(after), words), end)


def since_or_day(day: date, words: str, *, since: bool) -> Time:
    """A day, or the time since it."""
    return Between(first_ms(day), None, f"since {words}") if since else At(first_ms(day), whole_day=True, words=words)


def first_ms(day: date) -> int:
    """Epoch milliseconds at which a day begins."""
    return (day - date(1970, 1, 1)).days * DAY_MS


def _months_later(day: date, months: int) -> date:
    """The first of a month some months later."""
    total = day.year * 12 + day.month - 1 + months
    return date(total // 12, total % 12 + 1, 1)


def _valid(year: int | None, month: int | None, day: int | None, end: int) -> tuple[date, int] | None:
    try:
        return date(year or 0, month or 0, day or 0), end
    except ValueError:
        return None

"""Times in a question: windows, instants, days, calendar spans. Pure functions of the words and the present.

All calendar days are UTC. A week begins on Monday. A month counts 30 days, a year 365, except as calendar time.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import structs

from service.ask.parser.clocks import read_clock_time
from service.ask.parser.dates import CLOSES, MONTHS, UNTIL, WEEKDAYS, Calendar, FoundTime, first_ms, since_or_day, span
from service.ask.parser.tokens import Token, number_at
from service.ask.query import At, Between, Now, Unit, Window
from service.clock import DAY_MS, HOUR_MS, iso
from service.market.past_prices import instant_before

_UNITS: Final[Mapping[str, tuple[Unit, int]]] = {
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("h", 1)),
    **dict.fromkeys(("d", "day", "days"), ("d", 1)),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), ("d", 7)),
    **dict.fromkeys(("mo", "mth", "month", "months"), ("d", 30)),
    **dict.fromkeys(("quarter", "quarters"), ("d", 90)),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), ("d", 365)),
    "fortnight": ("d", 14),
}
_WHOLE_UNITS: Final = frozenset({"hour", "day", "week", "month", "quarter", "year", "fortnight"})
"""Units that stand for one of them: "the past week"."""

_SHORT_UNITS: Final = {"wk": "week", "yr": "year", "hr": "hour", "mth": "month"}
_NAMES: Final = {"h": "hour", "d": "day"}
_MS: Final[Mapping[Unit, int]] = {"h": HOUR_MS, "d": DAY_MS}
_COMPACT: Final = re.compile(
    r"(\d+)-?(h|hr|hrs|d|day|days|w|wk|week|weeks|m|mo|mth|month|months|y|yr|year|years|hour|hours)"
)
_LAST: Final = frozenset({"last", "past", "previous", "trailing", "prior", "preceding", "recent"})
_ROLLING: Final = frozenset({"on", "over", "in", "for", "during", "within", "across", "through", "throughout", "of"})
_SINCE: Final = frozenset({"since", "from", "after", "starting"})
_LEADING: Final = _ROLLING | _SINCE | {"at", "between", "the", "by", "as", "this", "back"}
_MOST_LEADING: Final = 6
_AGO: Final = frozenset({"ago", "back", "earlier", "before"})
_NOW: Final = ("right now", "at the moment", "now", "currently", "rn", "atm", "at present")
_PRESENT: Final = frozenset({"now", "today", "date", "present"})
_ALL_TIME: Final = (
    "all time", "ever", "since listing", "since launch", "since inception", "on record", "in history", "of all time",
    "all recorded history", "since it was listed", "since listed", "since it got listed", "since its listing",
    "since it launched", "since it started trading", "since the listing", "since the beginning",
    "since you have data", "in all the history you hold", "all the history you hold", "since data begins",
    "in your history", "recorded history", "full history", "whole history", "entire history", "all the data",
    "since the start of the data", "in the recorded history", "since records began",
)  # fmt: skip
_DAYS_AGO: Final = {"day before yesterday": 2, "yesterday": 1, "yesterdays": 1}
_TO_DATE: Final = {
    "ytd": "year", "year to date": "year", "mtd": "month", "month to date": "month", "qtd": "quarter", "wtd": "week",
    "week to date": "week", "today": "day", "todays": "day", "tonight": "day", "intraday": "day",
    "since midnight": "day",
}  # fmt: skip
"""Spans from their beginning until now."""

_ROLLS: Final = frozenset({"today", "todays", "tonight"})
_ROLLING_SPANS: Final = frozenset({"day", "week"})
"""Spans that are told apart: "this week" may be 7 days, "so far this week" is none but the calendar's."""

_STARTS: Final = (
    "the start of the", "the start of this", "the start of", "the beginning of the", "beginning of the",
    "start of the", "start of this", "start of",
)  # fmt: skip
_DAY_OF: Final = (
    "all of", "the whole of", "utc day of", "calendar day of", "day of", "utc day", "calendar day", "calendar year",
    "calendar",
)  # fmt: skip
"""Words before a day or year that change nothing."""

_MONDAY_TO: Final = ("monday to sunday", "monday through sunday", "mon to sun", "monday until sunday")
_BARE: Final = frozenset({3, 5, 7, 10, 14, 24, 28, 30, 48, 60, 90, 180, 365})
"""Numbers that are a window after "the last" without a unit."""

_AFTER_BARE: Final = frozenset(
    {"", "for", "of", "in", "and", "or", "on", "to", "vs", "by", "with", "is", "are", "was", "did"}
)
"""What may stand behind a number that is one of days; another word is what is counted."""

_BARE_HOURS: Final = frozenset({24, 48})
_MONTH_COUNTS: Final = frozenset({"1", "3", "6", "12"})
_MONEY: Final = frozenset({"long", "short", "position", "usd", "of", "in", "above", "below"})
_MOST_UNITS: Final = 5_000


def read_time(tokens: Sequence[Token], at: int, now_ms: int) -> FoundTime | None:
    """The time that begins at a token; null where none does. Leading prepositions belong to it."""
    return _Reader(tokens, now_ms).read(at)


def now_at(tokens: Sequence[Token], at: int) -> FoundTime | None:
    """The present in its forms, which change nothing."""
    for phrase in _NOW:
        words = phrase.split()
        if [token.word for token in tokens[at : at + len(words)]] == words:
            return FoundTime(Now(), at + len(words))
    return None


def _so_far(time: Between, end: int) -> FoundTime:
    return FoundTime(structs.replace(time, words=f"{time.words.removesuffix(' so far')} so far"), end)


class _Reader:
    def __init__(self, tokens: Sequence[Token], now_ms: int) -> None:
        self._tokens = tokens
        self._now_ms = now_ms
        self._calendar = Calendar(tokens, datetime.fromtimestamp(now_ms // 1000, UTC).date())
        self._word = self._calendar.word
        self._phrase = self._calendar.phrase

    def read(self, at: int) -> FoundTime | None:
        for phrase in _ALL_TIME:
            end = self._phrase(at, phrase)
            if end is not None and self._word(end) != "of":  # "since the beginning of the month"
                return FoundTime(Between(0, None, "all recorded days"), end)
        before: set[str] = set()
        while len(before) < _MOST_LEADING and (
            self._word(at) in _LEADING or (before & _SINCE and self._is_of_close(at))
        ):
            if self._word(at) == "this" and self._word(at + 1) not in MONTHS.keys() | WEEKDAYS.keys():
                break
            before.add(self._word(at))
            at += 1
        since, rolling = bool(before & _SINCE), bool(before & _ROLLING)
        at = next((end for phrase in _DAY_OF if (end := self._phrase(at, phrase)) is not None), at)
        found = (
            (None if since else read_clock_time(self._tokens, at, self._now_ms, self._day_at))
            or self._part(at, since=since)
            or self._between_ago(at, before)
            or self._ago(at, since=since, rolling=rolling)
            or self._to_date(at, since=since)
            or self._one(at, rolling=rolling)
            or (self._last(at, since=since, rolling=rolling) if self._word(at) in _LAST else None)
            or self._window(at)
            or self._calendar.read(at, before, since=since)
        )
        return self._until(found) if found is not None and since else found

    def _part(self, at: int, *, since: bool) -> FoundTime | None:
        """A part of a month or year, or the time since it began."""
        found = self._calendar.part(at)
        if found is None or not since or not isinstance(found.time, Between):
            return found
        words = f"since {iso(found.time.start_ms)[:10]}"
        return FoundTime(structs.replace(found.time, end_ms=None, words=words), found.end)

    def _until(self, found: FoundTime) -> FoundTime:
        """A time since something with its end: "from Q2 until now", "from March to June"."""
        time, at = found.time, found.end + 1
        if not isinstance(time, Between) or time.end_ms is not None or self._word(found.end) not in UNTIL:
            return found
        if self._word(at) in _PRESENT:
            return FoundTime(time, at + 1)
        last = self._calendar.part(at) or self._calendar.read(at, {"in"}, since=False)
        if last is None or not isinstance(last.time, Between) or (last.time.end_ms or 0) <= time.start_ms:
            return found
        words = f"from {iso(time.start_ms)[:10]} until {iso((last.time.end_ms or 0) - DAY_MS)[:10]}"
        return FoundTime(Between(time.start_ms, last.time.end_ms, words), last.end)

    def _is_of_close(self, at: int) -> bool:
        """Whether a word belongs to "its daily close" or "the closing price"."""
        return self._word(at) in CLOSES and any(self._word(at + step).startswith("clos") for step in (-1, 0, 1, 2))

    def _day_at(self, at: int, now_ms: int) -> FoundTime | None:
        """The day at a token, where it is so late."""
        return _Reader(self._tokens, now_ms).whole_day(at)

    def whole_day(self, at: int) -> FoundTime | None:
        """A day that a clock's time may belong to: "today", "yesterday", "3 days ago", "on October 5"."""
        if self._word(at) == "today":
            return FoundTime(At(first_ms(self._calendar.today), whole_day=True, words="today"), at + 1)
        found = self._ago(at, since=False, rolling=False)
        if found is None or not isinstance(found.time, At):
            return found or self._calendar.read(at, {"on"}, since=False)
        day_ms = found.time.at_ms // DAY_MS * DAY_MS
        return FoundTime(At(day_ms, whole_day=True, words=found.time.words), found.end)

    def _between_ago(self, at: int, before: Collection[str]) -> FoundTime | None:
        """From a time ago to a later one: "between 30 and 7 days ago", "from a month ago to a week ago"."""
        far, joint = self._counted(at), at + 1
        if far is not None:
            joint = far[1] + (self._word(far[1]) in _AGO)
        near, joins = self._counted(joint + 1), {"and", "to"} if "between" in before else {"to", *UNTIL}
        if near is None or self._word(joint) not in joins or self._word(near[1]) not in _AGO:
            return None
        if not {"between", "from"} & set(before):
            return None
        last, counts = near[0], (self._calendar.small(at), self._calendar.small(joint + 1))
        if far is not None:
            first = far[0]
        elif counts[0] and counts[1]:
            first = self._units(_NAMES[last.unit], counts[0] * last.count // counts[1])
        else:
            return None
        start_ms, end_ms = (instant_before(self._now_ms, one.count * _MS[one.unit]) for one in (first, last))
        if start_ms >= end_ms:
            return None
        instants, words = (start_ms, end_ms), f"{first.words} ago to {last.words} ago"
        if first.unit == last.unit == "d":
            start_ms, end_ms = start_ms // DAY_MS * DAY_MS, (end_ms // DAY_MS + 1) * DAY_MS
        return FoundTime(Between(start_ms, end_ms, words, instants), near[1] + 1)

    def _ago(self, at: int, *, since: bool, rolling: bool) -> FoundTime | None:
        """So: "3 days ago", "a week ago", "yesterday", "the day before yesterday"."""
        for phrase, days in _DAYS_AGO.items():
            if (end := self._phrase(at, phrase)) is not None:
                closes = since and self._word(end) in {"close", "closing"}
                day = self._calendar.begins("day", days - closes)
                return FoundTime(
                    since_or_day(day, phrase + " close" if closes else phrase.removesuffix("s"), since=since),
                    end + closes,
                )
        counted = self._counted(at)
        if counted is not None and (again := self._counted(counted[1])) is not None and again[0] == counted[0]:
            counted = again  # "a month (30 days) ago"
        if counted is None or self._word(counted[1]) not in _AGO or (self._word(counted[1]) == "back" and rolling):
            return None
        window, end = counted
        if since:
            return FoundTime(window, end + 1)
        words = f"{window.words} ago"
        if window.unit == "h":
            hour_ms = instant_before(self._now_ms, window.count * HOUR_MS)
            return FoundTime(At(hour_ms, whole_day=False, words=words), end + 1)
        instant_ms = instant_before(self._now_ms, window.count * DAY_MS)
        day_ms = instant_ms // DAY_MS * DAY_MS
        return FoundTime(At(day_ms, whole_day=True, words=words, instant_ms=instant_ms), end + 1)

    def _counted(self, at: int) -> tuple[Window, int] | None:
        """A count of units and where it ends: "7 days", "24h", "a week", "two weeks", "30-day", "a couple of days"."""
        compact = _COMPACT.fullmatch(self._word(at))
        months = compact is not None and compact[2] == "m"
        if compact is not None and not self._tokens[at].sigil and (not months or self._is_months(at, compact[1])):
            return self._units("month" if months else compact[2], int(compact[1])), at + 1
        if self._word(at) == "a" and self._word(at + 1) in {"couple", "few"}:
            at += 1
        at += self._word(at) == "a" and self._word(at + 1)[:1].isdigit()  # "over a 60-day horizon"
        if self._word(at) in {"couple", "few"}:
            unit_at = at + (2 if self._word(at + 1) == "of" else 1)
            count = 2 if self._word(at) == "couple" else 3
            return (self._units(self._word(unit_at), count), unit_at + 1) if self._word(unit_at) in _UNITS else None
        if self._word(at) in {"a", "an", "one"} and self._word(at + 1) in _UNITS:
            return self._units(self._word(at + 1), 1), at + 2
        return self._numbered(at)

    def _numbered(self, at: int) -> tuple[Window, int] | None:
        number = number_at(self._tokens, at) if at < len(self._tokens) else None
        if number is None or number.scaled or number.unit or number.value % 1 or self._tokens[at].sigil:
            return None
        end = at + number.size
        if self._word(end) in {"calendar", "trading", "full", "consecutive", "straight", "closed", "utc"}:
            end += 1
        if self._word(end) not in _UNITS or not 1 <= number.value <= _MOST_UNITS:
            return None
        return self._units(self._word(end), int(number.value)), end + 1

    def _bare(self, at: int) -> tuple[Window, int] | None:
        """A number of days, or of hours where no number of days is usual: "the last 7"."""
        number = self._calendar.small(at)
        ends = self._word(at + 1) in _AFTER_BARE or bool(self._tokens[at + 1].gap)
        if number is None or number not in _BARE or not ends:
            return None  # "the last 5 alerts"
        return self._units("hours" if number in _BARE_HOURS else "days", number), at + 1

    def _units(self, name: str, count: int) -> Window:
        unit, times = _UNITS[name]
        count *= times
        return Window(count, unit, f"{count} {_NAMES[unit]}{'' if count == 1 else 's'}")

    def _is_months(self, at: int, count: str) -> bool:
        """Whether "3m" means months, not millions."""
        return count in _MONTH_COUNTS and _MONEY.isdisjoint({self._word(at - 1), self._word(at + 1)})

    def _window(self, at: int) -> FoundTime | None:
        """A count of units by itself; "per day" is none."""
        counted = None if self._word(at - 1) == "per" and self._word(at) in {"a", "an"} else self._counted(at)
        return None if counted is None else FoundTime(*counted)

    def _to_date(self, at: int, *, since: bool) -> FoundTime | None:
        """So: "today", "this week", "ytd", "since the start of the month": until now."""
        if (later := self._phrase(at, "so far")) is not None:
            found = self._to_date(later, since=since)
            return None if found is None or not isinstance(found.time, Between) else _so_far(found.time, found.end)
        for phrase, name in _TO_DATE.items():
            if (end := self._phrase(at, phrase)) is not None:
                return self._since_start(name, end, rolls=phrase in _ROLLS)
        if since and self._word(at) == "midnight":
            return self._since_start("day", at + 1, rolls=False)
        if self._word(at) == "overnight":
            return FoundTime(self._units("hours", 12), at + 1)
        start = next((end for phrase in _STARTS if since and (end := self._phrase(at, phrase)) is not None), None)
        after = start if start is not None else at + 1
        if start is None and self._word(at) != "this":
            return None
        name = self._word(after)
        known = name in {"day", "week", "month", "quarter", "year"}
        return self._since_start(name, after + 1, rolls=start is None) if known else None

    def _since_start(self, name: str, end: int, *, rolls: bool) -> FoundTime:
        """A span from its beginning; `rolls`: it may also be read as one that ends now, such as "today"."""
        words = "today" if name == "day" else f"this {name}"
        behind = self._phrase(end, "so far")
        if name in _ROLLING_SPANS and (behind is not None or not rolls):
            words += " so far"
        return FoundTime(Between(first_ms(self._calendar.begins(name)), None, words), behind or end)

    def _one(self, at: int, *, rolling: bool) -> FoundTime | None:
        """So: "over the week": one of a unit."""
        whole = rolling and self._word(at) in _WHOLE_UNITS and self._word(at - 1) in {"the", "a", "one"}
        return FoundTime(self._units(self._word(at), 1), at + 1) if whole else None

    def _last(self, at: int, *, since: bool, rolling: bool) -> FoundTime | None:
        """So: "the last 7 days", "the past month", "last month", "last Friday", "last June"."""
        whole = self._word(at + 1) == "calendar" or self._monday_to(at + 2) is not None
        at += self._word(at + 1) == "calendar"
        after = self._word(at + 1)
        listed = at + 1 < len(self._tokens) and "," in self._tokens[at + 1].gap  # "last, 24h change"
        counted = None if after in {"a", "an"} or listed else self._counted(at + 1) or self._bare(at + 1)
        if counted is not None:
            return FoundTime(*counted)
        if (weekday := self._calendar.weekday(at + 1)) is not None:
            return FoundTime(since_or_day(weekday, weekday.isoformat(), since=since), at + 2)
        if after in MONTHS:
            return self._calendar.month(at + 1, since=since)
        rolls = not whole and (self._word(at) == "past" or (rolling and self._word(at) != "previous"))
        return self._last_unit(after, at + 2, since=since, rolling=rolls)

    def _monday_to(self, at: int) -> int | None:
        """The end of the days of a week, named behind it: "last week, Monday to Sunday"."""
        return next((end for days in _MONDAY_TO if (end := self._phrase(at, days)) is not None), None)

    def _last_unit(self, name: str, end: int, *, since: bool, rolling: bool) -> FoundTime | None:
        """The last week, month or year: until now, or the calendar one before this."""
        name = _SHORT_UNITS.get(name, name)
        if name not in _WHOLE_UNITS:
            return None
        if name == "day":
            return FoundTime(self._units("hours", 24), end)
        if rolling or name in {"hour", "fortnight"}:
            return FoundTime(self._units(name, 1), end)
        begins = self._calendar.begins
        end = self._monday_to(end) or end
        return span(begins(name, 1), begins(name), f"last {name}", end, since=since)

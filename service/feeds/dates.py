"""Dates of feeds and HTTP headers: the right instant, or none.

Sources: RFC 5322 §3.3 and §4.3 (RFC 822 dates), RFC 3339, RFC 9110 §5.6.7. `email.utils` is not used: it reads zones it
does not know as UTC, and drops `PM`.
"""

import re
from typing import Final

from service.clock import MINUTE_MS, parse_iso

AHEAD_MS: Final = 5 * MINUTE_MS
"""How far a publisher's clock may be ahead of ours."""

_LONGEST: Final = 100
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES: Final = "January|February|March|April|May|June|July|August|September|October|November|December"
_MONTH: Final = rf"(?P<month>{_NAMES}|Sept|{'|'.join(_MONTHS)})\.?"
_DAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?(?:\s*,\s*|\s+))?"
_DATE: Final = re.compile(
    rf"{_DAY}(?P<day>\d\d?)[\s-]\s*{_MONTH}[\s-]\s*(?P<year>\d{{4}}|\d\d),?(?:\s+at)?\s+(?P<rest>.*)",
    re.ASCII | re.IGNORECASE,
)
_AMERICAN: Final = re.compile(
    rf"{_DAY}{_MONTH}\s+(?P<day>\d\d?),?\s+(?P<year>\d{{4}}),?(?:\s+at)?\s+(?P<rest>.*)", re.ASCII | re.IGNORECASE
)
_ISO: Final = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:T|\s+)(?P<rest>.*)", re.ASCII | re.IGNORECASE
)
_TIME: Final = re.compile(
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?\s*(?P<zone>.*)",
    re.ASCII | re.IGNORECASE,
)
_ASCTIME: Final = re.compile(r"[a-z]{3} ([a-z]{3}) +(\d\d?) (\d\d:\d\d:\d\d) (\d{4})\Z", re.ASCII | re.IGNORECASE)
_NAME: Final = r"(?!Etc/)[A-Z][A-Za-z_]*(?:/[A-Za-z_-]+)*"
_COMMENT: Final = r"\((?![AaPp]\.?[Mm])[^()]{0,60}\)"
_OFFSET: Final = re.compile(
    rf"(?:(?P<before>{_NAME})\s+(?=[\[(]?[+-]\d\d:?\d\d))?[\[(]?(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d\d?)"
    rf"(?::?(?P<minutes>\d\d))?[\])]?(?:\s*(?:{_COMMENT}|\[?(?P<after>{_NAME})\]?))?\Z",
    re.ASCII,
)
_NAMED: Final = re.compile(rf"([A-Za-z]+)(?:\s*{_COMMENT})?\Z", re.ASCII)
_NO_ZONES: Final = frozenset({"AM", "PM", "A", "P", "NOON", "MIDNIGHT"})
_ZONES: Final = {"UTC": 0, "UT": 0, "GMT": 0, "Z": 0}
_AMERICAN_ZONES: Final = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
"""The names of RFC 5322 §4.3. In other dates `CST` may as well be China's time."""

_FARTHEST: Final = 14 * 60
"""Minutes: no zone is farther from UTC."""

_NOON: Final = 12
_TURN: Final = 50
"""Years of two digits below are of this century (RFC 5322 §4.3)."""


def parse_feed_date(text: str) -> int | None:
    """Read a date of a feed: RFC 822, ISO 8601, or `July 25, 2025 10:00 PM +0200`.

    Returns:
        Epoch milliseconds UTC. Null where there is no date between 1970 and 9999, no zone, or a zone whose offset is
        not certain: `CEST`, `IST`, `Europe/Berlin`. An offset beside such a name is used.
    """
    text = " ".join(text[: _LONGEST + 1].replace("\N{MINUS SIGN}", "-").split())
    if len(text) > _LONGEST:
        return None
    date = _DATE.match(text)
    found = date or _ISO.match(text) or _AMERICAN.match(text)
    time = _TIME.match(found["rest"]) if found else None
    if found is None or time is None:
        return None
    offset, hour = _offset(time["zone"].strip(), is_rfc=date is not None), _hour(time)
    if offset is None or hour is None:
        return None
    year, month = int(found["year"]), found["month"].lower()
    if len(found["year"]) == 2:  # noqa: PLR2004 - digits
        year += 2000 if year < _TURN else 1900
    month = month if month.isdigit() else f"{_MONTHS.index(month[:3]) + 1:02d}"
    day, second, fraction = int(found["day"]), time["second"] or "00", time["fraction"] or "0"
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
    try:
        return parse_iso(f"{year:04d}-{month}-{day:02d}T{hour:02d}:{time['minute']}:{second}.{fraction}{zone}")
    except ValueError:
        return None


def past_date(published_ms: int | None, now_ms: int) -> int | None:
    """The date of an item, never after now; null if it has none or lies in the future, apart from five minutes."""
    return None if published_ms is None or published_ms > now_ms + AHEAD_MS else min(published_ms, now_ms)


def parse_http_date(text: str) -> int | None:
    """Read a `Date`, `Last-Modified` or `Retry-After` date: as a feed's, or asctime's form, which is UTC.

    Returns:
        Epoch milliseconds UTC, or null where it is not a date between 1970 and 9999 with a certain zone.
    """
    return parse_feed_date(_ASCTIME.sub(r"\2 \1 \4 \3 GMT", text[:_LONGEST]))


def _hour(time: re.Match[str]) -> int | None:
    hour = int(time["hour"])
    if time["half"] is None:
        return hour
    if not 1 <= hour <= _NOON:
        return None
    return hour % _NOON + (_NOON if time["half"] in "Pp" else 0)


def _offset(zone: str, *, is_rfc: bool) -> int | None:
    """Minutes east of UTC; null where they are not certain."""
    found = _OFFSET.match(zone)
    if found is not None:
        hours, minutes = int(found["hours"]), int(found["minutes"] or 0)
        offset = hours * 60 + minutes
        is_real = offset <= _FARTHEST and minutes < 60  # noqa: PLR2004 - minutes of an hour
        offset = -offset if found["sign"] == "-" else offset
        return offset if is_real and all(_agrees(found[name], offset) for name in ("before", "after")) else None
    named = _NAMED.match(zone)
    name = named[1].upper() if named else ""
    if name in _ZONES:
        return 0
    return _AMERICAN_ZONES[name] * 60 if is_rfc and name in _AMERICAN_ZONES else None


def _agrees(name: str | None, offset: int) -> bool:
    """Whether the name of a zone may stand beside an offset: one whose own offset is certain must be the same."""
    name = (name or "").upper()
    if name in _NO_ZONES:
        return False
    hours = {**_ZONES, **_AMERICAN_ZONES}.get(name)
    return hours is None or hours * 60 == offset

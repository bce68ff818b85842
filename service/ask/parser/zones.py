"""Time zones of a question: offsets, abbreviations, IANA names and cities. Pure.

The abbreviations are data: `zones.toml`. Cities and IANA names are those of the system's time zone database, or of
the package tzdata.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

from service.ask.load import load
from service.ask.parser.tokens import Token, fold
from service.clock import iso

_OFFSET: Final = re.compile(r"(?:utc|gmt)?\s?([-+\u2212])(\d{1,2})(?::?(\d{2}))?")
_MOST_HOURS: Final = 14
_HOUR_MINUTES: Final = 60
_LONGEST: Final = 4
"""Words of the longest name of a city: "Dumont d'Urville" and its like."""

_AREAS: Final = frozenset(
    ["Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "US"]
)
_LOCAL: Final = frozenset({"local time", "my time", "our time", "my timezone", "my time zone"})


class Zone(Struct, frozen=True):
    """A time zone, and what it is called."""

    name: str
    info: tzinfo


class UnclearTime(Struct, frozen=True):
    """A time that is unclear: its zone has several meanings, or its clock shows it twice or never.

    Attributes:
        words: What is unclear, as it was written.
        readings: What it may mean.
    """

    words: str
    readings: tuple[str, ...] = ()


class FoundZone(NamedTuple):
    """A zone, or why it is unclear, its first token and the one after its last."""

    zone: Zone | UnclearTime
    start: int
    end: int


class _Tables(Struct):
    offsets: dict[str, str]
    named: dict[str, str]
    ambiguous: dict[str, tuple[str, ...]]


_TABLES: Final = load(Path(__file__).with_suffix(".toml"), _Tables)


def zone_at(tokens: Sequence[Token], at: int) -> FoundZone | None:
    """The time zone at a token, behind "in" or without it, before "time" or without it; null where none is named."""
    begin = at + (_words(tokens, at, at + 1) in {"in", "at"})
    begin += _words(tokens, begin, begin + 1) == "the"
    for end in range(min(len(tokens), begin + _LONGEST), begin, -1):
        if any(token.gap not in {"", "/", "_", "-", "("} for token in tokens[begin:end]):
            continue
        zone = _zone(tokens, begin, end)
        if zone is not None:
            return FoundZone(zone, at, end + (_words(tokens, end, end + 1) in {"time", "timezone"}))
    return None


def instant(zone: Zone, local_ms: int) -> int | UnclearTime:
    """The instant at which the clocks of a zone show a time.

    Args:
        zone: The zone.
        local_ms: What its clocks show, as milliseconds since they showed 1970-01-01 00:00.

    Returns:
        Epoch milliseconds; where the clocks show it twice, both instants, and none where they skip it.
    """
    shown = datetime.fromtimestamp(local_ms // 1_000, UTC).replace(tzinfo=zone.info)
    first, second = (_offset_ms(shown.replace(fold=fold)) for fold in (0, 1))
    if first == second:
        return local_ms - first
    times = (local_ms - first, local_ms - second) if first > second else ()
    return UnclearTime(
        f"{shown:%Y-%m-%d %H:%M} {zone.name}", tuple(f"{iso(at_ms)[:10]} {iso(at_ms)[11:16]} UTC" for at_ms in times)
    )


def shift_ms(zone: Zone, at_ms: int) -> int:
    """How far the clocks of a zone are ahead of UTC at an instant, milliseconds."""
    return _offset_ms(datetime.fromtimestamp(at_ms // 1_000, zone.info))


def _offset_ms(moment: datetime) -> int:
    return (moment.utcoffset() or timedelta()) // timedelta(milliseconds=1)


def _words(tokens: Sequence[Token], start: int, end: int) -> str:
    return " ".join(fold(token.text) for token in tokens[start:end])


def _zone(tokens: Sequence[Token], start: int, end: int) -> Zone | UnclearTime | None:
    words = _words(tokens, start, end)
    if words in _LOCAL:
        return UnclearTime(words)
    bare = words.removesuffix(" time")
    if bare in _TABLES.ambiguous:
        return UnclearTime(words.upper() if " " not in words else words, _TABLES.ambiguous[bare])
    if (offset := _OFFSET.fullmatch(_TABLES.offsets.get(bare, bare))) is not None:
        return _fixed(tokens[start].text, *offset.groups())
    written = "".join(token.gap.strip("(") + token.text for token in tokens[start:end])
    key = _TABLES.named.get(bare) or _keys().get(fold(written)) or _cities().get(bare)
    return Zone(_called(tokens, start, end, key), ZoneInfo(key)) if key in available_timezones() else None


def _called(tokens: Sequence[Token], start: int, end: int, key: str | None) -> str:
    """What a zone is called in an answer: its abbreviation as it was written, else its IANA name."""
    return tokens[start].text.upper() if end == start + 1 and len(tokens[start].text) <= len("AEST") else key or ""


def _fixed(text: str, sign: str, hours: str, minutes: str | None) -> Zone | None:
    total = int(hours) * _HOUR_MINUTES + int(minutes or 0)
    if total > _MOST_HOURS * _HOUR_MINUTES or int(minutes or 0) >= _HOUR_MINUTES:
        return None
    name = text.upper() if text[:1].isalpha() else f"UTC{text}"
    return Zone(name, timezone(timedelta(minutes=total if sign == "+" else -total)))


@cache
def _keys() -> Mapping[str, str]:
    """IANA names of areas, lower case, to themselves."""
    return {fold(key): key for key in sorted(available_timezones()) if "/" in key}


@cache
def _cities() -> Mapping[str, str]:
    """Cities, lower case, to the IANA name of their zone."""
    keys = (key for key in sorted(available_timezones()) if key.partition("/")[0] in _AREAS)
    return {fold(key.rpartition("/")[2]).replace("_", " "): key for key in keys}

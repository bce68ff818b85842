"""Numerals of a finished text, read by none of the code that wrote or checked it."""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

_DECIMAL: Final = re.compile(r"\d+(?:\.\d+)?")
_PLACE: Final = re.compile(r"(?<![\w.,:-])(?:(\d{1,2}):)?(\d{1,2}):(\d\d)(?![\w.:-]|,\d| UTC)")
"""Where in a recording: hours, minutes, seconds."""
_HASH: Final = re.compile(r"0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})")
_SUFFIXES: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_DATED: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: UTC|Z)?")
_NUMBER: Final = re.compile(
    r"(?P<sign>[+\-\u2212]?)(?P<money>\$?)(?P<digits>\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?P<suffix>[kKMBT]?)(?![A-Za-z\d])"
    r"(?P<percent>\s?%)?|(?P<stuck>\d+)"
)
_WORDS: Final = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundred|thousand|million"
    r"|billion|trillion|dozen|twice|thrice|half|double|triple)\b",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(
    r"price|usd|cap|volume|interest|notional|amount|stop|starter|quantity|settlement", re.IGNORECASE
)
_WINDOW: Final = re.compile(r"_(\d+)[hdm]|(\d+)h\b")


class Numeral(NamedTuple):
    """A number as it is written: its value, how far a rounded value may be from it, and its unit."""

    text: str
    value: float
    signed: bool
    slack: float
    money: bool
    percent: bool

    def shows(self, key: str, value: float) -> bool:
        """Whether this is how the value of a field may be shown."""
        if self.money and not _MONEY.search(key):
            return False
        if self.percent and _MONEY.search(key):
            return False
        candidates = [value, value * 100] if self.percent and -1 <= value <= 1 else [value]
        return any(self._is(candidate) for candidate in candidates)

    def _is(self, value: float) -> bool:
        near = (value, abs(value)) if not self.signed else (value,)
        return any(abs(self.value - each) <= self.slack + 1e-9 * abs(each) for each in near)


class Held(NamedTuple):
    """What results hold: numbers by the field they stand in, and strings."""

    numbers: list[tuple[str, float]]
    strings: list[str]


def held(results: Sequence[Any]) -> Held:
    """Take results apart."""
    found = Held([], [])
    for result in results:
        _collect("", result, found)
    return found


def _collect(key: str, value: Any, found: Held) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            found.numbers.extend(("window", float(a or b)) for a, b in _WINDOW.findall(name))
            _collect(name, each, found)
    elif isinstance(value, list):
        found.numbers.append(("length", float(len(value))))
        for each in value:
            _collect(key, each, found)
    elif isinstance(value, str):
        found.strings.append(value)
        if _HASH.fullmatch(value):
            found.strings.append(f"{value[:6]}…{value[-4:]}")
        if _DECIMAL.fullmatch(value):
            found.numbers.append((key, float(value)))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.numbers.append((key, float(value)))


def plain(text: str) -> str:
    """Text without Markdown's and HTML's marks and without quotation marks, single-spaced."""
    return " ".join(re.sub(r"[*_`|\\'\"<>\u2039\u203a“”]", " ", _unescaped(text)).split())


def _unescaped(text: str) -> str:
    """Text in which nothing is escaped any more: what a feed had escaped too much was escaped once more here."""
    while (plainer := html.unescape(text)) != text:
        text = plainer
    return text


def numerals(text: str) -> Iterator[Numeral]:
    """Numbers of a text, in their order, dates left out."""
    for match in _NUMBER.finditer(_PLACE.sub(_in_seconds, _DATED.sub(" ", text))):
        yield _numeral(match)


def _in_seconds(place: re.Match[str]) -> str:
    hours, minutes, seconds = (int(part or 0) for part in place.groups())
    return str(hours * 3600 + minutes * 60 + seconds)


def _numeral(match: re.Match[str]) -> Numeral:
    if match["digits"] is None:
        return Numeral(match[0], float(match["stuck"]), signed=False, slack=0.0, money=False, percent=False)
    mantissa = match["digits"].replace(",", "")
    scale, value = _SUFFIXES[match["suffix"]], float(mantissa)
    decimals = len(mantissa.partition(".")[2]) if "e" not in mantissa.lower() else 0
    significant = len(mantissa.replace(".", "").lstrip("0"))
    # Trailing zeros of two decimals are cut; what shows fewer than three figures beside that is no rendering.
    slack = 0.5 * 10**-decimals if significant >= 3 and "e" not in mantissa.lower() else 0.005
    return Numeral(
        match[0],
        (-value if match["sign"] in "-\u2212" and match["sign"] else value) * scale,
        signed=bool(match["sign"]),
        slack=slack * scale,
        money=bool(match["money"]),
        percent=match["percent"] is not None,
    )


class Count(NamedTuple):
    """How many numerals a text has, and which of them nothing stands behind."""

    total: int
    unbound: list[str]


def count_unbound(text: str, results: Sequence[Any], allowed: Sequence[str] = ()) -> Count:
    """Look for numerals that no result holds.

    Args:
        text: The finished text, in Markdown.
        results: Everything it may rest on.
        allowed: Strings that may be said besides: names, the user's own words where they are quoted.
    """
    found = held(results)
    worded = [string for string in found.strings if _DECIMAL.fullmatch(string) is None]
    rest = _without_quotes(plain(text), [*worded, *allowed])
    dates = _DATED.findall(rest)
    known = [string.replace("T", " ") for string in found.strings]
    unbound = [date for date in dates if not any(each.startswith(_stem(date)) for each in known)]
    shown = list(numerals(rest))
    unbound += [each.text for each in shown if not any(each.shows(key, value) for key, value in found.numbers)]
    words = [match[0] for match in _WORDS.finditer(rest)]
    strange = [char for char in rest if not char.isascii() and unicodedata.category(char) in {"Nd", "Nl", "No"}]
    return Count(len(dates) + len(shown) + len(words) + len(strange), unbound + words + strange)


def _stem(date: str) -> str:
    return date.removesuffix(" UTC").removesuffix("Z").replace("T", " ")


def _without_quotes(text: str, strings: Sequence[str]) -> str:
    quoted = {plain(string) for string in strings if _DATED.fullmatch(string) is None}
    for string in sorted((each for each in quoted if _has_numeral(each)), key=lambda each: (-len(each), each)):
        text = re.sub(rf"(?<!\w){re.escape(string)}(?!\w)", " ", text, flags=re.IGNORECASE)
    return text


def _has_numeral(text: str) -> bool:
    return bool(_NUMBER.search(text) or _WORDS.search(text))

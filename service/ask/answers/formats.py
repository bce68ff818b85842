"""One formatter for every value that an answer shows, and for the words of others that it quotes."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import floor, log10
from typing import Final

from service.ask.measure_table import Unit
from service.ask.planner.result import Column, Figure, Row, Scalar
from service.clock import iso

UNKNOWN: Final = "not known"

_LARGE: Final = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_SIGNIFICANT: Final = 4
_WHOLE_DOLLARS: Final = 10_000
_LONGEST_CELL: Final = 48
"""Most characters of a text in a table."""

_SWAPPED: Final = str.maketrans(
    {"<": "\u2039", ">": "\u203a", "`": "'", "[": "(", "]": ")", "|": "/", "\\": "/", "*": "", "~": "", "\0": " "}
    | {"\u201c": '"', "\u201d": '"', "\u201e": '"'}
)
_SCHEME: Final = re.compile(r"(?<=\w):/{2,}|(?<=\bwww)\.", re.IGNORECASE)
_ESCAPED: Final = (
    (re.compile(r"&(?:amp;)*lt;"), "\u2039"),
    (re.compile(r"&(?:amp;)*gt;"), "\u203a"),
    (re.compile(r"&(?:amp;)+"), "&"),
)
"""Characters that services escape for HTML, however often."""

_SPACE: Final = re.compile(r"\s+")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
LONGEST: Final = 2_000
"""Characters of a string that are quoted at most."""


def formatted(figure: Figure) -> str:
    """A value as people write it; dates as ISO 8601. Words keep the space that parts them from those beside them."""
    text = cell(figure.value, figure.unit)
    if not text or not isinstance(figure.value, str):
        return text
    return f"{' ' * figure.value.startswith(' ')}{text}{' ' * figure.value.endswith(' ')}"


def cell(value: Scalar, unit: Unit) -> str:
    """A value as people write it, or that it is not known."""
    if value is None:
        return UNKNOWN
    if isinstance(value, str):
        return clean(value)
    return _WRITERS[unit](value)


def _grouped(value: float, decimals: int) -> str:
    rounded = f"{value:,.{decimals}f}"
    return rounded[1:] if rounded.startswith("-") and not float(rounded.replace(",", "")) else rounded


def _small(value: float) -> str:
    """Four significant digits, without an exponent."""
    decimals = _SIGNIFICANT - 1 - floor(log10(abs(value)))
    return f"{Decimal(repr(round(value, decimals))):f}"


def amount(value: float) -> str:
    """A number: large ones in words, small ones with four significant digits."""
    size = abs(value)
    for bound, word in _LARGE:
        if size >= bound:
            return f"{_grouped(value / bound, 2)} {word}"
    if size >= _WHOLE_DOLLARS:
        return _grouped(value, 0)
    return _grouped(value, 2) if size >= 1 or size == 0 else _small(value)


def _usd(value: float) -> str:
    return f"-${amount(-value)}" if value < 0 else f"${amount(value)}"


def _gain(value: float) -> str:
    return f"+{_usd(value)}" if value > 0 else _usd(value)


def _signed(value: float) -> str:
    found = _percent(value)
    return f"+{found}" if float(found.replace(",", "")) > 0 else found


def _percent(value: float) -> str:
    decimals = 1 if abs(value) >= 10 else 2  # noqa: PLR2004 - two decimals of small ones
    return _grouped(value, decimals)


def _ratio(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{Decimal(_grouped(value, 2).replace(',', '')).normalize():,f}"


def _quantity(value: float) -> str:
    """An amount of coins or tokens."""
    if abs(value) >= 1e6 or value == 0:  # noqa: PLR2004 - millions in words
        return amount(value) if value else "0"
    decimals = 4 if abs(value) >= 1 else _SIGNIFICANT - 1 - floor(log10(abs(value)))
    return f"{Decimal(_grouped(value, decimals).replace(',', '')).normalize():,f}"


def _day(value: float) -> str:
    return iso(int(value))[:10]


def _instant(value: float) -> str:
    return f"{iso(int(value))[:16].replace('T', ' ')} UTC"


_WRITERS: Final[Mapping[Unit, Callable[[float], str]]] = {
    Unit.USD: _usd,
    Unit.USD_CHANGE: _gain,
    Unit.PERCENT: lambda value: f"{_signed(value)} %",
    Unit.PERCENT_A_YEAR: lambda value: f"{_signed(value)} % a year",
    Unit.SPREAD: lambda value: f"{_percent(value)} % a year",
    Unit.SHARE: lambda value: f"{_percent(value)} %",
    Unit.POINTS: lambda value: f"{_signed(value)} points",
    Unit.FRACTION: lambda value: f"{_percent(value * 100)} %",
    Unit.RATIO: _ratio,
    Unit.DAYS: lambda value: f"{value:,.0f} {'day' if value == 1 else 'days'}",
    Unit.COUNT: lambda value: f"{value:,.0f}",
    Unit.AMOUNT: _quantity,
    Unit.DATE: _day,
    Unit.INSTANT: _instant,
    Unit.STATE: str,
    Unit.TEXT: str,
}


def table(columns: tuple[Column, ...], rows: tuple[Row, ...], first: str) -> str:
    """A Markdown table of at most 80 characters a line: columns that do not fit are left out from the right."""
    written = [[clean(row.subject), *cells(row, columns)] for row in rows]
    heads = [first, *(column.label for column in columns)]
    texts = [heads, *([_cut(text) for text in line] for line in written)]
    kept = len(heads)
    while kept > 2 and _width(texts, kept) > 80:  # noqa: PLR2004 - a name and a value stay
        kept -= 1
    ruler = ["---", *(["---:"] * (kept - 1))]
    return "\n".join(f"| {' | '.join(line[:kept])} |" for line in (texts[0], ruler, *texts[1:]))


def cells(row: Row, columns: tuple[Column, ...]) -> list[str]:
    """The values of a row as text."""
    units = row.units or tuple(column.unit for column in columns)
    return [cell(value, unit) for value, unit in zip(row.values, units, strict=True)]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


def _width(texts: list[list[str]], kept: int) -> int:
    return max(len(" | ".join(line[:kept])) for line in texts) + 4


def clean(text: str) -> str:
    """Make a string harmless in Markdown.

    Markup becomes marks that look alike, addresses are taken apart, invisible characters and line breaks go. The
    quotation marks that answers set around quotes do not occur in them.

    Returns:
        One line of at most `LONGEST` characters; cleaning it again changes nothing.
    """
    plain = _visible(text[: 2 * LONGEST]).translate(_SWAPPED)
    for escaped, mark in _ESCAPED if "&" in plain else ():
        plain = escaped.sub(mark, plain)
    plain = _SCHEME.sub(" ", plain)
    return _SPACE.sub(" ", plain).strip()[:LONGEST].rstrip()


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():  # most are, and looking at each character takes long
        return text
    return "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in _INVISIBLE
    )

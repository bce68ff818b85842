"""Figures as people read them: rounded, with their unit and a real minus sign; a dash for what is not known."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso, parse_iso

UNKNOWN: Final = "\u2013"
_NARROW: Final = "\u202f"
"""A space that does not break between a figure and its unit."""

_MINUS: Final = "\u2212"
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MAGNITUDES: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_LARGE: Final = 999.95
"""What rounds to 1,000 is written so."""

_DIGITS: Final = 4
_LEAST: Final = 1e-12


def signed(text: str) -> str:
    """Write a minus as a minus, which is as wide as a plus."""
    return text.replace("-", _MINUS)


def price(value: float | None) -> str:
    """USD, for eyes: whole from 1,000 on, else to four digits that say something: `117,700`, `3.15`, `0.0176`."""
    if value is None:
        return UNKNOWN
    if abs(value) >= _LARGE:
        return signed(f"{value:,.0f}")
    if abs(value) < _LEAST:
        return "0"
    digits = f"{value:.{_DIGITS}g}"
    plain = f"{float(digits):.12f}".rstrip("0") if "e" in digits else digits
    whole, _, part = plain.partition(".")
    return signed(f"{whole}.{part:0<2}")


def percent(value: float | None, decimals: int = 1) -> str:
    """A change or a rate, with its sign: `+1.2 %`; what rounds to nothing has none."""
    if value is None:
        return UNKNOWN
    shown = round(value, decimals) + 0.0
    return signed(f"{shown:+.{decimals}f}" if shown else f"{0:.{decimals}f}") + f"{_NARROW}%"


def share(value: float | None, decimals: int = 0) -> str:
    """A share of a whole, 0 to 1, in percent: `41 %`."""
    return UNKNOWN if value is None else f"{100 * value:.{decimals}f}{_NARROW}%"


def points(value: float | None, decimals: int = 2) -> str:
    """A part of a score, with its sign: `+0.50`."""
    if value is None:
        return UNKNOWN
    shown = round(value, decimals) + 0.0
    return signed(f"{shown:+.{decimals}f}" if shown else f"{0:.{decimals}f}")


def figure(value: float | None, decimals: int = 2) -> str:
    """A plain figure: `0.61`."""
    return UNKNOWN if value is None else signed(f"{value:,.{decimals}f}")


def money(value: float | None) -> str:
    """A large sum in USD, to three digits: `2.34 T`, `46.0 M`."""
    if value is None:
        return UNKNOWN
    size, unit = next(((size, unit) for size, unit in _MAGNITUDES if abs(value) >= size), (1.0, ""))
    digits = f"{value / size:#.3g}"
    plain = f"{float(digits):.0f}" if "e" in digits else digits.rstrip(".")
    return signed(plain) + (f"{_NARROW}{unit}" if unit else "")


def datum(value: object) -> str:
    """Whatever a rule looked at: a name as it is, a figure to two decimals at most."""
    if value is None:
        return UNKNOWN
    if isinstance(value, float | int):
        return signed(f"{value:,.4f}".rstrip("0").rstrip("."))
    return str(value)


def day(text: str) -> str:
    """`2025-07-24`, or an instant of that day: `24 Jul 2025`."""
    year, month, of_month = text[:10].split("-")
    return f"{int(of_month)} {_MONTHS[int(month) - 1]} {year}"


def clock_time(text: str) -> str:
    """An instant: `24 Jul 23:59`, UTC."""
    _, month, of_month = text[:10].split("-")
    return f"{int(of_month)} {_MONTHS[int(month) - 1]} {text[11:16]}"


def age(milliseconds: int | None) -> str:
    """How old something is: `12 s`, `3 min`, `5 h`, `4 d`."""
    if milliseconds is None:
        return UNKNOWN
    for unit_ms, unit in ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min")):
        if milliseconds >= unit_ms:
            return f"{milliseconds // unit_ms}{_NARROW}{unit}"
    return f"{max(0, milliseconds) // SECOND_MS}{_NARROW}s"


def in_path(text: str) -> str:
    """A name as one segment of a path, whatever letters are in it."""
    return quote(text, safe="")


def seconds(text: str) -> int:
    """An instant as epoch seconds, for charts."""
    return parse_iso(text) // SECOND_MS


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "price": price,
    "percent": percent,
    "share": share,
    "points": points,
    "figure": figure,
    "money": money,
    "datum": datum,
    "day": day,
    "clock_time": clock_time,
    "age": age,
    "in_path": in_path,
    "iso": iso,
    "seconds": seconds,
}

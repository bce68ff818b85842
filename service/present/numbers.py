"""Prices, sums of money, changes and shares as text."""

from math import floor, log10
from typing import Final

_VENUE_DIGITS: Final = 12
"""A venue's prices have fewer significant digits; a value with more is computed, such as a mean."""

_SIGNIFICANT: Final = 6
_FEWEST_DECIMALS: Final = 2
_UNITS: Final = ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " K"), (1.0, ""))
_ONE_DECIMAL_FROM: Final = 99.995
"""A scaled sum that rounds to 100 or more has one decimal, a smaller one has two."""


def price(value: float) -> str:
    """A price with the precision of the venue: `117,700`, `0.002197`; computed values to six significant digits."""
    finest = _VENUE_DIGITS - 1 - floor(log10(abs(value))) if value else 0
    for decimals in range(max(finest, 0) + 1):
        text = f"{value:,.{decimals}f}"
        if float(text.replace(",", "")) == value:
            return text
    return f"{value:,.{max(_FEWEST_DECIMALS, _SIGNIFICANT - 1 - floor(log10(abs(value))))}f}"


def usd(value: float) -> str:
    """A price with its currency: `$117,700`, `-$0.5`."""
    return f"{'-' if value < 0 else ''}${price(abs(value))}"


def money(value: float) -> str:
    """A sum of USD: `$2.34 T`, `$812.4 K`, `$12.30`."""
    return f"{'-' if value < 0 else ''}${scaled(abs(value))}"


def scaled(value: float) -> str:
    """A large number with its magnitude: `2.34 T`, `812.4 K`; two decimals under 100 of a magnitude, else one."""
    size = abs(value)
    bound, unit = next((row for row in _UNITS if size >= row[0] * (1 - 5e-6)), _UNITS[-1])
    one_decimal = unit and size / bound >= _ONE_DECIMAL_FROM
    return f"{value / bound:,.{1 if one_decimal else 2}f}{unit}"


def change(value: float, decimals: int = 2, unit: str = " %") -> str:
    """A change or a rate with its sign: `+6.64 %`; zero, also after rounding, has none: `0.00 %`."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:{'+' if rounded else ''},.{decimals}f}{unit}"


def rate(value: float) -> str:
    """A small rate with its sign and four significant digits, at least two decimals: `+0.00125 %`, `-1.20 %`."""
    decimals = max(_FEWEST_DECIMALS, 3 - floor(log10(abs(value)))) if value else _FEWEST_DECIMALS
    text = f"{value + 0.0:{'+' if value else ''},.{decimals}f}"
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits[:_FEWEST_DECIMALS]}{digits[_FEWEST_DECIMALS:].rstrip('0')} %"


def percent(value: float, decimals: int = 1) -> str:
    """A percentage that is not a change: `41.2 %`."""
    return f"{number(value, decimals)} %"


def share(fraction: float, decimals: int = 1) -> str:
    """A fraction of one in percent: `23.1 %`."""
    return percent(100 * fraction, decimals)


def number(value: float, decimals: int = 2) -> str:
    """A plain number: `0.61`, `1,234.50`; zero has no sign."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def count(amount: int, noun: str) -> str:
    """A number of things: `1 wallet`, `428 movements`."""
    return f"{amount:,} {noun}{'' if amount == 1 else 's'}"

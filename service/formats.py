"""How numbers, times and states are written for people: on pages, in the terminal, in answers to questions, in tools.

A unit and a number of decimals are chosen by the rounded value, so no number reads `1,000.0 K`; the largest unit is T.
Zero has no sign, also after rounding. Instants are ISO 8601 UTC, as the service writes them.
"""

from collections.abc import Mapping
from math import floor, log10
from typing import Final

_VENUE_DIGITS: Final = 12
"""A venue's prices have fewer significant digits; a value with more is computed, such as a mean."""

_SIGNIFICANT: Final = 6
_FEWEST_DECIMALS: Final = 2
_MOST_DECIMALS: Final = 12
_UNITS: Final = ((1e3, " K"), (1e6, " M"), (1e9, " B"), (1e12, " T"))
_UNIT: Final = 1_000
_ONE_DECIMAL_FROM: Final = 100
"""A scaled number of 100 or more has one decimal, a smaller one two."""

_LARGE: Final = 1_000_000
_DAY_S: Final = 86_400
_DURATIONS: Final = ((2 * _DAY_S, _DAY_S, "days"), (3_600, 3_600, "h"), (60, 60, "min"))

TREND_SIGNS: Final[Mapping[str, str]] = {
    "UP": "\N{BLACK UP-POINTING TRIANGLE}",
    "HODL": "\N{BLACK DIAMOND}",
    "DOWN": "\N{BLACK DOWN-POINTING TRIANGLE}",
}
"""Signs that need no color. A trend is a state, not a move: a coin in an uptrend may have fallen today."""

_RULES: Final[Mapping[str, str]] = {
    "trend-daily": "daily trend",
    "trend-weekly": "weekly trend",
    "regime-market": "market's regime",
    "regime-coin": "coin's regime",
    "funding-level": "funding level",
    "funding-momentum": "funding, 24 h - 7 d",
}


def price(value: float) -> str:
    """A price with the precision of the venue: `117,700`, `187.27`; computed values to six significant digits."""
    finest = _VENUE_DIGITS - 1 - floor(log10(abs(value))) if value else 0
    for decimals in range(max(finest, 0) + 1):
        text = number(value, decimals)
        if float(text.replace(",", "")) == value:
            return text
    return number(value, max(_FEWEST_DECIMALS, _SIGNIFICANT - 1 - floor(log10(abs(value)))))


def usd(value: float) -> str:
    """A price with its currency: `$117,700`, `-$0.5`."""
    return _in_dollars(price(value))


def money(value: float) -> str:
    """A sum of USD: `$2.34 T`, `$812.4 K`, `$12.30`."""
    return _in_dollars(scaled(value))


def scaled(value: float) -> str:
    """A number with its magnitude: `2.34 T`, `812.4 K`, `-0.50`."""
    text = number(value)
    for bound, unit in _UNITS:
        if _size(text) < _UNIT:
            break
        text = number(value / bound)
        if _size(text) >= _ONE_DECIMAL_FROM:
            text = number(value / bound, 1)
        text += unit
    return text


def amount(value: float) -> str:
    """A number of six significant digits, from a million on with its magnitude: `27,714.3`, `4.53 M`."""
    rounded = float(f"{value:.{_SIGNIFICANT}g}")
    return scaled(value) if abs(rounded) >= _LARGE else price(rounded)


def usd_amount(value: float) -> str:
    """An amount of USD: `$187.27`, `$4.53 M`."""
    return _in_dollars(amount(value))


def change(value: float, decimals: int = 2, unit: str = " %") -> str:
    """A change or a rate with its sign: `+6.64 %`; zero has none: `0.00 %`."""
    text = number(value, decimals)
    return f"{'+' if round(value, decimals) > 0 else ''}{text}{unit}"


def rate(value: float) -> str:
    """A small rate with its sign and four significant digits, at least two decimals: `+0.00125 %`, `-1.20 %`."""
    finest = 3 - floor(log10(abs(value))) if value else 0
    text = change(value, min(max(_FEWEST_DECIMALS, finest), _MOST_DECIMALS), unit="")
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits[:_FEWEST_DECIMALS]}{digits[_FEWEST_DECIMALS:].rstrip('0')} %"


def percent(value: float, decimals: int = 1) -> str:
    """A percentage that is not a change: `41.2 %`."""
    return f"{number(value, decimals)} %"


def share(fraction: float, decimals: int = 1) -> str:
    """A fraction of one in percent: `23.1 %`."""
    return percent(100 * fraction, decimals)


def number(value: float, decimals: int = 2) -> str:
    """A plain number: `0.61`, `1,234.50`."""
    return f"{value:z,.{decimals}f}"


def count(size: int, noun: str) -> str:
    """A number of things: `1 wallet`, `428 movements`."""
    return f"{size:,} {noun}{'' if size == 1 else 's'}"


def sentence(text: str) -> str:
    """A text of another program or package as a sentence. A first word that is a name or a number stays as it is."""
    first = text[:1].upper() if text.partition(" ")[0].isalpha() else text[:1]
    return f"{first}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def day(instant: str) -> str:
    """The UTC day of an instant or of a date: `2025-07-25`."""
    return instant[:10]


def moment(instant: str) -> str:
    """An instant to the minute: `2025-07-25 23:59 UTC`."""
    return f"{instant[:16].replace('T', ' ')} UTC"


def short_moment(instant: str) -> str:
    """An instant to the minute where the year and the time zone are known: `07-25 23:59`."""
    return instant[5:16].replace("T", " ")


def duration(seconds: float) -> str:
    """A duration in its largest whole unit: `4 days`, `36 h`, `5 min`, `12 s`; days from 48 hours on."""
    for least_s, unit_s, unit in _DURATIONS:
        if seconds >= least_s:
            return f"{int(seconds // unit_s)} {unit}"
    return f"{int(max(seconds, 0))} s"


def rule(rule_id: str) -> str:
    """The name of a verdict's rule: `funding level`."""
    return _RULES.get(rule_id, rule_id)


def trend(state: str) -> str:
    """A trend with its sign: `▲ UP`."""
    sign = TREND_SIGNS.get(state)
    return f"{sign} {state}" if sign else state


def label(name: str) -> str:
    """A verdict, a rule or a target without hyphens: `strong bull`, `beats median`."""
    return name.replace("-", " ")


def breadth(uptrends: int, coins: int) -> str:
    """How many coins have an uptrend: `33 of 80 coins are in a daily uptrend`."""
    return f"{uptrends:,} of {coins:,} coins are in a daily uptrend"


def moves(up: int, down: int) -> str:
    """How many prices rose and fell in a day: `25 are up, 53 down over 24 h`."""
    return f"{up:,} {'is' if up == 1 else 'are'} up, {down:,} down over 24 h"


def _size(text: str) -> float:
    return abs(float(text.partition(" ")[0].replace(",", "")))


def _in_dollars(text: str) -> str:
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"

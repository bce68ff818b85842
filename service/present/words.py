"""Words for states of the market."""

from collections.abc import Mapping
from typing import Final

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

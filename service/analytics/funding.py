"""When funding is out of the ordinary. Needs no numpy: it is asked for one rate of one coin at a time.

A zone is entered when the present rate, annualised, is rare for the coin **and** costs one side something that a trader
would act on; it is left only a good way inside, so that a rate that hovers around a threshold enters once.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

Zone = Literal["hot", "very-hot", "cold", "very-cold"]

DEFAULT_APR: Final = 10.95
"""Percent a year that longs pay shorts where demand is even: the venue's interest of 0.00125 % an hour."""

LEAST_ROWS: Final = 168
"""Payments (a week, hourly) under which a percentile says nothing about a coin."""

FUNDED_HOURS: Final = 23
"""A day needs this many of its 24 hours paid: once in two years the venue left one out, for every coin."""


def least_hours(hours: float) -> float:
    """Hours of a window that must be paid for its mean to be known: one of each 24 may lack, of a short window one."""
    return hours - max(1.0, hours * (24 - FUNDED_HOURS) / 24)


class _Rule(NamedTuple):
    """What a zone asks for: a percentile at `enter_pct` or beyond and an APR beyond `enter_apr`; less to stay."""

    zone: Zone
    side: int
    enter_pct: float
    stay_pct: float
    enter_apr: float
    stay_apr: float


_RULES: Final = (
    _Rule("very-hot", 1, 99.5, 90, 43.8, 21.9),
    _Rule("hot", 1, 97, 75, 21.9, 10.95),
    _Rule("very-cold", -1, 0.5, 10, -21.9, -10.95),
    _Rule("cold", -1, 3, 25, -10.95, 0),
)
"""The stricter one of a side first; APRs are multiples of the default rate.

So strict because alerts are to be read: over 19 months of 40 coins they are 13 on the middle day, one in two days and a
coin, where percentiles of 90 and 98 left five points further inside made 41, a third of them over within the hour.
"""

_HIGHEST_ORDINARY: Final = min(rule.enter_apr for rule in _RULES if rule.side > 0)
_LOWEST_ORDINARY: Final = max(rule.enter_apr for rule in _RULES if rule.side < 0)

_MILDER: Final[dict[Zone, Zone]] = {"very-hot": "hot", "very-cold": "cold"}


def percentile(value: float, ranked: Sequence[float]) -> float | None:
    """Rank a value within a history.

    Args:
        value: The present value.
        ranked: The history, ascending.

    Returns:
        The share of the history that lies below, in percent, 4 decimals; equal values count half (the mid-rank, so
        that a rate pinned at the venue's default lies in its middle and not at its end). None without a history.
    """
    return mid_rank(bisect_left(ranked, value), bisect_right(ranked, value), len(ranked)) if ranked else None


def mid_rank(below: int, through: int, count: int) -> float:
    """The percentile, 4 decimals, of what so many of `count` lie below, and so many at or below; `count` is not 0."""
    return round((below + through) * 50 / count, 4)


def next_zone(zone: Zone | None, percentile: float, apr: float) -> Zone | None:
    """Tell in which zone a rate is, given in which it was.

    | zone | entered when | left when |
    |---|---|---|
    | very-hot | percentile ≥ 99.5 and APR > 43.8 | percentile < 90 or APR ≤ 21.9 |
    | hot | percentile ≥ 97 and APR > 21.9 | percentile < 75 or APR ≤ 10.95 |
    | cold | percentile ≤ 3 and APR < -10.95 | percentile > 25 or APR ≥ 0 |
    | very-cold | percentile ≤ 0.5 and APR < -21.9 | percentile > 10 or APR ≥ -10.95 |

    Hot: longs pay twice what they do by default, and more than the coin's longs are used to. Cold: shorts pay as much
    as longs do by default. From a very hot (cold) zone a rate falls back into the milder one while it meets what that
    one asks to stay.

    Args:
        zone: The zone until now.
        percentile: Of the present rate within the coin's last 30 days, 0 to 100.
        apr: The present rate, percent a year.

    Returns:
        The zone from now on.
    """
    was = {zone, _MILDER.get(zone)} if zone else set()
    return next((rule.zone for rule in _RULES if _holds(rule, percentile, apr, stays=rule.zone in was)), None)


def can_enter(apr: float) -> bool:
    """Whether a rate, percent a year, can enter a zone, whatever its percentile is."""
    return not _LOWEST_ORDINARY <= apr <= _HIGHEST_ORDINARY


def _holds(rule: _Rule, percentile: float, apr: float, *, stays: bool) -> bool:
    rare = rule.stay_pct if stays else rule.enter_pct
    dear = rule.stay_apr if stays else rule.enter_apr
    return rule.side * percentile >= rule.side * rare and rule.side * apr > rule.side * dear


def fires(before: Zone | None, after: Zone | None) -> bool:
    """Say whether a change of zone is an event: any entry, a fall from very-hot to hot (or -cold) excepted."""
    return after is not None and after != before and (before is None or _MILDER.get(before) != after)

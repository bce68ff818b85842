"""What the rules of verdicts would have read of every coin on every past day, from closed bars and payments alone.

Row `d` knows the bars that had closed at the end of day `d`, and what was paid until then.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Floats, is_sunday, week_of
from service.analytics.market import Market
from service.analytics.rules import REGIMES
from service.analytics.states import NAMES, UNKNOWN
from service.clock import DAY_MS, HOUR_MS
from service.units import HOURS_PER_YEAR

Codes = npt.NDArray[np.int8]

_DECIMALS: Final = 4
_FRESH_MS: Final = 48 * HOUR_MS
"""A coin whose newest payment is older has no funding, as `market.momentum` decides."""

_LEAST_HOURS: Final = 24
"""Hours of payments before a coin has any."""


class Payments(NamedTuple):
    """Funding of a coin, oldest first: when it was paid (epoch ms), and the fraction of the notional paid an hour."""

    paid_ms: Sequence[int]
    rate: Sequence[float]
    hours: Sequence[float]


class Rule(NamedTuple):
    """A rule as its table has it: the input, or two whose difference is taken, and what a name or a band contributes.

    Bands are (at least, at most, contribution), the bound included; the first that holds is the one.
    """

    inputs: Sequence[str]
    names: Mapping[str, float]
    bands: Sequence[tuple[float | None, float | None, float]]


class Inputs(NamedTuple):
    """Tables of shape (days, coins): named states by the path that rules give them, figures likewise; NaN unknown.

    `names` tells what the codes of the states stand for; `UNKNOWN` has no name.
    """

    first_day: int
    coins: list[str]
    closes: Floats
    states: dict[str, Codes]
    names: dict[str, dict[int, str]]
    figures: dict[str, Floats]


def recompute(market: Market, payments: Mapping[str, Payments]) -> Inputs:
    """Lay out what was known at the end of every day.

    Args:
        market: All coins, through their last closed day.
        payments: By coin; coins without are not known to have any.
    """
    panel = market.panel
    regimes, of_coins = market.regimes_by_day
    days = range(panel.first_day, panel.first_day + len(panel.close))
    there = ~np.isnan(panel.close)
    day_means, week_means, newest = (np.full(panel.close.shape, np.nan) for _ in range(3))
    for column, coin in enumerate(panel.coins):
        if coin in payments:
            found = _means(payments[coin], days)
            day_means[:, column], week_means[:, column], newest[:, column] = found
    return Inputs(
        panel.first_day,
        panel.coins,
        panel.close,
        {
            "risk.trend_daily": panel.states,
            "risk.trend_weekly": np.where(there, _weekly(market, days), UNKNOWN).astype(np.int8),
            "regime.market": np.where(there, np.array(regimes, np.int8)[:, None], UNKNOWN).astype(np.int8),
            "regime.coin": np.where(there, of_coins, UNKNOWN).astype(np.int8),
        },
        {
            "risk.trend_daily": dict(NAMES),
            "risk.trend_weekly": dict(NAMES),
            "regime.market": dict(REGIMES),
            "regime.coin": dict(REGIMES),
        },
        {
            "risk.funding_apr": np.where(there, newest, np.nan),
            "funding.apr_24h": np.where(there, day_means, np.nan),
            "funding.apr_7d": np.where(there, week_means, np.nan),
        },
    )


def contributions(inputs: Inputs, rules: Sequence[Rule]) -> Floats:
    """What each rule contributes, of shape (rules, days, coins); NaN where its input is not known."""
    return np.array([_contribution(inputs, rule) for rule in rules])


def _contribution(inputs: Inputs, rule: Rule) -> Floats:
    first, *less = rule.inputs
    given = np.full(inputs.closes.shape, np.nan)
    if first in inputs.states:
        for code, name in inputs.names[first].items():
            given[inputs.states[first] == code] = rule.names[name]
        return given
    if first not in inputs.figures:
        return given
    value = np.round(inputs.figures[first] - sum(inputs.figures[other] for other in less), _DECIMALS)
    for at_least, at_most, contribution in reversed(rule.bands):  # the first row that holds is the one
        holds = ~np.isnan(value)
        holds &= value >= at_least if at_least is not None else True
        holds &= value <= at_most if at_most is not None else True
        given[holds] = contribution
    return given


def _weekly(market: Market, days: range) -> Codes:
    """The last known weekly state at the end of each day; a week closes with its Sunday."""
    weekly = market.panel.weekly
    newest = weekly.runs().newest
    states = np.full((len(days), len(market.panel.coins)), UNKNOWN, np.int8)
    for row, day in enumerate(days):
        week = week_of(day) - weekly.first_week - (not is_sunday(day))
        if week >= 0:
            known = newest[week] >= 0
            states[row, known] = weekly.states[newest[week, known], np.flatnonzero(known)]
    return states


def _means(payments: Payments, days: range) -> tuple[Floats, Floats, Floats]:
    """Percent a year at the end of each day: the means of 24 hours and of 7 days, and the newest payment."""
    paid, rate, hours = (np.array(column, np.float64) for column in payments)
    sums, counted = (np.concatenate([[0.0], np.cumsum(column)]) for column in (rate * hours, hours))
    ends = (np.array(days) + 1) * float(DAY_MS)
    until = np.searchsorted(paid, ends, side="right")
    newest_ms = paid[np.maximum(until - 1, 0)]
    known = (until > 0) & (ends - newest_ms < _FRESH_MS) & (counted[until] >= _LEAST_HOURS)
    found = []
    for window_ms in (DAY_MS, 7 * DAY_MS):
        since = np.searchsorted(paid, newest_ms - window_ms, side="right")
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (sums[until] - sums[since]) / (counted[until] - counted[since])
        found.append(_apr_pct(np.where(known, mean, np.nan)))
    newest = _apr_pct(np.where(known, rate[np.maximum(until - 1, 0)], np.nan))
    return found[0], found[1], newest


def _apr_pct(rate: Floats) -> Floats:
    return np.round(rate * HOURS_PER_YEAR * 100, _DECIMALS)

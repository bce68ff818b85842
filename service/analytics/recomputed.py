"""What the rules of verdicts would have read of every coin on every past day, from closed bars and payments alone.

Row `d` knows the bars that had closed at the end of day `d`, and what was paid until then.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Flags, Floats, is_sunday, week_of
from service.analytics.funding import FUNDED_HOURS, least_hours
from service.analytics.market import MarketAnalytics
from service.analytics.rules import REGIMES
from service.analytics.states import NAMES, UNKNOWN
from service.units import HOURS_PER_YEAR

Codes = npt.NDArray[np.int8]

_DECIMALS: Final = 4
_WEEK: Final = 7
_NEWEST: Final = "risk.funding_apr"


class FundingDays(NamedTuple):
    """What a coin's perpetual paid on each day that it paid on, oldest first.

    `day` counts from 1970-01-01; a payment at midnight belongs to the day that ends then. `paid` is the sum of the
    fractions paid, `hours` what they were paid for, fewer than 24 where payments are missing, and `newest` the last
    one's fraction an hour.
    """

    day: Sequence[int]
    paid: Sequence[float]
    hours: Sequence[float]
    newest: Sequence[float]


class ArrayRule(NamedTuple):
    """A rule as its table has it: the input, or two whose difference is taken, and what a name or a band contributes.

    Bands are (at least, at most, contribution), the bound included; the first that holds is the one.
    """

    inputs: Sequence[str]
    weight: float
    names: Mapping[str, float]
    bands: Sequence[tuple[float | None, float | None, float]]


class ArrayRuleSet(NamedTuple):
    """A rule set as its tables have it.

    `groups` are indices of rules, `grades` (verdict, at least, at most) of which the first that holds is the one, and
    `least` is the share of the weight that has to be known for a verdict.
    """

    version: int
    rules: Sequence[ArrayRule]
    groups: Sequence[Sequence[int]]
    grades: Sequence[tuple[str, float | None, float | None]]
    least: float


class JudgedDays(NamedTuple):
    """What a rule set says of every coin on every day.

    `score` has the shape (days, coins), NaN where there is no verdict, `groups` (groups, days, coins). `verdict` is an
    index in the rule set's grades, -1 where there is none.
    """

    version: int
    score: Floats
    groups: Floats
    verdict: Codes


class States(NamedTuple):
    """Codes of shape (days, coins), and the names they stand for; other codes are not known."""

    codes: Codes
    names: Mapping[int, str]


class DayInputs(NamedTuple):
    """What rules read, by the path they give it: states, and figures of shape (days, coins), NaN where not known."""

    first_day: int
    coins: list[str]
    closes: Floats
    states: dict[str, States]
    figures: dict[str, Floats]


def recompute(market: MarketAnalytics, funding: Mapping[str, FundingDays]) -> DayInputs:
    """Lay out what was known at the end of every day.

    Args:
        market: All coins, through their last closed day.
        funding: By coin; of the others it is not known.
    """
    panel = market.panel
    of_market, of_coins = market.regimes_by_day
    days = range(panel.first_day, panel.first_day + len(panel.close))
    there = ~np.isnan(panel.close)
    figures = {path: np.full(panel.close.shape, np.nan) for path in ("funding.apr_24h", "funding.apr_7d", _NEWEST)}
    for column, coin in enumerate(panel.coins):
        if coin in funding:
            for table, found in zip(figures.values(), _means(funding[coin], days), strict=True):
                table[:, column] = np.where(there[:, column], found, np.nan)
    states: dict[str, tuple[Codes, Mapping[int, str]]] = {
        "risk.trend_daily": (panel.states, NAMES),
        "risk.trend_weekly": (_weekly(market, days), NAMES),
        "regime.market": (np.array(of_market, np.int8)[:, None], REGIMES),
        "regime.coin": (of_coins, REGIMES),
    }
    return DayInputs(
        panel.first_day,
        panel.coins,
        panel.close,
        {path: States(np.where(there, codes, UNKNOWN), names) for path, (codes, names) in states.items()},
        figures,
    )


def judge_inputs(inputs: DayInputs, rules: ArrayRuleSet) -> JudgedDays:
    """Judge every coin on every day by the rules, as `verdict.decide` judges one."""
    given = np.array([_contribution(inputs, rule) for rule in rules.rules])
    known = ~np.isnan(given)
    weights = np.array([rule.weight for rule in rules.rules])
    enough = np.tensordot(weights, known, 1) >= rules.least * weights.sum()
    trends = [at for at, rule in enumerate(rules.rules) if rule.inputs[0].startswith("risk.trend")]
    there = enough & known[trends].any(axis=0) & ~np.isnan(inputs.closes)
    points = np.where(known, given, 0.0)
    score = np.where(there, points.sum(axis=0), np.nan)
    verdict = np.full(score.shape, -1, np.int8)
    for at, (_, at_least, at_most) in reversed(list(enumerate(rules.grades))):
        verdict[_holds(score, at_least, at_most)] = at
    return JudgedDays(
        rules.version, score, np.array([points[list(group)].sum(axis=0) for group in rules.groups]), verdict
    )


def _holds(values: Floats, at_least: float | None, at_most: float | None) -> Flags:
    """Where a value is known and within bounds, these included."""
    return (values >= (-np.inf if at_least is None else at_least)) & (
        values <= (np.inf if at_most is None else at_most)
    )


def _contribution(inputs: DayInputs, rule: ArrayRule) -> Floats:
    first, *less = rule.inputs
    given = np.full(inputs.closes.shape, np.nan)
    if first in inputs.states:
        for code, name in inputs.states[first].names.items():
            given[inputs.states[first].codes == code] = rule.names[name]
        return given
    if first not in inputs.figures:  # what is not recorded is not known
        return given
    value = np.round(inputs.figures[first] - sum(inputs.figures[other] for other in less), _DECIMALS)
    for at_least, at_most, contribution in reversed(rule.bands):
        given[_holds(value, at_least, at_most)] = contribution
    return given


def _weekly(market: MarketAnalytics, days: range) -> Codes:
    """The last known weekly state at the end of each day; a week closes with its Sunday."""
    weekly = market.panel.weekly
    newest = weekly.runs.newest
    states = np.full((len(days), len(market.panel.coins)), UNKNOWN, np.int8)
    for row, day in enumerate(days):
        week = week_of(day) - weekly.first_week - (not is_sunday(day))
        if week >= 0:
            known = newest[week] >= 0
            states[row, known] = weekly.states[newest[week, known], np.flatnonzero(known)]
    return states


def _means(funding: FundingDays, days: range) -> tuple[Floats, Floats, Floats]:
    """Percent a year at the end of each day: the means of a day and of seven, and the newest payment.

    NaN where too few hours are paid, as `market.momentum` decides: under 23 of the day, or under 161 of the week.
    """
    rows = np.array(funding.day, np.int64) - days.start
    within = (rows >= 0) & (rows < len(days))
    paid, hours, newest = (np.zeros(len(days)) for _ in range(3))
    for laid, column in ((paid, funding.paid), (hours, funding.hours), (newest, funding.newest)):
        laid[rows[within]] = np.array(column, np.float64)[within]
    known = hours >= FUNDED_HOURS
    week_paid, week_hours = (np.convolve(column, np.ones(_WEEK))[: len(days)] for column in (paid, hours))
    of_week = known & (week_hours >= least_hours(24 * _WEEK))
    found = []
    for rate, over, where in (
        (paid, hours, known),
        (week_paid, week_hours, of_week),
        (newest, np.ones(len(days)), known),
    ):
        mean = np.divide(rate, over, out=np.full(len(days), np.nan), where=where)
        found.append(np.round(mean * HOURS_PER_YEAR * 100, _DECIMALS))
    return found[0], found[1], found[2]


class OfCoin(NamedTuple):
    """What became of a coin's recomputed verdicts of one grade (its index): how many rose, fell and stayed flat.

    `moves` sums the moves, in percent.
    """

    coin: str
    grade: int
    outcomes: int
    rose: int
    fell: int
    flat: int
    moves: float


class OfDays(NamedTuple):
    """Sums over the days with verdicts of one grade, for h hits among n outcomes: of h * h, h * n and n * n."""

    grade: int
    days: int
    squares: int
    products: int
    sizes: int


def count_outcomes(
    inputs: DayInputs, judged: JudgedDays, horizon: int, flat_pct: float, sides: Sequence[int]
) -> tuple[list[OfCoin], list[OfDays]]:
    """Count what became of every recomputed verdict, from close to close.

    Args:
        inputs: The closes.
        judged: The verdicts.
        horizon: Days later.
        flat_pct: How far a price may move and still be flat, percent.
        sides: Which way each grade expects the price to move: 1, 0 (flat) or -1.
    """
    moves = np.full(inputs.closes.shape, np.nan)
    moves[:-horizon] = np.round((inputs.closes[horizon:] / inputs.closes[:-horizon] - 1) * 100, _DECIMALS)
    rose, fell, flat = moves > 0, moves < 0, np.abs(moves) <= flat_pct
    of_coins: list[OfCoin] = []
    of_days: list[OfDays] = []
    for grade, side in enumerate(sides):
        own = (judged.verdict == grade) & ~np.isnan(moves)
        outcomes, *directions = ((own & which).sum(axis=0).tolist() for which in (own, rose, fell, flat))
        sums = np.where(own, moves, 0.0).sum(axis=0).tolist()
        rows = zip(inputs.coins, outcomes, *directions, sums, strict=True)
        of_coins += [OfCoin(coin, grade, *counts) for coin, *counts in rows if counts[0]]
        sizes, hits = own.sum(axis=1), (own & (flat, rose, fell)[side]).sum(axis=1)
        squares, products, square_sizes = (int((a * b).sum()) for a, b in ((hits, hits), (hits, sizes), (sizes, sizes)))
        of_days.append(OfDays(grade, int((sizes > 0).sum()), squares, products, square_sizes))
    return of_coins, of_days

"""What the days of a walk-forward say about it, luck included; and what doing nothing would have brought."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.statistics import (
    DAYS_A_YEAR,
    TrialCount,
    annualised,
    compounded,
    deflated_sharpe,
    max_drawdown,
    moments,
    probabilistic_sharpe,
)
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats


class ReturnDays(NamedTuple):
    """A track record, shape (days,), shares of the capital: what each day brought, what was held, what was traded."""

    net: Floats
    exposure: Floats
    turnover: Floats


class TrackPerformance(NamedTuple):
    """What a record comes to.

    Return and drawdown are percent of the capital, `sharpe` is annualised, `exposure` is the mean of the days and
    `turnover` that of a year, both in multiples of the capital. `probabilistic` and `deflated` are probabilities; they
    and `sharpe` are None where nothing ever changed.
    """

    return_pct: float
    sharpe: float | None
    probabilistic: float | None
    deflated: float | None
    max_drawdown_pct: float
    exposure: float
    turnover: float


def concatenate_days(books: Sequence[BacktestBook]) -> ReturnDays:
    """The days of consecutive folds as one record."""
    return ReturnDays(
        np.concatenate([book.net for book in books]),
        np.concatenate([book.exposure for book in books]),
        np.concatenate([book.turnover for book in books]),
    )


def combine_days(records: Sequence[ReturnDays], share: float, days: int) -> ReturnDays:
    """The record of a capital of which each of some records has a share; what is left over stays in cash."""
    net, exposure, turnover = (np.zeros(days) for _ in ReturnDays._fields)
    for record in records:
        net += share * record.net
        exposure += share * record.exposure
        turnover += share * record.turnover
    return ReturnDays(net, exposure, turnover)


def measure_performance(days: ReturnDays, trials: TrialCount) -> TrackPerformance:
    """Judge a record.

    Args:
        days: One at least.
        trials: All those that were made before it.

    Raises:
        ValueError: If there is no day.
    """
    if not len(days.net):
        raise ValueError("a record without a day has no figures")
    found = moments(days.net)
    ratio = probabilistic = deflated = None
    if found is not None:
        daily = found.mean / found.deviation
        ratio = annualised(daily)
        probabilistic = probabilistic_sharpe(daily, found.size, found.skew, found.kurtosis)
        deflated = deflated_sharpe(daily, found.size, found.skew, found.kurtosis, trials.made, trials.variance)
    return TrackPerformance(
        return_pct=compounded(days.net) * 100,
        sharpe=ratio,
        probabilistic=probabilistic,
        deflated=deflated,
        max_drawdown_pct=max_drawdown(days.net) * 100,
        exposure=float(days.exposure.mean()),
        turnover=float(days.turnover.mean()) * DAYS_A_YEAR,
    )


def buy_and_hold(tape: MarketTape, universe: Flags, begin: int, costs: Floats) -> Floats:
    """Buy what was tradable on the eve of a row in equal parts, at that row's open, and keep it.

    Args:
        tape: The recorded market.
        universe: Flags of shape (days, coins).
        begin: The row, at least 1.
        costs: As for `simulate`, here of the purchases; nothing is sold, and a coin whose bars end keeps its
            last close.

    Returns:
        The return of each day from `begin` on, close to close (the first one from its open); zeros where there was
        nothing to buy.
    """
    bought = np.flatnonzero(universe[begin - 1] & ~np.isnan(tape.open[begin]))
    if not bought.size:
        return np.zeros(len(tape.close) - begin)
    paid, close = tape.open[begin, bought], tape.close[begin:, bought]
    last = np.maximum.accumulate(np.where(np.isnan(close), 0, np.arange(len(close))[:, None]), axis=0)
    value = (np.take_along_axis(close, last, axis=0) / paid).mean(axis=1) - costs[begin - 1, bought].mean()
    returns: Floats = np.diff(value, prepend=1.0) / np.concatenate([np.ones(1), value[:-1]])
    return returns

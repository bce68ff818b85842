"""What the days of a walk-forward say about it, luck included; and what doing nothing would have brought."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import NO_REASON, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.statistics import (
    DAYS_A_YEAR,
    TrialCount,
    annualised,
    compounded,
    deflated_sharpe,
    equity,
    max_drawdown,
    moments,
    probabilistic_sharpe,
)
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats


class ReturnDays(NamedTuple):
    """A track record, shape (days,), shares of the equity at each day's open: brought, held, and traded that day."""

    net: Floats
    exposure: Floats
    turnover: Floats


class TrackPerformance(NamedTuple):
    """What a record comes to.

    Return and drawdown are percent of the equity, `sharpe` is annualised, `exposure` is the mean of the days and
    `turnover` that of a year, both in multiples of the equity of each day. `probabilistic` and `deflated` are
    probabilities; they and `sharpe` are None where nothing ever changed.
    """

    return_pct: float
    sharpe: float | None
    probabilistic: float | None
    deflated: float | None
    max_drawdown_pct: float
    exposure: float
    turnover: float


def concatenate_days(books: Sequence[BacktestBook]) -> ReturnDays:
    """The days of consecutive folds as one record: each goes on with the equity of the one before."""
    return ReturnDays(
        np.concatenate([book.net for book in books]),
        np.concatenate([book.exposure for book in books]),
        np.concatenate([book.turnover for book in books]),
    )


def combine_days(records: Sequence[ReturnDays], share: float, days: int) -> ReturnDays:
    """The record of a capital of which each of some records gets a share on the first day, and what is left is cash.

    Each goes on with what it has made of its share: nothing is moved from one to another.
    """
    cash = max(1 - share * len(records), 0.0)
    parts = [share * equity(record.net) for record in records]
    whole = sum(parts, np.full(days + 1, cash))
    opens: Floats = np.where(whole[:-1] > 0, whole[:-1], 1.0)
    of_whole = [part[:-1] / opens for part in parts]
    net, exposure, turnover = (
        sum((part * column for part, column in zip(of_whole, columns, strict=True)), np.zeros(days))
        for columns in (
            [record.net for record in records],
            [record.exposure for record in records],
            [record.turnover for record in records],
        )
    )
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

    It is a plan that `simulate` trades: funding is paid on what the coins are worth each day, fees and slippage at
    both ends, and a coin without a bar on the next day is left at its last close, for good.

    Args:
        tape: The recorded market.
        universe: Flags of shape (days, coins).
        begin: The row, at least 1.
        costs: As for `simulate`.

    Returns:
        The return of each day from `begin` on, as `BacktestBook.net`; zeros where there was nothing to buy.
    """
    there = ~np.isnan(tape.open)
    bought = universe[begin - 1] & there[begin]
    side = np.zeros(there.shape, np.int8)
    side[begin - 1 :] = bought & np.logical_and.accumulate(there[begin - 1 :], axis=0)
    weight = np.full(side.shape, 1 / max(int(bought.sum()), 1))
    unknown: Floats = np.full(side.shape, np.nan)
    plan = TradingPlan(side, weight, unknown, unknown, np.full(side.shape, NO_REASON, np.int8))
    return simulate(tape, plan, begin - 1, len(side), costs).net[1:]

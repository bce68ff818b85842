"""A whole walk-forward once more, from its published words alone.

Slow and obvious on purpose, in plain Python: dictionaries of days, no table, no numpy, nothing of `service`. It was
written from the definitions and docstrings, not from the code that it is compared with.
"""

import statistics
from typing import Any, NamedTuple

from tests.walkforward.reference_bars import History
from tests.walkforward.reference_plans import Rule, Universe
from tests.walkforward.reference_trading import Books, Plan, simulate

TRAIN, TEST = 365, 90


class Fold(NamedTuple):
    """One test fold: decisions on the days [begin, end), parameters chosen on `training` alone."""

    number: int
    begin: int
    end: int
    training: frozenset[int]


class Walked(NamedTuple):
    """A fold that was walked: what was chosen, at which Sharpe ratio (per day) in training, and what it brought."""

    fold: Fold
    chosen: tuple[Any, Any]
    sharpe: float | None
    trials: list[float | None]
    books: Books


def folds(history: History, horizon: int, *, rolling: bool = False) -> list[Fold]:
    """Back to back from the 366th day on; the last one runs to the end."""
    first, over = history.days.start, history.days.stop
    begins = range(first + TRAIN, over, TEST)
    laid = []
    for number, begin in enumerate(begins, 1):
        training = range(begin - TRAIN if rolling else first, begin - (horizon + 1))
        laid.append(Fold(number, begin, min(begin + TEST, over), frozenset(training)))
    return laid


def train(before: History, wanted: Plan, fold: Fold) -> float | None:
    """The Sharpe ratio, per day, over the days on which something decided in training can be held."""
    window = range(before.days.start, fold.begin)
    books = simulate(before, wanted, window.start, window.stop, fold.training.__contains__)
    return sharpe([books.of_day("net", day) for day in window if day - 1 in fold.training])


def sharpe(returns: list[float]) -> float | None:
    if len(returns) < 2 or min(returns) == max(returns):
        return None
    return statistics.fmean(returns) / statistics.pstdev(returns)


def walk(rule: Rule, history: History, tradable: Universe, *, rolling: bool = False) -> list[Walked]:
    """Choose in training, trade the test fold, fold after fold."""
    plans = [rule.plan(history, tradable, *chosen) for chosen in rule.grid]
    walked: list[Walked] = []
    for fold in folds(history, rule.horizon, rolling=rolling):
        before = history.until(fold.begin)
        trials = [train(before, plan, fold) for plan in plans]
        known = [trial for trial in trials if trial is not None]
        best = trials.index(max(known)) if known else 0
        has_money = all(-1 not in one.books.parts["net"].values() for one in walked)
        books = simulate(history, plans[best] if has_money else {}, fold.begin, fold.end)
        walked.append(Walked(fold, rule.grid[best], trials[best], trials, books))
    return walked

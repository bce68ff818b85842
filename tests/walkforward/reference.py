"""A whole walk-forward of the trend-following strategy once more, from its published words alone.

Slow and obvious on purpose, in plain Python: dictionaries of days, no table, no numpy, nothing of `service`. It was
written from the definitions and docstrings, not from the code that it is compared with.
"""

import statistics
from itertools import product
from typing import NamedTuple

from tests.walkforward.reference_bars import Bar, History
from tests.walkforward.reference_supertrend import Line, supertrend
from tests.walkforward.reference_trading import Books, Decision, Plan, simulate

TRAIN, TEST, EMBARGO = 365, 90, 5
HORIZON = 60
PURGE = HORIZON + 1
SIZE, SEASONED, VOLUME_BARS = 50, 60, 30
GRID = list(product((7, 10, 14), (2.0, 3.0, 4.0)))

Universe = dict[int, set[str]]


class Fold(NamedTuple):
    """One test fold: decisions on the days [begin, end), parameters chosen on `training` alone."""

    number: int
    begin: int
    end: int
    training: frozenset[int]


class Walked(NamedTuple):
    """A fold that was walked: what was chosen, at which Sharpe ratio (per day) in training, and what it brought."""

    fold: Fold
    chosen: tuple[int, float]
    sharpe: float | None
    trials: list[float | None]
    books: Books


def universe(history: History) -> Universe:
    """Of every day the coins with a bar and enough of them, the largest by what a usual day of a month traded."""
    traded: dict[int, list[tuple[float, str]]] = {day: [] for day in history.days}
    for coin, bars in sorted(history.bars.items()):
        days = sorted(bars)
        dollars = [bars[day].close * bars[day].volume for day in days]
        for number, day in enumerate(days, 1):
            if number >= SEASONED:
                traded[day].append((statistics.median(dollars[number - VOLUME_BARS : number]), coin))
    return {
        day: {coin for _, coin in sorted(coins, key=lambda entry: (-entry[0], entry[1]))[:SIZE]}
        for day, coins in traded.items()
    }


def plan(history: History, tradable: Universe, period: int, multiplier: float) -> Plan:
    """What trend following wants at the close of every day."""
    return {
        coin: _decisions(history.days, coin, bars, tradable, period, multiplier) for coin, bars in history.bars.items()
    }


def _decisions(
    calendar: range, coin: str, bars: dict[int, Bar], tradable: Universe, period: int, multiplier: float
) -> dict[int, Decision]:
    days = sorted(bars)
    lines = dict(zip(days, supertrend([bars[day] for day in days], period, multiplier), strict=True))
    decided: dict[int, Decision] = {}
    side = age = 0
    before: Line | None = None
    for day in calendar:
        line = lines.get(day)
        may = coin in tradable[day]
        turned = bool(line and before and line.direction != before.direction)
        held, reason = side, None
        age += 1
        if not may:
            side, reason = 0, "universe-left"
        elif turned:
            side, reason = 0, "trend-turned"
        elif age == HORIZON:
            side, reason = 0, "time"
        if line and turned and may:
            side, age = line.direction, 0
        if line and side:
            score = (bars[day].close - line.line) / line.atr
            decided[day] = Decision(side, 1 / len(tradable[day]), score, line.line, reason if held else None)
        elif held:
            decided[day] = Decision(0, reason=reason)
        before = line or before
    return decided


def folds(history: History, *, rolling: bool = False) -> list[Fold]:
    """Back to back from the 366th day on; the last one runs to the end."""
    first, over = history.days.start, history.days.stop
    begins = range(first + TRAIN, over, TEST)
    laid = []
    for number, begin in enumerate(begins, 1):
        earlier = [other + TEST for other in begins if other < begin]
        embargoed = {end + back for end in earlier for back in range(EMBARGO)}
        training = range(begin - TRAIN if rolling else first, begin - PURGE)
        laid.append(Fold(number, begin, min(begin + TEST, over), frozenset(training) - embargoed))
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


def walk(history: History, *, rolling: bool = False) -> list[Walked]:
    """Choose in training, trade the test fold, fold after fold."""
    tradable = universe(history)
    plans = {chosen: plan(history, tradable, *chosen) for chosen in GRID}
    walked = []
    for fold in folds(history, rolling=rolling):
        before = history.until(fold.begin)
        trials = [train(before, plans[chosen], fold) for chosen in GRID]
        best = max(range(len(GRID)), key=lambda trial: (-9e9 if trials[trial] is None else trials[trial], -trial))
        books = simulate(history, plans[GRID[best]], fold.begin, fold.end)
        walked.append(Walked(fold, GRID[best], trials[best], trials, books))
    return walked

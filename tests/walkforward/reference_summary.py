"""What a walk-forward comes to, once more: from the formulas as they are published, with the standard library alone.

Bailey and López de Prado, "The Sharpe Ratio Efficient Frontier" (2012) and "The Deflated Sharpe Ratio" (2014).
"""

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

from tests.walkforward.reference import Walked, sharpe
from tests.walkforward.reference_bars import History
from tests.walkforward.reference_plans import Universe
from tests.walkforward.reference_trading import RESTING_RATE

EULER = 0.5772156649015329


def figures(walked: Sequence[Walked], trials: Sequence[Sequence[float | None]], share: float = 1.0) -> dict[str, float]:
    """What is told of these folds; not rounded.

    Args:
        walked: Of one strategy, or of several side by side, fold after fold.
        trials: Daily ratios of the whole run, by fold.
        share: Of the capital on the first day, for each strategy; nothing is moved between them later.
    """
    days = range(min(one.fold.begin for one in walked), max(one.fold.end for one in walked))
    abreast = [one for one in walked if one.fold.begin == days.start]
    money = [share for _ in abreast]
    net, exposure, turnover = [], [], []
    for day in days:
        books = [one.books for one in walked if one.fold.begin <= day < one.fold.end]
        whole = sum(money)
        exposure.append(sum(own * book.of_day("exposure", day) for own, book in zip(money, books, strict=True)) / whole)
        turnover.append(sum(own * book.of_day("turnover", day) for own, book in zip(money, books, strict=True)) / whole)
        money = [own * (1 + book.of_day("net", day)) for own, book in zip(money, books, strict=True)]
        net.append(sum(money) / whole - 1)
    trades = [trade for one in walked for trade in one.books.trades]
    wins = sum(trade.brought > 0 for trade in trades)
    ratio = sharpe(net)
    assert ratio is not None
    made = sum(map(len, trials))
    luck = best_by_luck(made, max(pooled(trials), 1 / (len(net) - 1)))
    return {
        "total": len(trades),
        "wins": wins,
        "losses": len(trades) - wins,
        "winRate": wins / len(trades),
        "meanReturnPct": 100 * statistics.fmean(trade.brought for trade in trades),
        "returnPct": 100 * (capital(net)[-1] - 1),
        "sharpe": ratio * math.sqrt(365),
        "probabilisticSharpe": probability(net, 0),
        "deflatedSharpe": probability(net, luck),
        "maxDrawdownPct": 100 * drawdown(capital(net)),
        "exposure": statistics.fmean(exposure),
        "turnover": statistics.fmean(turnover) * 365,
        "fundingKnown": sum(one.books.known_days for one in walked) / sum(one.books.position_days for one in walked),
        "trials": made,
    }


def doing_nothing(history: History, tradable: Universe, begin: int) -> dict[str, float]:
    """What buying the universe and keeping it comes to."""
    worth = kept(history, tradable, begin)
    returns = [after / before - 1 for before, after in pairwise(worth)]
    ratio = sharpe(returns)
    assert ratio is not None
    return {
        "returnPct": 100 * (worth[-1] - 1),
        "sharpe": ratio * math.sqrt(365),
        "maxDrawdownPct": 100 * drawdown(worth),
    }


def kept(history: History, tradable: Universe, begin: int) -> list[float]:
    """The worth, day by day, of the universe of the day before, bought for equal sums at the open.

    It is left at the end, a coin whose bars end when they do.
    """
    coins = [coin for coin in sorted(tradable[begin - 1]) if begin in history.bars[coin]]
    quantity = {coin: 1 / len(coins) / history.bars[coin][begin].open for coin in coins}
    cash, worth = 1.0, [1.0]
    for coin in coins:
        cash -= 1 / len(coins) * (1 + history.costs[coin][begin - 1])
    for day in range(begin, history.days.stop):
        standing = 0.0
        for coin, held in list(quantity.items()):
            bar, bars = history.bars[coin][day], history.bars[coin]
            rate = history.paid.get(coin, {}).get(day, RESTING_RATE)
            cash -= held * bar.open * rate
            if day + 1 in bars:
                standing += held * bars[day + 1].open
            else:
                cash += held * bar.close * (1 - history.costs[coin][day])
                del quantity[coin]
        worth.append(cash + standing)
    return worth


def capital(returns: Sequence[float]) -> list[float]:
    worth = [1.0]
    for brought in returns:
        worth.append(worth[-1] * (1 + brought))
    return worth


def drawdown(worth: Sequence[float]) -> float:
    return max(1 - value / max(worth[: number + 1]) for number, value in enumerate(worth))


def pooled(trials: Sequence[Sequence[float | None]]) -> float:
    """The variance within groups, each weighted by its degrees of freedom."""
    known = [[trial for trial in group if trial is not None] for group in trials]
    parts = [(len(group) - 1, statistics.variance(group)) for group in known if len(group) > 1]
    return sum(freedom * spread for freedom, spread in parts) / sum(freedom for freedom, _ in parts) if parts else 0.0


def best_by_luck(trials: int, variance: float) -> float:
    """The expected maximum of so many Sharpe ratios without skill (2014, equation 1)."""
    normal = NormalDist()
    high, higher = normal.inv_cdf(1 - 1 / trials), normal.inv_cdf(1 - 1 / (trials * math.e))
    return math.sqrt(variance) * ((1 - EULER) * high + EULER * higher)


def probability(returns: Sequence[float], benchmark: float) -> float:
    """The probability that the true Sharpe ratio is above a benchmark (2012, equation 11)."""
    count, mean, deviation = len(returns), statistics.fmean(returns), statistics.pstdev(returns)
    third, fourth = (sum(((value - mean) / deviation) ** power for value in returns) / count for power in (3, 4))
    skew = third * math.sqrt(count * (count - 1)) / (count - 2)
    excess = (count - 1) / ((count - 2) * (count - 3)) * ((count + 1) * (fourth - 3) + 6)
    ratio = mean / deviation
    spread = math.sqrt(1 - skew * ratio + (excess + 2) / 4 * ratio**2)
    return NormalDist().cdf((ratio - benchmark) * math.sqrt(count - 1) / spread)

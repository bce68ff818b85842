"""The figures of a run, counted once more from what is published: its records as JSON, and the bars of the market.

Plain Python, a day and a position at a time, by quantity and price. Of the engine nothing is used but what it tells.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from statistics import NormalDist, fmean, median, pstdev, variance
from typing import Any, NamedTuple

from service.walkforward.parameters import CoinHistoryInput

EPOCH = date(1970, 1, 1)
FEE_BPS, SLIPPAGE_BPS = 4.5, ((1e9, 1), (1e8, 3), (1e7, 10), (1e6, 25), (1e5, 60), (0, 150))
RESTING = 0.0000125 * 24
Trials = Sequence[Sequence[float | None]]
"""Yearly ratios by fold."""
"""Annualised Sharpe ratios; none where nothing was traded."""


class Market(NamedTuple):
    """Bars by coin and day (open, high, low, close, volume), funding by coin and day."""

    bars: dict[str, dict[int, tuple[float, ...]]]
    paid: dict[str, dict[int, float]]

    def rate(self, coin: str, day: int) -> float | None:
        paid = self.paid[coin].get(day)
        return None if paid is None or math.isnan(paid) else paid


def cost(market: Market, coin: str, decided: int) -> float:
    """What a fill costs that was decided at the close of a day, as a share of its notional."""
    bars = market.bars[coin]
    days = sorted(day for day in bars if day <= decided)[-30:]
    usual = median(bars[day][3] * bars[day][4] for day in days) if len(days) == 30 else 0.0
    return (FEE_BPS + next(bps for least, bps in SLIPPAGE_BPS if usual >= least)) / 10_000


class Day:
    """What a day brought and held, shares of the equity at its open."""

    def __init__(self) -> None:
        self.net = self.exposure = self.turnover = 0.0


class Held:
    """A record as a position: its bars day by day, its costs, and what was bought of it in its strategy's books."""

    def __init__(self, one: Any, weight: float, market: Market, last_day: int) -> None:
        self.id, self.weight = one["id"], weight
        self.price: float = one["entryPrice"]
        self.side, self.ended = 1 if one["direction"] == "long" else -1, "exitPrice" in one
        self.first, self.last = day_of(one["entryDate"]), min(day_of(last_held(one)), last_day)
        self.quantity = 0.0
        coin, bars = one["symbol"], market.bars[one["symbol"]]
        self.costs = cost(market, coin, self.first - 1), cost(market, coin, self.last)
        self.opens = [bars[day][0] for day in self.days]
        self.left: float = one["exitPrice"] if self.ended else bars[last_day][3]
        self.marks = [*self.opens[1:], self.left]
        recorded = [market.rate(coin, day) for day in self.days]
        self.known = sum(rate is not None for rate in recorded)
        self.rates = [rate if rate is not None else RESTING if self.side > 0 else 0.0 for rate in recorded]

    @property
    def days(self) -> range:
        return range(self.first, self.last + 1)

    def profit(self, quantity: float, day: int) -> float:
        """What a quantity brings over a day, with the costs of the fills that begin or end it."""
        at = day - self.first
        money: float = quantity * self.side * (self.marks[at] - self.opens[at] - self.rates[at] * self.opens[at])
        money -= quantity * self.price * self.costs[0] if day == self.first else 0.0
        return money - (quantity * self.left * self.costs[1] if day == self.last else 0.0)

    def returned(self) -> float:
        """The profit of one unit over all days, percent of its price at entry."""
        return 100 * sum(self.profit(1.0, day) for day in self.days) / self.price


def market_of(histories: Iterable[CoinHistoryInput]) -> Market:
    bars = {history.coin: {bar[0]: tuple(bar[1:]) for bar in history.bars} for history in histories}
    return Market(bars, {history.coin: dict(history.funding) for history in histories})


def day_of(text: str) -> int:
    return (date.fromisoformat(text) - EPOCH).days


def date_of(day: int) -> str:
    return (EPOCH + timedelta(days=day)).isoformat()


def tradable(market: Market, day: int, size: int) -> list[str]:
    """Who could be traded: a bar that day, sixty so far, among the largest by the median of the last thirty."""
    sizes = {}
    for coin, bars in market.bars.items():
        days = sorted(each for each in bars if each <= day)
        if len(days) >= 60 and days[-1] == day:
            sizes[coin] = median(bars[each][3] * bars[each][4] for each in days[-30:])
    return sorted(sizes, key=lambda coin: (-sizes[coin], coin))[:size]


def weights(run: Any, market: Market) -> dict[str, float]:
    """The share of capital of every signal, by its id, as its strategy documents it."""
    size = run["parameters"]["universe_size"]
    universes = {text: tradable(market, day_of(text), size) for text in {one["scanDate"] for one in run["signals"]}}
    tops = {(fold["strategy"], fold["fold"]): fold["chosen"].get("top") for fold in run["folds"]}
    found = {}
    for one in run["signals"]:
        text, kind = one["scanDate"], one["strategy"]
        if kind == "trend-following":
            found[one["id"]] = 1 / len(universes[text])
        elif kind == "cross-sectional-momentum":
            found[one["id"]] = 1 / (2 * tops[kind, one["fold"]])
        else:
            ranked = {coin for coin in universes[text] if is_ranked(market, coin, day_of(text))}
            found[one["id"]] = 1 / len(ranked | held_on(run, kind, text))
    return found


def is_ranked(market: Market, coin: str, day: int) -> bool:
    known = [market.rate(coin, each) is not None for each in range(day - 29, day + 1)]
    return known[-1] and sum(known) >= 20


def held_on(run: Any, kind: str, text: str) -> set[str]:
    """Coins that a strategy wants at the close of a day: those that it will hold over the next."""
    held = {one["symbol"] for one in run["signals"] if one["strategy"] == kind and one["scanDate"] == text}
    for one in (*run["outcomes"], *run["positions"]):
        if one["strategy"] == kind and one["entryDate"] <= text < last_held(one):
            held.add(one["symbol"])
    return held


def last_held(one: Any) -> str:
    """The last day over which a position is held."""
    if "exitDate" not in one:
        return "9999-12-31"
    over = day_of(one["exitDate"])
    return date_of(over if one["exitReason"] == "delisted" else over - 1)


def carried(positions: Sequence[Held], first: int, last: int) -> list[Day]:
    """The days of a strategy: one equity, in which each position is the quantity that its weight bought."""
    equity, days = 1.0, []
    for day in range(first, last + 1):
        held = [one for one in positions if one.first <= day <= one.last]
        told, before = Day(), equity
        assert before > 0 or not held, "something is held without equity"
        for one in held:
            if day == one.first:
                one.quantity = one.weight * before / one.price
                told.turnover += one.quantity * one.price / before
            if day == one.last and one.ended:
                told.turnover += one.quantity * one.left / before
            told.exposure += one.quantity * one.opens[day - one.first] / before
            equity += one.profit(one.quantity, day)
        equity = max(equity, 0.0)
        told.net = equity / before - 1 if before else 0.0
        days.append(told)
    return days


def figures(days: Sequence[Day], returns: Sequence[float], held: int, known: int, trials: Trials) -> Any:
    """A strategy's figures as the summary names them."""
    net = [day.net for day in days]
    told = {
        "total": len(returns),
        "wins": sum(one > 0 for one in returns),
        "losses": sum(one <= 0 for one in returns),
        "winRate": sum(one > 0 for one in returns) / len(returns) if returns else None,
        "meanReturnPct": fmean(returns) if returns else None,
        "exposure": fmean(day.exposure for day in days),
        "turnover": fmean(day.turnover for day in days) * 365,
        "fundingKnown": known / held if held else None,
    }
    return {**told, **grown(net), **luck(net, trials)}


def grown(net: Sequence[float]) -> dict[str, float]:
    capital = highest = 1.0
    deepest = 0.0
    for one in net:
        capital *= max(0.0, 1 + one)
        highest = max(highest, capital)
        deepest = max(deepest, 1 - capital / highest)
    return {"returnPct": (capital - 1) * 100, "maxDrawdownPct": deepest * 100}


def luck(net: Sequence[float], trials: Trials) -> dict[str, float]:
    """Sharpe ratios after the two papers."""
    count, mean, deviation = len(net), fmean(net), pstdev(net)
    ratio = mean / deviation
    third, fourth = (fmean(((one - mean) / deviation) ** power for one in net) for power in (3, 4))
    skew = third * math.sqrt(count * (count - 1)) / (count - 2)
    kurtosis = 3 + (count - 1) / ((count - 2) * (count - 3)) * ((count + 1) * fourth - 3 * (count - 1))
    spread = math.sqrt((1 - skew * ratio + (kurtosis - 1) / 4 * ratio**2) / (count - 1))
    made, normal = sum(map(len, trials)), NormalDist()
    ratios = [[one for one in fold if one is not None] for fold in trials]
    apart = [(len(fold) - 1, variance(fold)) for fold in ratios if len(fold) > 1]
    pooled = sum(freedom * spread for freedom, spread in apart) / sum(freedom for freedom, _ in apart) / 365
    euler = 0.5772156649015329
    most = (1 - euler) * normal.inv_cdf(1 - 1 / made) + euler * normal.inv_cdf(1 - 1 / (made * math.e))
    most *= math.sqrt(max(pooled, 1 / (count - 1)))
    return {
        "sharpe": ratio * math.sqrt(365),
        "probabilisticSharpe": normal.cdf(ratio / spread),
        "deflatedSharpe": normal.cdf((ratio - most) / spread),
    }


def recount(run: Any, market: Market) -> dict[str, Any]:
    """The summaries of the strategies and of all of them, by name; returns by record besides, under `returns`."""
    first, last = day_of(run["summary"]["firstDay"]), day_of(run["summary"]["lastDay"])
    share, by_fold = weights(run, market), defaultdict[int, list[float | None]](list)
    for fold in run["folds"]:
        by_fold[fold["fold"]] += fold["sharpes"]
    trials = list(by_fold.values())
    names = [one["strategy"] for one in run["summary"]["strategies"][1:]]
    told: dict[str, Any] = {"returns": {}}
    records: list[list[Day]] = []
    everything: list[Held] = []
    for name in names:
        positions = [
            Held(one, share[one["id"]], market, last)
            for one in (*run["outcomes"], *run["positions"])
            if one["strategy"] == name
        ]
        told["returns"] |= {one.id: one.returned() for one in positions}
        records.append(carried(positions, first, last))
        told[name] = figures(records[-1], *counted(positions), trials)
        everything += positions
    told["all"] = figures(abreast(records), *counted(everything), trials)
    return told


def counted(positions: Sequence[Held]) -> tuple[list[float], int, int]:
    """Returns of those that have ended, days of all, and those of them whose funding was recorded."""
    ended = [one.returned() for one in positions if one.ended]
    return ended, sum(len(one.days) for one in positions), sum(one.known for one in positions)


def abreast(records: Sequence[Sequence[Day]]) -> list[Day]:
    """The days of strategies side by side: each begins with an equal part of the money, and has its own."""
    money, days = [1 / len(records)] * len(records), []
    for today in zip(*records, strict=True):
        told, whole = Day(), sum(money)
        told.exposure = sum(own * one.exposure for own, one in zip(money, today, strict=True)) / whole
        told.turnover = sum(own * one.turnover for own, one in zip(money, today, strict=True)) / whole
        money = [own * (1 + one.net) for own, one in zip(money, today, strict=True)]
        told.net = sum(money) / whole - 1
        days.append(told)
    return days

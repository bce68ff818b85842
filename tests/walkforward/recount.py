"""The figures of a run, counted once more from what is published: its records as JSON, and the bars of the market.

Plain Python, a position and a day at a time. Of the engine nothing is used but what it tells.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    """What a day brought and held, shares of the capital."""

    def __init__(self) -> None:
        self.net = self.exposure = self.turnover = 0.0


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


def days_of(one: Any, weight: float, market: Market, last_day: int, days: Mapping[int, Day]) -> tuple[float, int, int]:
    """Book a position, and tell its return (percent), the days it was held, and those whose funding was recorded."""
    bars, side, entry = market.bars[one["symbol"]], 1 if one["direction"] == "long" else -1, one["entryPrice"]
    first, over = day_of(one["entryDate"]), min(day_of(last_held(one)), last_day)
    paid = cost(market, one["symbol"], first - 1)
    total, known = -paid, 0
    days[first].net -= weight * paid
    days[first].turnover += weight
    for day in range(first, over + 1):
        opened, closed = bars[day][0], bars[day][3]
        mark = bars[day + 1][0] if day + 1 in bars else closed
        rate = market.rate(one["symbol"], day)
        known += rate is not None
        charged = rate if rate is not None else RESTING if side > 0 else 0.0
        brought = side * ((mark - opened) - charged * opened) / entry
        total += brought
        days[day].net += weight * brought
        days[day].exposure += weight
    if "exitPrice" in one:
        left = one["exitPrice"] / entry
        paid = cost(market, one["symbol"], over) * left
        total -= paid
        days[over].net -= weight * paid
        days[over].turnover += weight * left
    return total * 100, over - first + 1, known


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
    together = {day: Day() for day in range(first, last + 1)}
    sums: list[float] = []
    all_held = all_known = 0
    for name in names:
        days = {day: Day() for day in range(first, last + 1)}
        returns, held, known = [], 0, 0
        for one in (*run["outcomes"], *run["positions"]):
            if one["strategy"] == name:
                total, lasted, recorded = days_of(one, share[one["id"]], market, last, days)
                held, known = held + lasted, known + recorded
                told["returns"][one["id"]] = total
                if "exitDate" in one:
                    returns.append(total)
        told[name] = figures(list(days.values()), returns, held, known, trials)
        sums, all_held, all_known = [*sums, *returns], all_held + held, all_known + known
        for day, one in days.items():
            together[day].net += one.net / len(names)
            together[day].exposure += one.exposure / len(names)
            together[day].turnover += one.turnover / len(names)
    told["all"] = figures(list(together.values()), sums, all_held, all_known, trials)
    return told

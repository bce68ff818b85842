"""The three strategies once more, from their published words alone: what they want at the close of every day."""

from collections.abc import Callable
from itertools import product
from statistics import median
from typing import Any, NamedTuple

from tests.walkforward.reference_bars import Bar, History
from tests.walkforward.reference_supertrend import Line, supertrend
from tests.walkforward.reference_trading import Decision, Plan

SIZE, SEASONED, VOLUME_BARS = 50, 60, 30

Universe = dict[int, set[str]]


def universe(history: History) -> Universe:
    """Of every day the coins with a bar and enough of them, the largest by what a usual day of a month traded."""
    traded: dict[int, list[tuple[float, str]]] = {day: [] for day in history.days}
    for coin, bars in sorted(history.bars.items()):
        days = sorted(bars)
        dollars = [bars[day].close * bars[day].volume for day in days]
        for number, day in enumerate(days, 1):
            if number >= SEASONED:
                traded[day].append((median(dollars[number - VOLUME_BARS : number]), coin))
    return {
        day: {coin for _, coin in sorted(coins, key=lambda entry: (-entry[0], entry[1]))[:SIZE]}
        for day, coins in traded.items()
    }


def trend_following(history: History, tradable: Universe, period: int, multiplier: float) -> Plan:
    """Go with the SuperTrend from the bar on which it turns until it turns back, sixty days at most."""
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
        elif age == 60:
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


SUNDAY = 3
"""1970-01-01 was a Thursday, so 1970-01-04 was the first Sunday."""


def momentum(history: History, tradable: Universe, lookback: int, top: int) -> Plan:
    """Long the strongest and short the weakest coins of each Sunday, four weeks at most."""
    chosen = {day: _ranked(history, tradable[day], day, lookback, top) for day in history.days if day % 7 == SUNDAY}
    plan: Plan = {}
    for coin in history.bars:
        plan[coin] = {}
        side = sundays = 0
        for day in history.days:
            held, reason = side, None
            if coin not in tradable[day]:
                side, reason = 0, "universe-left"
            elif day in chosen:
                side = chosen[day].get(coin, 0)
                sundays = sundays + 1 if side == held else 0
                reason = "rank-lost"
                if side and sundays == 4:
                    side, reason = 0, "time"
            if side:
                gained = _trailing(history, coin, day, lookback)
                score = None if gained is None else gained * 100
                plan[coin][day] = Decision(side, 1 / (2 * top), score, None, reason if held not in (0, side) else None)
            elif held:
                plan[coin][day] = Decision(0, reason=reason)
    return plan


def _ranked(history: History, coins: set[str], day: int, lookback: int, top: int) -> dict[str, int]:
    gained = {coin: _trailing(history, coin, day, lookback) for coin in coins}
    ranked = sorted((-value, coin) for coin, value in gained.items() if value is not None)
    if len(ranked) < 2 * top:
        return {}
    return {coin: 1 for _, coin in ranked[:top]} | {coin: -1 for _, coin in ranked[-top:]}


def _trailing(history: History, coin: str, day: int, lookback: int) -> float | None:
    now, then = (history.bars[coin].get(at) for at in (day - 1, day - 1 - lookback))
    return now.close / then.close - 1 if now and then else None


class Crowding(NamedTuple):
    """A day's funding: percent a year, and its mid-rank among the last thirty days; unknown where too few are."""

    apr: float | None
    percentile: float | None


def funding_reversion(history: History, tradable: Universe, rarity: float, excess: float) -> Plan:
    """Take the side that is paid where the other pays rarely much, until it no longer does, fourteen days at most."""
    crowding = {coin: _crowding(history, coin) for coin in history.bars}
    wanted = {coin: _crowded(days, rarity, excess) for coin, days in crowding.items()}
    sides = {
        coin: _follow(days, wanted[coin], {day for day in history.days if coin in tradable[day]})
        for coin, days in crowding.items()
    }
    plan: Plan = {coin: {} for coin in history.bars}
    for day in history.days:
        known = {coin for coin in tradable[day] if crowding[coin][day].percentile is not None}
        held = {coin for coin, days in sides.items() if days.get(day, (0, None))[0]}
        for coin, days in sides.items():
            if day in days:
                side, reason = days[day]
                weight, score = (1 / len(known | held), crowding[coin][day].apr) if side else (0.0, None)
                plan[coin][day] = Decision(side, weight, score, None, reason)
    return plan


def _crowded(days: dict[int, Crowding], rarity: float, excess: float) -> dict[int, int]:
    """The side to take on the days on which funding is rare and dear."""
    wanted = {}
    for day, (apr, percentile) in days.items():
        if percentile is None or apr is None:
            continue
        if percentile >= rarity and apr > 10.95 + excess:
            wanted[day] = -1
        elif percentile <= 100 - rarity and apr < 10.95 - excess:
            wanted[day] = 1
    return wanted


def _follow(days: dict[int, Crowding], wanted: dict[int, int], may: set[int]) -> dict[int, tuple[int, str | None]]:
    """The side of every day on which there is one, or on which one is left, with the reason for that."""
    decided: dict[int, tuple[int, str | None]] = {}
    side = age = spent = 0  # spent: the side that has run out of time and was not let go since
    for day, (_, percentile) in days.items():
        back = {
            -1: percentile is not None and percentile <= 50,
            1: percentile is not None and percentile >= 50,
            0: False,
        }
        spent = 0 if back[spent] else spent
        held, reason = side, None
        age += 1
        if day not in may:
            side, reason = 0, "universe-left"
        elif back[side]:
            side, reason = 0, "funding-normal"
        elif side and age == 14:
            spent, side, reason = side, 0, "time"
        if not side and day in may and wanted.get(day, 0) not in (0, spent):
            side, age = wanted[day], 0
        if side or held:
            decided[day] = side, reason if held not in (0, side) else None
    return decided


def _crowding(history: History, coin: str) -> dict[int, Crowding]:
    paid = history.paid.get(coin, {})
    made = {}
    for day in history.days:
        among = [paid[back] for back in range(max(day - 29, history.days.start), day + 1) if back in paid]
        now, percentile = paid.get(day), None
        if now is not None and len(among) >= 20:
            below, same = sum(other < now for other in among), sum(other == now for other in among)
            percentile = 100 * (below + same / 2) / len(among)
        made[day] = Crowding(None if now is None else now * 365 * 100, percentile)
    return made


class Rule(NamedTuple):
    """A strategy: its name, its longest holding time in days, the names of its parameters, and all sets of them."""

    name: str
    horizon: int
    parameters: tuple[str, str]
    grid: list[tuple[Any, Any]]
    plan: Callable[[History, Universe, Any, Any], Plan]


TREND = Rule("trend-following", 60, ("period", "multiplier"), list(product((7, 10, 14), (2, 3, 4))), trend_following)
MOMENTUM = Rule("cross-sectional-momentum", 28, ("lookback", "top"), list(product((14, 28, 56), (3, 5, 8))), momentum)
FUNDING = Rule(
    "funding-reversion",
    14,
    ("rarity", "excess_apr"),
    list(product((85, 90, 95), (10.95, 21.9, 32.85))),
    funding_reversion,
)
RULES = (TREND, MOMENTUM, FUNDING)

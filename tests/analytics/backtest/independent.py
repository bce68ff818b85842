"""The universe and the three rules once more: plain Python, cell by cell, as their docstrings read.

No code under test is used but the tape's tables; numpy appears only because TA-Lib takes its arrays.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import talib

from service.analytics.backtest.tape import MarketTape

Table = list[list[float]]
Flags = list[list[bool]]
NONE = math.nan


class Wanted(NamedTuple):
    side: int = 0
    weight: float = 0.0
    score: float = NONE
    stop: float = NONE
    reason: str | None = None


Cells = list[list[Wanted]]


def columns(table: Sequence[Sequence[float]], coins: int) -> list[list[float]]:
    return [[float(row[coin]) for row in table] for coin in range(coins)]


def universe(tape: MarketTape, size: int) -> Flags:
    flags = []
    dollars: list[list[float]] = [[] for _ in tape.coins]
    for close, volume in zip(tape.close.tolist(), tape.volume.tolist(), strict=True):
        by_size = []
        for coin, price in enumerate(close):
            if math.isnan(price):
                continue
            dollars[coin].append(price * volume[coin])
            if len(dollars[coin]) >= 60:
                month = sorted(dollars[coin][-30:])
                by_size.append((-(month[14] + month[15]) / 2, coin))
        largest = {coin for _, coin in sorted(by_size)[:size]}
        flags.append([coin in largest for coin in range(len(tape.coins))])
    return flags


def episodes(
    triggers: Sequence[int],
    lets_go: Mapping[int, Sequence[bool]],
    tradable: Sequence[bool],
    horizon: int,
    because: str,
) -> list[tuple[int, str | None]]:
    """One coin, day by day: `(side, reason)`."""
    told: list[tuple[int, str | None]] = []
    side, since, spent = 0, 0, 0
    for day, (trigger, there) in enumerate(zip(triggers, tradable, strict=True)):
        reason = None
        if spent and (not there or lets_go[spent][day] or trigger == -spent):
            spent = 0
        if side:
            if not there:
                side, reason = 0, "universe-left"
            elif lets_go[side][day] or trigger == -side:
                side, reason = 0, because
            elif day == since + horizon:
                side, reason, spent = 0, "time", side
        if not side and trigger and there and not lets_go[trigger][day] and trigger != spent:
            side, since = trigger, day
        told.append((side, reason))
    return told


def trend_following(tape: MarketTape, tradable: Flags, period: int, multiplier: float) -> Cells:
    cells: Cells = [[] for _ in tape.close]
    for coin in range(len(tape.coins)):
        line, direction, atr = supertrend(tape, coin, period, multiplier)
        turns, before = [], 0
        for now in direction:
            turns.append(now if before and now == -before else 0)
            before = now or before
        flags = [row[coin] for row in tradable]
        lets_go = {1: [now == -1 for now in direction], -1: [now == 1 for now in direction]}
        for day, (side, why) in enumerate(episodes(turns, lets_go, flags, 60, "trend-turned")):
            if side:
                score = (float(tape.close[day, coin]) - line[day]) / atr[day]
                cells[day].append(Wanted(side, 1 / sum(tradable[day]), score, line[day], why))
            else:
                cells[day].append(Wanted(reason=why))
    return cells


def supertrend(
    tape: MarketTape, coin: int, period: int, multiplier: float
) -> tuple[list[float], list[int], list[float]]:
    """TA-Lib's line, direction and average true range of a coin's bars, NaN and 0 on days without."""
    days = [day for day in range(len(tape.close)) if not math.isnan(tape.close[day, coin])]
    line, direction, atr = [NONE] * len(tape.close), [0] * len(tape.close), [NONE] * len(tape.close)
    if len(days) > period:
        prices = [np.array([table[day, coin] for day in days]) for table in (tape.high, tape.low, tape.close)]
        lines, sides = talib.SUPERTREND(*prices, timeperiod=period, multiplier=multiplier)
        ranges = talib.ATR(*prices, timeperiod=period)
        for day, *said in list(zip(days, lines, sides, ranges, strict=True))[period:]:
            line[day], direction[day], atr[day] = float(said[0]), int(said[1]), float(said[2])
    return line, direction, atr


def slow_supertrend(
    bars: Sequence[tuple[float, float, float]], period: int, multiplier: float
) -> list[tuple[float, int]]:
    """SuperTrend as its author tells it, one bar after the other: `(line, direction)` from the first known one on.

    Each bar is (high, low, close).
    """
    ranges = [
        max(high - low, abs(high - before), abs(low - before)) for (_, _, before), (high, low, _) in pairwise(bars)
    ]
    told: list[tuple[float, int]] = []
    atr = upper = lower = 0.0
    for at in range(period, len(bars)):
        high, low, close = bars[at]
        atr = (sum(ranges[:period]) / period) if at == period else (atr * (period - 1) + ranges[at - 1]) / period
        over, under = (high + low) / 2 + multiplier * atr, (high + low) / 2 - multiplier * atr
        if not told:
            upper, lower, up = over, under, True
        else:
            before = bars[at - 1][2]
            upper = over if over < upper or before > upper else upper
            lower = under if under > lower or before < lower else lower
            up = close >= lower if told[-1][1] == 1 else close > upper
        told.append((lower, 1) if up else (upper, -1))
    return told


def momentum(tape: MarketTape, tradable: Flags, lookback: int, top: int) -> Cells:
    close = tape.close.tolist()
    held: dict[int, tuple[int, int]] = {}
    cells: Cells = []
    for day in range(len(close)):
        reasons: dict[int, str] = {}
        for coin in [coin for coin in held if not tradable[day][coin]]:
            reasons[coin] = "universe-left"
            del held[coin]
        gained = {coin: returned(close, day, coin, lookback) for coin in range(len(tape.coins))}
        if weekday(tape.first_day + day) == 7:
            ranked = [coin for coin, by in gained.items() if tradable[day][coin] and not math.isnan(by)]
            ranked.sort(key=lambda coin: (-gained[coin], coin))
            chosen = {}
            if len(ranked) >= 2 * top:
                chosen = dict.fromkeys(ranked[:top], 1) | dict.fromkeys(ranked[-top:], -1)
            for coin, (side, since) in list(held.items()):
                if chosen.get(coin) != side:
                    reasons[coin] = "rank-lost"
                    del held[coin]
                elif day - since == 28:
                    reasons[coin] = "time"
                    del held[coin], chosen[coin]
            for coin, side in chosen.items():
                held.setdefault(coin, (side, day))
        cells.append(
            [
                Wanted(held[coin][0], 1 / (2 * top), gained[coin] * 100, NONE, reasons.get(coin))
                if coin in held
                else Wanted(reason=reasons.get(coin))
                for coin in range(len(tape.coins))
            ]
        )
    return cells


def returned(close: Table, day: int, coin: int, lookback: int) -> float:
    if day < lookback + 1:
        return NONE
    return close[day - 1][coin] / close[day - 1 - lookback][coin] - 1


def weekday(day: int) -> int:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).isoweekday()


def funding_reversion(tape: MarketTape, tradable: Flags, rarity: float, excess_apr: float) -> Cells:
    funding = columns(tape.funding.tolist(), len(tape.coins))
    ranks = [[ranked(paid, day) for day in range(len(paid))] for paid in funding]
    held = []
    for coin, (paid, rank) in enumerate(zip(funding, ranks, strict=True)):
        triggers = []
        for by, among in zip(paid, rank, strict=True):
            dear = among is not None and among >= rarity and by * 365 * 100 > 10.95 + excess_apr
            cheap = among is not None and among <= 100 - rarity and by * 365 * 100 < 10.95 - excess_apr
            triggers.append(-1 if dear else 1 if cheap else 0)
        lets_go = {
            1: [among is not None and among >= 50 for among in rank],
            -1: [among is not None and among <= 50 for among in rank],
        }
        flags = [row[coin] for row in tradable]
        held.append(list(episodes(triggers, lets_go, flags, 14, "funding-normal")))
    cells: Cells = [[] for _ in tape.close]
    for day, flags in enumerate(tradable):
        sharing = sum(
            (flag and among[day] is not None) or positions[day][0] != 0
            for flag, among, positions in zip(flags, ranks, held, strict=True)
        )
        for paid, positions in zip(funding, held, strict=True):
            side, why = positions[day]
            wanted = Wanted(side, 1 / sharing, paid[day] * 365 * 100, NONE, why) if side else Wanted(reason=why)
            cells[day].append(wanted)
    return cells


def ranked(paid: Sequence[float], day: int) -> float | None:
    """The mid-rank of a day's funding among the last thirty days', in percent."""
    known = [by for by in paid[max(0, day - 29) : day + 1] if not math.isnan(by)]
    if math.isnan(paid[day]) or len(known) < 20:
        return None
    return statistics.fmean(50.0 if by == paid[day] else 100.0 * (by < paid[day]) for by in known)


RULES: Mapping[str, Callable[[MarketTape, Flags, Mapping[str, float]], Cells]] = {
    "trend-following": lambda tape, flags, by: trend_following(tape, flags, int(by["period"]), by["multiplier"]),
    "cross-sectional-momentum": lambda tape, flags, by: momentum(tape, flags, int(by["lookback"]), int(by["top"])),
    "funding-reversion": lambda tape, flags, by: funding_reversion(tape, flags, by["rarity"], by["excess_apr"]),
}

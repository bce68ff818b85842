"""Figures of bars and closes. Pure; all in percent or USD, every value finite or null."""

from collections.abc import Sequence
from math import isfinite, log, sqrt
from typing import Final

from service.clock import DAY_MS
from service.table.daily import PastBar

LEAST_RETURNS: Final = 10
"""Daily returns under which volatility and correlation say nothing."""

DAYS_PER_YEAR: Final = 365

Point = tuple[int, float]
"""Open of a UTC day, epoch milliseconds, and a value."""


def closes_by_day(bars: Sequence[PastBar]) -> dict[int, float]:
    """Closes by the open of their day."""
    return {bar.open_ms: bar.close for bar in bars}


def log_returns(closes: dict[int, float]) -> dict[int, float]:
    """Daily log returns by the open of the later day; only between days that follow each other."""
    return {
        day: log(close / closes[day - DAY_MS])
        for day, close in closes.items()
        if closes.get(day - DAY_MS) and close > 0
    }


def volatility(bars: Sequence[PastBar]) -> float | None:
    """Sample standard deviation of daily log returns, times the root of 365: percent a year."""
    moves = [*log_returns(closes_by_day(bars)).values()]
    if len(moves) < LEAST_RETURNS:
        return None
    mean = sum(moves) / len(moves)
    variance = sum((move - mean) ** 2 for move in moves) / (len(moves) - 1)
    return sqrt(variance * DAYS_PER_YEAR) * 100


def correlation(one: Sequence[PastBar], other: Sequence[PastBar]) -> float | None:
    """Pearson correlation of the daily log returns on days that both have, -1 to 1."""
    first, second = log_returns(closes_by_day(one)), log_returns(closes_by_day(other))
    days = sorted(first.keys() & second.keys())
    if len(days) < LEAST_RETURNS:
        return None
    x, y = _centred([first[day] for day in days]), _centred([second[day] for day in days])
    spread = sqrt(sum(value * value for value in x) * sum(value * value for value in y))
    if spread == 0:
        return None
    return max(-1.0, min(1.0, sum(a * b for a, b in zip(x, y, strict=True)) / spread))


def drawdowns(bars: Sequence[PastBar]) -> list[Point]:
    """How far each close is below the highest price until then, percent, never positive."""
    peak, found = 0.0, []
    for bar in bars:
        peak = max(peak, bar.high)
        found.append((bar.open_ms, min(0.0, (bar.close / peak - 1) * 100)))
    return found


def changes(bars: Sequence[PastBar], days: int) -> list[Point]:
    """Changes of the close over so many days, percent, by the open of the last of them."""
    closes = closes_by_day(bars)
    return [
        (day, value)
        for day, close in closes.items()
        if (value := percent(close, closes.get(day - days * DAY_MS))) is not None
    ]


def percent(now: float | None, before: float | None) -> float | None:
    """The change in percent; null where either is not known or the earlier one is zero."""
    if now is None or not before:
        return None
    change = (now / before - 1) * 100
    return change + 0.0 if isfinite(change) else None


def _centred(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [value - mean for value in values]

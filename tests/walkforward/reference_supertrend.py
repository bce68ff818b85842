"""SuperTrend once more, as its author describes it, one bar after the other, for any period and multiplier."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.walkforward.reference_bars import Bar


class Line(NamedTuple):
    """What a SuperTrend says at the close of a bar: 1 above its line, -1 below it."""

    direction: int
    line: float
    atr: float


def supertrend(bars: Sequence[Bar], period: int, multiplier: float) -> list[Line | None]:
    """Of every bar in turn; none while the average true range is not known.

    Wilder's average true range, seeded with the mean of the first `period` true ranges (the first bar has none). The
    first bar that is known counts as up. A band only comes nearer, until a close has gone beyond it.
    """
    said: list[Line | None] = []
    ranges: list[float] = []
    atr = upper = lower = 0.0
    direction = 0
    for number, bar in enumerate(bars):
        if number:
            before = bars[number - 1].close
            ranges.append(max(bar.high - bar.low, abs(bar.high - before), abs(bar.low - before)))
        if number < period:
            said.append(None)
            continue
        atr = sum(ranges) / period if number == period else (atr * (period - 1) + ranges[-1]) / period
        middle = (bar.high + bar.low) / 2
        new_upper, new_lower = middle + multiplier * atr, middle - multiplier * atr
        if number == period:
            upper, lower, direction = new_upper, new_lower, 1
        else:
            before = bars[number - 1].close
            upper = new_upper if new_upper < upper or before > upper else upper
            lower = new_lower if new_lower > lower or before < lower else lower
            if direction == 1 and bar.close < lower:
                direction = -1
            elif direction == -1 and bar.close > upper:
                direction = 1
        said.append(Line(direction, lower if direction == 1 else upper, atr))
    return said

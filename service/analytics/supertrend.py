"""SuperTrend(10, 3) over many series at once.

Source: Olivier Seban's SuperTrend as TA-Lib 0.8 publishes it (`SUPERTREND`); ATR after J. Welles Wilder, "New Concepts
in Technical Trading Systems" (1978).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Bars, Floats

PERIOD: Final = 10
"""Bars of the average true range; so many bars pass before the first value."""

MULTIPLIER: Final = 3.0
"""Average true ranges between the middle of a bar and its bands."""


class SuperTrend(NamedTuple):
    """Lines in price units (NaN while unknown) and directions: 1 above the line, -1 below, 0 unknown.

    Both of shape (bars, series).
    """

    line: Floats
    direction: npt.NDArray[np.int8]


def supertrend(series: Sequence[Bars]) -> SuperTrend:
    """Compute SuperTrend of every series.

    Args:
        series: Bars of equal or different length; each is taken as a sequence, whatever days are missing.

    Returns:
        One column a series, one row a bar counted from the series' own first; rows past its end are unknown.
    """
    high = _columns([bars.high for bars in series])
    low = _columns([bars.low for bars in series])
    close = _columns([bars.close for bars in series])
    line = np.full(close.shape, np.nan)
    direction = np.zeros(close.shape, dtype=np.int8)
    if close.shape[0] > PERIOD:
        _follow(high, low, close, line, direction)
    unknown = np.isnan(close)
    line[unknown] = np.nan
    direction[unknown] = 0
    return SuperTrend(line, direction)


def _columns(columns: Sequence[Floats]) -> Floats:
    """Stand series of different length side by side, NaN below the shorter ones."""
    table = np.full((max((column.size for column in columns), default=0), len(columns)), np.nan)
    for index, column in enumerate(columns):
        table[: column.size, index] = column
    return table


def _follow(high: Floats, low: Floats, close: Floats, line: Floats, direction: npt.NDArray[np.int8]) -> None:
    """Walk down the bars, all series abreast, and write line and direction from row `PERIOD` on."""
    ranges = _true_ranges(high, low, close)
    # Added row by row: numpy's own sum orders its additions by the number of columns, and a coin's value must not
    # depend on the company it is computed in.
    atr = np.zeros(close.shape[1])
    for row in range(PERIOD):
        atr += ranges[row]
    atr /= PERIOD
    middle = (high + low) / 2
    upper, lower = middle[PERIOD] + MULTIPLIER * atr, middle[PERIOD] - MULTIPLIER * atr
    up = np.ones(close.shape[1], dtype=np.bool_)
    line[PERIOD], direction[PERIOD] = lower, 1
    for row in range(PERIOD + 1, close.shape[0]):
        atr = (atr * (PERIOD - 1) + ranges[row - 1]) / PERIOD
        before = close[row - 1]
        basic_upper, basic_lower = middle[row] + MULTIPLIER * atr, middle[row] - MULTIPLIER * atr
        upper = np.where((basic_upper < upper) | (before > upper), basic_upper, upper)
        lower = np.where((basic_lower > lower) | (before < lower), basic_lower, lower)
        up = np.where(up, close[row] >= lower, close[row] > upper)
        line[row] = np.where(up, lower, upper)
        direction[row] = np.where(up, 1, -1)


def _true_ranges(high: Floats, low: Floats, close: Floats) -> Floats:
    """Wilder's true range of every bar but the first, which has no close before it."""
    before = close[:-1]
    return np.maximum(high[1:] - low[1:], np.maximum(np.abs(high[1:] - before), np.abs(low[1:] - before)))

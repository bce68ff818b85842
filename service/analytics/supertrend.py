"""SuperTrend over many series at once.

Source: Olivier Seban's SuperTrend as TA-Lib 0.8 publishes it (`SUPERTREND`); ATR after J. Welles Wilder, "New Concepts
in Technical Trading Systems" (1978).

The two bands obey one rule, seen from two sides: a band is kept while the new one would lie outside it and the last
close stayed within it. So the lower band is kept negated, and both are walked as one table of shape (2, series): the
upper side first, then the lower one.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Chart, Flags, Floats, Indices

PERIOD: Final = 10
"""Bars of the average true range; so many bars pass before the first value."""

MULTIPLIER: Final = 3.0
"""Average true ranges between the middle of a bar and its bands."""

_UPPER, _LOWER = 0, 1


class Course(NamedTuple):
    """What a SuperTrend said bar by bar, of shape (bars, series).

    `atr`, `line` and the two bands in price units, NaN while unknown; `direction` 1 above the line, -1 below, 0
    unknown. The line is the lower band where the direction is 1, else the upper one.
    """

    atr: Floats
    line: Floats
    direction: npt.NDArray[np.int8]
    upper: Floats
    lower: Floats


def _true_range(high: Floats, low: Floats, before: Floats) -> Floats:
    """Wilder's true range: how far a bar reaches, the close before it included."""
    return np.maximum(high, before) - np.minimum(low, before)


def supertrend(chart: Chart, shown: int | None = None, period: int = PERIOD, multiplier: float = MULTIPLIER) -> Course:
    """Walk whole histories.

    Args:
        chart: Tables of shape (bars, series); each series is the sequence of its bars, whatever rows are missing.
        shown: How many of the series, the first ones, want all but the direction; none: all of them.
        period: Bars of the average true range, at least 2.
        multiplier: Average true ranges between the middle of a bar and its bands.

    Returns:
        What is said of every bar.
    """
    if shown is None:
        shown = chart.close.shape[1]
    there = ~np.isnan(chart.close)
    count = np.count_nonzero(there, axis=0)
    start = there.argmax(axis=0) if there.size else np.zeros_like(count)
    gaps = _gaps(there, start, count)
    course = _Walk(_closed_up(chart, start, gaps), start, count, shown, period, multiplier).go()
    for series, rows in gaps:
        bars = slice(start[series], start[series] + rows.size)
        _put_back(course.direction[:, series], bars, rows, 0)
        for said in (course.atr, course.line, course.upper, course.lower):
            if series < said.shape[1]:
                _put_back(said[:, series], bars, rows, np.nan)
    return course


def _gaps(there: Flags, start: Indices, count: Indices) -> list[tuple[int, Indices]]:
    """The series that lack bars between their first and their last, each with the rows it has."""
    if not there.size:
        return []
    end = there.shape[0] - there[::-1].argmax(axis=0)
    gappy = np.flatnonzero((count > 0) & (end - start != count))
    return [(int(series), np.flatnonzero(there[:, series])) for series in gappy]


def _closed_up(chart: Chart, start: Indices, gaps: list[tuple[int, Indices]]) -> Chart:
    """Move the bars behind a gap up to those before it, since a series is the sequence of its bars."""
    if not gaps:
        return chart
    closed = Chart(*(prices.copy() for prices in chart))
    for series, rows in gaps:
        for prices in closed:
            kept = prices[rows, series]
            prices[:, series] = np.nan
            prices[start[series] : start[series] + rows.size, series] = kept
    return closed


def _put_back(said: npt.NDArray[Any], bars: slice, rows: Indices, unknown: float) -> None:
    """Undo what `_closed_up` did, for one series of a result."""
    kept = said[bars].copy()
    said[:] = unknown
    said[rows] = kept


class _Walk:
    """A walk down the rows, all series abreast, in scratch memory that stays in the processor's cache.

    Args:
        chart: Bars without gaps.
        start: Row of the first bar of each series.
        count: Its bars.
        shown: How many series, the first ones, want their average true ranges and lines.
        period: Bars of the average true range.
        multiplier: Average true ranges to either band.
    """

    def __init__(
        self, chart: Chart, start: Indices, count: Indices, shown: int, period: int, multiplier: float
    ) -> None:
        rows, series = chart.close.shape
        self._chart, self._start, self._count = chart, start, count
        self._period, self._multiplier = period, multiplier
        speaking = np.flatnonzero(count > period)
        self._begins = _grouped(start[speaking] + period, speaking)
        self._summed = self._first_ranges()
        self._atr, self._band = np.full((rows, shown), np.nan), np.full((rows, 2, shown), np.nan)
        self._up = np.zeros((rows, series), np.bool_)

    def _first_ranges(self) -> Floats:
        """Sum the first true ranges of each series, or those there are, one after the other."""
        high, low, close = self._chart
        summed = np.where(self._count > 0, 0.0, np.nan)
        for bar in range(1, self._period + 1):
            has = np.flatnonzero(self._count > bar)
            row = self._start[has] + bar
            summed[has] += _true_range(high[row, has], low[row, has], close[row - 1, has])
        return summed

    def go(self) -> Course:
        """Walk from the row on which the first series speaks to the last."""
        if self._begins:
            self._follow(min(self._begins))
        row = np.arange(len(self._up))[:, None]
        known = (row >= self._start + self._period) & (row < self._start + self._count)
        direction = np.where(self._up, np.int8(1), np.int8(-1))
        direction *= known
        upper, lower = self._band[:, _UPPER], -self._band[:, _LOWER]
        line = np.where(self._up[:, : self._atr.shape[1]], lower, upper)
        for shown in (self._atr, line, upper, lower):
            np.copyto(shown, np.nan, where=~known[:, : shown.shape[1]])
        return Course(self._atr, line, direction, upper, lower)

    def _follow(self, first: int) -> None:
        """Let the average range follow the bars, the bands both, and the direction the bands.

        While a close stayed within its band, the next band is the inner one of the new and the old. The few series for
        which it did not, or which have no old band, are put right one by one: choosing by mask takes far longer.
        """
        series, shown = self._count.size, self._atr.shape[1]
        factors = self._period - 1.0, self._period, self._multiplier, 0.5
        weight, period, reach_of, half = (np.full(series, by) for by in factors)
        atr, reach, ranges, other = np.full((4, series), np.nan)
        band, kept, sides = np.full((3, 2, series), np.nan)
        outside, turns = np.zeros((2, series), np.bool_), np.zeros(series, np.bool_)
        up, restarts = np.ones(series, np.bool_), np.zeros(0, np.int64)
        before = self._chart.close[first - 1]
        tables = self._up, self._atr, self._band, *self._chart
        rows = zip(range(first, len(self._up)), *(rows_of[first:] for rows_of in tables), strict=True)
        for row, said, atr_said, band_said, high, low, close in rows:
            np.maximum(high, before, out=ranges)
            np.minimum(low, before, out=other)
            np.subtract(ranges, other, ranges)
            np.multiply(atr, weight, atr)
            np.add(atr, ranges, atr)
            np.divide(atr, period, atr)
            begin = self._begins.get(row)
            if begin is not None:
                atr[begin] = self._summed[begin] / self._period
                restarts = np.concatenate([restarts, begin, begin + series])
            np.multiply(atr, reach_of, reach)
            kept, band = band, kept
            upper, lower = band
            np.add(high, low, upper)
            np.multiply(upper, half, upper)
            np.subtract(reach, upper, lower)
            np.add(upper, reach, upper)
            fresh = band.take(restarts)
            np.minimum(band, kept, out=band)
            band.put(restarts, fresh)
            np.copyto(sides[_UPPER], close)
            np.negative(close, sides[_LOWER])
            np.greater(sides, band, outside)
            restarts = outside.ravel().nonzero()[0]
            # Where it goes up it turns if the close is outside below, where it goes down if it is outside above.
            np.bitwise_xor(outside[_UPPER], outside[_LOWER], turns)
            np.bitwise_and(turns, up, turns)
            np.bitwise_xor(turns, outside[_UPPER], turns)
            np.bitwise_xor(up, turns, up)
            if begin is not None:
                up[begin] = True
            np.copyto(said, up)
            np.copyto(atr_said, atr[:shown])
            np.copyto(band_said, band[:, :shown])
            before = close


def _grouped(rows: Indices, series: Indices) -> dict[int, Indices]:
    """The series by the row that each has."""
    return {int(row): series[rows == row] for row in np.unique(rows)}

"""SuperTrend(10, 3) over many series at once, whole histories or one bar more.

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


class State(NamedTuple):
    """What the next bar of each series needs to know, arrays of shape (series...) or (2, series...); changed in place.

    `atr` is the sum of the true ranges until there are ten of them, and NaN before the first bar; `close` is the last
    one; `within` tells of either side whether that close stayed within its band.
    """

    bars: Indices
    close: Floats
    atr: Floats
    band: Floats
    within: Flags
    up: Flags

    def shaped(self, *series: int) -> "State":
        """The same arrays, seen with several axes of series."""
        sides = (2, *series)
        return State(
            bars=self.bars.reshape(series),
            close=self.close.reshape(series),
            atr=self.atr.reshape(series),
            band=self.band.reshape(sides),
            within=self.within.reshape(sides),
            up=self.up.reshape(series),
        )

    def beside(self, other: "State") -> "State":
        """The series of both, side by side on their last axis."""
        return State(
            bars=np.concatenate([self.bars, other.bars], axis=-1),
            close=np.concatenate([self.close, other.close], axis=-1),
            atr=np.concatenate([self.atr, other.atr], axis=-1),
            band=np.concatenate([self.band, other.band], axis=-1),
            within=np.concatenate([self.within, other.within], axis=-1),
            up=np.concatenate([self.up, other.up], axis=-1),
        )


class Course(NamedTuple):
    """What a SuperTrend said bar by bar, of shape (bars, series).

    `atr` and `line` in price units, NaN while unknown; `direction` 1 above the line, -1 below, 0 unknown.
    """

    atr: Floats
    line: Floats
    direction: npt.NDArray[np.int8]


def blank(*series: int) -> State:
    """Make the state of series that have no bar yet."""
    return State(
        bars=np.zeros(series, np.int64),
        close=np.full(series, np.nan),
        atr=np.full(series, np.nan),
        band=np.full((2, *series), np.nan),
        within=np.zeros((2, *series), np.bool_),
        up=np.zeros(series, np.bool_),
    )


def step(state: State, bar: Chart) -> Course:
    """Take one bar more.

    Args:
        state: Is brought up to date.
        bar: Of shape (series,), NaN where a series has no bar this time.

    Returns:
        What is said of this bar, of shape (series,).
    """
    there = ~np.isnan(bar.close)
    ranges = np.fmax(bar.high - bar.low, np.fmax(np.abs(bar.high - state.close), np.abs(bar.low - state.close)))
    summed = np.where(state.bars == 0, 0.0, state.atr + ranges)
    smoothed = (state.atr * (PERIOD - 1) + ranges) / PERIOD
    first, known = state.bars == PERIOD, there & (state.bars >= PERIOD)
    atr = np.where(first, summed / PERIOD, np.where(state.bars > PERIOD, smoothed, summed))
    middle, reach = (bar.high + bar.low) / 2, atr * MULTIPLIER
    band = np.array([middle + reach, reach - middle])
    band = np.where((band >= state.band) & state.within, state.band, band)
    within = np.array([bar.close <= band[_UPPER], -bar.close <= band[_LOWER]])
    up = first | np.where(state.up, within[_LOWER], ~within[_UPPER])
    state.bars[there] += 1
    np.copyto(state.close, bar.close, where=there)
    np.copyto(state.atr, atr, where=there)
    np.copyto(state.band, band, where=known)
    np.copyto(state.within, within, where=known)
    np.copyto(state.up, up, where=known)
    line = np.where(up, -band[_LOWER], band[_UPPER])
    return Course(
        atr=np.where(known, atr, np.nan),
        line=np.where(known, line, np.nan),
        direction=np.where(known, np.where(up, 1, -1), 0).astype(np.int8),
    )


def supertrend(chart: Chart) -> tuple[Course, State]:
    """Walk whole histories, to the same bits as `step` bar by bar.

    Args:
        chart: Tables of shape (bars, series); each series is the sequence of its bars, whatever rows are missing.

    Returns:
        What is said of every bar, and the state from which `step` goes on.
    """
    there = ~np.isnan(chart.close)
    count = np.count_nonzero(there, axis=0)
    if not count.any():
        nothing = np.full(there.shape, np.nan)
        return Course(nothing, nothing, np.zeros(there.shape, np.int8)), blank(count.size)
    start = there.argmax(axis=0)
    gaps = _gaps(there, start, count)
    walk = _Walk(_closed_up(chart, start, gaps), start, count)
    walk.go()
    state, course = walk.state(), walk.course()
    for series, rows in gaps:
        bars = slice(start[series], start[series] + rows.size)
        _put_back(course.atr[:, series], bars, rows, np.nan)
        _put_back(course.line[:, series], bars, rows, np.nan)
        _put_back(course.direction[:, series], bars, rows, 0)
    return course, state


def _gaps(there: Flags, start: Indices, count: Indices) -> list[tuple[int, Indices]]:
    """The series that lack bars between their first and their last, each with the rows it has."""
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
    """A walk down the rows, all series abreast. What its tables hold outside a series' known bars means nothing.

    Args:
        chart: Bars without gaps.
        start: Row of the first bar of each series.
        count: Its bars.
    """

    def __init__(self, chart: Chart, start: Indices, count: Indices) -> None:
        rows, series = chart.close.shape
        self._start, self._count = start, count
        self._close = chart.close
        self._ranges = _true_ranges(chart)
        self._middle = (chart.high + chart.low) / 2
        self._atr = np.empty((rows, series))
        self._band = np.empty((rows, 2, series))
        self._within = np.empty((rows, 2, series), np.bool_)
        self._up = np.empty((rows, series), np.bool_)
        self._summed = self._first_ranges()

    def _first_ranges(self) -> Floats:
        """Sum the first ten true ranges of each series, or those there are, one after the other as `step` does."""
        summed = np.where(self._count > 0, 0.0, np.nan)
        for bar in range(1, PERIOD + 1):
            has = np.flatnonzero(self._count > bar)
            summed[has] += self._ranges[self._start[has] + bar, has]
        return summed

    def go(self) -> None:
        """Fill the tables."""
        known = np.flatnonzero(self._count > PERIOD)
        begins: dict[int, Indices] = {
            int(row): known[self._start[known] + PERIOD == row] for row in np.unique(self._start[known] + PERIOD)
        }
        series = self._count.size
        band, within, up = np.full((2, series), np.nan), np.zeros((2, series), np.bool_), np.ones(series, np.bool_)
        atr, reach, keep = np.full(series, np.nan), np.empty(series), np.empty((2, series), np.bool_)
        for row in range(min(begins, default=self._close.shape[0]), self._close.shape[0]):
            begin = begins.get(row)
            atr = np.multiply(atr, PERIOD - 1, out=self._atr[row])
            atr += self._ranges[row]
            atr /= PERIOD
            if begin is not None:
                atr[begin] = self._summed[begin] / PERIOD
            np.multiply(atr, MULTIPLIER, out=reach)
            before, band = band, self._band[row]
            np.add(self._middle[row], reach, out=band[_UPPER])
            np.subtract(reach, self._middle[row], out=band[_LOWER])
            np.greater_equal(band, before, out=keep)
            keep &= within
            np.copyto(band, before, where=keep)
            close, within = self._close[row], self._within[row]
            np.less_equal(close, band[_UPPER], out=within[_UPPER])
            np.greater_equal(close, -band[_LOWER], out=within[_LOWER])
            up = np.where(up, within[_LOWER], ~within[_UPPER])
            if begin is not None:
                up[begin] = True
            self._up[row] = up

    def course(self) -> Course:
        """What was said of every bar."""
        row = np.arange(self._close.shape[0])[:, None]
        known = (row >= self._start + PERIOD) & (row < self._start + self._count)
        line = np.where(self._up, -self._band[:, _LOWER], self._band[:, _UPPER])
        direction = np.where(self._up, np.int8(1), np.int8(-1)) * known
        unknown = ~known
        atr = self._atr
        atr[unknown] = np.nan
        line[unknown] = np.nan
        return Course(atr, line, direction)

    def state(self) -> State:
        """Where each series stands after its last bar."""
        series = np.arange(self._count.size)
        last = self._start + np.maximum(self._count, 1) - 1
        known = self._count > PERIOD
        return State(
            bars=self._count.astype(np.int64),
            close=self._close[last, series],
            atr=np.where(known, self._atr[last, series], self._summed),
            band=np.where(known, self._band[last, :, series].T, np.nan),
            within=self._within[last, :, series].T & known,
            up=self._up[last, series] & known,
        )


def _true_ranges(chart: Chart) -> Floats:
    """Wilder's true range of every bar; of the first, which has no close before it, unknown."""
    ranges = np.full(chart.close.shape, np.nan)
    within, before = ranges[1:], chart.close[:-1]
    np.subtract(chart.high[1:], before, out=within)
    np.abs(within, out=within)
    other = chart.low[1:] - before
    np.abs(other, out=other)
    np.maximum(within, other, out=within)
    np.subtract(chart.high[1:], chart.low[1:], out=other)
    np.maximum(within, other, out=within)
    return ranges

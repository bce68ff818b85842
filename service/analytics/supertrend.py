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
    """What the next bar of each series needs to know; changed in place.

    Arrays of shape (series,) and, with both sides, (2, series); or of shape (charts, coins) and (charts, 2, coins).
    `atr` is the sum of the true ranges until there are ten of them, and NaN before the first bar; `close` is the last
    one; `within` tells of either side whether that close stayed within its band.
    """

    bars: Indices
    close: Floats
    atr: Floats
    band: Floats
    within: Flags
    up: Flags

    def by_chart(self, charts: int) -> "State":
        """The same for series that are charts of coins, all coins of the first chart first."""
        shape = charts, self.bars.size // charts if charts else 0
        sides = 2, *shape
        return State(
            bars=self.bars.reshape(shape),
            close=self.close.reshape(shape),
            atr=self.atr.reshape(shape),
            band=self.band.reshape(sides).swapaxes(0, 1),
            within=self.within.reshape(sides).swapaxes(0, 1),
            up=self.up.reshape(shape),
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
    """What a SuperTrend said bar by bar, of shape (bars, series), or of one bar, without the first axis.

    `atr` and `band` (of shape (bars, 2, series)) in price units, NaN while unknown; `direction` 1 above the line, -1
    below, 0 unknown.
    """

    atr: Floats
    band: Floats
    direction: npt.NDArray[np.int8]

    @property
    def line(self) -> Floats:
        """The band that counts: the lower one while the series goes up, else the upper one; NaN while unknown."""
        return np.where(self.direction > 0, -self.band[..., _LOWER, :], self.band[..., _UPPER, :])

    def of(self, series: int | slice) -> "Course":
        """What it said of some series, by their last axis."""
        return Course(self.atr[..., series], self.band[..., series], self.direction[..., series])


def blank(*series: int) -> State:
    """Make the state of series that have no bar yet, of shape (series,) or (charts, coins)."""
    sides = *series[:-1], 2, series[-1]
    return State(
        bars=np.zeros(series, np.int64),
        close=np.full(series, np.nan),
        atr=np.full(series, np.nan),
        band=np.full(sides, np.nan),
        within=np.zeros(sides, np.bool_),
        up=np.zeros(series, np.bool_),
    )


def step(state: State, bar: Chart) -> Course:
    """Take one bar more.

    Args:
        state: Is brought up to date.
        bar: Of the shape of the state's series, NaN where a series has no bar this time.

    Returns:
        What is said of this bar.
    """
    there = ~np.isnan(bar.close)
    first, known = state.bars == PERIOD, there & (state.bars >= PERIOD)
    both = known[..., None, :]
    atr = _average_range(state, bar)
    middle, reach = (bar.high + bar.low) / 2, atr * MULTIPLIER
    fresh = np.stack([middle + reach, reach - middle], axis=-2)
    band = np.where((fresh >= state.band) & state.within, state.band, fresh)
    within = np.stack([bar.close, -bar.close], axis=-2) <= band
    up = first | np.where(state.up, within[..., _LOWER, :], ~within[..., _UPPER, :])
    state.bars[there] += 1
    np.copyto(state.close, bar.close, where=there)
    np.copyto(state.atr, atr, where=there)
    np.copyto(state.band, band, where=both)
    np.copyto(state.within, within, where=both)
    np.copyto(state.up, up, where=known)
    return Course(
        atr=np.where(known, atr, np.nan),
        band=np.where(both, band, np.nan),
        direction=np.where(known, np.where(up, 1, -1), 0).astype(np.int8),
    )


def _average_range(state: State, bar: Chart) -> Floats:
    """The average true range of a bar, or the sum of the ranges while there are fewer than ten."""
    above, under = np.abs(bar.high - state.close), np.abs(bar.low - state.close)
    ranges = np.maximum(np.maximum(above, under), bar.high - bar.low)
    summed = np.where(state.bars == 0, 0.0, state.atr + ranges)
    smoothed = (state.atr * (PERIOD - 1) + ranges) / PERIOD
    return np.where(state.bars > PERIOD, smoothed, np.where(state.bars == PERIOD, summed / PERIOD, summed))


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
        band = np.full((len(there), 2, count.size), np.nan)
        return Course(nothing, band, np.zeros(there.shape, np.int8)), blank(count.size)
    start = there.argmax(axis=0)
    gaps = _gaps(there, start, count)
    walk = _Walk(_closed_up(chart, start, gaps), start, count)
    walk.go()
    state, course = walk.state(), walk.course()
    for series, rows in gaps:
        bars = slice(start[series], start[series] + rows.size)
        _put_back(course.atr[:, series], bars, rows, np.nan)
        _put_back(course.band[:, :, series], bars, rows, np.nan)
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
    """A walk down the rows, all series abreast. Where a series has nothing to say, `atr` and `band` are NaN.

    Args:
        chart: Bars without gaps.
        start: Row of the first bar of each series.
        count: Its bars.
    """

    def __init__(self, chart: Chart, start: Indices, count: Indices) -> None:
        rows, series = chart.close.shape
        self._start, self._count, self._chart = start, count, chart
        tables = np.empty((4, rows, series))  # one piece: the larger it is, the larger the pages it comes in
        self._atr, self._ranges, self._band = tables[0], tables[1], tables[2:].reshape(rows, 2, series)
        _write_true_ranges(chart, self._ranges)
        self._outside = np.empty((rows, 2, series), np.bool_)
        self._up = np.empty((rows, series), np.bool_)
        self._summed = self._first_ranges()
        spoken = np.flatnonzero(count > PERIOD)
        self._begins = {int(row): spoken[start[spoken] + PERIOD == row] for row in np.unique(start[spoken] + PERIOD)}

    def _first_ranges(self) -> Floats:
        """Sum the first ten true ranges of each series, or those there are, one after the other as `step` does."""
        summed = np.where(self._count > 0, 0.0, np.nan)
        for bar in range(1, PERIOD + 1):
            has = np.flatnonzero(self._count > bar)
            summed[has] += self._ranges[self._start[has] + bar, has]
        return summed

    def go(self) -> None:
        """Fill the tables from the row on which the first series speaks."""
        first = min(self._begins, default=len(self._ranges))
        self._atr[:first] = self._band[:first] = np.nan
        self._smooth(first)
        reach, upper, lower = self._ranges[first:], self._band[first:, _UPPER], self._band[first:, _LOWER]
        np.multiply(self._atr[first:], MULTIPLIER, reach)
        np.add(self._chart.high[first:], self._chart.low[first:], out=upper)
        upper /= 2
        np.subtract(reach, upper, out=lower)
        upper += reach
        self._follow(first)

    def _smooth(self, first: int) -> None:
        """Wilder's average true range, which begins as a plain mean."""
        before = np.full(self._count.size, np.nan)
        weight, period = np.full_like(before, PERIOD - 1), np.full_like(before, PERIOD)
        for row, (atr, ranges) in enumerate(zip(self._atr[first:], self._ranges[first:], strict=True), first):
            np.multiply(before, weight, atr)
            np.add(atr, ranges, atr)
            np.divide(atr, period, atr)
            if row in self._begins:
                begin = self._begins[row]
                atr[begin] = self._summed[begin] / PERIOD
            before = atr

    def _follow(self, first: int) -> None:
        """Let the bands follow the closes, and the direction the bands.

        While a close stayed within its band, the next band is the inner one of the new and the old. The few series for
        which it did not, or which have no old band, are put right one by one: choosing by mask takes far longer.
        """
        sides = np.empty((2, self._count.size))
        before = np.full((2, self._count.size), np.nan)
        up, anew = np.ones(self._count.size, np.bool_), np.zeros(0, np.int64)
        tables = self._chart.close[first:], self._band[first:], self._outside[first:], self._up[first:]
        for row, (close, band, outside, above) in enumerate(zip(*tables, strict=True), first):
            begin = self._begins.get(row)
            if begin is not None:
                anew = np.concatenate([anew, begin, begin + up.size])
            fresh = band.take(anew)
            np.minimum(band, before, out=band)
            band.put(anew, fresh)
            sides[_UPPER] = close
            np.negative(close, sides[_LOWER])
            np.greater(sides, band, outside)
            if 1 in outside.tobytes():
                up = (up & ~outside[_LOWER]) | (outside[_UPPER] & ~up)
                anew = np.flatnonzero(outside)
            else:
                anew = anew[:0]
            if begin is not None:
                up[begin] = True
            above[:] = up
            before = band

    def course(self) -> Course:
        """What was said of every bar: where a series has nothing to say, the tables hold NaN by themselves."""
        direction = np.where(self._up, np.int8(1), np.int8(-1))
        direction *= ~np.isnan(self._atr)
        return Course(self._atr, self._band, direction)

    def state(self) -> State:
        """Where each series stands after its last bar."""
        series = np.arange(self._count.size)
        last = self._start + np.maximum(self._count, 1) - 1
        known = self._count > PERIOD
        return State(
            bars=self._count.astype(np.int64),
            close=self._chart.close[last, series],
            atr=np.where(known, self._atr[last, series], self._summed),
            band=np.where(known, self._band[last, :, series].T, np.nan),
            within=~self._outside[last, :, series].T & known,
            up=self._up[last, series] & known,
        )


def _write_true_ranges(chart: Chart, ranges: Floats) -> None:
    """Write Wilder's true range of every bar; of the first, which has no close before it, it is unknown."""
    ranges[:1] = np.nan
    today, before = ranges[1:], chart.close[:-1]
    np.subtract(chart.high[1:], before, out=today)
    np.abs(today, out=today)
    other = chart.low[1:] - before
    np.abs(other, out=other)
    np.maximum(today, other, out=today)
    np.subtract(chart.high[1:], chart.low[1:], out=other)
    np.maximum(today, other, out=today)

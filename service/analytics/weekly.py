"""The weekly charts of all coins: ISO weeks built from daily bars, closed when their Sunday or a later day is there."""

import numpy as np

from service.analytics import supertrend
from service.analytics.bars import Chart, Flags, Pending, is_sunday, week_of, weeks
from service.analytics.growing import Growing
from service.analytics.states import UNKNOWN
from service.analytics.votes import Runs, States, agreed, runs


class Weekly:
    """Weekly trend states of all coins; changed in place by `take` and `widen`.

    Args:
        first_day: Day of the first row.
        days: Daily charts of shape (days, charts, coins), without a day left out.
        charts: Which charts a coin has, of shape (charts, coins).
    """

    def __init__(self, first_day: int, days: Chart, charts: Flags) -> None:
        shape = charts.shape
        closed, pending = weeks(first_day, Chart(*(prices.reshape(len(prices), charts.size) for prices in days)))
        course, state = supertrend.supertrend(closed, shown=0)
        self.first_week = week_of(first_day)
        self._charts = charts
        self._state = state.by_chart(shape[0])
        self._pending = Pending(pending.week.reshape(shape), Chart(*(prices.reshape(shape) for prices in pending.bar)))
        self._directions = Growing(course.direction.reshape(len(closed.close), *shape), 0)
        self._states = Growing(agreed(self._directions.now, charts), UNKNOWN)
        self._runs: Runs | None = None

    @property
    def states(self) -> States:
        """Trend states of shape (weeks, coins), UNKNOWN for weeks that are not closed on all of a coin's charts."""
        return self._states.now

    def runs(self) -> Runs:
        """The runs of equal states among the weeks."""
        if self._runs is None:
            self._runs = runs(self.states)
        return self._runs

    def take(self, day: int, bar: Chart) -> None:
        """Take the bars of the next day, of shape (charts, coins), NaN where there is none."""
        week = week_of(day)
        if week == self.first_week + len(self.states):
            self._directions.append(0)
            self._states.append(UNKNOWN)
        there = ~np.isnan(bar.close)
        self._close(there & (self._pending.week >= 0) & (self._pending.week < week))
        self._pending.week[there] = week
        held = self._pending.bar
        np.fmax(held.high, bar.high, out=held.high)
        np.fmin(held.low, bar.low, out=held.low)
        np.copyto(held.close, bar.close, where=there)
        if is_sunday(day):
            self._close(there)

    def widen(self, charts: Flags) -> None:
        """Make room for coins that have not been known until now, at the end.

        Args:
            charts: Which charts a coin has, the new ones included.
        """
        new = charts.shape[1] - self._charts.shape[1]
        blank = charts.shape[0], new
        self._charts = charts
        self._state = self._state.beside(supertrend.blank(*blank))
        self._pending = Pending(
            np.concatenate([self._pending.week, np.full(blank, -1)], axis=-1),
            Chart(*(np.concatenate([prices, np.full(blank, np.nan)], axis=-1) for prices in self._pending.bar)),
        )
        self._directions.widen(new)
        self._states.widen(new)
        self._runs = None

    def _close(self, which: Flags) -> None:
        """Let the pending weeks of some charts be closed bars."""
        if not which.any():
            return
        bar = Chart(*(np.where(which, prices, np.nan) for prices in self._pending.bar))
        direction = supertrend.step(self._state, bar).direction
        for week in np.unique(self._pending.week[which]):
            row = int(week) - self.first_week
            np.copyto(self._directions.now[row], direction, where=which & (self._pending.week == week))
            self._states.now[row] = agreed(self._directions.now[row], self._charts)
        self._pending.week[which] = -1
        for prices in self._pending.bar:
            prices[which] = np.nan
        self._runs = None

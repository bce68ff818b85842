"""Trend states: what the charts of a coin say together, and how long they have said so."""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Chart, Flags, week_of, weeks
from service.analytics.states import DOWN, HODL, UNKNOWN, UP
from service.analytics.supertrend import supertrend

States: TypeAlias = npt.NDArray[np.int8]
Rows: TypeAlias = npt.NDArray[np.int32]


class StateRuns(NamedTuple):
    """The runs of equal states, by bar and coin; -1 before a coin's first known state.

    `start` is the row of the first bar of the run that goes on at this bar, `newest` that of the last known state. A
    bar whose state is unknown neither ends a run nor begins one.
    """

    start: Rows
    newest: Rows


def combined_states(directions: States, charts: Flags) -> States:
    """Combine the charts of each coin into its trend state.

    Args:
        directions: Of shape (..., charts, coins): 1 above the line, -1 below, 0 unknown.
        charts: Which charts a coin has, of shape (charts, coins): it is not compared with itself.

    Returns:
        Of shape (..., coins): UP where all charts are up, DOWN where all are down, UNKNOWN where one is not known.
    """
    asked = charts.sum(axis=0, dtype=np.int8)
    votes = directions.sum(axis=-2, dtype=np.int8)
    state = np.full(votes.shape, HODL, np.int8)
    state[votes == asked] = UP
    state[votes == -asked] = DOWN
    state[np.count_nonzero(directions, axis=-2) < asked] = UNKNOWN
    return state


def runs(states: States) -> StateRuns:
    """Find the run that every bar belongs to.

    Args:
        states: Of shape (bars, coins).
    """
    rows = np.arange(states.shape[0], dtype=np.int32)[:, None]
    known = states != UNKNOWN
    newest = np.maximum.accumulate(np.where(known, rows, np.int32(-1)), axis=0)
    before = np.full(states.shape, -1, np.int32)
    before[1:] = newest[:-1]
    last = np.take_along_axis(states, np.maximum(before, 0), axis=0)
    begins = known & ((before < 0) | (states != last))
    return StateRuns(np.maximum.accumulate(np.where(begins, rows, np.int32(-1)), axis=0), newest)


class WeeklyStates:
    """Weekly trend states of all coins.

    Args:
        first_day: Day of the first row.
        days: Daily charts of shape (days, charts, coins), without a day left out.
        charts: Which charts a coin has, of shape (charts, coins).

    Attributes:
        first_week: The week of the first row, as `week_of` counts.
        states: Of shape (weeks, coins), UNKNOWN for weeks that are not closed on all of a coin's charts.
        runs: The runs of equal states among the weeks.
    """

    def __init__(self, first_day: int, days: Chart, charts: Flags) -> None:
        closed = weeks(first_day, Chart(*(prices.reshape(len(prices), charts.size) for prices in days)))
        course = supertrend(closed, shown=0)
        self.first_week = week_of(first_day)
        self.states: States = combined_states(course.direction.reshape(len(closed.close), *charts.shape), charts)
        self.runs: StateRuns = runs(self.states)

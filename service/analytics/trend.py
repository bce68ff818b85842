"""What the charts of a coin say at last: trend state by day and by week, and correlation to BTC."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from service.analytics.bars import WEEK, Row, monday_of
from service.analytics.panel import Panel
from service.analytics.states import NAMES, State
from service.analytics.trend_states import StateRuns, States
from service.clock import DAY_MS

_DECIMALS: Final = 4
MOST_RUNS: Final = 50
"""Runs of a coin's daily trend that are kept, the newest."""


class Trend(NamedTuple):
    """A trend state, and the close of the first bar of its present run (epoch ms)."""

    state: State
    since_ms: int


class Assessment(NamedTuple):
    """What is known of one coin.

    `through_ms` is the close of the last day on which the coin and everything it is compared with have a bar, epoch
    milliseconds: later bars do not enter. None where there is no such day; the rest is None where bars are too few.
    """

    through_ms: int | None
    daily: Trend | None
    weekly: Trend | None
    btc_correlation: float | None


class TrendRun(NamedTuple):
    """A run of one state: its first and its last day, both included, counted from 1970-01-01 UTC."""

    state: State
    first_day: int
    last_day: int


class TrendCourse(NamedTuple):
    """How a coin has trended.

    `daily` are the newest runs, oldest first. `weekly` is the present one, from the Monday of its first week to the
    Sunday of its last. The bands are the SuperTrend's in USD on the last day of `Assessment.through_ms`; null where not
    known, as `weekly` is.
    """

    daily: list[TrendRun]
    weekly: TrendRun | None
    upper: float | None
    lower: float | None


def assess_alone(history: Mapping[str, Sequence[Row]]) -> dict[str, Assessment]:
    """Assess assets that are compared with nothing but USD, as equities and metals are.

    Args:
        history: Closed daily bars by asset; days without a session are missing.

    Returns:
        One assessment an asset: its state is UP or DOWN, its correlation unknown.
    """
    return assessments(Panel(history, against=()))


def assessments(panel: Panel) -> dict[str, Assessment]:
    """Tell what is known of every coin of a panel."""
    first_week = panel.weekly.first_week
    daily = _trends(panel.states, panel.runs, [panel.first_day + row for row in range(len(panel.states))], 1)
    mondays = [monday_of(first_week + row) for row in range(len(panel.weekly.states))]
    weekly = _trends(panel.weekly.states, panel.weekly.runs, mondays, WEEK)
    correlations = panel.btc_correlations()
    return {
        coin: Assessment(
            through_ms=None if through < 0 else (panel.first_day + through + 1) * DAY_MS,
            daily=day,
            weekly=week,
            btc_correlation=None if unknown else round(correlation, _DECIMALS) + 0.0,
        )
        for coin, through, day, week, correlation, unknown in zip(
            panel.coins,
            panel.through.tolist(),
            daily,
            weekly,
            correlations.tolist(),
            np.isnan(correlations).tolist(),
            strict=True,
        )
    }


def trend_courses(panel: Panel) -> dict[str, TrendCourse]:
    """Tell how every coin of a panel has trended."""
    weekly, first_week = panel.weekly, panel.weekly.first_week
    courses = {}
    for column, coin in enumerate(panel.coins):
        daily = [
            TrendRun(state, panel.first_day + first, panel.first_day + last)
            for state, first, last in islice(_runs_back(panel.states, panel.runs, column), MOST_RUNS)
        ]
        weeks = next(_runs_back(weekly.states, weekly.runs, column), None)
        courses[coin] = TrendCourse(
            daily[::-1],
            weeks
            and TrendRun(
                weeks.state, monday_of(first_week + weeks.first_day), monday_of(first_week + weeks.last_day) + WEEK - 1
            ),
            _known(panel.upper[column]),
            _known(panel.lower[column]),
        )
    return courses


def _runs_back(states: States, runs: StateRuns, column: int) -> Iterator[TrendRun]:
    """The runs of a column by rows, the newest first. Rows whose state is unknown belong to no run's ends."""
    row = int(runs.newest[-1, column]) if states.size else -1
    while row >= 0:
        first = int(runs.start[row, column])
        yield TrendRun(NAMES[int(states[row, column])], first, row)
        row = int(runs.newest[first - 1, column]) if first else -1


def _known(price: float) -> float | None:
    return None if math.isnan(price) else float(price)


def _trends(states: States, runs: StateRuns, days: Sequence[int], bar_days: int) -> list[Trend | None]:
    """Read the last known state of every coin off its table."""
    if not states.size:
        return [None] * states.shape[1]
    start, newest = runs.start[-1], runs.newest[-1]
    last = states[newest, np.arange(newest.size)]
    return [
        Trend(NAMES[state], since_ms=(days[begun] + bar_days) * DAY_MS) if begun >= 0 else None
        for state, begun in zip(last.tolist(), start.tolist(), strict=True)
    ]

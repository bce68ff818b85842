"""Weeks and ratios."""

from datetime import UTC, datetime
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.bars import Bars, Row, from_rows, ratio, weekly
from service.clock import DAY_MS
from tests.analytics import independent
from tests.market.recordings import candles, history, needs_recordings, rows

MONDAY = 4
"""1970-01-05."""


def rows_on(days: list[int]) -> list[Row]:
    return [(day * DAY_MS, 10.0 + day % 5, 20.0 + day % 7, 5.0 - day % 3, 11.0 + day % 4) for day in days]


def bars_on(days: list[int]) -> Bars:
    return from_rows(rows_on(days))


def test_a_week_runs_from_monday_to_sunday_utc() -> None:
    made = weekly(bars_on(list(range(MONDAY, MONDAY + 14))))
    assert made.day.tolist() == [MONDAY, MONDAY + 7]
    assert all(datetime.fromtimestamp(int(day) * DAY_MS / 1000, UTC).isoweekday() == 1 for day in made.day)


def test_an_unfinished_week_is_not_a_bar() -> None:
    assert weekly(bars_on(list(range(MONDAY, MONDAY + 6)))).day.size == 0
    assert weekly(bars_on(list(range(MONDAY, MONDAY + 13)))).day.tolist() == [MONDAY]


def test_a_week_that_lacks_its_sunday_closes_with_the_next_bar() -> None:
    without_sunday = list(range(MONDAY, MONDAY + 6))
    assert weekly(bars_on([*without_sunday, MONDAY + 9])).day.tolist() == [MONDAY]


def test_no_bars_make_no_weeks() -> None:
    assert weekly(from_rows(())).day.size == 0


@given(st.sets(st.integers(0, 80)))
def test_weeks_of_any_days_equal_those_of_the_calendar(days: set[int]) -> None:
    bars = bars_on(sorted(days))
    theirs = independent.weekly(independent.daily(rows_on(sorted(days))))
    made = weekly(bars)
    assert [tuple(map(float, bar)) for bar in zip(*made[1:], strict=True)] == list(theirs.values())
    assert [datetime.fromtimestamp(int(day) * DAY_MS / 1000, UTC).date() for day in made.day] == list(theirs)


@given(st.sets(st.integers(0, 80)), st.data())
def test_a_closed_week_never_changes_when_days_are_added(days: set[int], data: st.DataObject) -> None:
    bars = bars_on(sorted(days))
    earlier = weekly(bars.until(data.draw(st.integers(0, bars.day.size))))
    for before, after in zip(earlier, weekly(bars), strict=True):
        np.testing.assert_array_equal(before, after[: before.size])


def test_a_ratio_is_made_on_common_days_and_is_well_formed() -> None:
    base = from_rows([(0, 8.0, 10.0, 4.0, 6.0), (DAY_MS, 6.0, 8.0, 6.0, 7.0)])
    quote = from_rows([(DAY_MS, 2.0, 4.0, 1.0, 2.0), (2 * DAY_MS, 2.0, 2.0, 2.0, 2.0)])
    made = ratio(base, quote)
    assert [column.tolist() for column in made] == [[1], [3.0], [6.0], [2.0], [3.5]]


@pytest.mark.real_data
@needs_recordings
def test_the_four_ratios_miss_the_hourly_range_less_than_the_usual_guess_does() -> None:
    ours, usual = [], []
    for coin in ("SOL", "DOGE", "LINK", "kPEPE"):
        for quote in ("BTC", "ETH"):
            daily = ratio(from_rows(history()[coin]), from_rows(history()[quote]))
            plain = {row[0]: row for row in history()[coin]}, {row[0]: row for row in history()[quote]}
            hours = ratio_points(coin, quote)
            for index, day in enumerate(daily.day.tolist()):
                points = hours.get(day, [])
                if len(points) == 48:
                    true = max(points) - min(points)
                    (_, _, h1, l1, _), (_, _, h2, l2, _) = plain[0][day * DAY_MS], plain[1][day * DAY_MS]
                    ours.append(abs((daily.high[index] - daily.low[index]) / true - 1))
                    usual.append(abs((h1 / h2 - l1 / l2) / true - 1))
    assert len(ours) > 500
    assert fmean(ours) < 0.6 * fmean(usual)


def ratio_points(coin: str, quote: str) -> dict[int, list[float]]:
    """By day, the ratios at the open and close of every hour: moments at which both prices really stood."""
    other = {row[0]: row for row in rows(candles(quote, "1h"))}
    points: dict[int, list[float]] = {}
    for row in rows(candles(coin, "1h")):
        if row[0] in other:
            theirs = other[row[0]]
            points.setdefault(row[0] // DAY_MS, []).extend([row[1] / theirs[1], row[4] / theirs[4]])
    return points

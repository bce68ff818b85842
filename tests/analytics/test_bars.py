"""Weeks and ratios."""

import math
from datetime import UTC, datetime
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.bars import Chart, Row, logarithms, table, week_of, weeks
from service.clock import DAY_MS
from tests.analytics import independent
from tests.market.recordings import history, needs_recordings, rows

MONDAY = 4
"""1970-01-05."""


def rows_on(days: list[int]) -> list[Row]:
    return [(day * DAY_MS, 10.0 + day % 5, 20.0 + day % 7, 5.0 - day % 3, 11.0 + day % 4) for day in days]


def weekly(days: list[int]) -> dict[int, tuple[float, ...]]:
    """The closed weeks of one coin by their number."""
    first, drawn = table({"A": rows_on(days)}, [])
    closed = weeks(first, Chart(*(prices[:, 0] for prices in drawn)))
    made = zip(*(prices[:, 0].tolist() for prices in closed), strict=True)
    return {week_of(first) + at: bar for at, bar in enumerate(made) if bar[-1] == bar[-1]}


def of_calendar(days: list[int]) -> dict[int, tuple[float, ...]]:
    theirs = independent.weekly(independent.daily(rows_on(days)))
    return {week_of(monday.toordinal() - 719_163): bar[1:] for monday, bar in theirs.items()}


def test_a_table_has_a_row_for_every_day_and_nan_where_a_coin_has_no_bar() -> None:
    first, drawn = table({"A": rows_on([5, 7]), "B": rows_on([6]), "C": []}, [])
    assert first == 5
    assert [prices[1, 0, 1] for prices in drawn] == [26.0, 5.0, 13.0]
    assert drawn.close[[0, 2], 0, 0].tolist() == [12.0, 14.0]
    assert np.isnan(drawn.close[[0, 2], 0, 1]).all()
    assert np.isnan(drawn.close[1, 0, 0])
    assert np.isnan(drawn.close[:, 0, 2]).all()


def test_no_bars_make_an_empty_table() -> None:
    assert [prices.shape for prices in table({"A": []}, ["B"])[1]] == [(0, 2, 1)] * 3
    assert [prices.shape for prices in table({}, [])[1]] == [(0, 1, 0)] * 3


def test_a_week_runs_from_monday_to_sunday_utc() -> None:
    made = weekly(list(range(MONDAY, MONDAY + 14)))
    assert list(made) == [1, 2]
    assert datetime.fromtimestamp(MONDAY * DAY_MS / 1000, UTC).isoweekday() == 1


def test_an_unfinished_week_is_not_a_bar() -> None:
    made = weekly(list(range(MONDAY, MONDAY + 6)))
    assert made == {}
    assert list(weekly(list(range(MONDAY, MONDAY + 13)))) == [1]


def test_a_week_that_lacks_its_sunday_closes_with_the_next_bar() -> None:
    without_sunday = list(range(MONDAY, MONDAY + 6))
    made = weekly([*without_sunday, MONDAY + 9])
    assert list(made) == [1]


def test_no_bars_make_no_weeks() -> None:
    made = weekly([])
    assert made == {}


@given(st.sets(st.integers(0, 80)))
def test_weeks_of_any_days_equal_those_of_the_calendar(days: set[int]) -> None:
    assert weekly(sorted(days)) == of_calendar(sorted(days))


@given(st.sets(st.integers(0, 80)), st.data())
def test_a_closed_week_never_changes_when_days_are_added(days: set[int], data: st.DataObject) -> None:
    known = sorted(days)
    earlier = weekly(known[: data.draw(st.integers(0, len(known)))])
    later = weekly(known)
    assert {week: later[week] for week in earlier} == earlier


def test_a_ratio_is_made_on_common_days_and_is_well_formed() -> None:
    history: dict[str, list[Row]] = {
        "A": [(0, 8.0, 10.0, 4.0, 6.0), (DAY_MS, 6.0, 8.0, 6.0, 7.0)],
        "B": [(DAY_MS, 2.0, 4.0, 1.0, 2.0), (2 * DAY_MS, 2.0, 2.0, 2.0, 2.0)],
    }
    _, made = table(history, ["B"])
    assert [prices[1, 1, 0] for prices in made] == [6.0, 2.0, 3.5]
    assert np.isnan([prices[[0, 2], 1, 0] for prices in made]).all()
    assert np.isnan([prices[:, 1, 1] for prices in made]).all(), "a coin has no chart in itself"
    assert [prices[1, 0].tolist() for prices in made] == [[8.0, 4.0], [6.0, 1.0], [7.0, 2.0]]


def test_in_a_coin_without_bars_nothing_has_a_price() -> None:
    _, made = table({"A": rows_on([1, 2])}, ["B"])
    assert np.isnan([prices[:, 1] for prices in made]).all()


@pytest.mark.recorded
@needs_recordings
def test_the_four_ratios_miss_the_hourly_range_less_than_the_usual_guess_does() -> None:
    ours, usual = [], []
    for coin in ("SOL", "DOGE", "LINK", "kPEPE"):
        for quote in ("BTC", "ETH"):
            first, daily = table({coin: history()[coin], quote: history()[quote]}, [quote])
            plain = {row[0]: row for row in history()[coin]}, {row[0]: row for row in history()[quote]}
            for day, points in ratio_points(coin, quote).items():
                if len(points) == 48:
                    true = max(points) - min(points)
                    (_, _, h1, l1, _), (_, _, h2, l2, _) = plain[0][day * DAY_MS], plain[1][day * DAY_MS]
                    ours.append(abs(float(daily.high[day - first, 1, 0] - daily.low[day - first, 1, 0]) / true - 1))
                    usual.append(abs((h1 / h2 - l1 / l2) / true - 1))
    assert len(ours) > 500
    assert fmean(ours) < 0.6 * fmean(usual)


def ratio_points(coin: str, quote: str) -> dict[int, list[float]]:
    """By day, the ratios at the open and close of every hour: moments at which both prices really stood."""
    other = {row[0]: row for row in rows(quote, "1h")}
    points: dict[int, list[float]] = {}
    for row in rows(coin, "1h"):
        if row[0] in other:
            theirs = other[row[0]]
            points.setdefault(row[0] // DAY_MS, []).extend([row[1] / theirs[1], row[4] / theirs[4]])
    return points


def test_logarithms_are_those_of_the_c_library_whatever_the_cpu() -> None:
    """Of 200,000 numbers, a dozen differ in the last bit from numpy's own on a CPU with AVX-512."""
    prices = np.random.default_rng(1).uniform(0.001, 1e5, (1000, 200))
    prices[0, 0] = np.nan
    found = logarithms(prices)
    assert found.shape == prices.shape
    assert math.isnan(found[0, 0])
    assert found.ravel()[1:].tolist() == [math.log(price) for price in prices.ravel()[1:].tolist()]

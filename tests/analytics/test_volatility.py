"""Realised volatility and its rank against the standard library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.volatility import LEAST_RANKED, RETURNS, YEAR, percentiles, realised
from tests.analytics import independent
from tests.market.recordings import history, needs_recordings

closes = st.lists(st.floats(0.5, 2), max_size=20) | st.lists(st.floats(0.5, 2), min_size=28, max_size=70)
grid = st.lists(st.integers(0, 20).map(float), max_size=20) | st.builds(
    lambda size, seed: [float((seed * at * at + at) % 21) for at in range(size)],
    st.integers(80, 460),
    st.integers(0, 99),
)


@given(closes)
def test_it_is_the_annualised_deviation_of_thirty_log_returns(prices: list[float]) -> None:
    for ours, theirs in zip(realised(np.array(prices)).tolist(), independent.volatility(prices), strict=True):
        assert ours == (pytest.approx(math.nan, nan_ok=True) if theirs is None else pytest.approx(theirs, abs=1e-9))


@given(closes, st.data())
def test_later_closes_change_no_value(prices: list[float], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(prices)))
    whole, cut = realised(np.array(prices)), realised(np.array(prices[:stop]))
    assert whole[:stop].tobytes() == cut.tobytes()


@given(closes)
def test_the_last_value_needs_only_the_last_closes(prices: list[float]) -> None:
    if len(prices) > RETURNS:
        newest = realised(np.array(prices[-RETURNS - 1 :]))[-1:]
        assert newest.tobytes() == realised(np.array(prices))[-1:].tobytes()


def test_a_price_that_never_moves_has_no_volatility() -> None:
    assert realised(np.full(31, 5.0))[-1] == 0


@given(grid)
def test_the_rank_is_the_mid_rank_among_the_last_year(values: list[float]) -> None:
    ours = percentiles(np.array(values))
    for at, rank in enumerate(ours.tolist()):
        window = values[max(0, at + 1 - YEAR) : at + 1]
        if len(window) < LEAST_RANKED:
            assert math.isnan(rank)
        else:
            assert rank == pytest.approx(independent.percentile(values[at], window), abs=1e-9)


@given(grid, st.data())
def test_later_values_change_no_rank(values: list[float], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(values)))
    whole, cut = percentiles(np.array(values)), percentiles(np.array(values[:stop]))
    assert whole[:stop].tobytes() == cut.tobytes()


@pytest.mark.recorded
@needs_recordings
def test_recorded_volatility_equals_the_standard_librarys() -> None:
    prices = [row[4] for row in history()["BTC"]]
    theirs = independent.volatility(prices)
    assert realised(np.array(prices))[RETURNS:].tolist() == pytest.approx(theirs[RETURNS:], rel=1e-9)

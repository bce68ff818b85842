"""Correlation against the standard library."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.bars import Bars, from_rows
from service.analytics.correlation import LEAST, WINDOW, correlation
from service.clock import DAY_MS
from tests.analytics import independent

closes = st.floats(1e-6, 1e6)


def bars_of(prices: dict[int, float]) -> Bars:
    return from_rows([(day * DAY_MS, price, price, price, price) for day, price in sorted(prices.items())])


def wave(days: range, phase: float = 0.0) -> dict[int, float]:
    return {day: 100 + 10 * math.sin(day + phase) + day % 3 for day in days}


@pytest.mark.promise("risk.correlation")
def test_it_equals_the_standard_librarys_on_common_days_only() -> None:
    one, other = wave(range(200)), wave(range(40, 240), 1.0)
    del one[150], other[160]
    theirs = independent.correlation(
        *(independent.daily([(d * DAY_MS, p, p, p, p) for d, p in s.items()]) for s in (one, other))
    )
    assert correlation(bars_of(one), bars_of(other)) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.promise("risk.correlation")
def test_bars_before_the_window_do_not_count() -> None:
    one, other = wave(range(WINDOW + 50)), wave(range(WINDOW + 50), 2.0)
    recent = [{day: price for day, price in series.items() if day >= 50} for series in (one, other)]
    assert correlation(bars_of(one), bars_of(other)) == correlation(*map(bars_of, recent))


@pytest.mark.promise("risk.correlation")
def test_under_thirty_common_bars_nothing_is_said() -> None:
    assert correlation(bars_of(wave(range(LEAST - 1))), bars_of(wave(range(100), 1.0))) is None
    assert correlation(bars_of(wave(range(LEAST))), bars_of(wave(range(100), 1.0))) is not None


def test_a_price_that_never_moved_has_no_correlation() -> None:
    still = dict.fromkeys(range(100), 5.0)
    assert correlation(bars_of(still), bars_of(wave(range(100)))) is None


def test_a_coin_that_mirrors_another_is_at_the_ends_of_the_scale() -> None:
    one = wave(range(100))
    mirrored = {day: 1 / price for day, price in one.items()}
    assert correlation(bars_of(one), bars_of(one)) == pytest.approx(1)
    assert correlation(bars_of(one), bars_of(mirrored)) == pytest.approx(-1)


@given(st.lists(st.tuples(closes, closes), min_size=LEAST, max_size=120))
def test_it_never_leaves_the_scale_and_is_never_nan(pairs: list[tuple[float, float]]) -> None:
    value = correlation(*(bars_of(dict(enumerate(series))) for series in zip(*pairs, strict=True)))
    assert value is None or -1 <= value <= 1

"""Correlation against the standard library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.bars import table
from service.analytics.correlation import LEAST, WINDOW, correlations
from service.clock import DAY_MS
from tests.analytics import independent

Prices = dict[int, float]

closes = st.floats(1e-6, 1e6)


def rows_of(prices: Prices) -> list[independent.Row]:
    return [(day * DAY_MS, price, price, price, price) for day, price in sorted(prices.items())]


def closes_of(*many: Prices) -> np.ndarray:
    return table({str(name): rows_of(prices) for name, prices in enumerate(many)}, [])[1].close[:, 0]


def correlation(one: Prices, other: Prices) -> float | None:
    closes = closes_of(one, other)
    value = float(correlations(closes, 1)[0])
    return None if math.isnan(value) else value


def wave(days: range, phase: float = 0.0) -> Prices:
    return {day: 100 + 10 * math.sin(day + phase) + day % 3 for day in days}


@pytest.mark.promise("risk.correlation")
def test_it_equals_the_standard_librarys_on_common_days_only() -> None:
    one, other = wave(range(200)), wave(range(40, 240), 1.0)
    del one[150], other[160]
    theirs = independent.correlation(*(independent.daily(rows_of(series)) for series in (one, other)))
    assert correlation(one, other) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.promise("risk.correlation")
def test_bars_before_the_window_do_not_count() -> None:
    one, other = wave(range(WINDOW + 50)), wave(range(WINDOW + 50), 2.0)
    recent = [{day: price for day, price in series.items() if day >= 50} for series in (one, other)]
    assert correlation(one, other) == correlation(*recent)


@pytest.mark.promise("risk.correlation")
def test_under_thirty_common_bars_nothing_is_said() -> None:
    assert correlation(wave(range(LEAST - 1)), wave(range(100), 1.0)) is None
    assert correlation(wave(range(LEAST)), wave(range(100), 1.0)) is not None


def test_a_price_that_never_moved_has_no_correlation() -> None:
    assert correlation(dict.fromkeys(range(100), 5.0), wave(range(100))) is None


def test_a_coin_that_mirrors_another_is_at_the_ends_of_the_scale() -> None:
    one = wave(range(100))
    assert correlation(one, one) == pytest.approx(1)
    assert correlation(one, {day: 1 / price for day, price in one.items()}) == pytest.approx(-1)


def test_without_the_other_coin_nothing_is_said() -> None:
    alone, nothing = closes_of(wave(range(100))), closes_of({}, {})
    assert np.isnan(correlations(alone, -1)).all()
    assert np.isnan(correlations(nothing, 1)).all()


@pytest.mark.slow
@given(st.lists(st.tuples(closes, closes), min_size=LEAST, max_size=120))
def test_it_never_leaves_the_scale_and_is_never_nan(pairs: list[tuple[float, float]]) -> None:
    value = correlation(*(dict(enumerate(series)) for series in zip(*pairs, strict=True)))
    assert value is None or -1 <= value <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=250))
def test_a_coin_has_the_same_value_alone_and_among_others(bars: list[tuple[bool, bool]]) -> None:
    phases = {"one": 0.0, "other": 1.0, "third": 2.0}
    there = dict(zip(phases, [[pair[0] for pair in bars], [True] * len(bars), [pair[1] for pair in bars]], strict=True))
    closes = np.array(
        [[wave(range(day, day + 1), phase)[day] if there[coin][day] else np.nan for coin, phase in phases.items()]
         for day in range(len(bars))]
    ).reshape(-1, 3)  # fmt: skip
    together = correlations(closes, 1)
    alone = correlations(closes[:, :2].copy(), 1)
    assert together[:2].tobytes() == alone.tobytes()

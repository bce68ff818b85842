"""The reach of an interval is the quantile of Student's distribution, as its closed forms and tables have it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics.intervals import standard_errors
from tests.analytics.students import reach, within

_FOUR = 4 * 0.975 * 0.025
CLOSED = {
    1: math.tan(math.pi * 0.475),
    2: 0.95 * math.sqrt(2 / (1 - 0.95**2)),
    4: 2 * math.sqrt(math.cos(math.acos(math.sqrt(_FOUR)) / 3) / math.sqrt(_FOUR) - 1),
}
"""Shaw, "Sampling Student's T distribution", Journal of Computational Finance 9(4), 2006."""

TABLE = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179,
    15: 2.131, 20: 2.086, 25: 2.060, 29: 2.045, 30: 2.042, 40: 2.021, 50: 2.009, 60: 2.000, 80: 1.990, 100: 1.984,
}  # fmt: skip
"""NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, 0.975."""


@pytest.mark.parametrize("freedom", CLOSED)
def test_few_days_have_the_reach_of_the_closed_forms(freedom: int) -> None:
    assert standard_errors(freedom + 1) == pytest.approx(CLOSED[freedom], rel=1e-12)


@pytest.mark.parametrize("freedom", TABLE)
def test_the_reach_is_that_of_the_published_table(freedom: int) -> None:
    assert standard_errors(freedom + 1) == pytest.approx(TABLE[freedom], abs=5e-4)


@pytest.mark.parametrize("days", [2, 3, 4, 6, 7, 11, 30, 60, 61, 100, 365, 1000])
def test_the_reach_is_that_of_a_numerical_integration(days: int) -> None:
    assert standard_errors(days) == pytest.approx(reach(days), rel=1e-9)


@pytest.mark.parametrize("days", [1, 0, -1, -60])
def test_fewer_than_two_days_have_no_interval(days: int) -> None:
    assert standard_errors(days) is None


@given(st.integers(2, 5000))
def test_an_interval_holds_the_true_value_95_times_in_100_and_is_narrower_with_more_days(days: int) -> None:
    found, more = standard_errors(days), standard_errors(days + 1)
    assert found is not None
    assert more is not None
    assert 1.959963984540054 < more < found
    assert within(found, days - 1) == pytest.approx(0.95, abs=1e-10)

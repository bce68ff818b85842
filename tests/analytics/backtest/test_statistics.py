"""Sharpe ratios as `purgedcv` and the papers have them; drawdowns as anybody can look for them."""

import json
import math
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.analytics.backtest.statistics import (
    annualised,
    compounded,
    deflated_sharpe,
    expected_max_sharpe,
    max_drawdown,
    moments,
    probabilistic_sharpe,
    sharpe,
)

ANSWERS: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[3] / "fixtures" / "answers" / "sharpe.json").read_text()
)
PUBLISHED = ANSWERS["published"]

RETURNS = st.lists(st.integers(-2000, 2000).map(lambda bps: bps / 10_000), max_size=40)


@pytest.mark.parametrize("series", ANSWERS["series"], ids=lambda series: series["name"])
def test_the_moments_are_those_of_purgedcv(series: dict[str, Any]) -> None:
    returns = np.array(series["returns"])
    taken = moments(returns)
    assert taken
    assert taken.size == len(returns)
    assert taken.mean / taken.deviation == pytest.approx(series["sharpe"], rel=1e-10)
    assert (taken.skew, taken.kurtosis) == pytest.approx((series["skew"], series["kurtosis"]), rel=1e-10)
    assert sharpe(returns) == pytest.approx(series["sharpe"], rel=1e-10)


@pytest.mark.parametrize("series", ANSWERS["series"], ids=lambda series: series["name"])
def test_the_probabilities_are_those_of_purgedcv(series: dict[str, Any]) -> None:
    taken, observed = moments(np.array(series["returns"])), sharpe(np.array(series["returns"]))
    assert taken
    assert observed is not None
    of = (observed, taken.size, taken.skew, taken.kurtosis)
    for answer in series["probabilistic"]:
        assert probabilistic_sharpe(*of, answer["benchmark"]) == pytest.approx(answer["probability"], rel=1e-9)
    for answer in series["deflated"]:
        trials, variance = answer["trials"], answer["variance"]
        assert expected_max_sharpe(trials, variance) == pytest.approx(answer["expected_max"], rel=1e-9)
        assert deflated_sharpe(*of, trials, variance) == pytest.approx(answer["probability"], rel=1e-9)


@pytest.mark.parametrize("example", PUBLISHED["probabilistic"], ids=lambda example: example["source"])
def test_the_probabilistic_ratio_is_the_published_one(example: dict[str, Any]) -> None:
    found = probabilistic_sharpe(example["sharpe"], example["count"], example["skew"], example["kurtosis"])
    assert found == pytest.approx(example["probability"], abs=0.0005)


@pytest.mark.parametrize("example", PUBLISHED["expected_max"], ids=lambda example: example["source"])
def test_the_expected_maximum_is_the_published_one(example: dict[str, Any]) -> None:
    assert expected_max_sharpe(example["trials"], example["variance"]) == pytest.approx(example["sharpe"], rel=5e-4)


@pytest.mark.parametrize("example", PUBLISHED["deflated"], ids=lambda example: example["source"])
def test_the_deflated_ratio_is_the_published_one(example: dict[str, Any]) -> None:
    daily = example["annual"] / math.sqrt(example["days_a_year"])
    of = (daily, example["count"], example["skew"], example["kurtosis"])
    found = deflated_sharpe(*of, example["trials"], example["variance"])
    assert found == pytest.approx(example["probability"], abs=0.00005)


@pytest.mark.parametrize(("trials", "exact"), [(10, 1.5388), (100, 2.5076), (1000, 3.2414)])
def test_the_expected_maximum_is_near_that_of_order_statistics(trials: int, exact: float) -> None:
    """The mean of the largest of N standard normals, as tabulated (Harter 1961): the formula is its approximation."""
    assert exact < expected_max_sharpe(trials, 1.0) < exact * 1.03


@pytest.mark.parametrize("trials", [0, 1])
def test_one_trial_is_no_choice(trials: int) -> None:
    assert expected_max_sharpe(trials, 0.01) == 0
    assert deflated_sharpe(0.1, 300, 0, 3, trials, 0.01) == probabilistic_sharpe(0.1, 300, 0, 3)


def test_a_variance_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        expected_max_sharpe(2, -0.01)


def test_a_ratio_of_daily_returns_is_annualised_over_365_days() -> None:
    assert annualised(0.1) == pytest.approx(1.9105, abs=5e-5)


@pytest.mark.parametrize(
    "returns", [[], [0.01], [0.1] * 7, [0.0] * 365, [1e-200, 2e-200]], ids=["none", "one", "same", "flat", "nearly"]
)
def test_returns_that_do_not_change_have_no_ratio(returns: list[float]) -> None:
    assert sharpe(np.array(returns)) is None
    assert moments(np.array(returns)) is None


def test_returns_that_hardly_change_have_no_moments() -> None:
    assert moments(np.array([0.1] * 7)) is None
    assert sharpe(np.array([0.1, 0.2])) == pytest.approx(3)
    assert moments(np.array([0.1, 0.2, 0.3])) is None
    assert moments(np.array([0.1, 0.2, 0.3, 0.5])) is not None


def test_moments_beyond_the_approximation_have_no_probability() -> None:
    assert probabilistic_sharpe(2.0, 100, 5.0, 3.0) is None
    assert probabilistic_sharpe(1.0, 100, 1.5, 3.0) is None  # a variance of zero exactly
    assert probabilistic_sharpe(0.1, 1, 0.0, 3.0) is None
    assert deflated_sharpe(2.0, 100, 5.0, 3.0, 10, 0.01) is None


@given(RETURNS, st.integers(1, 1000))
def test_a_ratio_does_not_depend_on_the_size_of_the_bets(returns: list[float], leverage: int) -> None:
    once, larger = sharpe(np.array(returns)), sharpe(np.array(returns) * leverage)
    assert (once is None) == (larger is None)
    assert once is None or larger == pytest.approx(once, rel=1e-9, abs=1e-12)


@given(
    st.floats(-0.5, 0.5),
    st.integers(2, 2000),
    st.integers(1, 500),
    st.integers(1, 500),
    st.floats(0, 0.1),
)
def test_more_trials_never_make_a_record_better(ratio: float, count: int, few: int, more: int, spread: float) -> None:
    assume(few < more)
    best, worst = (deflated_sharpe(ratio, count, -0.5, 5.0, trials, spread) for trials in (few, more))
    assert best is not None
    assert worst is not None
    assert 0 <= worst <= best + 1e-12 <= 1 + 1e-12


def capitals(returns: list[float]) -> list[Fraction]:
    return [*accumulate((Fraction(1 + value) for value in returns), Fraction.__mul__, initial=Fraction(1))]


@given(RETURNS)
def test_a_drawdown_is_the_worst_of_all_pairs_of_days(returns: list[float]) -> None:
    capital = capitals(returns)
    falls = [1 - later / earlier for at, earlier in enumerate(capital) for later in capital[at:]]
    assert max_drawdown(np.array(returns)) == pytest.approx(float(max(falls)), abs=1e-12)
    assert compounded(np.array(returns)) == pytest.approx(float(capital[-1] - 1), abs=1e-12)


def test_the_beginning_counts_as_a_peak() -> None:
    assert max_drawdown(np.array([-0.5, 0.2])) == pytest.approx(0.5)


def test_a_capital_that_is_lost_stays_lost() -> None:
    returns = np.array([0.5, -1.5, -3.0, 0.5])
    assert max_drawdown(returns) == 1
    assert compounded(returns) == -1


def test_without_returns_nothing_is_won_or_lost() -> None:
    assert max_drawdown(np.array([])) == 0
    assert compounded(np.array([])) == 0

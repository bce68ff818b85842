"""Sharpe ratios as `purgedcv` and the papers have them; drawdowns as anybody can look for them."""

import json
import math
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.analytics.backtest.statistics import (
    annualised,
    compounded,
    count_trials,
    deflated_sharpe,
    expected_max_sharpe,
    max_drawdown,
    moments,
    probabilistic_sharpe,
    sharpe,
    sharpe_variance,
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
        assert probabilistic_sharpe(*of, expected_max_sharpe(trials, variance)) == pytest.approx(
            answer["probability"], rel=1e-9
        )
        if variance >= 1 / (taken.size - 1):
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


GROUPS = st.lists(st.lists(st.none() | st.integers(-40, 40).map(lambda bps: bps / 100), max_size=9), max_size=7)


@pytest.mark.parametrize(
    ("groups", "made", "variance"),
    [
        ([], 0, 0.0),
        ([[]], 0, 0.0),
        ([[None, 0.3]], 2, 0.0),
        ([[0.25, None, 0.75]], 3, 0.125),
        ([[0.1], [0.9], [None, 0.4]], 4, 0.0),
        ([[0.25, 0.75], [1.25, 1.75]], 4, 0.125),
        ([[0.0, 1.0, 2.0], [10.0, 14.0]], 5, (2 + 8) / 3),
    ],
)
def test_only_trials_of_the_same_days_are_compared(
    groups: list[list[float | None]], made: int, variance: float
) -> None:
    found = count_trials(groups)
    assert found.made == made
    assert found.variance == pytest.approx(variance, rel=1e-12)


@given(GROUPS, st.lists(st.integers(-30, 30), min_size=7, max_size=7))
def test_every_trial_counts_and_what_all_of_a_group_share_is_no_spread(
    groups: list[list[float | None]], shifts: list[int]
) -> None:
    found = count_trials(groups)
    shared = zip(groups, shifts, strict=False)
    moved = count_trials([None if one is None else one + shift for one in group] for group, shift in shared)
    assert found.made == moved.made == sum(len(group) for group in groups)
    assert moved.variance == pytest.approx(found.variance, rel=1e-9, abs=1e-9)
    known = [[Fraction(one) for one in group if one is not None] for group in groups]
    freedom = sum(len(group) - 1 for group in known if group)
    pairs = sum((a - b) ** 2 / (2 * len(group)) for group in known for a in group for b in group)
    assert found.variance == pytest.approx(float(pairs / freedom) if freedom else 0.0, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("count", [2, 4, 25, 60, 365, 1250])
@pytest.mark.parametrize("trials", [2, 10, 162])
def test_trials_that_are_alike_are_deflated_by_chance_alone(count: int, trials: int) -> None:
    """The variance of a ratio of zero is 1 / (n - 1) (Mertens 2002), written out here without the service."""
    normal, euler = NormalDist(), 0.5772156649015329
    best = (1 - euler) * normal.inv_cdf(1 - 1 / trials) + euler * normal.inv_cdf(1 - 1 / (trials * math.e))
    spread = math.sqrt((1 + 0.5 * 0.1 + (5 - 1) / 4 * 0.1**2) / (count - 1))
    expected = normal.cdf((0.1 - best * math.sqrt(1 / (count - 1))) / spread)
    for variance in (0.0, 1e-9, 1 / (count - 1)):
        assert deflated_sharpe(0.1, count, -0.5, 5.0, trials, variance) == pytest.approx(expected, rel=1e-9)
    above = deflated_sharpe(0.1, count, -0.5, 5.0, trials, 2 / (count - 1))
    assert above is not None
    assert above < expected


@pytest.mark.parametrize(
    ("sharpe", "count", "skew", "kurtosis", "variance"),
    [
        (0.0, 101, -3.0, 10.0, Fraction(1, 100)),
        (0.5, 101, 0.0, 3.0, Fraction(1125, 100_000)),
        (0.458, 24, -2.448, 10.164, (1 + Fraction("1.121184") + Fraction("0.480569324")) / 23),
        (1.0, 2, 0.0, 3.0, Fraction(3, 2)),
        (-0.5, 11, 2.0, 5.0, Fraction(225, 1000)),
        (2.0, 5, 0.5, 1.0, None),
        (0.1, 1, 0.0, 3.0, None),
    ],
)
def test_the_variance_of_a_ratio_is_that_of_mertens(
    sharpe: float, count: int, skew: float, kurtosis: float, variance: Fraction | None
) -> None:
    found = sharpe_variance(sharpe, count, skew, kurtosis)
    assert found == (None if variance is None else pytest.approx(float(variance), rel=1e-9))


def test_the_variance_of_a_ratio_is_what_samples_show() -> None:
    """Of 4,000 samples of 250 normal returns: within five standard errors of their variance, 11 %."""
    drawn = np.random.Generator(np.random.PCG64(7)).normal(0.3, 1.0, (4000, 250))
    ratios = drawn.mean(axis=1) / drawn.std(axis=1)
    expected = sharpe_variance(0.3, 250, 0.0, 3.0)
    assert expected is not None
    assert ratios.var() == pytest.approx(expected, rel=5 * math.sqrt(2 / 4000))


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

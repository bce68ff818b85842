"""Scores by day: plain loops give the same, and coins of one day are one observation."""

from itertools import groupby

import numpy as np
import pytest

from service.analytics.calibration.skill import bins, by_day, day_weights, decompose, effective, intraclass, measure

DICE = np.random.default_rng(5)
DAYS = np.sort(DICE.integers(0, 90, 1_500))
OUTCOMES = (DICE.random(1_500) < 0.5).astype(np.float64)
PREDICTED = DICE.uniform(0.2, 0.8, 1_500)


def test_each_day_counts_once_however_many_coins_it_has() -> None:
    rows = list(zip(DAYS.tolist(), PREDICTED.tolist(), strict=True))
    means = [float(np.mean([value for _, value in day])) for _, day in groupby(rows, key=lambda row: row[0])]
    assert by_day(PREDICTED, DAYS) == pytest.approx(means)
    assert float((day_weights(DAYS) * PREDICTED).sum()) == pytest.approx(sum(means))


@pytest.mark.promise("claims.brier")
def test_the_parts_of_a_brier_score_add_up_where_all_of_a_bin_is_predicted_alike() -> None:
    predicted = np.round(PREDICTED, 1) + 0.05
    weights = day_weights(DAYS)
    found = bins(predicted, OUTCOMES, weights)
    parts = decompose(found)
    brier = float(np.average((predicted - OUTCOMES) ** 2, weights=weights))
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(brier)
    assert min(parts) >= 0
    assert [one.predicted for one in found] == pytest.approx(sorted(set(predicted.tolist())))
    assert sum(one.share for one in found) == pytest.approx(1)
    in_first = predicted == predicted.min()
    assert found[0].observed == pytest.approx(np.average(OUTCOMES[in_first], weights=weights[in_first]))


def test_a_certain_and_right_prediction_has_all_skill() -> None:
    skill = measure(OUTCOMES, np.full(1_500, 0.5), OUTCOMES, DAYS, block=7, level=0.05)
    assert (skill.value, skill.low, skill.high, skill.bias) == (1, 1, 1, 0)


@pytest.mark.promise("claims.days")
def test_ten_copies_of_every_coin_leave_the_interval_as_it_is() -> None:
    reference = np.full(1_500, 0.5)
    once = measure(PREDICTED, reference, OUTCOMES, DAYS, block=7, level=0.025)
    copied = [np.repeat(column, 10) for column in (PREDICTED, reference, OUTCOMES, DAYS)]
    assert measure(*copied, block=7, level=0.025) == pytest.approx(once)
    assert once.low < once.value < once.high


def test_the_interval_is_about_as_wide_as_that_of_independent_days() -> None:
    """Against the standard error of a mean of independent days: there is no other dependence in these numbers."""
    reference = np.full(1_500, 0.5)
    skill = measure(PREDICTED, reference, OUTCOMES, DAYS, block=7, level=0.025)
    losses = by_day((PREDICTED - OUTCOMES) ** 2, DAYS)
    error = losses.std() / np.sqrt(len(losses)) / 0.25
    assert (skill.high - skill.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.2)
    assert skill.bias == pytest.approx(by_day(PREDICTED - OUTCOMES, DAYS).mean())
    assert skill.bias_error > 0


def test_coins_that_all_do_the_same_are_worth_one_observation_a_day() -> None:
    days = np.repeat(np.arange(100), 30)
    same = np.repeat((DICE.random(100) < 0.5).astype(np.float64), 30)
    assert intraclass(same, days) == pytest.approx(1)
    assert effective(same, days) == pytest.approx(100)
    apart = (DICE.random(3_000) < 0.5).astype(np.float64)
    assert intraclass(apart, days) < 0.02
    assert effective(apart, days) > 2_000

"""Scores by day: plain loops give the same, and coins of one day are one observation."""

import math
import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from statistics import fmean

import numpy as np
import pytest

from service.analytics.calibration.fits import Floats
from service.analytics.calibration.skill import (
    SAMPLES,
    SEED,
    Decomposition,
    Skill,
    Unmeasured,
    bins,
    block_starts,
    by_day,
    day_weights,
    decompose,
    effective,
    intraclass,
    measure,
)

DICE = np.random.default_rng(5)
DAYS = np.sort(DICE.integers(0, 90, 1_500))
OUTCOMES = (DICE.random(1_500) < 0.5).astype(np.float64)
PREDICTED = DICE.uniform(0.2, 0.8, 1_500)


def skill_of(
    predicted: Floats, reference: Floats, outcomes: Floats, days: np.ndarray, *, block: int, level: float
) -> Skill:
    found = measure(predicted, reference, outcomes, days, block=block, level=level)
    assert isinstance(found, Skill), found
    return found


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
    assert isinstance(parts, Decomposition)
    brier = float(np.average((predicted - OUTCOMES) ** 2, weights=weights))
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(brier)
    assert min(parts) >= 0
    assert [one.predicted for one in found] == pytest.approx(sorted(set(predicted.tolist())))
    assert sum(one.share for one in found) == pytest.approx(1)
    in_first = predicted == predicted.min()
    assert found[0].observed == pytest.approx(np.average(OUTCOMES[in_first], weights=weights[in_first]))


def test_a_certain_and_right_prediction_has_all_skill() -> None:
    skill = skill_of(OUTCOMES, np.full(1_500, 0.5), OUTCOMES, DAYS, block=7, level=0.05)
    assert (skill.value, skill.low, skill.high, skill.bias) == (1, 1, 1, 0)


@pytest.mark.promise("claims.days")
def test_ten_copies_of_every_coin_leave_the_interval_as_it_is() -> None:
    reference = np.full(1_500, 0.5)
    once = skill_of(PREDICTED, reference, OUTCOMES, DAYS, block=7, level=0.025)
    copied = [np.repeat(column, 10) for column in (PREDICTED, reference, OUTCOMES, DAYS)]
    assert skill_of(*copied, block=7, level=0.025) == pytest.approx(once)
    assert once.low < once.value < once.high


def test_the_interval_is_about_as_wide_as_that_of_independent_days() -> None:
    """Against the standard error of a mean of independent days: there is no other dependence in these numbers."""
    reference = np.full(1_500, 0.5)
    skill = skill_of(PREDICTED, reference, OUTCOMES, DAYS, block=7, level=0.025)
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
    within, worth = intraclass(apart, days), effective(apart, days)
    assert isinstance(within, float)
    assert isinstance(worth, float)
    assert within < 0.02
    assert worth > 2_000


DIGESTS = {
    (60, 7, SEED): "d1d4581107fe144afcd47b8652061bffbe56eeb2703e9db8bdda182ab2d79cd9",
    (84, 21, SEED): "122eece03c41b880f2f5005279883773bab1d1dd5c5919b0fcf270c5722eb9b6",
    (90, 9, SEED): "18f0631d0ef90e9f1b0cf690f4ed39ca1d672205b24da2529fb6a91c48248b37",
    (1, 7, SEED): "f8c784aa6b57396e7c5e094c34d079d8252473e46e2f60593a921dbebf941fcc",
    (2, 9, 1): "155f4c54d19f421800bebf107a43f26a21a82c49aeaa07b7587006908da27f12",
    (1000, 21, 5): "3c50905bc89363eaf7a751e82084d8a3e8fb3c015656534a1592a9b40379ebc0",
}
"""Recorded with numpy 2.4: of the drawn days as 64-bit integers, the least byte first."""


@pytest.mark.parametrize(("days", "block", "seed"), DIGESTS)
def test_the_days_of_the_samples_are_the_recorded_ones(days: int, block: int, seed: int) -> None:
    drawn = block_starts(days, block, seed)
    assert drawn.shape == (SAMPLES, math.ceil(days / block))
    assert sha256(drawn.astype("<i8").tobytes()).hexdigest() == DIGESTS[days, block, seed]


@pytest.mark.parametrize(("days", "block", "seed"), [key for key in DIGESTS if key[0] > 1])
def test_the_days_are_drawn_without_bias_from_the_promised_stream(days: int, block: int, seed: int) -> None:
    """Lemire, "Fast random integer generation in an interval" (2019), on halves of the numbers of PCG64."""
    drawn = block_starts(days, block, seed)[:50].ravel().tolist()
    raw = np.random.PCG64(seed).random_raw(len(drawn) * 2).tolist()
    halves = iter([half for one in raw for half in (one % 2**32, one >> 32)])
    expected = []
    for _ in drawn:
        product = next(halves) * days
        while product % 2**32 < 2**32 % days:
            product = next(halves) * days
        expected.append(product >> 32)
    assert drawn == expected


def outcomes_of(days: Sequence[Sequence[int]]) -> tuple[Floats, np.ndarray]:
    flat = [(outcome, day) for day, outcomes in enumerate(days) for outcome in outcomes]
    return np.array([float(outcome) for outcome, _ in flat]), np.array([day for _, day in flat], np.int64)


@pytest.mark.parametrize("days", [0, 1, 2, 7, 13])
def test_fewer_days_than_two_blocks_have_no_skill(days: int) -> None:
    outcomes, of = outcomes_of([[0, 1]] * days)
    found = measure(outcomes * 0 + 0.5, outcomes * 0 + 0.4, outcomes, of, block=7, level=0.05)
    assert found == Unmeasured(f"{days} days are fewer than two blocks of 7 days")


@pytest.mark.parametrize("right", [14, 20, 60])
def test_there_is_nothing_to_be_better_than_a_reference_that_is_exactly_right(right: int) -> None:
    outcomes, of = outcomes_of([[at % 2] for at in range(right)])
    found = measure(outcomes * 0 + 0.5, outcomes, outcomes, of, block=7, level=0.05)
    assert found == Unmeasured("the reference was exactly right on all days of a sample")


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        ([], "outcomes of fewer than two days do not differ between days"),
        ([[1]], "outcomes of fewer than two days do not differ between days"),
        ([[1, 0, 1]], "outcomes of fewer than two days do not differ between days"),
        ([[1], [0], [1]], "no day has two outcomes"),
        ([[1, 1], [1, 1, 1]], "all outcomes are the same"),
        ([[0, 0], [0]], "all outcomes are the same"),
    ],
)
def test_outcomes_without_spread_have_no_correlation_within_a_day(days: list[list[int]], reason: str) -> None:
    assert intraclass(*outcomes_of(days)) == effective(*outcomes_of(days)) == Unmeasured(reason)


def test_without_a_prediction_there_are_no_parts() -> None:
    empty = np.array([])
    assert decompose(bins(empty, empty, empty)) == Unmeasured("nothing was predicted")


@pytest.mark.parametrize("seed", range(8))
def test_the_correlation_within_a_day_is_that_of_an_analysis_of_variance(seed: int) -> None:
    """Fisher's formula in plain sums: means squares between and within days, and the mean size of a day."""
    dice = random.Random(seed)  # noqa: S311 - made-up outcomes
    made = [[int(dice.random() < dice.choice((0.1, 0.9))) for _ in range(dice.randint(1, 6))] for _ in range(12)]
    every = [one for day in made for one in day]
    between = sum(len(day) * (fmean(day) - fmean(every)) ** 2 for day in made) / (len(made) - 1)
    within = sum((one - fmean(day)) ** 2 for day in made for one in day) / (len(every) - len(made))
    size = (len(every) - sum(len(day) ** 2 for day in made) / len(every)) / (len(made) - 1)
    expected = max(0.0, (between - within) / (between + (size - 1) * within))
    assert intraclass(*outcomes_of(made)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    worth = len(every) / (1 + (len(every) / len(made) - 1) * expected)
    assert effective(*outcomes_of(made)) == pytest.approx(worth, rel=1e-9)

"""The protocol finds what is there, claims nothing where nothing is, and never sees what is not known yet."""

import numpy as np
import pytest

from service.analytics.calibration.fits import Floats
from service.analytics.calibration.protocol import (
    LEAST_DAYS_TO_CLAIM,
    METHODS,
    Method,
    Trial,
    fit_all,
    outcomes,
    predictions,
    run,
    split,
)
from service.analytics.calibration.skill import Skill, Unmeasured
from service.analytics.recomputed import JudgedDays
from tests.analytics.calibration.planted import SCORES, STRENGTH, market


@pytest.fixture(scope="module")
def planted() -> list[Trial]:
    return run(*_one(market(seed=1, strength=STRENGTH)))


def _one(made: tuple[Floats, JudgedDays]) -> tuple[Floats, list[JudgedDays]]:
    return made[0], [made[1]]


@pytest.mark.promise("claims.planted")
def test_a_planted_signal_is_found_and_its_probability_is_right(planted: list[Trial]) -> None:
    earned = {(trial.target, trial.horizon) for trial in planted if trial.is_earned}
    assert ("rises", 1) in earned
    closes, judged = market(seed=1, strength=STRENGTH)
    made = predictions(judged, outcomes(closes, "rises", 1), 1, "isotonic")
    last = made.days[-1]
    told = dict(zip(judged.score[last].tolist(), made.probability[made.days == last].tolist(), strict=True))
    assert told == pytest.approx({score: 0.5 + STRENGTH * score for score in SCORES}, abs=0.035)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_all_days_tells_the_planted_probabilities(method: Method) -> None:
    closes, judged = market(seed=1, strength=STRENGTH)
    model = fit_all(judged, outcomes(closes, "rises", 1), method)
    features = np.column_stack([SCORES, np.zeros(len(SCORES))])
    assert model.predict(features) == pytest.approx(0.5 + STRENGTH * SCORES, abs=0.035)


def test_every_trial_is_reported_and_only_chosen_methods_are_looked_at(planted: list[Trial]) -> None:
    assert len(planted) == 18
    looked = [trial for trial in planted if trial.look is not None]
    assert len({(trial.target, trial.horizon) for trial in looked}) == len(looked) == 9
    for trial in looked:
        other = next(one for one in planted if one[:3] == trial[:3] and one.method != trial.method)
        assert trial.choice.brier <= other.choice.brier
    assert all(not trial.is_earned for trial in planted if trial.look is None)


@pytest.mark.slow
@pytest.mark.promise("claims.noise")
@pytest.mark.timeout(600)
def test_noise_earns_a_claim_in_at_most_one_of_twenty_markets() -> None:
    earned = [seed for seed in range(200) if any(trial.is_earned for trial in run(*_one(market(seed))))]
    assert len(earned) <= 10


@pytest.mark.promise("claims.purged")
@pytest.mark.parametrize("horizon", [1, 3, 7])
def test_no_fit_reads_an_outcome_that_is_not_known_on_the_day(horizon: int) -> None:
    closes, judged = market(seed=2, strength=STRENGTH)
    told = predictions(judged, outcomes(closes, "rises", horizon), horizon, "isotonic")
    fits = np.unique(told.days)[::30]
    for day in fits[[0, 3]]:
        later = closes.copy()
        later[day + 1 :] = closes[day + 1 :][::-1]  # everything after the day is otherwise
        again = predictions(judged, outcomes(later, "rises", horizon), horizon, "isotonic")
        same = told.days <= day
        assert (again.probability[again.days <= day] == told.probability[same]).all()
        assert (again.reference[again.days <= day] == told.reference[same]).all()


def test_a_score_made_of_the_next_close_would_show() -> None:
    closes, judged = market(seed=3)
    leaking = judged.score.copy()
    leaking[:-1] = np.sign(closes[1:] - closes[:-1])
    trials = run(closes, [judged._replace(score=leaking, groups=np.array([leaking]))])
    assert ("rises", 1) in {(trial.target, trial.horizon) for trial in trials if trial.is_earned}


def test_days_before_the_border_are_left_out_for_their_outcomes_lie_beyond_it() -> None:
    counted = np.arange(100, 200)
    choose, look = split(counted, 7)
    assert (choose[0], choose[-1], look[0], look[-1]) == (160, 172, 180, 199)


def test_under_sixty_days_nothing_is_claimed(planted: list[Trial]) -> None:
    best = next(trial for trial in planted if trial.is_earned)
    assert best.look is not None
    few = best._replace(look=best.look._replace(days=LEAST_DAYS_TO_CLAIM - 1))
    assert not few.is_earned
    skill = best.look.skill
    assert isinstance(skill, Skill)
    biased = best._replace(look=best.look._replace(skill=skill._replace(bias=0.2, bias_error=0.05)))
    assert not biased.is_earned
    unknown = best._replace(look=best.look._replace(skill=Unmeasured("too few days")))
    assert not unknown.is_earned


def test_targets_are_what_they_are_called() -> None:
    closes = np.array([[10.0, 10.0, 10.0], [11.0, 9.0, np.nan], [12.0, 9.0, 8.0]])
    assert np.array_equal(outcomes(closes, "rises", 1), [[1, 0, np.nan], [1, 0, np.nan], [np.nan] * 3], equal_nan=True)
    assert outcomes(closes, "beats-median", 2)[0].tolist() == [1, 0, 0]
    swings = np.full((70, 1), 100.0)
    swings[1::2] = 101.0
    swings[64:] = 150.0
    moved = outcomes(swings, "moves-more", 1)[:, 0]
    assert np.isnan(moved[:60]).all()
    assert moved[63] == 1  # from 101 to 150, where it was used to 1 %
    assert moved[64] == 0


@pytest.mark.parametrize(("days", "coins"), [(400, 19), (181, 24), (183, 24), (200, 24), (225, 24)])
def test_nothing_is_fitted_or_chosen_on_too_few_coins_or_days(days: int, coins: int) -> None:
    closes, judged = market(seed=1, days=days, coins=coins)
    with pytest.raises(ValueError, match="too few days"):
        run(closes, [judged])

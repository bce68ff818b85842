"""A probability leaves the service only where it was earned; otherwise it says what was measured."""

import math
import re

import msgspec
import numpy as np
import pytest

from service.analytics.calibration.fits import fit_isotonic, fit_logistic
from service.analytics.recomputed import judge_inputs
from service.verdict.claims import TARGETS, claims
from service.verdict.ledger import HORIZONS
from service.verdict.measured import MEASURED, IsotonicModel, LogisticModel, MeasuredSkill
from service.verdict.recompute import plain_rules
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import LABELS
from service.wire.verdict import Label
from tests.market.recordings import needs_recordings
from tests.verdict import evaluate, recorded_days
from tests.verdict.issuing import judged

_FIGURE = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def planted(model: IsotonicModel | LogisticModel) -> MeasuredSkill:
    """As if `rises` after a day had been earned."""
    looks = [
        msgspec.structs.replace(look, model=model)
        if (look.ruleset, look.target, look.days) == (CURRENT.label.version, "rises", 1)
        else look
        for look in MEASURED.looks
    ]
    return msgspec.structs.replace(MEASURED, looks=looks)


@pytest.mark.promise("claims.words")
@pytest.mark.parametrize("label", LABELS)
def test_without_skill_there_is_no_probability_and_the_words_say_what_was_measured(label: Label) -> None:
    told = claims(judged("BTC", 1.0, label))
    assert [(claim.days, claim.target) for claim in told] == [(days, of) for days in HORIZONS for of in TARGETS]
    for claim in told:
        assert claim.probability is None
        found = next(
            row
            for row in MEASURED.followed
            if (row.ruleset, row.verdict, row.target, row.days) == (2, label, claim.target, claim.days)
        )
        assert claim.reason is not None
        assert claim.reason.startswith(f"No skill shown: {100 * found.rate:.1f} % of the coins with a {label} verdict ")
        assert f"on {found.days_seen} days; base rate {100 * found.base_rate:.1f} %." in claim.reason
        assert claim.skill_low <= claim.skill <= claim.skill_high
        assert claim.days_seen >= 60


def test_an_abstention_claims_nothing() -> None:
    told = claims(judged("BTC", None), measured=planted(IsotonicModel([0.0], [0.9])))
    assert {(claim.probability, claim.reason) for claim in told} == {(None, "An abstention claims nothing.")}


def test_a_probability_that_was_earned_is_that_of_the_fitted_steps() -> None:
    scores = np.array([-3.0, -1.0, 0.0, 2.0])
    fitted = fit_isotonic(scores[:, None], np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 2.0, 2.0, 1.0]))
    measured = planted(IsotonicModel(fitted.starts.tolist(), fitted.levels.tolist()))
    for score in (-4.0, -3.0, -2.5, -1.0, 0.5, 2.0, 3.75):
        claim = claims(msgspec.structs.replace(judged("BTC"), score=score), measured=measured)[0]
        assert claim.probability == pytest.approx(float(fitted.predict(np.array([[score]]))[0]), abs=0.00005)
        assert claim.reason is None


def test_a_logistic_probability_follows_from_what_the_groups_contribute() -> None:
    dice = np.random.default_rng(1)
    features = dice.normal(size=(60, 3))
    fitted = fit_logistic(features, (dice.random(60) < 0.5).astype(np.float64), np.ones(60))
    measured = planted(LogisticModel(fitted.intercept, fitted.coefficients.tolist()))
    verdict = judged("BTC")
    points = {rule.id: rule.contribution for rule in verdict.rules}
    groups = [sum(points[rule] for rule in group.rules) for group in CURRENT.groups]
    weighted = fitted.intercept + float(np.dot(groups, fitted.coefficients))
    claim = claims(verdict, measured=measured)[0]
    assert claim.probability == pytest.approx(1 / (1 + math.exp(-weighted)), abs=0.00005)


@needs_recordings
@pytest.mark.recorded
@pytest.mark.promise("claims.shipped")
def test_what_ships_is_what_the_protocol_finds_on_the_recorded_days() -> None:
    found = evaluate.evaluate()
    ours, theirs = (msgspec.json.encode(each).decode() for each in (evaluate.shipped(found), MEASURED))
    assert _FIGURE.sub("", ours) == _FIGURE.sub("", theirs)
    figures = [list(map(float, _FIGURE.findall(text))) for text in (ours, theirs)]
    assert figures[0] == pytest.approx(figures[1], abs=2e-4)
    assert evaluate.document(found) == evaluate.DOCUMENT.read_text()


def test_nothing_is_published_that_was_not_earned() -> None:
    assert [look for look in MEASURED.looks if look.model is not None] == []
    earned = [look for look in MEASURED.looks if look.skill_low > 0]
    assert earned == []


@needs_recordings
@pytest.mark.recorded
@pytest.mark.promise("claims.none-unearned")
def test_no_verdict_on_any_coin_on_any_recorded_day_carries_a_probability_that_was_not_earned() -> None:
    """The verdict and the score are all that claims read of it: each pair that occurs is asked about once."""
    judged_days = judge_inputs(recorded_days.inputs(), plain_rules(CURRENT))
    assert judged_days.score.shape == (881, 116)
    labels = [grade.verdict for grade in CURRENT.tables.grades]
    given = ~np.isnan(judged_days.score)
    pairs = set(zip(judged_days.verdict[given].tolist(), judged_days.score[given].tolist(), strict=True))
    assert (given.sum() > 60_000, len(pairs) > 20, {labels[at] for at, _ in pairs}) == (True, True, set(labels))
    earned = {(look.target, look.days) for look in MEASURED.looks if look.model is not None}
    for at, score in pairs:
        told = claims(msgspec.structs.replace(judged("BTC"), verdict=labels[at], score=score))
        assert {(claim.target, claim.days) for claim in told if claim.probability is not None} <= earned

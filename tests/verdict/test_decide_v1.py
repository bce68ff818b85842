"""Verdicts by version 1 of the rules: recomputed byte for byte, and no longer issued."""

from functools import partial
from typing import get_args

import pytest
from msgspec.structs import replace

from service.verdict.decide import decide as decide_by
from service.verdict.rules_v1 import TABLES_V1
from service.verdict.ruleset import VERSION_1, claimed
from service.wire.verdict import Label, VerdictInputs
from tests.verdict.known import KNOWN, known, without
from tests.verdict.reference import verdict_of

decide = partial(decide_by, rules=VERSION_1)


def explained(inputs: VerdictInputs) -> str:
    return decide(inputs).confidence_basis.explanation


def test_a_verdict_is_what_went_in_and_what_follows() -> None:
    verdict = decide(KNOWN)
    assert (verdict.symbol, verdict.as_of, verdict.sources, verdict.raw) == (
        "BTC",
        KNOWN.as_of,
        KNOWN.sources,
        KNOWN.raw,
    )
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("strong-bull", 3.0, "high")
    assert verdict.ruleset == VERSION_1.label
    assert (verdict.ruleset.name, verdict.ruleset.version) == ("verdict-rules", 1)


def test_every_rule_has_its_sentence_then_comes_the_sum_then_the_confidence() -> None:
    verdict = decide(KNOWN)
    assert [rule.evidence for rule in verdict.rules] == list(range(7))
    assert len(verdict.evidence) == 9
    assert verdict.evidence[-2] == "Together that is +3.00 on a scale from -4 to +4: strong-bull."
    assert verdict.evidence[-1] == verdict.confidence_basis.explanation


def test_verdicts_run_from_strong_bear_to_strong_bull_over_scores_from_minus_4_to_4() -> None:
    grades = {step / 4: _graded(step) for step in range(-16, 17)}
    assert grades == {quarters / 4: verdict_of(quarters) for quarters in range(-16, 17)}
    assert set(grades.values()) == set(get_args(Label)) - {"insufficient-evidence"}


def _graded(quarters: int) -> str:
    """The verdict of a score, made up of the rules' own steps."""
    from service.verdict.tables import matching_row  # noqa: PLC0415 - the only test of the table alone

    return matching_row(TABLES_V1.grades, quarters / 4).verdict


def test_the_furthest_scores_can_be_reached() -> None:
    best = known(risk__funding_apr=-30.0, funding__apr_24h=30.0, funding__apr_7d=0.0, sentiment__stance="accumulation")
    worst = known(
        risk__trend_daily="DOWN",
        risk__trend_weekly="DOWN",
        risk__funding_apr=50.0,
        regime__market="risk-off",
        regime__coin="risk-off",
        funding__apr_24h=-30.0,
        sentiment__stance="euphoria",
    )
    assert [decide(best).score, decide(worst).score] == [4.0, -4.0]
    assert [decide(best).verdict, decide(worst).verdict] == ["strong-bull", "strong-bear"]


def test_with_sentiment_and_regime_down_there_is_a_verdict_of_lower_confidence_that_says_so() -> None:
    verdict = decide(without(KNOWN, "sentiment", "regime"))
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("bull", 2.0, "low")
    assert (decide(KNOWN).confidence, verdict.confidence_basis.coverage) == ("high", 0.6875)
    assert verdict.confidence_basis.explanation == (
        "Confidence is low: 68.75 % of the evidence is at hand, and at least 23.08 % of it all points one way, "
        "whatever is missing would say; besides, less than 90 % is at hand, the regime gave nothing and sentiment gave "
        "nothing."
    )
    assert verdict.evidence[2] == "The market's regime is not known and does not count."
    assert verdict.evidence[6] == "Sentiment on BTC is not known and does not count."
    assert (verdict.sources.regime, verdict.sources.sentiment) == ("rejected", "rejected")


def test_what_is_missing_counts_as_if_it_said_the_contrary() -> None:
    verdict = decide(without(KNOWN, "sentiment"))  # 3 of 3, and a quarter is missing: 2.75 of 3.25
    assert (verdict.confidence_basis.agreement, verdict.confidence) == (0.8462, "medium")
    assert verdict.confidence_basis.explanation == (
        "Confidence is medium: 93.75 % of the evidence is at hand, and at least 84.62 % of it all points one way, "
        "whatever is missing would say; that would be high, but sentiment gave nothing."
    )


def test_with_price_and_trend_down_there_is_no_verdict() -> None:
    verdict = decide(without(KNOWN, "risk"))
    assert (verdict.verdict, verdict.confidence) == ("insufficient-evidence", "low")
    assert verdict.evidence[-2] == (
        "There is no verdict: the price is not known, neither trend is known and only 37.5 % of the evidence is at "
        "hand and 50 % is the least."
    )
    assert verdict.confidence_basis.explanation.endswith("; without a verdict it is never higher.")
    assert verdict.score == sum(rule.contribution for rule in verdict.rules)


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        (known(risk__price=None), "the price is not known"),
        (known(risk__trend_daily=None, risk__trend_weekly=None), "neither trend is known"),
        (
            without(known(risk__trend_weekly=None), "regime", "sentiment"),
            "only 43.75 % of the evidence is at hand and 50 % is the least",
        ),
    ],
)
def test_each_thing_that_a_verdict_cannot_do_without(inputs: VerdictInputs, why: str) -> None:
    verdict = decide(inputs)
    assert verdict.verdict == "insufficient-evidence"
    assert verdict.evidence[-2] == f"There is no verdict: {why}."
    assert verdict.confidence == "low"


def test_half_of_the_evidence_is_enough() -> None:
    half = without(known(risk__trend_weekly=None, risk__funding_apr=None), "funding", "sentiment")
    assert decide(half).confidence_basis.coverage == 0.5
    assert decide(half).verdict == "bull"
    assert decide(half).confidence == "low"
    assert explained(half) == (
        "Confidence is low: 50 % of the evidence is at hand, and at least 0 % of it all points one way, whatever is "
        "missing would say; besides, less than 60 % is at hand, funding momentum gave nothing and sentiment gave "
        "nothing."
    )


def test_one_trend_is_enough() -> None:
    assert decide(known(risk__trend_daily=None)).verdict == "bull"
    assert decide(known(risk__trend_weekly=None)).verdict == "bull"


def test_a_stale_field_counts_half_and_lowers_confidence() -> None:
    verdict = decide(known(risk__stale_fields=["trend_weekly"], sources__risk="stale"))
    assert verdict.confidence_basis.coverage == 0.875
    assert (verdict.score, verdict.confidence) == (3.0, "medium")
    assert verdict.evidence[1].endswith("This could not be refreshed, which lowers confidence.")
    assert "This could not be refreshed" not in verdict.evidence[0]


def test_a_stale_source_counts_half_and_lowers_confidence_whatever_its_weight() -> None:
    verdict = decide(known(sources__sentiment="stale"))
    assert verdict.confidence_basis.coverage == 0.9688
    assert verdict.confidence == "medium"
    assert verdict.confidence_basis.explanation.endswith("; that would be high, but sentiment is stale.")
    assert verdict.evidence[6].endswith("This could not be refreshed, which lowers confidence.")


def test_a_stale_price_moves_no_rule_and_lowers_confidence() -> None:
    verdict = decide(known(risk__stale_fields=["price"], sources__risk="stale"))
    assert (verdict.confidence_basis.coverage, verdict.confidence) == (1.0, "medium")
    assert verdict.confidence_basis.explanation.endswith("; that would be high, but the risk context is stale.")


@pytest.mark.parametrize(
    ("inputs", "agreement", "confidence"),
    [
        (known(), 1.0, "high"),
        # +1 +1 +0.5 +0.5 -0.5: three quarters of what is said, less a little
        (known(risk__funding_apr=43.8), 0.7143, "medium"),
        # +1 +1 +0.5 +0.5 -0.25 -0.25
        (known(risk__funding_apr=21.9, sentiment__stance="euphoria"), 0.7143, "medium"),
        (known(risk__funding_apr=21.9), 0.8462, "high"),
        # +1 -1 +0.5 +0.5 = 1 of 3
        (known(risk__trend_weekly="DOWN"), 0.3333, "low"),
        # +1 +1 -0.5 +0.5 = 2 of 3
        (known(regime__market="risk-off"), 0.6667, "medium"),
        # 0 +1 -0.5 +0.5 -0 +0.25 +0.25 = 1.5 of 2.5
        (known(risk__trend_daily="HODL", regime__market="neutral", regime__coin="risk-off"), 0.3333, "low"),
        # +1 0 +0.5 -0.5 = 1 of 2: exactly half
        (known(risk__trend_weekly="HODL", regime__coin="risk-off"), 0.5, "medium"),
        # +1 +0.5 +0.25 -0.25 = 1.5 of 2: exactly three quarters
        (
            known(
                risk__trend_weekly="HODL",
                regime__coin="neutral",
                risk__funding_apr=-10.95,
                sentiment__stance="distribution",
            ),
            0.75,
            "high",
        ),
    ],
)
def test_confidence_follows_from_agreement(inputs: VerdictInputs, agreement: float, confidence: str) -> None:
    verdict = decide(inputs)
    assert (verdict.confidence_basis.agreement, verdict.confidence) == (agreement, confidence)
    assert f"{round(agreement * 100, 2):g} % of what it says points one way" in verdict.evidence[-1]


def test_where_nothing_points_anywhere_nothing_disagrees() -> None:
    verdict = decide(
        known(risk__trend_daily="HODL", risk__trend_weekly="HODL", regime__market="neutral", regime__coin="neutral")
    )
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("neutral", 0.0, "high")
    assert verdict.confidence_basis.agreement == 1.0
    assert verdict.evidence[-1] == (
        "Confidence is high: 100 % of the evidence is at hand, and nothing in it points either way."
    )


def test_confidence_is_never_under_low_and_says_what_else_is_amiss() -> None:
    assert explained(known(risk__trend_weekly="DOWN", sources__regime="stale")) == (
        "Confidence is low: 87.5 % of the evidence is at hand, and 33.33 % of what it says points one way; besides, "
        "less than 90 % is at hand and the regime is stale."
    )


def test_a_score_of_nothing_has_no_sign() -> None:
    balanced = known(risk__trend_weekly="DOWN", regime__coin="risk-off")
    assert str(decide(balanced).score) == "0.0"
    assert decide(balanced).evidence[-2] == "Together that is +0.00 on a scale from -4 to +4: neutral."


@pytest.mark.parametrize(
    ("score", "probability"),
    [(-4.0, 0.3), (-2.25, 0.3875), (0.0, 0.5), (0.25, 0.5125), (3.25, 0.6625), (4.0, 0.7), (1.2345, 0.5617)],
)
def test_a_point_of_the_score_claimed_five_in_a_hundred(score: float, probability: float) -> None:
    assert TABLES_V1.claimed(score) == claimed(replace(decide(KNOWN), score=score)) == probability

"""Verdicts by version 2 of the rules, the ones that are issued."""

from typing import get_args

import pytest

from service.verdict.decide import decide
from service.verdict.ruleset import VERSION_2, claimed
from service.verdict.tables import matching_row
from service.wire.verdict import CoinVerdict, Label, VerdictInputs
from tests.verdict.known import KNOWN, known, without
from tests.verdict.reference import verdict_of


@pytest.mark.promise("signal.payload")
def test_a_verdict_is_what_went_in_and_what_follows() -> None:
    verdict = decide(KNOWN)
    assert (verdict.symbol, verdict.as_of, verdict.sources, verdict.raw) == (
        "BTC",
        KNOWN.as_of,
        KNOWN.sources,
        KNOWN.raw,
    )
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("strong-bull", 2.5, "high")
    assert verdict.ruleset == VERSION_2.label


@pytest.mark.promise("signal.evidence", "signal.rules")
def test_every_rule_has_its_sentence_then_come_the_sums_then_the_confidence() -> None:
    verdict = decide(known(funding__apr_24h=25.0, sentiment__stance="euphoria"))
    assert [rule.evidence for rule in verdict.rules] == list(range(7))
    assert len(verdict.evidence) == 9
    assert verdict.evidence[-2] == (
        "Trend +2.50, positioning -0.25 and mood -0.50. Together that is +1.75 on a scale from -4 to +4: bull."
    )
    assert verdict.evidence[-1] == verdict.confidence_basis.explanation


@pytest.mark.promise("signal.scale")
def test_verdicts_run_from_strong_bear_to_strong_bull_over_scores_from_minus_4_to_4() -> None:
    grades = {step / 4: matching_row(VERSION_2.tables.grades, step / 4).verdict for step in range(-16, 17)}
    assert grades == {quarters / 4: verdict_of(quarters) for quarters in range(-16, 17)}
    assert set(grades.values()) == set(get_args(Label)) - {"insufficient-evidence"}


def test_the_furthest_scores_can_be_reached() -> None:
    best = known(funding__apr_24h=-30.0, funding__apr_7d=-60.0, sentiment__stance="accumulation")
    worst = known(
        risk__trend_daily="DOWN",
        risk__trend_weekly="DOWN",
        regime__market="risk-off",
        regime__coin="risk-off",
        funding__apr_24h=50.0,
        funding__apr_7d=80.0,
        sentiment__stance="euphoria",
    )
    assert [decide(best).score, decide(worst).score] == [4.0, -4.0]
    assert [decide(best).verdict, decide(worst).verdict] == ["strong-bull", "strong-bear"]


@pytest.mark.promise("rules.no-claim")
def test_no_score_claims_a_probability() -> None:
    assert claimed(decide(KNOWN)) is None


@pytest.mark.promise("rules.groups")
def test_rules_of_one_group_count_once_for_confidence() -> None:
    """The daily trend and the regimes disagree within one group: their sum is what the group says."""
    torn = decide(known(risk__trend_daily="DOWN", regime__coin="risk-off"))  # -0.5 +1 +0.5 -0.5
    assert (torn.score, torn.confidence_basis.agreement, torn.confidence) == (0.5, 1.0, "high")


def test_groups_that_disagree_lower_confidence() -> None:
    against = decide(known(funding__apr_24h=50.0, funding__apr_7d=50.0))  # 2.5 - 0.75
    assert (against.score, against.confidence_basis.agreement, against.confidence) == (1.75, 0.5385, "medium")
    further = decide(known(funding__apr_24h=50.0, funding__apr_7d=80.0, sentiment__stance="euphoria"))  # 2.5 - 1 - 0.5
    assert (further.score, further.confidence_basis.agreement, further.confidence) == (1.0, 0.25, "low")


def test_a_rule_without_input_counts_as_if_it_disagreed() -> None:
    verdict = decide(without(KNOWN, "sentiment"))  # 2.5 of 2.5, and half a point is missing: 2 of 3
    assert (verdict.confidence_basis.agreement, verdict.confidence) == (0.6667, "low")
    assert verdict.confidence_basis.explanation == (
        "Confidence is low: 87.5 % of the evidence is at hand, and at least 66.67 % of it all points one way, "
        "whatever is missing would say; that would be medium, but less than 90 % is at hand and sentiment gave nothing."
    )


def test_with_sentiment_and_regime_down_there_is_a_verdict_of_lower_confidence_that_says_so() -> None:
    verdict = decide(without(KNOWN, "sentiment", "regime"))
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("bull", 1.5, "low")
    assert verdict.confidence_basis.coverage == 0.625
    assert verdict.evidence[2] == "The regime of the market is not known and does not count."
    assert verdict.evidence[6] == "Sentiment on BTC is not known and does not count."


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        (known(risk__price=None), "the price is not known"),
        (known(risk__trend_daily=None, risk__trend_weekly=None), "neither trend is known"),
        (
            without(known(risk__trend_daily=None), "funding", "sentiment", "regime"),
            "only 25 % of the evidence is at hand and 50 % is the least",
        ),
    ],
)
def test_each_thing_that_a_verdict_cannot_do_without(inputs: VerdictInputs, why: str) -> None:
    verdict = decide(inputs)
    assert verdict.verdict == "insufficient-evidence"
    assert verdict.evidence[-2] == f"There is no verdict: {why}."
    assert verdict.confidence == "low"
    assert verdict.score == sum(rule.contribution for rule in verdict.rules)


def test_half_of_the_evidence_is_enough() -> None:
    half = without(known(risk__trend_daily=None), "funding", "sentiment")
    assert decide(half).confidence_basis.coverage == 0.5
    assert (decide(half).verdict, decide(half).confidence) == ("bull", "low")


def test_a_stale_source_counts_half_and_lowers_confidence() -> None:
    verdict = decide(known(sources__funding="stale"))
    assert verdict.confidence_basis.coverage == 0.875
    assert (verdict.score, verdict.confidence) == (2.5, "medium")
    assert verdict.confidence_basis.explanation.endswith(
        "; that would be high, but less than 90 % is at hand and funding momentum is stale."
    )


def test_with_less_than_six_tenths_of_the_evidence_confidence_is_two_levels_lower() -> None:
    stale = {f"sources__{source}": "stale" for source in ("risk", "regime", "funding", "sentiment")}
    all_stale = decide(known(**stale, risk__stale_fields=["trend_daily", "trend_weekly"])).confidence_basis
    assert (all_stale.coverage, all_stale.agreement) == (0.5, 1.0)
    assert decide(known(**stale, risk__stale_fields=["trend_daily", "trend_weekly"])).confidence == "low"
    assert (decide(known(**stale)).confidence_basis.coverage, decide(known(**stale)).confidence) == (0.6875, "medium")


def test_where_nothing_points_anywhere_nothing_disagrees() -> None:
    verdict = decide(
        known(risk__trend_daily="HODL", risk__trend_weekly="HODL", regime__market="neutral", regime__coin="neutral")
    )
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("neutral", 0.0, "high")
    assert verdict.evidence[-1] == (
        "Confidence is high: 100 % of the evidence is at hand, and nothing in it points either way."
    )


def test_what_json_cannot_say_is_refused() -> None:
    for inputs in (
        known(risk__price=float("inf")),
        known(risk__funding_apr=float("nan")),
        known(funding__apr_24h=float("inf"), funding__apr_7d=float("inf")),
        known(funding__apr_24h=1e308, funding__apr_7d=-1e308),
        known(sentiment__summary="\ud800"),
    ):
        with pytest.raises(ValueError, match=r"not representable|non-UTF-8"):
            decide(inputs)


def test_the_same_inputs_give_an_equal_verdict() -> None:
    assert isinstance(decide(KNOWN), CoinVerdict)
    assert decide(KNOWN) == decide(known())

"""The rules of version 1, which old verdicts are recomputed by."""

import hashlib
from fractions import Fraction
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.verdict.rules import apply, format_figure
from service.verdict.rules_v1 import TABLES_V1
from service.verdict.ruleset import VERSION_1
from service.verdict.tables import VerdictRule
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.verdict import AppliedRule, Ruleset, VerdictInputs
from tests.verdict.jcs import write
from tests.verdict.known import known, without
from tests.verdict.reference import exact, funding_level_v1, momentum

RULES = {rule.id: rule for rule in TABLES_V1.rules}
FIGURES = st.floats(-200, 200) | st.integers(-2_000_000, 2_000_000).map(lambda units: units / 10_000)


def applied(rule: str, inputs: VerdictInputs) -> AppliedRule:
    return apply(TABLES_V1, RULES[rule], inputs, 0).applied


def told(rule: str, inputs: VerdictInputs) -> str:
    return apply(TABLES_V1, RULES[rule], inputs, 0).sentence


def outcome(rule: str, inputs: VerdictInputs) -> tuple[object, ...]:
    found = applied(rule, inputs)
    return found.value, found.threshold, found.contribution, found.flips_at


def points(rule: VerdictRule) -> list[float]:
    return [category.contribution for category in rule.names] + [band.contribution for band in rule.bands]


def test_the_tables_are_the_ones_that_verdicts_were_given_by() -> None:
    """Canonical JSON by another implementation: each name, number and sentence enters the digest."""
    digest = "3e6c5b2a7cef6d1ac4477609a87fbaa61962ec91e0f8ceb43d6b6779ddad56fb"
    assert hashlib.sha256(write(msgspec.to_builtins(TABLES_V1))).hexdigest() == digest
    assert VERSION_1.label == Ruleset("verdict-rules", 1, digest)


def test_weights_are_the_most_a_rule_contributes_and_sum_to_four() -> None:
    for rule in TABLES_V1.rules:
        assert rule.weight == max(map(abs, points(rule)))
    assert sum(rule.weight for rule in TABLES_V1.rules) == 4


def test_points_are_quarters_so_that_every_sum_is_exact() -> None:
    assert all((point * 4).is_integer() for rule in TABLES_V1.rules for point in points(rule))


def test_every_name_has_its_row() -> None:
    assert [tuple(row.name for row in rule.names) for rule in TABLES_V1.rules if rule.names] == [
        get_args(Trend),
        get_args(Trend),
        get_args(Regime),
        get_args(Regime),
        ("accumulation", "capitulation", "exhaustion", "neutral", "distribution", "euphoria"),
    ]
    assert {row.name for row in RULES["sentiment"].names} == set(get_args(Stance))


@pytest.mark.parametrize("rule", ["daily", "weekly"])
@pytest.mark.parametrize(("trend", "points", "flips_at"), [("UP", 1, "HODL"), ("HODL", 0, "UP"), ("DOWN", -1, "HODL")])
def test_a_trend_counts_most(rule: str, trend: str, points: float, flips_at: str) -> None:
    inputs = known(**{f"risk__trend_{rule}": trend})
    assert outcome(f"trend-{rule}", inputs) == (trend, trend, points, flips_at)
    assert applied(f"trend-{rule}", inputs).input == f"risk.trend_{rule}"


@pytest.mark.parametrize("rule", ["market", "coin"])
@pytest.mark.parametrize(
    ("regime", "points", "flips_at"),
    [("risk-on", 0.5, "neutral"), ("neutral", 0, "risk-on"), ("risk-off", -0.5, "neutral")],
)
def test_a_regime_counts_half_of_a_trend(rule: str, regime: str, points: float, flips_at: str) -> None:
    inputs = known(**{f"regime__{rule}": regime})
    assert outcome(f"regime-{rule}", inputs) == (regime, regime, points, flips_at)


@pytest.mark.parametrize(
    ("apr", "threshold", "points", "flips_at"),
    [
        (1e9, 43.8, -0.5, 43.7999),
        (43.8, 43.8, -0.5, 43.7999),
        (43.7999, 21.9, -0.25, 43.8),
        (33.0, 21.9, -0.25, 43.8),
        (32.84995, 21.9, -0.25, 43.8),  # as far from 21.8999: the upper row
        (32.0, 21.9, -0.25, 21.8999),
        (21.9, 21.9, -0.25, 21.8999),
        (21.8999, 21.9, 0, 21.9),
        (10.95, 21.9, 0, 21.9),
        (5.475, 21.9, 0, 21.9),  # as far from -10.95: the upper row
        (5.4749, -10.95, 0, -10.95),
        (0.0, -10.95, 0, -10.95),
        (-0.0, -10.95, 0, -10.95),
        (-10.9499, -10.95, 0, -10.95),
        (-10.95, -10.95, 0.25, -10.9499),
        (-16.0, -10.95, 0.25, -10.9499),
        (-16.42495, -10.95, 0.25, -21.9),  # as far from -10.9499: the upper row
        (-17.0, -10.95, 0.25, -21.9),
        (-21.8999, -10.95, 0.25, -21.9),
        (-21.9, -21.9, 0.5, -21.8999),
        (-500.0, -21.9, 0.5, -21.8999),
    ],
)
def test_funding_counts_against_the_side_that_crowds(
    apr: float, threshold: float, points: float, flips_at: float
) -> None:
    inputs = known(risk__funding_apr=apr)
    assert outcome("funding-level", inputs) == (apr, threshold, points, flips_at)
    assert str(applied("funding-level", inputs).value) == str(apr + 0.0)


@pytest.mark.parametrize(
    ("day", "week", "change", "threshold", "points", "flips_at"),
    [
        (50.0, 10.0, 40.0, 10, 0.25, 9.9999),
        (20.0, 10.0, 10.0, 10, 0.25, 9.9999),
        (19.9999, 10.0, 9.9999, 10, 0, 10),
        (10.0, 10.0, 0.0, 10, 0, 10),
        (9.99999, 10.0, 0.0, 10, 0, 10),
        (9.9999, 10.0, -0.0001, -10, 0, -10),
        (0.1, -9.9, 10.0, 10, 0.25, 9.9999),
        (0.0001, 10.0, -9.9999, -10, 0, -10),
        (-10.3, -0.3, -10.0, -10, -0.25, -9.9999),
        (-99.0, 10.0, -109.0, -10, -0.25, -9.9999),
    ],
)
def test_funding_momentum_counts_with_the_demand(
    day: float, week: float, change: float, threshold: float, points: float, flips_at: float
) -> None:
    inputs = known(funding__apr_24h=day, funding__apr_7d=week)
    assert outcome("funding-momentum", inputs) == (change, threshold, points, flips_at)
    assert applied("funding-momentum", inputs).input == "funding.apr_24h - funding.apr_7d"
    assert str(applied("funding-momentum", inputs).value) != "-0.0"


@pytest.mark.parametrize(
    ("stance", "points", "flips_at"),
    [
        ("accumulation", 0.25, "exhaustion"),
        ("capitulation", 0.25, "exhaustion"),
        ("exhaustion", 0, "capitulation"),
        ("neutral", 0, "distribution"),
        ("distribution", -0.25, "neutral"),
        ("euphoria", -0.25, "neutral"),
    ],
)
def test_sentiment_counts_against_the_crowd(stance: str, points: float, flips_at: str) -> None:
    assert outcome("sentiment", known(sentiment__stance=stance)) == (stance, stance, points, flips_at)


@pytest.mark.parametrize(
    ("rule", "inputs", "subject"),
    [
        ("trend-daily", known(risk__trend_daily=None), "BTC's daily trend"),
        ("trend-daily", without(known(), "risk"), "BTC's daily trend"),
        ("trend-weekly", known(risk__trend_weekly=None), "BTC's weekly trend"),
        ("regime-market", known(regime__market=None), "The market's regime"),
        ("regime-coin", without(known(), "regime"), "BTC's own regime"),
        ("funding-level", known(risk__funding_apr=None), "Funding on BTC"),
        ("funding-momentum", without(known(), "funding"), "Funding momentum of BTC"),
        ("sentiment", without(known(), "sentiment"), "Sentiment on BTC"),
    ],
)
def test_what_is_not_known_is_named_and_does_not_count(rule: str, inputs: VerdictInputs, subject: str) -> None:
    found = apply(TABLES_V1, RULES[rule], inputs, 3)
    assert outcome(rule, inputs) == (None, None, 0.0, None)
    assert found.sentence == f"{subject} is not known and does not count."
    assert (found.covered, found.applied.evidence) == (0.0, 3)


@pytest.mark.parametrize(
    ("rule", "inputs"),
    [
        ("trend-daily", known(risk__stale_fields=["trend_daily"])),
        ("trend-weekly", known(risk__stale_fields=["trend_weekly"])),
        ("funding-level", known(risk__stale_fields=["funding_apr"])),
        ("regime-market", known(sources__regime="stale")),
        ("regime-coin", known(sources__regime="stale")),
        ("funding-momentum", known(sources__funding="stale")),
        ("sentiment", known(sources__sentiment="stale")),
    ],
)
def test_what_is_stale_counts_and_covers_half(rule: str, inputs: VerdictInputs) -> None:
    stale = {id_: apply(TABLES_V1, RULES[id_], inputs, 0) for id_ in RULES}
    fresh = {id_: apply(TABLES_V1, RULES[id_], known(), 0) for id_ in RULES}
    assert stale[rule].applied == fresh[rule].applied
    assert stale[rule].covered == 0.5
    assert stale[rule].sentence == f"{fresh[rule].sentence} This could not be refreshed, which lowers confidence."
    if "regime" not in rule:
        assert {id_ for id_ in RULES if stale[id_] != fresh[id_]} == {rule}


def test_a_stale_source_of_risk_says_nothing_of_the_fields_it_does_not_name() -> None:
    inputs = known(sources__risk="stale", risk__stale_fields=["price"])
    assert [apply(TABLES_V1, rule, inputs, 0).covered for rule in TABLES_V1.rules] == [1.0] * 7


LEVELS = {
    52.3127: "Longs pay 52.31 % a year on BTC, at or above 43.8 %: the long side is crowded, which counts against it.",
    43.8: "Longs pay 43.8 % a year on BTC, at or above 43.8 %: the long side is crowded, which counts against it.",
    43.7999: (
        "Longs pay 43.7999 % a year on BTC, at or above 21.9 %: the long side is filling up, which counts against it."
    ),
    21.89999: "Longs pay 21.89999 % a year on BTC: neither side is crowded, which counts neither way.",
    10.95: "Longs pay 10.95 % a year on BTC: neither side is crowded, which counts neither way.",
    0.0: "Nobody pays on BTC: neither side is crowded, which counts neither way.",
    -3.5: "Shorts pay 3.5 % a year on BTC: neither side is crowded, which counts neither way.",
    -10.9499: "Shorts pay 10.9499 % a year on BTC: neither side is crowded, which counts neither way.",
    -12.0: "Shorts pay 12 % a year on BTC, at or above 10.95 %: the short side is filling up, which counts for it.",
    -1234.567: (
        "Shorts pay 1,234.57 % a year on BTC, at or above 21.9 %: the short side is crowded, which counts for it."
    ),
}


@pytest.mark.parametrize("apr", LEVELS)
def test_who_pays_is_said_with_the_figure_and_its_bound(apr: float) -> None:
    assert told("funding-level", known(risk__funding_apr=apr)) == LEVELS[apr]


SENTENCES: dict[str, tuple[dict[str, Any], str]] = {
    "trend-daily": ({}, "BTC's daily trend is UP, above its SuperTrend line in every comparison, which counts for it."),
    "trend-weekly": (
        {"risk__trend_weekly": "HODL"},
        "BTC's weekly trend is HODL, with its SuperTrend lines at odds, which counts neither way.",
    ),
    "regime-market": (
        {"regime__market": "risk-off"},
        "The market's regime is risk-off, which counts against BTC.",
    ),
    "regime-coin": ({}, "BTC's own regime is risk-on with 81.25 % conviction, which counts for BTC."),
    "funding-momentum": (
        {"funding__apr_24h": -2.0},
        (
            "Funding on BTC averaged -2 % a year over 24 hours and 11.25 % over 7 days, 13.25 points down: demand to "
            "be long is fading, which counts against it."
        ),
    ),
    "sentiment": (
        {"sentiment__stance": "euphoria", "sentiment__summary": "Euphoria: up 20 % (price +20.0 % in 7 days)."},
        "Sentiment on BTC is euphoria, which counts against it. Euphoria: up 20 % (price +20.0 % in 7 days).",
    ),
}


@pytest.mark.parametrize("rule", SENTENCES)
def test_a_sentence_says_what_was_seen_and_which_way_it_counts(rule: str) -> None:
    changed, sentence = SENTENCES[rule]
    assert told(rule, known(**changed)) == sentence


def test_momentum_is_told_with_both_means() -> None:
    assert told("funding-momentum", known(funding__apr_24h=31.2, funding__apr_7d=19.1)) == (
        "Funding on BTC averaged 31.2 % a year over 24 hours and 19.1 % over 7 days, 12.1 points up: demand to be long "
        "is growing, which counts for it."
    )
    assert told("funding-momentum", known(funding__apr_24h=10.0, funding__apr_7d=0.0001)) == (
        "Funding on BTC averaged 10 % a year over 24 hours and 0 % over 7 days, 9.9999 points apart: under 10, which "
        "counts neither way."
    )


@pytest.mark.parametrize(
    ("figure", "shown"), [(52.30, "52.3"), (-0.001, "0"), (0.005, "0.01"), (1e6, "1,000,000"), (100.0, "100")]
)
def test_figures_have_two_decimals_at_most_and_zero_no_sign(figure: float, shown: str) -> None:
    assert format_figure(figure) == shown


def test_a_conviction_that_is_not_known_is_not_told() -> None:
    assert told("regime-coin", known(regime__coin_confidence=None)) == (
        "BTC's own regime is risk-on, which counts for BTC."
    )


@given(figure=FIGURES)
def test_a_figure_is_told_so_that_it_would_be_judged_the_same(figure: float) -> None:
    for rule, judged in ((RULES["funding-level"], funding_level_v1), (RULES["funding-momentum"], momentum)):
        told_as = Fraction(format_figure(figure, rule.bands).replace(",", ""))
        assert judged(told_as)[0] == judged(exact(figure))[0]
        assert abs(told_as - exact(figure)) <= Fraction(1, 200)


@given(figure=FIGURES)
def test_where_a_figure_flips_is_another_contribution_and_nothing_nearer_is(figure: float) -> None:
    here = applied("funding-level", known(risk__funding_apr=figure))
    assert isinstance(here.flips_at, float)
    there = applied("funding-level", known(risk__funding_apr=here.flips_at))
    assert there.contribution != here.contribution
    # One unit short of it, nothing has changed yet.
    toward = 0.0001 if figure > here.flips_at else -0.0001
    short = round(here.flips_at + toward, 4)
    if abs(figure - here.flips_at) > 0.0001:
        assert applied("funding-level", known(risk__funding_apr=short)).contribution == here.contribution

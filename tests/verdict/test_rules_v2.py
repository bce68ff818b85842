"""The rules of version 2: what each reads, what it contributes, what it says."""

import hashlib
from fractions import Fraction
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.verdict.rules import apply, format_figure
from service.verdict.rules_v2 import TABLES_V2
from service.verdict.ruleset import CURRENT, VERSION_2
from service.verdict.tables import VerdictRule
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.verdict import AppliedRule, Ruleset, VerdictInputs
from tests.verdict.jcs import write
from tests.verdict.known import known, without
from tests.verdict.reference import exact, funding_level_v2, momentum

RULES = {rule.id: rule for rule in TABLES_V2.rules}
FIGURES = st.floats(-200, 200) | st.integers(-2_000_000, 2_000_000).map(lambda units: units / 10_000)


def applied(rule: str, inputs: VerdictInputs) -> AppliedRule:
    return apply(TABLES_V2, RULES[rule], inputs, 0).applied


def sentence(rule: str, inputs: VerdictInputs) -> str:
    return apply(TABLES_V2, RULES[rule], inputs, 0).sentence


def outcome(rule: str, inputs: VerdictInputs) -> tuple[object, ...]:
    found = applied(rule, inputs)
    return found.value, found.threshold, found.contribution, found.flips_at


def points(rule: VerdictRule) -> list[float]:
    return [category.contribution for category in rule.names] + [band.contribution for band in rule.bands]


def test_the_tables_are_the_ones_that_verdicts_are_given_by() -> None:
    """Canonical JSON by another implementation. If the digest changes, the change needs a new version."""
    digest = "e43e70dcce2d72dfcfca08780ba5ff62b19ddc4e93cfce2c1978143cc9b1229a"
    assert hashlib.sha256(write(msgspec.to_builtins(TABLES_V2))).hexdigest() == digest
    assert VERSION_2.label == Ruleset("verdict-rules", 2, digest)
    assert CURRENT is VERSION_2


def test_weights_are_the_most_a_rule_contributes_and_sum_to_four() -> None:
    for rule in TABLES_V2.rules:
        assert rule.weight == max(map(abs, points(rule)))
    assert sum(rule.weight for rule in TABLES_V2.rules) == 4


def test_points_are_quarters_so_that_every_sum_is_exact() -> None:
    assert all((point * 4).is_integer() for rule in TABLES_V2.rules for point in points(rule))


def test_each_rule_is_in_one_group_and_a_group_weighs_what_its_rules_weigh() -> None:
    assert [rule for group in TABLES_V2.groups for rule in group.rules] == list(RULES)
    for group in TABLES_V2.groups:
        assert group.weight == sum(RULES[rule].weight for rule in group.rules)
    assert [(group.name, group.weight) for group in TABLES_V2.groups] == [
        ("trend", 2.5), ("positioning", 1.0), ("mood", 0.5)
    ]  # fmt: skip


@pytest.mark.promise("rules.groups")
def test_daily_trend_and_coin_regime_together_weigh_as_much_as_the_weekly_trend() -> None:
    assert RULES["trend-daily"].weight + RULES["regime-coin"].weight == RULES["trend-weekly"].weight


def test_every_name_has_its_row() -> None:
    assert [tuple(row.name for row in rule.names) for rule in TABLES_V2.rules if rule.names] == [
        get_args(Trend),
        get_args(Trend),
        get_args(Regime),
        get_args(Regime),
        ("accumulation", "capitulation", "exhaustion", "neutral", "distribution", "euphoria"),
    ]
    assert {row.name for row in RULES["sentiment"].names} == set(get_args(Stance))


@pytest.mark.parametrize(("rule", "weight"), [("daily", 0.5), ("weekly", 1.0)])
@pytest.mark.parametrize(("trend", "sign", "flips_at"), [("UP", 1, "HODL"), ("HODL", 0, "UP"), ("DOWN", -1, "HODL")])
def test_the_weekly_trend_counts_twice_the_daily_one(
    rule: str, weight: float, trend: str, sign: int, flips_at: str
) -> None:
    inputs = known(**{f"risk__trend_{rule}": trend})
    assert outcome(f"trend-{rule}", inputs) == (trend, trend, sign * weight, flips_at)
    assert applied(f"trend-{rule}", inputs).input == f"risk.trend_{rule}"


@pytest.mark.parametrize("rule", ["market", "coin"])
@pytest.mark.parametrize(
    ("regime", "points", "flips_at"),
    [("risk-on", 0.5, "neutral"), ("neutral", 0, "risk-on"), ("risk-off", -0.5, "neutral")],
)
def test_a_regime_counts_half_a_point(rule: str, regime: str, points: float, flips_at: str) -> None:
    inputs = known(**{f"regime__{rule}": regime})
    assert outcome(f"regime-{rule}", inputs) == (regime, regime, points, flips_at)


@pytest.mark.parametrize(
    ("apr", "threshold", "points", "flips_at"),
    [
        (1e9, 43.8, -0.75, 43.7999),
        (43.8, 43.8, -0.75, 43.7999),
        (43.7999, 21.9, -0.5, 43.8),
        (33.0, 21.9, -0.5, 43.8),
        (32.84995, 21.9, -0.5, 43.8),  # as far from 21.8999: the upper row
        (32.0, 21.9, -0.5, 21.8999),
        (21.9, 21.9, -0.5, 21.8999),
        (21.8999, 21.9, 0, 21.9),
        (5.475, 21.9, 0, 21.9),  # as far from -10.95: the upper row
        (5.4749, -10.95, 0, -10.95),
        (0.0, -10.95, 0, -10.95),
        (-0.0, -10.95, 0, -10.95),
        (-10.9499, -10.95, 0, -10.95),
        (-10.95, -10.95, 0.5, -10.9499),
        (-16.42495, -10.95, 0.5, -21.9),  # as far from -10.9499: the upper row
        (-21.8999, -10.95, 0.5, -21.9),
        (-21.9, -21.9, 0.75, -21.8999),
        (-500.0, -21.9, 0.75, -21.8999),
    ],
)
def test_funding_counts_against_the_crowded_side(apr: float, threshold: float, points: float, flips_at: float) -> None:
    inputs = known(funding__apr_24h=apr)
    assert outcome("funding-level", inputs) == (apr, threshold, points, flips_at)
    assert str(applied("funding-level", inputs).value) == str(apr + 0.0)


@pytest.mark.promise("rules.mean-funding")
def test_the_funding_level_is_the_mean_of_24_hours_whatever_the_momentary_rate_is() -> None:
    calm = known(risk__funding_apr=500.0, funding__apr_24h=3.5)
    assert applied("funding-level", calm).input == "funding.apr_24h"
    assert outcome("funding-level", calm) == (3.5, -10.95, 0, -10.95)
    assert outcome("funding-level", known(risk__funding_apr=None, funding__apr_24h=50.0))[2] == -0.75


@pytest.mark.parametrize(
    ("day", "week", "change", "threshold", "points", "flips_at"),
    [
        (50.0, 10.0, 40.0, 10, 0.25, 9.9999),
        (19.9999, 10.0, 9.9999, 10, 0, 10),
        (10.0, 10.0, 0.0, 10, 0, 10),
        (-10.3, -0.3, -10.0, -10, -0.25, -9.9999),
    ],
)
def test_funding_momentum_counts_with_the_demand(
    day: float, week: float, change: float, threshold: float, points: float, flips_at: float
) -> None:
    inputs = known(funding__apr_24h=day, funding__apr_7d=week)
    assert outcome("funding-momentum", inputs) == (change, threshold, points, flips_at)
    assert applied("funding-momentum", inputs).input == "funding.apr_24h - funding.apr_7d"


@pytest.mark.parametrize(
    ("stance", "points", "flips_at"),
    [
        ("accumulation", 0.5, "exhaustion"),
        ("capitulation", 0.5, "exhaustion"),
        ("exhaustion", 0, "capitulation"),
        ("neutral", 0, "distribution"),
        ("distribution", -0.5, "neutral"),
        ("euphoria", -0.5, "neutral"),
    ],
)
def test_sentiment_counts_half_a_point(stance: str, points: float, flips_at: str) -> None:
    assert outcome("sentiment", known(sentiment__stance=stance)) == (stance, stance, points, flips_at)


@pytest.mark.parametrize(
    ("rule", "inputs", "subject"),
    [
        ("trend-daily", known(risk__trend_daily=None), "The daily trend of BTC"),
        ("trend-weekly", without(known(), "risk"), "The weekly trend of BTC"),
        ("regime-market", known(regime__market=None), "The regime of the market"),
        ("regime-coin", without(known(), "regime"), "The regime of BTC"),
        ("funding-level", without(known(), "funding"), "The 24-hour mean of funding of BTC"),
        ("funding-momentum", without(known(), "funding"), "The change of funding of BTC"),
        ("sentiment", without(known(), "sentiment"), "Sentiment on BTC"),
    ],
)
def test_what_is_not_known_is_named_and_does_not_count(rule: str, inputs: VerdictInputs, subject: str) -> None:
    found = apply(TABLES_V2, RULES[rule], inputs, 3)
    assert outcome(rule, inputs) == (None, None, 0.0, None)
    assert found.sentence == f"{subject} is not known and does not count."
    assert (found.covered, found.applied.evidence) == (0.0, 3)


@pytest.mark.parametrize(
    ("inputs", "stale"),
    [
        (known(risk__stale_fields=["trend_daily"]), {"trend-daily"}),
        (known(risk__stale_fields=["trend_weekly"]), {"trend-weekly"}),
        (known(risk__stale_fields=["funding_apr", "price"], sources__risk="stale"), set()),
        (known(sources__regime="stale"), {"regime-market", "regime-coin"}),
        (known(sources__funding="stale"), {"funding-level", "funding-momentum"}),
        (known(sources__sentiment="stale"), {"sentiment"}),
    ],
)
def test_what_is_stale_counts_and_covers_half(inputs: VerdictInputs, stale: set[str]) -> None:
    for id_, rule in RULES.items():
        found, fresh = apply(TABLES_V2, rule, inputs, 0), apply(TABLES_V2, rule, known(), 0)
        assert found.applied == fresh.applied
        assert found.covered == (0.5 if id_ in stale else 1.0)
        said = " This input could not be refreshed, which lowers confidence." if id_ in stale else ""
        assert found.sentence == fresh.sentence + said


MEAN = "Funding of BTC averaged "
LEVELS = {
    52.3127: "52.31 % a year over the last 24 hours, at or above 43.8 %: the long side is crowded. "
    "This counts against BTC.",
    43.7999: "43.7999 % a year over the last 24 hours, at or above 21.9 %: the long side is becoming crowded. "
    "This counts against BTC.",
    21.89999: "21.89999 % a year over the last 24 hours: neither side is crowded. This counts neither way.",
    0.0: "0 % a year over the last 24 hours: neither side is crowded. This counts neither way.",
    -3.5: "-3.5 % a year over the last 24 hours: neither side is crowded. This counts neither way.",
    -12.0: "-12 % a year over the last 24 hours, at or below -10.95 %: the short side is becoming crowded. "
    "This counts for BTC.",
    -1234.567: "-1,234.57 % a year over the last 24 hours, at or below -21.9 %: the short side is crowded. "
    "This counts for BTC.",
}


@pytest.mark.promise("signal.evidence")
@pytest.mark.parametrize("apr", LEVELS)
def test_the_sentence_on_funding_names_the_mean_its_hours_and_its_bound(apr: float) -> None:
    assert sentence("funding-level", known(funding__apr_24h=apr)) == MEAN + LEVELS[apr]


SENTENCES: dict[str, tuple[dict[str, Any], str]] = {
    "trend-daily": (
        {},
        "The daily trend of BTC is UP: BTC is above its SuperTrend line in every comparison. This counts for BTC.",
    ),
    "trend-weekly": (
        {"risk__trend_weekly": "HODL"},
        "The weekly trend of BTC is HODL: its SuperTrend lines disagree. This counts neither way.",
    ),
    "regime-market": (
        {"regime__market": "risk-off"},
        "The regime of the market is risk-off. This counts against BTC.",
    ),
    "regime-coin": ({}, "The regime of BTC is risk-on with 81.25 % conviction. This counts for BTC."),
    "funding-momentum": (
        {"funding__apr_24h": -2.0},
        (
            "Funding of BTC averaged -2 % a year over the last 24 hours and 11.25 % over 7 days: 13.25 points lower, "
            "so demand to be long falls. This counts against BTC."
        ),
    ),
    "sentiment": (
        {"sentiment__stance": "euphoria", "sentiment__summary": "Euphoria: up 20 % (price +20.0 % in 7 days)."},
        "Sentiment on BTC is euphoria. This counts against BTC. Euphoria: up 20 % (price +20.0 % in 7 days).",
    ),
}


@pytest.mark.promise("signal.evidence")
@pytest.mark.parametrize("rule", SENTENCES)
def test_a_sentence_says_what_was_read_and_which_way_it_counts(rule: str) -> None:
    changed, expected = SENTENCES[rule]
    assert sentence(rule, known(**changed)) == expected


@given(figure=FIGURES)
def test_a_figure_is_shown_so_that_it_would_be_judged_the_same(figure: float) -> None:
    for rule, judged in ((RULES["funding-level"], funding_level_v2), (RULES["funding-momentum"], momentum)):
        shown = Fraction(format_figure(figure, rule.bands).replace(",", ""))
        assert judged(shown)[0] == judged(exact(figure))[0]
        assert abs(shown - exact(figure)) <= Fraction(1, 200)

"""Whatever goes missing, or stale, of whatever was known: nobody becomes surer by knowing less."""

from collections.abc import Iterator
from itertools import islice
from math import copysign
from typing import Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.verdict.decide import decide
from service.verdict.ruleset import VERSION_1, VERSION_2, RuleSet
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.verdict import CoinVerdict, VerdictInputs
from tests.verdict.knowledge import inputs
from tests.verdict.known import known, without

SOURCES: Final = ("risk", "funding", "regime", "sentiment")
SURENESS: Final = {"low": 0, "medium": 1, "high": 2}
FIELDS: Final = {
    "risk": ("price", "funding_apr", "trend_daily", "trend_weekly"),
    "regime": ("market", "coin"),
}


def is_surer(one: CoinVerdict, other: CoinVerdict) -> bool:
    return SURENESS[one.confidence] > SURENESS[other.confidence]


def less_known(inputs: VerdictInputs) -> Iterator[VerdictInputs]:
    """The same, each time without a source, or a field, or with one that could not be refreshed."""
    for source in SOURCES:
        facts = getattr(inputs.raw, source)
        if facts is None:
            continue
        yield without(inputs, source)
        yield replace(inputs, sources=replace(inputs.sources, **{source: "stale"}))
        for field in FIELDS.get(source, ()):
            yield replace(inputs, raw=replace(inputs.raw, **{source: replace(facts, **{field: None})}))
    risk = inputs.raw.risk
    if risk is None:
        return
    for field in FIELDS["risk"]:
        staler = replace(risk, stale_fields=sorted({*risk.stale_fields, field}))
        yield replace(inputs, raw=replace(inputs.raw, risk=staler), sources=replace(inputs.sources, risk="stale"))


VERSIONS = pytest.mark.parametrize("rules", [VERSION_1, VERSION_2], ids=["version 1", "version 2"])

APRS = (50.0, 30.0, 0.0, -15.0, -30.0)
"""One figure in each band of the funding level."""


@st.composite
def anything_known(draw: st.DrawFn) -> VerdictInputs:
    """Every combination of what the rules can read: each state or none, each source fulfilled, stale or rejected."""
    trend, regime = (st.sampled_from([*get_args(kind), None]) for kind in (Trend, Regime))
    apr = draw(st.sampled_from(APRS))
    stale_fields = [field for field in FIELDS["risk"] if draw(st.integers(0, 4)) == 0]
    found = known(
        risk__price=draw(st.sampled_from([100.0, 100.0, None])),
        risk__funding_apr=draw(st.sampled_from([*APRS, None])),
        risk__trend_daily=draw(trend),
        risk__trend_weekly=draw(trend),
        risk__stale_fields=stale_fields,
        regime__market=draw(regime),
        regime__coin=draw(regime),
        funding__apr_24h=apr,
        funding__apr_7d=apr - draw(st.sampled_from([-20.0, 0.0, 20.0])),
        sentiment__stance=draw(st.sampled_from(get_args(Stance))),
    )
    for source in SOURCES:
        state = draw(st.sampled_from(["fulfilled", "fulfilled", "stale", "rejected"]))
        if state == "rejected":
            found = without(found, source)
        else:
            found = replace(found, sources=replace(found.sources, **{source: state}))
    return found


def other_answers(inputs: VerdictInputs) -> Iterator[VerdictInputs]:
    """The same, each time with another value of one thing that was known."""
    options: dict[str, dict[str, tuple[Any, ...]]] = {
        "risk": {"trend_daily": get_args(Trend), "trend_weekly": get_args(Trend), "funding_apr": APRS},
        "regime": {"market": get_args(Regime), "coin": get_args(Regime)},
        "funding": {"apr_24h": APRS, "apr_7d": APRS},
        "sentiment": {"stance": get_args(Stance)},
    }
    for source, fields in options.items():
        facts = getattr(inputs.raw, source)
        for field, values in fields.items():
            if getattr(facts, field, None) is not None:
                for value in values:
                    yield replace(inputs, raw=replace(inputs.raw, **{source: replace(facts, **{field: value})}))


def dissents(before: CoinVerdict, after: CoinVerdict) -> bool:
    """Whether rules moved against the score, none moved with it, and it did not change its sign."""
    side = copysign(1, before.score)
    moves = [side * (new.contribution - old.contribution) for old, new in zip(before.rules, after.rules, strict=True)]
    return bool(before.score) and side * after.score >= 0 and max(moves) <= 0 and min(moves) < 0


@pytest.mark.slow
@pytest.mark.promise("rules.confidence-monotone")
@VERSIONS
@given(inputs=anything_known())
def test_a_source_that_falls_silent_or_stale_never_raises_confidence(rules: RuleSet, inputs: VerdictInputs) -> None:
    verdict = decide(inputs, rules)
    for less in (decide(known_less, rules) for known_less in less_known(inputs)):
        assert not is_surer(less, verdict)
        assert less.confidence_basis.agreement <= verdict.confidence_basis.agreement
        assert less.confidence_basis.coverage <= verdict.confidence_basis.coverage


@pytest.mark.slow
@pytest.mark.promise("rules.confidence-monotone")
@VERSIONS
@given(inputs=anything_known())
def test_a_source_that_dissents_never_raises_confidence(rules: RuleSet, inputs: VerdictInputs) -> None:
    verdict = decide(inputs, rules)
    for other in (decide(answered, rules) for answered in other_answers(inputs)):
        if dissents(verdict, other):
            assert not is_surer(other, verdict)
            assert other.confidence_basis.agreement <= verdict.confidence_basis.agreement


@pytest.mark.slow
@VERSIONS
def test_to_know_less_is_never_to_be_surer(rules: RuleSet) -> None:
    lowered = 0
    for whole in islice(inputs(), 150):
        verdict = decide(whole, rules)
        for less in (decide(known_less, rules) for known_less in less_known(whole)):
            assert not is_surer(less, verdict), (verdict, less)
            lowered += is_surer(verdict, less)
    assert lowered > 30, "and it is often to be less sure"


def test_a_source_that_disagrees_does_not_make_a_verdict_surer_by_falling_silent() -> None:
    # Version 1: trends for it, regimes against it: 1 of 3. Were the regimes left out it would be 2 of 2.
    torn = known(regime__market="risk-off", regime__coin="risk-off")
    silent = without(torn, "regime")
    assert [decide(each, VERSION_1).confidence_basis.agreement for each in (torn, silent)] == [0.3333, 0.3333]
    # Version 2: trend for it, funding against it: 1.75 of 3.25. Were funding left out it would be 2.5 of 2.5.
    torn = known(funding__apr_24h=50.0, funding__apr_7d=50.0)
    silent = without(torn, "funding")
    assert [decide(each, VERSION_2).confidence_basis.agreement for each in (torn, silent)] == [0.5385, 0.4286]


@VERSIONS
def test_any_one_source_less_makes_a_sure_verdict_less_sure(rules: RuleSet) -> None:
    sure = decide(known(), rules)
    assert sure.confidence == "high"
    for less in less_known(known()):
        read = rules is VERSION_1 or less.raw.risk is None or less.raw.risk.funding_apr is not None
        assert is_surer(sure, decide(less, rules)) is read

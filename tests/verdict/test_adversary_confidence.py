"""Whatever goes missing, or stale, of whatever was known: nobody becomes surer by knowing less."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from service.verdict.decide import decide
from service.wire.verdict import Verdict, VerdictInputs
from tests.verdict.knowledge import inputs
from tests.verdict.known import known, without

SURENESS: Final = {"low": 0, "medium": 1, "high": 2}
FIELDS: Final = {
    "risk": ("price", "funding_apr", "trend_daily", "trend_weekly"),
    "regime": ("market", "coin"),
}


def is_surer(one: Verdict, other: Verdict) -> bool:
    return SURENESS[one.confidence] > SURENESS[other.confidence]


def less_known(inputs: VerdictInputs) -> Iterator[VerdictInputs]:
    """The same, each time without a source, or a field, or with one that could not be refreshed."""
    for source in ("risk", "funding", "regime", "sentiment"):
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


def test_to_know_less_is_never_to_be_surer() -> None:
    lowered = 0
    for whole in islice(inputs(), 150):
        verdict = decide(whole)
        for less in map(decide, less_known(whole)):
            assert not is_surer(less, verdict), (verdict, less)
            lowered += is_surer(verdict, less)
    assert lowered > 30, "and it is often to be less sure"


def test_a_source_that_disagrees_does_not_make_a_verdict_surer_by_falling_silent() -> None:
    # Trends for it, regimes against it: 1 of 3. Were the regimes left out it would be 2 of 2.
    torn = known(regime__market="risk-off", regime__coin="risk-off")
    assert (decide(torn).confidence, decide(without(torn, "regime")).confidence) == ("low", "low")
    assert decide(without(torn, "regime")).confidence_basis.agreement == 0.3333


def test_any_one_source_less_makes_a_sure_verdict_less_sure() -> None:
    sure = decide(known())
    assert sure.confidence == "high"
    assert all(is_surer(sure, less) for less in map(decide, less_known(known())))

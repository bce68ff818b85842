"""From what is known to a verdict. Pure: no I/O, no clock, no chance; the same inputs give the same bytes."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from service.verdict.identity import identify
from service.verdict.rules import Finding, apply
from service.verdict.ruleset import RULESET, TABLES
from service.verdict.tables import row_of
from service.verdict.wording import show
from service.wire.verdict import Confidence, ConfidenceBasis, Label, Sources, SourceState, Verdict, VerdictInputs

_DECIMALS: Final = 4
_PERCENT: Final = 100
_WEIGHT: Final = sum(rule.weight for rule in TABLES.rules)
_SPOKEN: Final = {
    "risk": "the risk context",
    "funding": "funding momentum",
    "regime": "the regime",
    "sentiment": "sentiment",
}


class _Basis(NamedTuple):
    """Shares of 0 to 1, exact: of the weight whose input is known, and of what is said that points one way, at least.

    What is not known (`missing`, its weight) might all have pointed the other way: were it left out instead, confidence
    would rise wherever a rule that disagreed fell silent. `speaks` is whether anything contributes at all; where
    everything is known and nothing does, nothing disagrees.
    """

    coverage: float
    agreement: float
    missing: float
    speaks: bool


def decide(inputs: VerdictInputs) -> Verdict:
    """Judge a coin by the rules.

    Args:
        inputs: What is known of it; finite numbers only.

    Returns:
        The verdict. `evidence` has a sentence for each rule, in their order, then what they add up to, then what
        confidence rests on.

    Raises:
        ValueError: If the inputs hold what JSON cannot say (not finite numbers, half a surrogate pair).
    """
    findings = [apply(rule, inputs, index) for index, rule in enumerate(TABLES.rules)]
    score = sum(finding.applied.contribution for finding in findings)
    exact = _basis(findings, score)
    lacking = list(_lacking(inputs, exact.coverage))
    verdict: Label = "insufficient-evidence" if lacking else row_of(TABLES.grades, score).verdict
    confidence, why = _confidence(inputs.sources, exact, abstains=bool(lacking))
    basis = ConfidenceBasis(round(exact.coverage, _DECIMALS), round(exact.agreement, _DECIMALS), why)
    evidence = [*(finding.sentence for finding in findings), _sum_up(verdict, score, lacking), why]
    rules = [finding.applied for finding in findings]
    output = {
        "verdict": verdict,
        "score": score,
        "confidence": confidence,
        "confidence_basis": basis,
        "evidence": evidence,
        "rules": rules,
    }
    return Verdict(
        symbol=inputs.symbol,
        verdict=verdict,
        score=score,
        confidence=confidence,
        as_of=inputs.as_of,
        evidence=evidence,
        sources=inputs.sources,
        raw=inputs.raw,
        rules=rules,
        ruleset=RULESET,
        verdict_id=identify(inputs, output),
        confidence_basis=basis,
    )


def _basis(findings: Sequence[Finding], score: float) -> _Basis:
    covered = sum(rule.weight * finding.covered for rule, finding in zip(TABLES.rules, findings, strict=True))
    said = sum(abs(finding.applied.contribution) for finding in findings)
    missing = sum(rule.weight for rule, finding in zip(TABLES.rules, findings, strict=True) if not finding.covered)
    agreement = max(0.0, abs(score) - missing) / (said + missing) if said or missing else 1.0
    return _Basis(covered / _WEIGHT, agreement, missing, bool(said))


def _lacking(inputs: VerdictInputs, coverage: float) -> Iterator[str]:
    """What is missing for a verdict to be given at all."""
    risk = inputs.raw.risk
    if risk is None or risk.price is None:
        yield "the price is not known"
    if risk is None or (risk.trend_daily is None and risk.trend_weekly is None):
        yield "neither trend is known"
    if coverage < TABLES.trust.least:
        yield f"only {_share(coverage)} of the evidence is at hand and {_share(TABLES.trust.least)} is the least"


def _sum_up(verdict: Label, score: float, lacking: Sequence[str]) -> str:
    if lacking:
        return f"There is no verdict: {_listed(lacking)}."
    return f"Together that is {score:+.2f} on a scale from -4 to +4: {verdict}."


def _confidence(sources: Sources, exact: _Basis, *, abstains: bool) -> tuple[Confidence, str]:
    trust = TABLES.trust
    levels = [level.confidence for level in trust.levels]
    alone = next(at for at, level in enumerate(trust.levels) if exact.agreement >= level.agreement)
    reasons = [*_thin(exact.coverage), *_unwell(sources)]
    lower = (2 if exact.coverage < trust.half else 1) if reasons else 0
    confidence = levels[-1] if abstains else levels[min(alone + lower, len(levels) - 1)]
    known = f"Confidence is {confidence}: {_share(exact.coverage)} of the evidence is at hand, and {_points(exact)}"
    if abstains:
        return confidence, f"{known}; without a verdict it is never higher."
    if not reasons:
        return confidence, f"{known}."
    if confidence == levels[alone]:
        return confidence, f"{known}; besides, {_listed(reasons)}."
    return confidence, f"{known}; that would be {levels[alone]}, but {_listed(reasons)}."


def _points(exact: _Basis) -> str:
    if exact.missing:
        return f"at least {_share(exact.agreement)} of it all points one way, whatever is missing would say"
    if not exact.speaks:
        return "nothing in it points either way"
    return f"{_share(exact.agreement)} of what it says points one way"


def _thin(coverage: float) -> Iterator[str]:
    for bound in (TABLES.trust.half, TABLES.trust.full):
        if coverage < bound:
            yield f"less than {_share(bound)} is at hand"
            return


def _unwell(sources: Sources) -> Iterator[str]:
    for name, spoken in _SPOKEN.items():
        state: SourceState = getattr(sources, name)
        if state != "fulfilled":
            yield f"{spoken} {'is stale' if state == 'stale' else 'gave nothing'}"


def _share(share: float) -> str:
    return f"{show(share * _PERCENT)} %"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]

"""From what is known to a verdict. Pure: no I/O, no clock, no chance; the same inputs give the same bytes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.verdict.identity import identify
from service.verdict.rules import Finding, apply, weigh
from service.verdict.ruleset import CURRENT, RuleSet
from service.verdict.tables import TablesV2, Trust, row_of
from service.verdict.wording import show
from service.wire.verdict import Confidence, ConfidenceBasis, Label, Sources, SourceState, Verdict, VerdictInputs

_DECIMALS: Final = 4
_PERCENT: Final = 100
_SPOKEN: Final = {
    "risk": "the risk context",
    "funding": "funding momentum",
    "regime": "the regime",
    "sentiment": "sentiment",
}


class _Basis(NamedTuple):
    """What confidence follows from, exact.

    `coverage` is the share of the weight whose input is known, 0 to 1, stale inputs at half. `agreement`, 0 to 1, says
    how much of what the groups of evidence say points one way, at the least: the `missing` weight counts as if it said
    the contrary, or confidence would rise whenever a rule that disagrees falls silent. `speaks` is whether any group
    points either way; where everything is known and none does, nothing disagrees.
    """

    coverage: float
    agreement: float
    missing: float
    speaks: bool


def decide(inputs: VerdictInputs, rules: RuleSet = CURRENT) -> Verdict:
    """Judge a coin by a rule set.

    Args:
        inputs: What is known of it; finite numbers only.
        rules: The rule set. Only the current one issues new verdicts; others are for recomputing.

    Returns:
        The verdict. `evidence` has a sentence for each rule, in their order, then what they add up to, then what
        confidence rests on.

    Raises:
        ValueError: If the inputs hold what JSON cannot say (not finite numbers, half a surrogate pair).
    """
    tables = rules.tables
    findings = [apply(tables, rule, inputs, index) for index, rule in enumerate(tables.rules)]
    score = sum(finding.applied.contribution for finding in findings)
    points = {finding.applied.id: finding.applied.contribution for finding in findings}
    groups = {group.name: sum(points[rule] for rule in group.rules) for group in rules.groups}
    exact = _basis(rules, findings, groups)
    lacking = list(_lacking(tables.trust, inputs, exact.coverage))
    verdict: Label = "insufficient-evidence" if lacking else row_of(tables.grades, score).verdict
    confidence, why = _confidence(tables.trust, inputs.sources, exact, abstains=bool(lacking))
    basis = ConfidenceBasis(round(exact.coverage, _DECIMALS), round(exact.agreement, _DECIMALS), why)
    named = groups if isinstance(tables, TablesV2) else {}
    evidence = [*(finding.sentence for finding in findings), _sum_up(verdict, score, lacking, named), why]
    applied = [finding.applied for finding in findings]
    output = {
        "verdict": verdict,
        "score": score,
        "confidence": confidence,
        "confidence_basis": basis,
        "evidence": evidence,
        "rules": applied,
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
        rules=applied,
        ruleset=rules.label,
        verdict_id=identify(inputs, output, rules.form),
        confidence_basis=basis,
    )


def grade(inputs: VerdictInputs, rules: RuleSet = CURRENT) -> tuple[Label, float]:
    """The verdict and the score of `decide`, without evidence, confidence and identity: a tenth of the time."""
    tables = rules.tables
    weighed = [(rule.weight, *weigh(tables, rule, inputs)) for rule in tables.rules]
    score = sum(contribution for _, contribution, _ in weighed)
    coverage = sum(weight * covered for weight, _, covered in weighed) / rules.weight
    lacks = any(True for _ in _lacking(tables.trust, inputs, coverage))
    return "insufficient-evidence" if lacks else row_of(tables.grades, score).verdict, score


def _basis(rules: RuleSet, findings: Sequence[Finding], groups: Mapping[str, float]) -> _Basis:
    weighed = list(zip(rules.tables.rules, findings, strict=True))
    covered = sum(rule.weight * finding.covered for rule, finding in weighed)
    missing = sum(rule.weight for rule, finding in weighed if not finding.covered)
    net, said = abs(sum(groups.values())), sum(map(abs, groups.values()))
    agreement = max(0.0, net - missing) / (said + missing) if said or missing else 1.0
    return _Basis(covered / rules.weight, agreement, missing, bool(said))


def _lacking(trust: Trust, inputs: VerdictInputs, coverage: float) -> Iterator[str]:
    """What is missing for a verdict to be given at all."""
    risk = inputs.raw.risk
    if risk is None or risk.price is None:
        yield "the price is not known"
    if risk is None or (risk.trend_daily is None and risk.trend_weekly is None):
        yield "neither trend is known"
    if coverage < trust.least:
        yield f"only {_share(coverage)} of the evidence is at hand and {_share(trust.least)} is the least"


def _sum_up(verdict: Label, score: float, lacking: Sequence[str], groups: Mapping[str, float]) -> str:
    if lacking:
        return f"There is no verdict: {_listed(lacking)}."
    parts = [f"{name} {points:+.2f}" for name, points in groups.items()]
    counted = f"{_listed(parts).capitalize()}. " if parts else ""
    return f"{counted}Together that is {score:+.2f} on a scale from -4 to +4: {verdict}."


def _confidence(trust: Trust, sources: Sources, exact: _Basis, *, abstains: bool) -> tuple[Confidence, str]:
    levels = [level.confidence for level in trust.levels]
    alone = next(at for at, level in enumerate(trust.levels) if exact.agreement >= level.agreement)
    reasons = [*_thin(trust, exact.coverage), *_unwell(sources)]
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


def _thin(trust: Trust, coverage: float) -> Iterator[str]:
    for bound in (trust.half, trust.full):
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

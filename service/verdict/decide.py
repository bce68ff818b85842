"""The verdict on given inputs. Pure: the same inputs give the same bytes."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.verdict.rules import RuleResult, apply, format_figure, weigh
from service.verdict.ruleset import CURRENT, RuleSet
from service.verdict.tables import ConfidenceRules, RuleTablesV2, matching_row
from service.wire.canonical import canonical
from service.wire.verdict import CoinVerdict, Confidence, ConfidenceBasis, Label, Sources, SourceState, VerdictInputs

_DECIMALS: Final = 4
_PERCENT: Final = 100
_SPOKEN: Final = {
    "risk": "the risk context",
    "funding": "funding momentum",
    "regime": "the regime",
    "sentiment": "sentiment",
}


class _Basis(NamedTuple):
    """Unrounded inputs of confidence.

    `coverage` is the share of the weight whose input is known, 0 to 1; stale inputs count half. `agreement`, 0 to 1, is
    the least share of the evidence that points one way. The `missing` weight counts against it; otherwise confidence
    would rise when a rule that disagrees loses its input. `speaks` is whether any group points either way.
    """

    coverage: float
    agreement: float
    missing: float
    speaks: bool


def decide(inputs: VerdictInputs, rules: RuleSet = CURRENT) -> CoinVerdict:
    """Judge a coin by a rule set.

    Args:
        inputs: Inputs of the verdict; finite numbers only.
        rules: The rule set. New verdicts use the current one, replays use others.

    Returns:
        The verdict. `evidence` has one sentence for each rule, in order, then the sum, then the basis of confidence.

    Raises:
        ValueError: If JSON cannot hold the inputs (numbers that are not finite, half a surrogate pair).
    """
    tables = rules.tables
    findings = [apply(tables, rule, inputs, index) for index, rule in enumerate(tables.rules)]
    score = sum(finding.applied.contribution for finding in findings)
    points = {finding.applied.id: finding.applied.contribution for finding in findings}
    groups = {group.name: sum(points[rule] for rule in group.rules) for group in rules.groups}
    exact = _basis(rules, findings, groups)
    lacking = list(_lacking(tables.trust, inputs, exact.coverage))
    verdict: Label = "insufficient-evidence" if lacking else matching_row(tables.grades, score).verdict
    confidence, why = _confidence(tables.trust, inputs.sources, exact, abstains=bool(lacking))
    basis = ConfidenceBasis(round(exact.coverage, _DECIMALS), round(exact.agreement, _DECIMALS), why)
    named = groups if isinstance(tables, RuleTablesV2) else {}
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
    return CoinVerdict(
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
    return "insufficient-evidence" if lacks else matching_row(tables.grades, score).verdict, score


def _basis(rules: RuleSet, findings: Sequence[RuleResult], groups: Mapping[str, float]) -> _Basis:
    weighed = list(zip(rules.tables.rules, findings, strict=True))
    covered = sum(rule.weight * finding.covered for rule, finding in weighed)
    missing = sum(rule.weight for rule, finding in weighed if not finding.covered)
    net, said = abs(sum(groups.values())), sum(map(abs, groups.values()))
    agreement = max(0.0, net - missing) / (said + missing) if said or missing else 1.0
    return _Basis(covered / rules.weight, agreement, missing, bool(said))


def _lacking(trust: ConfidenceRules, inputs: VerdictInputs, coverage: float) -> Iterator[str]:
    """What is missing for a verdict."""
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
    parts = [f"{name} {points:+z.2f}" for name, points in groups.items()]
    counted = f"{_listed(parts).capitalize()}. " if parts else ""
    return f"{counted}Together that is {score:+z.2f} on a scale from -4 to +4: {verdict}."


def _confidence(trust: ConfidenceRules, sources: Sources, exact: _Basis, *, abstains: bool) -> tuple[Confidence, str]:
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


def _thin(trust: ConfidenceRules, coverage: float) -> Iterator[str]:
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
    return f"{format_figure(share * _PERCENT)} %"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def identify(inputs: VerdictInputs, output: Mapping[str, object], rules: bytes) -> str:
    """SHA-256, in hex, over the RFC 8785 form of inputs, rule set and output.

    The whole tables enter, not only their name, so two verdicts with one id were judged by the same rules.

    Args:
        inputs: Inputs of the verdict.
        output: `verdict, score, confidence, confidence_basis, evidence, rules`.
        rules: Canonical JSON of the rule set's tables.

    Raises:
        ValueError: If a number is not finite or a text holds half a surrogate pair.
    """
    # Insert the prepared form of the tables at its place in the order of keys: encoding it again takes longer.
    form = b'{"inputs":%b,"output":%b,"ruleset":%b}' % (canonical(inputs), canonical(output), rules)
    return hashlib.sha256(form).hexdigest()

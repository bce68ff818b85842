"""Claims of a verdict: a probability if its rules have shown skill, else what was measured. Pure.

A claim is withdrawn while its live record is worse than the base rate (decision 9).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import exp
from typing import Final

from service import formats
from service.verdict.ledger import ABSTAINED, HORIZONS
from service.verdict.measured import MEASURED, IsotonicModel, LogisticModel, MeasuredClaim, MeasuredSkill, OutcomeRate
from service.verdict.ruleset import CURRENT, find
from service.verdict.scorecard import LiveSkill, later
from service.wire.verdict import Claim, CoinVerdict, Target

TARGETS: Final[tuple[Target, ...]] = ("rises", "beats-median")
"""Targets that every answer names, with or without skill."""

_DECIMALS: Final = 4
_CAME_TRUE: Final[dict[Target, str]] = {
    "rises": "rose",
    "beats-median": "gained more than the median coin",
    "moves-more": "moved more than they used to",
}


def claims(verdict: CoinVerdict, live: Sequence[LiveSkill] = (), measured: MeasuredSkill = MEASURED) -> list[Claim]:
    """The claims of a verdict for each horizon and target.

    Args:
        verdict: A verdict of a measured rule set.
        live: Live skill of published claims.
        measured: Results of the protocol.
    """
    return [
        _claim(verdict, look, withdrawal(look, live), measured)
        for days in HORIZONS
        for look in measured.looks
        if (look.ruleset, look.days) == (verdict.ruleset.version, days)
        and (look.target in TARGETS or look.model is not None)
    ]


def earned(measured: MeasuredSkill = MEASURED) -> list[MeasuredClaim]:
    """The claims of the current rule set that have a probability."""
    return [look for look in measured.looks if look.model is not None and look.ruleset == CURRENT.label.version]


def withdrawal(look: MeasuredClaim, live: Sequence[LiveSkill]) -> LiveSkill | None:
    """The live skill that withdraws a claim; null if it is not withdrawn."""
    return next((one for one in live if (one.target, one.days) == (look.target, look.days) and one.withdraws), None)


def apply(model: IsotonicModel | LogisticModel, verdict: CoinVerdict) -> float:
    """The probability that a model gives, 0 to 1."""
    if isinstance(model, IsotonicModel):
        return model.levels[max(0, bisect_right(model.starts, verdict.score) - 1)]
    weighted = zip(_groups(verdict), model.coefficients, strict=True)
    return 1 / (1 + exp(-model.intercept - sum(group * coefficient for group, coefficient in weighted)))


def _claim(verdict: CoinVerdict, look: MeasuredClaim, withdrawn: LiveSkill | None, measured: MeasuredSkill) -> Claim:
    has_none = look.model is None or withdrawn is not None or verdict.verdict == ABSTAINED
    probability = None if has_none or look.model is None else round(apply(look.model, verdict), _DECIMALS)
    reason = _reason(verdict, look, withdrawn, measured) if has_none else None
    return Claim(
        days=look.days,
        target=look.target,
        probability=probability,
        base_rate=look.base_rate,
        skill=look.skill,
        skill_low=look.skill_low,
        skill_high=look.skill_high,
        days_seen=look.days_seen,
        fitted_until=measured.last_day,
        method=look.method,
        reason=reason,
    )


def _groups(verdict: CoinVerdict) -> Iterator[float]:
    """What each group of rules contributes."""
    known = find(verdict.ruleset.name, verdict.ruleset.version)
    contributions = {rule.id: rule.contribution for rule in verdict.rules}
    for group in () if known is None else known.groups:
        yield sum(contributions[rule] for rule in group.rules)


def _reason(verdict: CoinVerdict, look: MeasuredClaim, withdrawn: LiveSkill | None, measured: MeasuredSkill) -> str:
    if verdict.verdict == ABSTAINED:
        return "An abstention claims nothing."
    if withdrawn is not None:
        return (
            f"Withdrawn: on {withdrawn.days_seen} live days the probability was worse than the base rate. Its skill "
            f"was {formats.share(withdrawn.skill)}, at most {formats.share(withdrawn.skill_high)} (95 %)."
        )
    found = _followed(verdict, look, measured)
    return (
        f"No skill shown: {formats.share(found.rate)} of the coins with a {verdict.verdict} verdict "
        f"{_CAME_TRUE[look.target]} {later(look.days)}, "
        f"on {found.days_seen} days; base rate {formats.share(found.base_rate)}."
    )


def _followed(verdict: CoinVerdict, look: MeasuredClaim, measured: MeasuredSkill) -> OutcomeRate:
    key = (look.ruleset, verdict.verdict, look.target, look.days)
    return next(row for row in measured.followed if (row.ruleset, row.verdict, row.target, row.days) == key)

"""What a verdict claims: a probability where its rules have shown skill, and otherwise what was measured. Pure."""

from bisect import bisect_right
from collections.abc import Iterator
from math import exp
from typing import Final

from service.verdict.ledger import ABSTAINED, HORIZONS
from service.verdict.measured import MEASURED, Followed, Isotonic, Logistic, Look, Measured
from service.verdict.ruleset import find
from service.verdict.scorecard import later
from service.wire.verdict import Claim, Target, Verdict

TARGETS: Final[tuple[Target, ...]] = ("rises", "beats-median")
"""Targets that every answer names, with or without skill."""

_DECIMALS: Final = 4
_CAME_TRUE: Final[dict[Target, str]] = {
    "rises": "rose",
    "beats-median": "gained more than the median coin",
    "moves-more": "moved more than they used to",
}


def claims(verdict: Verdict, measured: Measured = MEASURED) -> list[Claim]:
    """What a verdict claims of each horizon and target.

    Args:
        verdict: One of a rule set that was measured.
        measured: What the protocol found.
    """
    return [
        _claim(verdict, look, measured)
        for days in HORIZONS
        for look in measured.looks
        if (look.ruleset, look.days) == (verdict.ruleset.version, days)
        and (look.target in TARGETS or look.model is not None)
    ]


def _claim(verdict: Verdict, look: Look, measured: Measured) -> Claim:
    abstains = verdict.verdict == ABSTAINED
    probability = None if look.model is None or abstains else round(_apply(look.model, verdict), _DECIMALS)
    reason = None if probability is not None else _reason(verdict, look, measured)
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


def _apply(model: Isotonic | Logistic, verdict: Verdict) -> float:
    if isinstance(model, Isotonic):
        return model.levels[max(0, bisect_right(model.starts, verdict.score) - 1)]
    weighted = zip(_groups(verdict), model.coefficients, strict=True)
    return 1 / (1 + exp(-model.intercept - sum(group * coefficient for group, coefficient in weighted)))


def _groups(verdict: Verdict) -> Iterator[float]:
    """What each group of rules contributes."""
    known = find(verdict.ruleset.name, verdict.ruleset.version)
    contributions = {rule.id: rule.contribution for rule in verdict.rules}
    for group in () if known is None else known.groups:
        yield sum(contributions[rule] for rule in group.rules)


def _reason(verdict: Verdict, look: Look, measured: Measured) -> str:
    if verdict.verdict == ABSTAINED:
        return "An abstention claims nothing."
    found = _followed(verdict, look, measured)
    return (
        f"No skill shown: {found.rate:.1%} of the coins with a {verdict.verdict} verdict {_CAME_TRUE[look.target]} "
        f"{later(look.days)}, on {found.days_seen} days; base rate {found.base_rate:.1%}."
    )


def _followed(verdict: Verdict, look: Look, measured: Measured) -> Followed:
    key = (look.ruleset, verdict.verdict, look.target, look.days)
    return next(row for row in measured.followed if (row.ruleset, row.verdict, row.target, row.days) == key)

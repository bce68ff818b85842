"""What the caller may still ask, on which tier, and when that changes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, counted, instant, quote
from service.ask.writing.assignment import Assignment

_FROM: Final[Mapping[str, str]] = MappingProxyType(
    {
        "default": "every account begins with it",
        "grant": "it was granted to the account",
        "wallet": "a wallet of the account's brings it",
    }
)


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell what is left, then the tier and whence it comes."""
    quota, tier = assignment.evidence.first("billing.quota"), assignment.evidence.first("billing.tier")
    if quota is not None:
        draft.say(*_left(quota))
        if quota.get("/resets_at") is not None and not assignment.style.terse:
            draft.say("The next free question comes at ", instant(quota, "/resets_at"), ".")
    if tier is not None:
        draft.say(*_tier(tier))
    if quota is not None:
        draft.explain("tier")


def _left(found: Found) -> Sequence[Piece]:
    if found.get("/limit") is None:
        used = counted(found, "/used", "question", "questions")
        return bold("No limit"), " on the ", quote(found, "/tier"), " tier: ", used, " asked today."
    left = bold(count(found, "/remaining"), " of ", counted(found, "/limit", "question", "questions"), " left")
    return left, " of the starter." if found.get("/period") == "lifetime" else " today."


def _tier(found: Found) -> Sequence[Piece]:
    whence = _FROM[str(found.get("/source"))]
    told: list[Piece] = ["You are on the ", bold(quote(found, "/tier")), f" tier: {whence}"]
    if found.get("/expiresAt") is not None:
        told += [", until ", instant(found, "/expiresAt")]
    return *told, "."

"""What holding a position would pay or receive."""

from collections.abc import Iterator

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import cents, days, signed, size_usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import ticker

_CARRY = "compute.carry"
_SIDES = {"long": ("long",), "short": ("short",)}


def write(assignment: Assignment, draft: Draft) -> None:
    """What it comes to first, then what that rests on."""
    for carry in assignment.evidence.all(_CARRY):
        if carry.get("/funding_apr") is None:
            draft.say(bold("The funding of ", ticker(carry), " is not known"), ", so nothing can be said of its carry.")
            continue
        for side in _sides(carry):
            draft.say(bold("A ", *side), ".")
        assumed = "" if assignment.entities.amount is not None else " No amount was named, so a usual one was taken."
        draft.say("That is with funding staying at ", signed(carry, "/funding_apr"), " a year, simple.", assumed)
    draft.explain("carry")


def _sides(carry: Found) -> Iterator[tuple[Piece, ...]]:
    for side in _SIDES.get(str(carry.get("/side")), ("long", "short")):
        yes = carry.get(f"/{side}_usd") or 0
        verb = " would pay " if yes < 0 else " would receive "
        of = (cents(carry, "/notional_usd"), " in ", ticker(carry), " held ", days(carry, "/days"))
        yield f"{side} of ", *of, verb, size_usd(carry, f"/{side}_usd")

"""What holding a position would pay or receive."""

from collections.abc import Iterator

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import cents, days, quantity, signed, size_usd
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
        if carry.get("/notional_usd") is None:
            draft.say(bold("The price of ", ticker(carry), " is not known"), ", so nothing can be said of its carry.")
            continue
        for side in _sides(carry):
            draft.say(bold("A ", *side), ".")
        assumed = "" if _is_named(assignment, carry) else " No amount of it was named, so a usual one was taken."
        draft.say("That is with funding staying at ", signed(carry, "/funding_apr"), " a year, simple.", assumed)
    draft.explain("carry")


def _sides(carry: Found) -> Iterator[tuple[Piece, ...]]:
    for side in _SIDES.get(str(carry.get("/side")), ("long", "short")):
        yes = carry.get(f"/{side}_usd") or 0
        verb = " would pay " if yes < 0 else " would receive "
        held = (" held ", days(carry, "/days"), verb, size_usd(carry, f"/{side}_usd"))
        yield (f"{side} of ", *_size(carry), *held)


def _size(carry: Found) -> tuple[Piece, ...]:
    if "quantity" in carry.args:
        return quantity(carry, "/quantity"), " ", ticker(carry), " worth ", cents(carry, "/notional_usd")
    return cents(carry, "/notional_usd"), " in ", ticker(carry)


def _is_named(assignment: Assignment, carry: Found) -> bool:
    amount = assignment.entities.amount
    return amount is not None and amount.unit in {None, "USD", carry.get("/symbol")}

"""What every answer ends with: what it leaves out, what failed, what is stale, and where its figures come from."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, joined, listed
from service.ask.evidence import Found
from service.ask.figures import as_of, failure, field, quote, said
from service.ask.tokens import coin_of
from service.ask.writing.assignment import Assignment

MOST_COINS: Final = 5
"""Coins and assets that one answer looks at."""

_TICKER: Final = ("/symbol", "/name")


def caveats(assignment: Assignment, draft: Draft) -> None:
    """Say what is left out, unknown, failed or stale."""
    _left_out(assignment, draft)
    _unknown(assignment, draft)
    for step in assignment.evidence.failed:
        named = step.args.get("symbol", step.args.get("name"))
        of: Piece = (" for ", said(str(named))) if isinstance(named, str) else ""
        draft.say("Not answered: ", said(step.tool), of, ": ", failure(step), ".")
    stale = [row for found in assignment.evidence.found for row in _stale(found)]
    if stale:
        draft.say("Not as fresh as it should be:")  # between two lists something must stand, lest they be read as one
        draft.items(stale)


def sources(assignment: Assignment, draft: Draft) -> None:
    """Name the tools that answered, and of when each answer is."""
    named = dict.fromkeys((found.tool, found.as_of) for found in assignment.evidence.found)
    first = {(found.tool, found.as_of): found for found in reversed(assignment.evidence.found)}
    pieces = [_source(first[key]) for key in named]
    if pieces:
        draft.say("_Sources: ", *joined(pieces, "; "), "_")


def _source(found: Found) -> Piece:
    return found.tool if found.as_of is None else (found.tool, " as of ", as_of(found))


def _left_out(assignment: Assignment, draft: Draft) -> None:
    entities = assignment.entities
    planned = {str(value) for step in assignment.plan.steps for value in step.args.values()}
    planned |= {str(coin_of(value)) for value in planned}
    many = len(entities.coins) + len(entities.assets) > MOST_COINS
    out = [name for name in (*entities.coins, *entities.assets) if many and name not in planned]
    if out:
        draft.say(
            "Left out, because one answer looks at no more names than these: ",
            listed([said(name) for name in out]),
            ".",
        )


def _unknown(assignment: Assignment, draft: Draft) -> None:
    entities = assignment.entities
    for name in entities.unknown:
        offered = entities.candidates.get(name, ())
        meant: Piece = (" Perhaps ", _either(offered), " is meant.") if offered else ""
        draft.say(said(name), " is not known here.", meant)


def _either(names: Sequence[str]) -> Piece:
    return joined([said(name) for name in names], " or ")


def _stale(found: Found) -> Iterator[Piece]:
    fields = found.get("/_stale_fields") or []
    old = [name for name in fields if found.get(f"/{name}") is not None]
    gone = [name for name in fields if name not in old]
    states = found.get("/sources")
    states = states if isinstance(states, dict) else {}
    old += [name for name, state in states.items() if state == "stale"]
    gone += [name for name, state in states.items() if state == "rejected"]
    of = next(((" of ", quote(found, at)) for at in _TICKER if found.get(at) is not None), ())
    for names, said_of in ((old, "stale, shown as last known"), (gone, "missing")):
        if names:
            yield (found.tool, *of, ": ", listed([field(found, str(name)) for name in names]), f" {said_of}")

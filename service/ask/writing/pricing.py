"""What asking costs, and what is free of it."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, joined, listed
from service.ask.evidence import Found
from service.ask.figures import count, counted, quote, said, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_QUESTION: Final = "question"


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the price of a question, of the other routes by price, and the free plan."""
    for found in assignment.evidence.all("manifest"):
        _tell(found, assignment.entities.part, assignment.style, draft)


def _tell(found: Found, part: str | None, style: Style, draft: Draft) -> None:
    routes = [f"/routes/{index}" for index in range(found.size("/routes"))]
    asked = next((row for row in routes if found.get(f"{row}/id") == part), None)
    if asked is not None:
        cost = bold("A call of ", said(str(part)), " costs ", usd(found, f"{asked}/price_usdc"))
        draft.say(cost, " in USDC once no free question is left.")
        draft.say(*_free(found))
        return
    question = next((row for row in routes if found.get(f"{row}/id") == _QUESTION), None)
    if question is not None:
        cost = bold("A question in plain words costs ", usd(found, f"{question}/price_usdc"))
        draft.say(cost, " in USDC once no free one is left.")
    draft.say(*_free(found))
    draft.say("Routes by the price of a call:")
    draft.items(_prices(found, routes))
    if not style.terse:
        draft.say(*_tiers(found))
        draft.say("Definitions, small talk, questions about your account and calls that fail cost nothing.")
    draft.explain("x402")


def _free(found: Found) -> Sequence[Piece]:
    starter = bold(counted(found, "/free/starter", "free question", "free questions"))
    return "Every account begins with ", starter, ", then has ", count(found, "/free/perDay"), " a day."


def _prices(found: Found, routes: Sequence[str]) -> list[Piece]:
    by_price: dict[str, list[str]] = {}
    for row in routes:
        by_price.setdefault(str(found.get(f"{row}/price_usdc")), []).append(row)
    return [
        (bold(usd(found, f"{rows[0]}/price_usdc")), ": ", *joined([said(str(found.get(f"{row}/id"))) for row in rows]))
        for rows in by_price.values()
    ]


def _tiers(found: Found) -> Sequence[Piece]:
    rows = [f"/tiers/{index}" for index in range(found.size("/tiers"))]
    each = listed([(quote(found, f"{row}/tier"), " ", _limit(found, row)) for row in rows])
    return "Tiers, by questions a day: ", each, "."


def _limit(found: Found, row: str) -> Piece:
    return "without a limit" if found.get(f"{row}/perDay") is None else count(found, f"{row}/perDay")

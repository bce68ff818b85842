"""The mood of a category: its stance, what is written about it, and the coins that stand out."""

from collections.abc import Sequence

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import counted, instant, quote, signed_number, window
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the mood of every category that was found."""
    for found in assignment.evidence.all("category.sentiment"):
        _tell(found, assignment.style, draft)
    if assignment.evidence.all("category.sentiment"):
        draft.explain("sentiment")


def _tell(found: Found, style: Style, draft: Draft) -> None:
    draft.say(bold(quote(found, "/name"), ": ", quote(found, "/stance")), ", ", *_score(found))
    draft.say(quote(found, "/summary"))
    if found.get("/mentions") and not style.terse:
        draft.say(*_written(found))
    _coins(found, style, draft)


def _score(found: Found) -> Sequence[Piece]:
    if found.get("/score") is None:
        return ("without a score: nothing was written about it lately.",)
    scale = ("score ", signed_number(found, "/score"), " on a scale from minus one to one")
    if found.get("/slope_24h") is None:
        return *scale, "; how it changed is not known."
    return *scale, " (", signed_number(found, "/slope_24h"), " in ", window(found, "/slope_24h"), ")."


def _written(found: Found) -> Sequence[Piece]:
    sources = listed([quote(found, f"/sources/{index}") for index in range(found.size("/sources"))])
    items = counted(found, "/mentions", "item", "items")
    return items, " by ", sources, ", the newest of ", instant(found, "/newest_at"), "."


def _coins(found: Found, style: Style, draft: Draft) -> None:
    rows = [f"/coins/{index}" for index in range(found.size("/coins"))]
    if not style.full:
        rows = [row for row in rows if _stands_out(found, row)]
    if rows:
        draft.table(
            ["Coin", "Stance", "Score"],
            [[quote(found, f"{row}/symbol"), quote(found, f"{row}/stance"), _scored(found, row)] for row in rows],
        )
    else:
        draft.say("None of its coins stands out.")


def _stands_out(found: Found, row: str) -> bool:
    return bool(found.get(f"{row}/stance") != "neutral")


def _scored(found: Found, row: str) -> Piece:
    return "no items" if found.get(f"{row}/score") is None else signed_number(found, f"{row}/score")

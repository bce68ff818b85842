"""How many coins of the market go which way, and what that says."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import count, counted, date, days, percent, points, quote
from service.ask.writing.assignment import Assignment

_SHOWN: Final = 3


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the counts, extremes, where they move, who leads, and what does not agree."""
    found, style = assignment.evidence.first("market.health"), assignment.style
    if found is None:
        return
    draft.say(*_counts(found))
    draft.say(*_direction(found))
    for term in ("breadth", "hodl"):
        draft.explain(term)
    _disagreements(found, draft)
    _movers(found, found.size("/leadership") if style.full else _SHOWN, draft)
    if style.full and found.get("/interpretation") is not None:
        draft.say(quote(found, "/interpretation"))


def _counts(found: Found) -> Sequence[Piece]:
    all_coins = counted(found, "/universe", "coin", "coins")
    up = bold(count(found, "/trends/UP"), " of ", all_coins, " are UP (", percent(found, "/breadth_pct/UP"), ")")
    down = (count(found, "/trends/DOWN"), " DOWN (", percent(found, "/breadth_pct/DOWN"), ")")
    hodl = (count(found, "/trends/HODL"), " HODL (", percent(found, "/breadth_pct/HODL"), ")")
    return up, ", ", *down, " and ", *hodl, ", by daily trend at the close of ", date(found, "/date"), "."


def _direction(found: Found) -> Sequence[Piece]:
    said: list[Piece] = []
    for index in range(found.size("/extremes")):
        state, held = quote(found, f"/extremes/{index}/state"), percent(found, f"/extremes/{index}/share_pct")
        said += ["That is an extreme: ", held, " are ", state, ". "]
    if not said:
        said += ["No state is held by so many that the market is at an extreme. "]
    if found.get("/velocity") is not None:
        said += ["Of late the net share, UP less DOWN, has changed by ", points(found, "/velocity"), " a day. "]
    if found.get("/regime") is not None:
        said += ["The market's regime is ", bold(quote(found, "/regime"))]
        if found.get("/regime_age_days") is not None:
            said += [", for ", days(found, "/regime_age_days")]
        said += ["."]
    return said


def _movers(found: Found, shown: int, draft: Draft) -> None:
    for field, what in (("leadership", "Ahead of"), ("laggards", "Behind")):
        rows = [f"/{field}/{index}" for index in range(min(shown, found.size(f"/{field}")))]
        if rows:
            names = listed([(quote(found, f"{row}/symbol"), " ", points(found, f"{row}/relative_pct")) for row in rows])
            draft.say(what, " the median coin over the last month: ", names, ".")


def _disagreements(found: Found, draft: Draft) -> None:
    rows = [quote(found, f"/divergences/{index}/detail") for index in range(found.size("/divergences"))]
    if rows:
        draft.say("What does not agree: ", *((" " if index else "", row) for index, row in enumerate(rows)))

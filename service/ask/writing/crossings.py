"""When coins going up last came to outnumber those going down, or the reverse."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, counted, date, quote
from service.ask.writing.assignment import Assignment

_SHOWN: Final = 5


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the newest crossing, and those before it in a table."""
    found, style = assignment.evidence.first("market.crossing"), assignment.style
    if found is None:
        return
    many = found.size("/crossings")
    if not many:
        draft.say(bold("No crossing."), " ", quote(found, "/message"))
    else:
        draft.say(*_newest(found))
        if many > 1 and not style.terse:
            draft.table(["Crossing", "At the close of", "UP", "DOWN"], _rows(found, many if style.full else _SHOWN))
    draft.explain("crossing")


def _newest(found: Found) -> Sequence[Piece]:
    row = "/crossings/0"
    when = bold(quote(found, f"{row}/direction"), " at the close of ", date(found, f"{row}/at"))
    now = (count(found, f"{row}/current/UP"), " UP and ", count(found, f"{row}/current/DOWN"), " DOWN")
    before = (count(found, f"{row}/previous/UP"), " UP and ", count(found, f"{row}/previous/DOWN"), " DOWN")
    of = counted(found, f"{row}/universe", "coin", "coins")
    return when, ": ", *now, " of ", of, ", after ", *before, " the day before. That is the newest crossing."


def _rows(found: Found, most: int) -> list[Sequence[Piece]]:
    return [
        [
            quote(found, f"{row}/direction"),
            date(found, f"{row}/at"),
            count(found, f"{row}/current/UP"),
            count(found, f"{row}/current/DOWN"),
        ]
        for row in (f"/crossings/{index}" for index in range(min(most, found.size("/crossings"))))
    ]

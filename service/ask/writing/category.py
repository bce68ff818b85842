"""How the coins of a category do: together, each, and which is ahead."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import big_usd, count, days, length, moved, quote, signed, usd, window
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_SHOWN: Final = 5


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell every category that was found."""
    for found in assignment.evidence.all("category.info"):
        _tell(found, assignment.style, draft)


def _tell(found: Found, style: Style, draft: Draft) -> None:
    name = quote(found, "/name")
    if found.get("/change_24h") is None:
        draft.say(bold(name), ": its change in a day is not known.")
    else:
        draft.say(bold(name, " is ", moved(found, "/change_24h"), " in ", window(found, "/change_24h")), *_size(found))
    if style.explains or style.full:
        draft.say(quote(found, "/description"))
    draft.say(*_trends(found))
    draft.say(*_ahead_and_behind(found))
    _coins(found, style, draft)


def _size(found: Found) -> Sequence[Piece]:
    worth = (". Market cap ", big_usd(found, "/market_cap"))
    return *worth, "; ", window(found, "/volume_24h"), " volume ", big_usd(found, "/volume_24h"), "."


def _trends(found: Found) -> Sequence[Piece]:
    counts = listed([(count(found, f"/trends/{state}"), f" {state}") for state in ("UP", "HODL", "DOWN")])
    return "Of its ", bold(length(found, "/coins"), " coins"), ", by daily trend: ", counts, "."


def _ahead_and_behind(found: Found) -> Sequence[Piece]:
    told: list[Piece] = []
    for field, what in (("leaders", "Ahead: "), ("laggards", " Behind: ")):
        if found.size(f"/{field}"):
            told += [what, listed([_moving(found, f"/{field}/{at}") for at in range(found.size(f"/{field}"))]), "."]
    return told


def _moving(found: Found, pointer: str) -> Piece:
    """A ticker and its change, from its row."""
    for index in range(found.size("/coins")):
        if found.get(f"/coins/{index}/symbol") == found.get(pointer):
            return quote(found, pointer), " ", signed(found, f"/coins/{index}/change_24h")
    return quote(found, pointer)


def _coins(found: Found, style: Style, draft: Draft) -> None:
    many = found.size("/coins")
    shown = many if style.full else min(many, _SHOWN)
    if shown:
        head = ["Coin", "Price", "Change", "Daily trend", "For"]
        rows = [_row(found, f"/coins/{index}", style) for index in range(shown)]
        draft.table([*head, "Name", "Market cap"] if style.full else head, rows)
    if many > shown:
        draft.say("Also in it: ", listed([quote(found, f"/coins/{index}/symbol") for index in range(shown, many)]), ".")


def _row(found: Found, row: str, style: Style) -> Sequence[Piece]:
    cells: list[Piece] = [quote(found, f"{row}/symbol"), usd(found, f"{row}/price"), signed(found, f"{row}/change_24h")]
    cells += [quote(found, f"{row}/trend_daily"), days(found, f"{row}/streak_days")]
    if style.full:
        cells += [quote(found, f"{row}/name"), big_usd(found, f"{row}/market_cap")]
    return cells

"""Coins whose funding left the ordinary: which, when, how far, and whether it still is."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, instant, number, quote, said, signed, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_SHOWN: Final = 5


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the newest alert, then the others in a table."""
    style = assignment.style
    for found in assignment.evidence.all("funding.alerts"):
        if not found.size("/events"):
            draft.say(*_none(found))
        else:
            draft.say(*_newest(found, style))
            most = found.size("/events") if style.full else (assignment.entities.limit or _SHOWN)
            _others(found, min(most, found.size("/events")), style, draft)
    if assignment.evidence.all("funding.alerts"):
        draft.explain("funding-alert")


def _none(found: Found) -> Sequence[Piece]:
    symbol = found.args.get("symbol")
    whom: Piece = (" for ", said(str(symbol))) if symbol else ""
    when = " in the time you ask about" if found.args.get("since") else ""
    return bold("No funding alerts"), whom, when, ": funding entered no unusual zone."


def _newest(found: Found, style: Style) -> Sequence[Piece]:
    row = "/events/0"
    coin, zone = quote(found, f"{row}/asset"), quote(found, f"{row}/triggerZone")
    rate = (signed(found, f"{row}/fundingAtTrigger"), " a year")
    told: list[Piece] = [bold(coin, " funding turned ", zone, ": ", *rate), " at ", instant(found, f"{row}/firedAt")]
    told += ["; ", *_ending(found, row), "."]
    if not style.terse:
        rank = number(found, f"{row}/percentile")
        told += [" That is at percentile ", rank, " of the funding of ", coin, " in the last month."]
    return told


def _ending(found: Found, row: str) -> Sequence[Piece]:
    if found.get(f"{row}/clearedAt") is None:
        return ("it has not cleared",)
    return "it cleared at ", instant(found, f"{row}/clearedAt")


def _others(found: Found, shown: int, style: Style, draft: Draft) -> None:
    if shown > 1:
        head = ["Coin", "Zone", "Funding a year", "Fired", "Cleared"]
        draft.table([*head, "Price then", "Percentile"] if style.full else head, _rows(found, shown, style))
    if (found.get("/meta/total") or 0) > shown:
        draft.say("There are ", count(found, "/meta/total"), " alerts in all; these are the newest.")


def _rows(found: Found, shown: int, style: Style) -> list[Sequence[Piece]]:
    rows: list[Sequence[Piece]] = []
    for row in (f"/events/{index}" for index in range(shown)):
        cleared = "no" if found.get(f"{row}/clearedAt") is None else instant(found, f"{row}/clearedAt")
        cells: list[Piece] = [quote(found, f"{row}/asset"), quote(found, f"{row}/triggerZone")]
        cells += [signed(found, f"{row}/fundingAtTrigger"), instant(found, f"{row}/firedAt"), cleared]
        if style.full:
            cells += [usd(found, f"{row}/price"), number(found, f"{row}/percentile")]
        rows.append(cells)
    return rows

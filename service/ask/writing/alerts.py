"""Coins whose funding left the ordinary: which, when, how far, and whether it still is."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, instant, length, number, quote, said, signed, since, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_SHOWN: Final = 5
_MOST: Final = 50
_SIDES: Final = ("hot", "cold")
"""Of the zones: each side has a milder and a stricter one."""


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell the newest alert, then the others in a table."""
    style, entities = assignment.style, assignment.entities
    side = entities.part if entities.part in _SIDES else None
    for found in assignment.evidence.all("funding.alerts"):
        rows = [row for row in _events(found) if side is None or _is_of(found, row, side)]
        if not rows:
            draft.say(*_none(found, side))
            if side is not None and _events(found):
                draft.say("The newest alert of the other side: ", *_newest(found, _events(found)[0], style))
        else:
            draft.say(*_newest(found, rows[0], style))
            most = _MOST if style.full else (entities.limit or _SHOWN)
            _others(found, rows[:most], style, draft)
            _rest(found, side, len(rows) > most, draft)
    if assignment.evidence.all("funding.alerts"):
        draft.explain("funding-alert")


def _events(found: Found) -> list[str]:
    return [f"/events/{index}" for index in range(found.size("/events"))]


def _is_of(found: Found, row: str, side: str) -> bool:
    return str(found.get(f"{row}/triggerZone")).endswith(side)


def _none(found: Found, side: str | None) -> Sequence[Piece]:
    symbol = found.args.get("symbol")
    whom: Piece = (" for ", said(str(symbol))) if symbol else ""
    when: Piece = (" since ", since(found)) if found.args.get("since") else " are on record"
    if side is not None:
        return bold(f"No {side} funding alerts"), whom, when, *_looked_at(found)
    return bold("No funding alerts"), whom, when, ": funding entered no unusual zone."


def _looked_at(found: Found) -> Sequence[Piece]:
    if (found.get("/meta/total") or 0) > found.size("/events"):
        return " among the newest ", length(found, "/events"), " alerts."
    return (".",)


def _newest(found: Found, row: str, style: Style) -> Sequence[Piece]:
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


def _others(found: Found, rows: Sequence[str], style: Style, draft: Draft) -> None:
    if len(rows) > 1:
        head = ["Coin", "Zone", "Funding a year", "Fired", "Cleared"]
        draft.table([*head, "Price then", "Percentile"] if style.full else head, _cells(found, rows, style))


def _rest(found: Found, side: str | None, is_cut: bool, draft: Draft) -> None:
    total = found.get("/meta/total") or 0
    if side is not None:
        if is_cut or total > found.size("/events"):
            draft.say(f"These are the newest that are {side}.")
    elif is_cut or total > found.size("/events"):
        draft.say("There are ", count(found, "/meta/total"), " alerts in all; these are the newest.")


def _cells(found: Found, shown: Sequence[str], style: Style) -> list[Sequence[Piece]]:
    rows: list[Sequence[Piece]] = []
    for row in shown:
        cleared = "no" if found.get(f"{row}/clearedAt") is None else instant(found, f"{row}/clearedAt")
        cells: list[Piece] = [quote(found, f"{row}/asset"), quote(found, f"{row}/triggerZone")]
        cells += [signed(found, f"{row}/fundingAtTrigger"), instant(found, f"{row}/firedAt"), cleared]
        if style.full:
            cells += [usd(found, f"{row}/price"), number(found, f"{row}/percentile")]
        rows.append(cells)
    return rows

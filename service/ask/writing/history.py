"""How coins changed, and what was known of them then."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import big_usd, days, hours, instant, moved, signed, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import ticker
from service.wire.ask import Period

_HISTORICAL: Final = "coin.historical"
_FIRST: Final = "/series/0/priceUSD"
_ROWS: Final = (
    ("Price", "priceUSD", usd),
    ("Market cap", "marketCap", big_usd),
    ("Spot volume a day", "volume", big_usd),
    ("Volume of the perpetual a day", "futuresVolume24h", big_usd),
    ("Open interest", "openInterest", big_usd),
    ("Funding a year", "fundingRate", signed),
)


def write(assignment: Assignment, draft: Draft) -> None:
    """The change first, from what to what, then the rest of what is known of both times."""
    for found in assignment.evidence.all(_HISTORICAL):
        draft.say(*_change(found))
        if _is_capped(found, assignment.entities.period):
            draft.say("That is as far back as one answer reaches, less far than you ask.")
        if assignment.style.full:
            draft.table((ticker(found), "Then", "Now"), _rows(found))
        elif not assignment.style.terse and found.get(_FIRST) is not None:
            draft.say(*_from(found))
    draft.explain("price")


def _change(found: Found) -> Sequence[Piece]:
    span = hours(found, "/count") if found.get("/unit") == "h" else days(found, "/count")
    if found.get("/at/priceUSD") is not None and found.get("/now/priceUSD") is None:
        then = bold(ticker(found), "'s price ", span, " ago was ", usd(found, "/at/priceUSD"))
        return then, ". Its price now is not known, so neither is how it changed."
    if found.get("/change_pct") is None:
        known = found.get("/now/priceUSD") is not None
        now: Piece = (" Its price is ", usd(found, "/now/priceUSD"), " now.") if known else ""
        return bold(ticker(found), "'s price ", span, " ago is not known"), ".", now
    change = bold(ticker(found), " is ", moved(found, "/change_pct"), " in ", span)
    return change, ", from ", usd(found, "/at/priceUSD"), " to ", usd(found, "/now/priceUSD"), "."


def _is_capped(found: Found, asked: Period | None) -> bool:
    return asked is not None and asked.unit == found.get("/unit") and asked.count > (found.get("/count") or 0)


def _from(found: Found) -> Sequence[Piece]:
    """Of when the price then is: the close of the first bar; where none is so old, the oldest price that is known."""
    at = instant(found, "/series/0/t")
    if found.get("/at/priceUSD") is not None:
        return "The price then is the close of the bar that ended at ", at, "."
    return "The oldest price of ", ticker(found), " that is known is ", usd(found, _FIRST), ", at ", at, "."


def _rows(found: Found) -> Iterator[Sequence[Piece]]:
    for name, field, form in _ROWS:
        yield name, form(found, f"/at/{field}"), form(found, f"/now/{field}")

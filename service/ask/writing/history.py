"""How coins changed, and what was known of them then."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import big_usd, date, days, hours, instant, moved, signed, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import ticker

_HISTORICAL: Final = "coin.historical"
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
        if assignment.style.full:
            draft.table((ticker(found), "Then", "Now"), _rows(found))
        elif not assignment.style.terse and found.size("/series"):
            draft.say("The first bar of that time ended at ", _at(found), ".")
    draft.explain("price")


def _change(found: Found) -> Sequence[Piece]:
    span = hours(found, "/count") if found.get("/unit") == "h" else days(found, "/count")
    if found.get("/change_pct") is None:
        known = found.get("/now/priceUSD") is not None
        now: Piece = (" Its price is ", usd(found, "/now/priceUSD"), " now.") if known else ""
        return bold(ticker(found), "'s price ", span, " ago is not known"), ".", now
    change = bold(ticker(found), " is ", moved(found, "/change_pct"), " in ", span)
    return change, ", from ", usd(found, "/at/priceUSD"), " to ", usd(found, "/now/priceUSD"), "."


def _at(found: Found) -> Piece:
    return instant(found, "/series/0/t") if found.get("/unit") == "h" else date(found, "/series/0/t")


def _rows(found: Found) -> Iterator[Sequence[Piece]]:
    for name, field, form in _ROWS:
        yield name, form(found, f"/at/{field}"), form(found, f"/now/{field}")

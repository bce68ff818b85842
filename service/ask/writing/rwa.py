"""A real-world asset as its perpetual trades: price, trend, funding; several beside each other."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import big_usd, hours, moved, number, quote, signed, size, usd, window
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_HEAD: Final = ("Asset", "Name", "Price", "Change", "Daily trend", "Weekly trend", "Funding a year", "Volume a day")


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell every asset that was found, and a table where there are several."""
    found = assignment.evidence.all("rwa.symbol")
    for each in found:
        draft.say(*_price(each))
        if len(found) == 1 or assignment.style.full:
            _detail(each, assignment.style, draft)
    if len(found) > 1:
        draft.table(_HEAD, [_row(each) for each in found])
    if found:
        draft.explain("rwa")


def _price(found: Found) -> Sequence[Piece]:
    name = (quote(found, "/name"), " (", quote(found, "/symbol"), ")")
    if found.get("/price") is None:
        return bold("The price of ", *name, " is not known now"), "."
    told: list[Piece] = [bold(*name, " trades at ", _worth(found)), " on ", quote(found, "/venue")]
    if found.get("/change_24h") is not None:
        told += [", ", moved(found, "/change_24h"), " in ", window(found, "/change_24h")]
    return *told, "."


def _worth(found: Found) -> Piece:
    """A currency pair's price is a rate, of yen for a dollar say: it is no sum of dollars."""
    return number(found, "/price") if found.get("/assetType") == "fx" else usd(found, "/price")


def _detail(found: Found, style: Style, draft: Draft) -> None:
    symbol = quote(found, "/symbol")
    daily, weekly = bold(quote(found, "/trend_daily")), bold(quote(found, "/trend_weekly"))
    draft.say(symbol, "'s trend is ", daily, " daily and ", weekly, " weekly.")
    draft.say(*_funding(found, style))
    traded = (window(found, "/volume_24h_usd"), " volume ", big_usd(found, "/volume_24h_usd"))
    draft.say(symbol, ": ", *traded, "; open interest ", big_usd(found, "/open_interest_usd"), ".")


def _funding(found: Found, style: Style) -> Sequence[Piece]:
    symbol, rate = quote(found, "/symbol"), found.get("/funding/apr")
    if rate is None:
        return "Funding of the perpetual on ", symbol, " is not known now."
    if rate == 0:
        told: list[Piece] = ["Funding of the perpetual on ", symbol, " is nil: neither side pays"]
    else:
        sides = ("longs pay shorts ", " a year") if rate > 0 else ("shorts pay longs ", " a year")
        told = ["On the perpetual on ", symbol, ", ", sides[0], size(found, "/funding/apr"), sides[1]]
    if style.full:
        is_hourly = found.get("/funding/interval_hours") == 1
        told += [", settled every ", "hour" if is_hourly else hours(found, "/funding/interval_hours")]
    return *told, "." if style.terse else "; the asset itself pays none."


def _row(found: Found) -> Sequence[Piece]:
    return [
        quote(found, "/symbol"),
        quote(found, "/name"),
        _worth(found),
        signed(found, "/change_24h"),
        quote(found, "/trend_daily"),
        quote(found, "/trend_weekly"),
        signed(found, "/funding/apr"),
        big_usd(found, "/volume_24h_usd"),
    ]

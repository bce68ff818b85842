"""A real-world asset as its perpetual trades: price, trend, funding; several beside each other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import big_usd, hours, moved, number, quote, signed, size, usd, window
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style
from service.wire.ask import Period

_HEAD: Final = ("Asset", "Name", "Price", "Change", "Daily trend", "Weekly trend", "Funding a year", "Volume a day")


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell every asset that was found, and a table where there are several."""
    found = assignment.evidence.all("rwa.symbol")
    entities, style = assignment.entities, assignment.style
    first = _FIRST.get(entities.metric or "") or _FIRST.get(entities.term or "") or _price
    for each in found:
        is_told = len(found) == 1 or style.full
        told = dict.fromkeys((first, _price, _trends, _funding, _traded) if is_told else (first, _price))
        for tell in told:
            draft.say(*tell(each, style))
    if found and entities.period is not None and not _is_a_day(entities.period):
        draft.say("How an asset changed is told of a day only: over the time you ask about it is not known here.")
    if len(found) > 1:
        draft.table(_HEAD, [_row(each) for each in found])
    if found:
        draft.explain("rwa")


def _is_a_day(period: Period) -> bool:
    return (period.count, period.unit) in {(1, "d"), (24, "h")}


def _price(found: Found, _style: Style) -> Sequence[Piece]:
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


def _trends(found: Found, _style: Style) -> Sequence[Piece]:
    daily, weekly = bold(quote(found, "/trend_daily")), bold(quote(found, "/trend_weekly"))
    return quote(found, "/symbol"), "'s trend is ", daily, " daily and ", weekly, " weekly."


def _traded(found: Found, _style: Style) -> Sequence[Piece]:
    traded = (window(found, "/volume_24h_usd"), " volume ", big_usd(found, "/volume_24h_usd"))
    return quote(found, "/symbol"), ": ", *traded, "; open interest ", big_usd(found, "/open_interest_usd"), "."


def _funding(found: Found, style: Style) -> Sequence[Piece]:
    symbol, rate = quote(found, "/symbol"), found.get("/funding/apr")
    if rate is None:
        return "Funding of the perpetual on ", symbol, " is not known now."
    if rate == 0:
        told: list[Piece] = ["Funding of the perpetual on ", symbol, " is nil: neither side pays"]
    else:
        sides = "longs pay shorts " if rate > 0 else "shorts pay longs "
        told = ["On the perpetual on ", symbol, ", ", bold(sides, size(found, "/funding/apr")), " a year"]
    if style.full:
        is_hourly = found.get("/funding/interval_hours") == 1
        told += [", settled every ", "hour" if is_hourly else hours(found, "/funding/interval_hours")]
    return *told, "." if style.terse else "; the asset itself pays none."


_FIRST: Final[Mapping[str, Callable[[Found, Style], Sequence[Piece]]]] = {
    "funding_apr": _funding,
    "volume_usd": _traded,
    "open_interest_usd": _traded,
    "trend": _trends,
}
"""What is told first, by what is asked about."""


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

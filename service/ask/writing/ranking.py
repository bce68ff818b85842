"""Coins in the order of a figure: the first of them, how many there are, and a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import big_usd, count, counted, moved, number, quote, signed, usd, window
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_Column = tuple[str, Callable[[Found, str], Piece]]

_COLUMNS: Final[Mapping[str, _Column]] = {
    "price": ("Price", usd),
    "change_24h": ("Change", signed),
    "funding_apr": ("Funding a year", signed),
    "volume_usd": ("Volume a day", big_usd),
    "open_interest_usd": ("Open interest", big_usd),
    "trend_daily": ("Daily trend", quote),
    "trend_weekly": ("Weekly trend", quote),
    "btc_correlation": ("Correlation to BTC", number),
}
"""Head and form of a row's fields, in the order in which they are shown."""

_USUAL: Final = ("price", "change_24h")
_EXPLAINED: Final[Mapping[str, str]] = {
    "funding_apr": "funding",
    "open_interest_usd": "open-interest",
    "btc_correlation": "btc-correlation",
}
_HIGHEST: Final = ("the highest", "the lowest")
_PLACES: Final[Mapping[str, tuple[str, str]]] = {"change_24h": ("the best", "the worst")}
"""What the most and the least of a figure are called."""


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell every scan."""
    for found in assignment.evidence.all("scan"):
        _tell(found, assignment.style, draft)


def _tell(found: Found, style: Style, draft: Draft) -> None:
    if not found.size("/coins"):
        draft.say(*_none(found))
    elif found.get("/trend") is None:
        draft.say(*_leader(found))
    else:
        draft.say(*_in_state(found), " ", *_leader(found))
    if found.size("/coins") > 1 or style.full:
        draft.table(*_table(found, style))
    if found.get("/unknown"):
        draft.say("Left out: ", counted(found, "/unknown", "coin", "coins"), " for which this figure is not known.")
    if style.explains and (term := _EXPLAINED.get(str(found.get("/by")))):
        draft.explain(term)


def _none(found: Found) -> Sequence[Piece]:
    if found.get("/trend") is None:
        return bold("No coin"), " has that figure now: ", count(found, "/universe"), " were looked at."
    state = (quote(found, "/trend"), " on the ", quote(found, "/timeframe"), " trend")
    return bold("No coin is ", *state), ", of ", counted(found, "/universe", "coin", "coins"), _within(found), "."


def _in_state(found: Found) -> Sequence[Piece]:
    share = (count(found, "/count"), " of ", counted(found, "/universe", "coin", "coins"), _category(found))
    verb = " is " if found.get("/count") == 1 else " are "
    trend = (" on the ", quote(found, "/timeframe"), " trend")
    return bold(*share, verb, quote(found, "/trend")), *trend, _without(found), "."


def _leader(found: Found) -> Sequence[Piece]:
    by, is_most = str(found.get("/by")), found.get("/order") == "most"
    whole: Sequence[Piece] = (counted(found, "/count", "coin", "coins"), _within(found))
    among: Sequence[Piece] = whole if found.get("/trend") is None else ("them",)
    place = _PLACES.get(by, _HIGHEST)[0 if is_most else 1]
    shared = ", shared with others" if _is_shared(found, by) else ""
    said = (bold(*_claim(found, by)), f", {place} of ", *among, f"{shared}.")
    return (*said, " ", _paying(found)) if by == "funding_apr" else said


def _is_shared(found: Found, by: str) -> bool:
    """Whether the second one has the same figure."""
    return found.size("/coins") > 1 and found.get(f"/coins/0/{by}") == found.get(f"/coins/1/{by}")


def _claim(found: Found, by: str) -> Sequence[Piece]:
    coin, figure = quote(found, "/coins/0/symbol"), f"/coins/0/{by}"
    match by:
        case "change_24h":
            return coin, " is ", moved(found, figure), " in ", window(found, figure)
        case "funding_apr":
            return coin, "'s funding is ", signed(found, figure), " a year"
        case "btc_correlation":
            return coin, "'s correlation to BTC is ", number(found, figure)
        case "volume_usd":
            return coin, "'s volume of the last day is ", big_usd(found, figure)
        case "open_interest_usd":
            return coin, "'s open interest is ", big_usd(found, figure)
        case _:
            return coin, "'s price is ", usd(found, figure)


def _paying(found: Found) -> Piece:
    rate = found.get("/coins/0/funding_apr")
    if not rate:
        return "Neither side pays the other."
    return "Longs pay shorts there." if rate > 0 else "Shorts pay longs there."


def _within(found: Found) -> Piece:
    return _category(found), _without(found)


def _category(found: Found) -> Piece:
    return "" if found.get("/category") is None else (" in ", quote(found, "/category"))


def _without(found: Found) -> Piece:
    excluded = [quote(found, f"/excluded/{index}") for index in range(found.size("/excluded"))]
    return (", leaving out ", listed(excluded)) if excluded else ""


def _table(found: Found, style: Style) -> tuple[Sequence[Piece], list[Sequence[Piece]]]:
    by = str(found.get("/by"))
    usual = (*_USUAL, f"trend_{found.get('/timeframe')}")
    others = [field for field in _COLUMNS if field != by and (style.full or field in usual)]
    fields = [by, *([] if style.terse else others)]
    head = ["Coin", *(_COLUMNS[field][0] for field in fields)]
    rows: list[Sequence[Piece]] = [
        [quote(found, f"{row}/symbol"), *(_COLUMNS[field][1](found, f"{row}/{field}") for field in fields)]
        for row in (f"/coins/{index}" for index in range(found.size("/coins")))
    ]
    return head, rows

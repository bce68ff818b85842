"""What several answers say of a coin, in the same words."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Evidence, Found
from service.ask.figures import date, number, quote, signed_number, size, usd
from service.ask.measures import Measure

RISK: Final = "coin.risk"
SIGNAL: Final = "signal"
_FRAMES: Final = ("daily", "weekly")
_SYMBOL: Final = "/symbol"


def ticker(found: Found) -> Piece:
    """The coin's ticker."""
    return quote(found, _SYMBOL)


def price(found: Found) -> Piece:
    """`BTC is at $118,234`, or that its price is not known."""
    if found.get("/price") is None:
        return (ticker(found), "'s price is not known")
    return (ticker(found), " is at ", quoted_price(found, "/price"))


def quoted_price(found: Found, pointer: str) -> Piece:
    """A price in US dollars, or of currencies the bare rate: how many of one the other costs."""
    form = number if found.kind(pointer).measure is Measure.NUMBER else usd
    return form(found, pointer)


def prices(all_found: Sequence[Found]) -> Piece:
    """The prices of several coins, in bold."""
    return listed([bold(price(found)) for found in all_found])


def trends(found: Found, frames: Sequence[str] = _FRAMES) -> Piece:
    """`daily UP since 2026-11-18, weekly HODL since 2026-10-19`."""
    return listed([trend(found, frame) for frame in frames])


def trend(found: Found, frame: str) -> Piece:
    """One of a coin's trends, and since when."""
    state = f"/trend_{frame}"
    if found.get(state) is None:
        return f"{frame} not known"
    if found.get(f"{state}_since") is None:
        return (f"{frame} ", quote(found, state))
    return (f"{frame} ", quote(found, state), " since ", date(found, f"{state}_since"))


def funding(found: Found) -> Piece:
    """`longs pay shorts 10.95 % a year on BTC`: who pays whom, by the sign of the rate."""
    apr = found.get("/funding_apr")
    if apr is None:
        return ("the funding of ", ticker(found), " is not known")
    if apr == 0:
        return ("nobody pays funding on ", ticker(found))
    sides = "longs pay shorts" if apr > 0 else "shorts pay longs"
    return (f"{sides} ", size(found, "/funding_apr"), " a year on ", ticker(found))


def correlation(found: Found) -> Piece:
    """`ETH's correlation to BTC is 0.83`."""
    if found.get("/btc_correlation") is None:
        return (ticker(found), "'s correlation to BTC is not known")
    return (ticker(found), "'s correlation to BTC is ", number(found, "/btc_correlation"))


def verdict(signal: Found) -> Piece:
    """`BTC's verdict is strong-bull, score +3, confidence high`."""
    if signal.get("/verdict") == "insufficient-evidence":
        return (ticker(signal), " has ", bold("no verdict"), ": the evidence is insufficient")
    of = (ticker(signal), "'s verdict is ", bold(quote(signal, "/verdict")))
    return (*of, ", score ", signed_number(signal, "/score"), ", confidence ", quote(signal, "/confidence"))


def capital(phrase: Piece) -> Piece:
    """The same phrase at the beginning of a sentence."""
    if isinstance(phrase, str):
        return phrase[:1].upper() + phrase[1:]
    return (capital(phrase[0]), *phrase[1:]) if isinstance(phrase, tuple) and phrase else phrase


def say_units(evidence: Evidence, draft: Draft) -> None:
    """Say what the price of a coin is the price of, where the venue trades many of it as one unit."""
    for found in evidence.all(RISK):
        if str(found.get("/venue_symbol") or "").startswith("k"):
            draft.say(
                ticker(found),
                " is the venue's ",
                quote(found, "/venue_symbol"),
                ": a fixed large number of the coin traded as one unit, and the price is that of the unit.",
            )

"""The regime of the market and of its coins: what holds, what has turned, how clearly, and how it went before."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, bold, joined
from service.ask.evidence import Found
from service.ask.figures import count, counted, date, days, length, quote, said, share, signed, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_SHOWN: Final = 5
_TERSE: Final = Style(terse=True)
_NAMED: Final = 60
"""Tickers that are listed after a table at the most."""


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell what the action of each step asked for."""
    all_found = assignment.evidence.all("regime")
    actions = [str(found.args.get("action", "active")) for found in all_found]
    for found, action in zip(all_found, actions, strict=True):
        if action == "confidence" and "active" in actions:
            continue
        if action == "active" and not found.size("/positions") and "confidence" in actions:
            _confidence(all_found[actions.index("confidence")], _TERSE, draft)
        _TELLERS[action](found, assignment.style, draft)
    if assignment.evidence.all("regime"):
        draft.explain("regime")
        draft.explain("conviction")


def _active(found: Found, style: Style, draft: Draft) -> None:
    symbol, many = found.args.get("symbol"), found.size("/positions")
    held = bold("The market is ", quote(found, "/market/regime"))
    since = (" since ", date(found, "/market/since"), " (", days(found, "/market/age_days"), ")")
    market: Sequence[Piece] = (held, *since, ", with a conviction of ", share(found, "/market/conviction"), ".")
    if symbol is None:
        draft.say(*market)
        looked = (counted(found, "/meta/universe", "coin", "coins"), " looked at")
        draft.say("The rules hold ", bold(length(found, "/positions"), " positions"), " among the ", *looked, ".")
        _positions(found, style, draft)
    elif many:
        draft.say(*_position(found, "/positions/0"))
        draft.say(*market)
    else:
        draft.say("The rules hold ", bold("no position in ", said(str(symbol))), ", neither long nor short.")
        draft.say(*market)


def _position(found: Found, row: str) -> Sequence[Piece]:
    coin, regime = quote(found, f"{row}/symbol"), quote(found, f"{row}/regime")
    told: list[Piece] = [bold(coin, " is ", regime), ", with a conviction of ", share(found, f"{row}/conviction"), ". "]
    told += ["The rules are ", quote(found, f"{row}/direction"), " in ", coin, ", ", _entry(found, row)]
    if found.get(f"{row}/currentPrice") is None:
        return *told, "; its price now is not known."
    return *told, "; its price now is ", usd(found, f"{row}/currentPrice"), "."


def _entry(found: Found, row: str) -> Piece:
    opened = ("at the open of ", date(found, f"{row}/entryDate"))
    if found.get(f"{row}/entryPrice") is None:
        return "entered ", *opened, ", at a price that is known when that day's bar has closed"
    price = usd(found, f"{row}/entryPrice")
    return "entered at ", price, " ", *opened, " and held for ", days(found, f"{row}/holdDays")


def _positions(found: Found, style: Style, draft: Draft) -> None:
    many = found.size("/positions")
    shown = min(many, _SHOWN * 3 if style.full else _SHOWN)
    if shown:
        draft.table(
            ["Coin", "Side", "Conviction", "Entered at the open of", "Entry", "Now"],
            [
                [
                    quote(found, f"{row}/symbol"),
                    quote(found, f"{row}/direction"),
                    share(found, f"{row}/conviction"),
                    date(found, f"{row}/entryDate"),
                    usd(found, f"{row}/entryPrice"),
                    usd(found, f"{row}/currentPrice"),
                ]
                for row in (f"/positions/{index}" for index in range(shown))
            ],
        )
    for side in ("long", "short"):
        others = [row for row in range(shown, min(many, _NAMED)) if found.get(f"/positions/{row}/direction") == side]
        if others:
            names = joined([quote(found, f"/positions/{row}/symbol") for row in others])
            draft.say(f"Also {side}, less clearly: ", *names, ".")


def _signals(found: Found, style: Style, draft: Draft) -> None:
    many = found.size("/signals")
    if not many:
        symbol = found.args.get("symbol")
        of: Piece = (" of ", said(str(symbol))) if symbol else ""
        draft.say(bold("No regime signal", of), ": nothing has turned in the time that is recorded.")
        return
    first = "/signals/0"
    draft.say(*_turn(found, first))
    reasons = [quote(found, f"{first}/reasons/{index}") for index in range(found.size(f"{first}/reasons"))]
    if reasons and not style.terse:
        draft.say("Why: ", *((" " if index else "", reason) for index, reason in enumerate(reasons)))
    shown = min(many, _SHOWN * 3 if style.full else _SHOWN)
    if shown > 1:
        draft.table(
            ["Coin", "Regime", "Side", "Turned", "Conviction"],
            [
                [
                    quote(found, f"{row}/symbol"),
                    quote(found, f"{row}/regime"),
                    "none" if found.get(f"{row}/direction") is None else quote(found, f"{row}/direction"),
                    date(found, f"{row}/firedAt"),
                    share(found, f"{row}/conviction"),
                ]
                for row in (f"/signals/{index}" for index in range(shown))
            ],
        )
    if many > shown:
        draft.say("There are ", length(found, "/signals"), " in all; these are the newest.")


def _turn(found: Found, row: str) -> Sequence[Piece]:
    turned = bold(quote(found, f"{row}/symbol"), " turned ", quote(found, f"{row}/regime"))
    sure = (", with a conviction of ", share(found, f"{row}/conviction"))
    return turned, " on ", date(found, f"{row}/firedAt"), *sure, ": the newest turn of a regime."


def _confidence(found: Found, style: Style, draft: Draft) -> None:
    if found.args.get("symbol") is not None and found.size("/coins"):
        coin = quote(found, "/coins/0/symbol")
        sure = share(found, "/coins/0/confidence")
        draft.say(bold(coin, " is ", quote(found, "/coins/0/regime")), ", confidence ", sure, ".")
        if not style.terse:
            draft.say(quote(found, "/summary"))
        return
    draft.say(bold("How sure the rules are:"), " ", quote(found, "/summary"))
    shown = min(found.size("/coins"), _SHOWN * 3 if style.full else _SHOWN)
    if shown:
        draft.table(
            ["Coin", "Regime", "Confidence"],
            [
                [quote(found, f"{row}/symbol"), quote(found, f"{row}/regime"), share(found, f"{row}/confidence")]
                for row in (f"/coins/{index}" for index in range(shown))
            ],
        )


def _history(found: Found, style: Style, draft: Draft) -> None:
    coin, many = quote(found, "/symbol"), found.size("/trades")
    if not many:
        draft.say(bold(coin, " has had no closed trade"), " by these rules.")
    else:
        draft.say(*_record(found))
    if found.get("/currentPosition") is None:
        draft.say("The rules hold no position in ", coin, " now.")
    else:
        draft.say(*_position(found, "/currentPosition"))
    shown = min(many, many if style.full else _SHOWN)
    if shown:
        draft.table(
            ["Side", "From", "To", "Entry", "Exit", "Return", "Ended because"],
            [_trade(found, f"/trades/{index}") for index in range(many - 1, many - 1 - shown, -1)],
        )


def _record(found: Found) -> Sequence[Piece]:
    average = (quote(found, "/symbol"), " returned ", signed(found, "/summary/meanReturnPct"), " a trade on average")
    over = (" over ", counted(found, "/summary/total", "closed trade", "closed trades"), ", after costs and funding. ")
    won = (count(found, "/summary/wins"), " won (", share(found, "/summary/winRate"), ") and ")
    return bold(*average), *over, "Of these, ", *won, count(found, "/summary/losses"), " did not."


def _trade(found: Found, row: str) -> Sequence[Piece]:
    return [
        quote(found, f"{row}/direction"),
        date(found, f"{row}/entryDate"),
        date(found, f"{row}/exitDate"),
        usd(found, f"{row}/entryPrice"),
        usd(found, f"{row}/exitPrice"),
        signed(found, f"{row}/returnPct"),
        quote(found, f"{row}/exitReason"),
    ]


_TELLERS: Final[Mapping[str, Callable[[Found, Style, Draft], None]]] = MappingProxyType(
    {"active": _active, "signals": _signals, "confidence": _confidence, "history": _history}
)

"""What the strategies did out of sample, what they hold, and what they last decided."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, counted, date, number, percent, quote, said, share, signed, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

_SHOWN: Final = 5


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell what the action of each step asked for."""
    for found in assignment.evidence.all("walkforward"):
        row = _row_of(found, assignment.entities.part)
        if found.get("/meta/run_id") is None:
            _nothing(found, draft)
        elif row is not None and not assignment.style.full:
            _one(found, row, draft)
        else:
            _TELLERS[str(found.args.get("action", "signals"))](found, assignment.style, draft)
    if assignment.evidence.all("walkforward"):
        draft.explain("walkforward")


def _nothing(found: Found, draft: Draft) -> None:
    why: Sequence[Piece] = () if found.get("/meta/message") is None else (" ", quote(found, "/meta/message"))
    draft.say(bold("No walk-forward records yet."), *why)


def _outcomes(found: Found, style: Style, draft: Draft) -> None:
    symbol = found.args.get("symbol")
    if symbol is not None:
        _ended(found, style, draft)
    if found.get("/summary") is not None:
        _summary(found, style, draft)
        if symbol is None or style.full:
            _strategies(found, style, draft)
    if symbol is None and style.full:
        _ended(found, style, draft)


def _ended(found: Found, style: Style, draft: Draft) -> None:
    of = _of(found)
    if not found.size("/outcomes"):
        draft.say(bold("No position", of, " has ended"), " in the walk-forward run.")
        return
    many = counted(found, "/meta/total", "position", "positions")
    draft.say(bold(many, of), " of the walk-forward run ended; the newest:")
    draft.table(
        ["Coin", "Strategy", "Side", "From", "To", "Return", "Funding's part", "Ended because"],
        [_outcome(found, row) for row in _rows(found, "outcomes", found.size("/outcomes") if style.full else _SHOWN)],
    )


def _row_of(found: Found, strategy: str | None) -> str | None:
    """Where the one strategy is told that is asked about, if one is."""
    rows = [f"/summary/strategies/{index}" for index in range(found.size("/summary/strategies"))]
    named = [row for row in rows if strategy is not None and found.get(f"{row}/strategy") == strategy]
    return named[0] if named and found.get(f"{named[0]}/published") and not found.args.get("symbol") else None


def _one(found: Found, row: str, draft: Draft) -> None:
    name = quote(found, f"{row}/strategy")
    span = (" from ", date(found, "/summary/firstDay"), " to ", date(found, "/summary/lastDay"))
    draft.say(
        bold("Out of sample, ", name, " returned ", percent(found, f"{row}/returnPct")),
        *span,
        ", after costs and funding.",
    )
    sharpe, depth = number(found, f"{row}/sharpe"), percent(found, f"{row}/maxDrawdownPct")
    won = (share(found, f"{row}/winRate"), " of ", counted(found, f"{row}/total", "trade", "trades"), " won")
    draft.say(name, "'s Sharpe ratio is ", bold(sharpe), ", its deepest drawdown ", depth, "; ", *won, ".")
    held = percent(found, "/summary/buyAndHold/returnPct")
    draft.say(
        "Holding the same coins returned ",
        held,
        ", with a Sharpe ratio of ",
        number(found, "/summary/buyAndHold/sharpe"),
        ".",
    )


def _of(found: Found) -> Piece:
    """Of which coin a step was asked to tell."""
    symbol = found.args.get("symbol")
    return (" in ", said(str(symbol))) if symbol else ""


def _summary(found: Found, style: Style, draft: Draft) -> None:
    at = "/summary"
    span = (" from ", date(found, f"{at}/firstDay"), " to ", date(found, f"{at}/lastDay"))
    held = bold(percent(found, f"{at}/buyAndHold/returnPct"))
    draft.say(
        bold("Out of sample, the strategies together returned ", percent(found, f"{at}/returnPct")),
        *span,
        ", after costs and funding; holding the same coins returned ",
        held,
        ".",
    )
    sharpe = (bold(number(found, f"{at}/sharpe")), " (holding: ", number(found, f"{at}/buyAndHold/sharpe"), ")")
    depth = (percent(found, f"{at}/maxDrawdownPct"), " (holding: ", percent(found, f"{at}/buyAndHold/maxDrawdownPct"))
    draft.say("Sharpe ratio ", *sharpe, ", deepest drawdown ", *depth, ").")
    trades = counted(found, f"{at}/total", "trade", "trades")
    mean = signed(found, f"{at}/meanReturnPct")
    draft.say(share(found, f"{at}/winRate"), " of ", trades, " won. The mean trade returned ", mean, ".")
    if found.get(f"{at}/deflatedSharpe") is not None:
        luck = (
            count(found, f"{at}/trials"),
            " trials would show by luck, is ",
            bold(share(found, f"{at}/deflatedSharpe")),
        )
        draft.say("The deflated Sharpe ratio, the probability that this beats what the best of ", *luck, ".")
    if style.full or style.cautious:
        known = share(found, f"{at}/strategies/0/fundingKnown")
        draft.say("Funding was recorded for ", known, " of the days positions were held; the others are estimated.")


def _strategies(found: Found, style: Style, draft: Draft) -> None:
    rows = [f"/summary/strategies/{index}" for index in range(found.size("/summary/strategies"))]
    draft.table(
        ["Strategy", "Return", "Sharpe", "Deflated", "Drawdown", "Trades", "Won", *(["Exposure"] * style.full)],
        [_strategy(found, row, style) for row in rows if found.get(f"{row}/published")],
    )
    for row in rows:
        if not found.get(f"{row}/published"):
            draft.say(quote(found, f"{row}/strategy"), " is not published: ", quote(found, f"{row}/refused"))


def _strategy(found: Found, row: str, style: Style) -> Sequence[Piece]:
    cells: list[Piece] = [
        quote(found, f"{row}/strategy"),
        signed(found, f"{row}/returnPct"),
        number(found, f"{row}/sharpe"),
        share(found, f"{row}/deflatedSharpe"),
        percent(found, f"{row}/maxDrawdownPct"),
        count(found, f"{row}/total"),
        share(found, f"{row}/winRate"),
    ]
    return [*cells, share(found, f"{row}/exposure")] if style.full else cells


def _positions(found: Found, style: Style, draft: Draft) -> None:
    if not found.size("/positions"):
        held = bold("No open positions", _of(found))
        draft.say(held, " in the newest run: so the engine holds none; the market may offer some.")
        return
    many = counted(found, "/meta/total", "open position", "open positions")
    draft.say(bold(many, _of(found)), " in the walk-forward run of ", date(found, "/meta/ran_at"), "; the newest:")
    head = ["Coin", "Side", "Strategy", "Since", "Entry", "Now", "Return so far"]
    rows = _rows(found, "positions", found.size("/positions") if style.full else _SHOWN)
    draft.table([*head, "Stop"] if style.full else head, [_position(found, row, style) for row in rows])


def _position(found: Found, row: str, style: Style) -> Sequence[Piece]:
    cells: list[Piece] = [
        quote(found, f"{row}/symbol"),
        quote(found, f"{row}/direction"),
        quote(found, f"{row}/strategy"),
        date(found, f"{row}/entryDate"),
        usd(found, f"{row}/entryPrice"),
        usd(found, f"{row}/currentPrice"),
        signed(found, f"{row}/unrealizedPct"),
    ]
    if style.full:
        cells += ["none" if found.get(f"{row}/stop") is None else usd(found, f"{row}/stop")]
    return cells


def _signals(found: Found, style: Style, draft: Draft) -> None:
    if not found.size("/signals"):
        draft.say(bold("No walk-forward signals", _of(found)), " in the newest run.")
        return
    first = "/signals/0"
    newest = (quote(found, f"{first}/symbol"), " ", quote(found, f"{first}/direction"))
    how = (" by ", quote(found, f"{first}/strategy"), ", decided at the close of ", date(found, f"{first}/scanDate"))
    draft.say(bold("Newest walk-forward signal: ", *newest), *how, ".")
    rows = _rows(found, "signals", found.size("/signals") if style.full else _SHOWN)
    draft.table(
        ["Coin", "Side", "Strategy", "Decided", "Entry"],
        [
            [
                quote(found, f"{row}/symbol"),
                quote(found, f"{row}/direction"),
                quote(found, f"{row}/strategy"),
                date(found, f"{row}/scanDate"),
                "to come" if found.get(f"{row}/entryPrice") is None else usd(found, f"{row}/entryPrice"),
            ]
            for row in rows
        ],
    )
    if (found.get("/meta/total") or 0) > len(rows):
        draft.say("There are ", count(found, "/meta/total"), " signals in all; these are the newest.")


def _outcome(found: Found, row: str) -> Sequence[Piece]:
    return [
        quote(found, f"{row}/symbol"),
        quote(found, f"{row}/strategy"),
        quote(found, f"{row}/direction"),
        date(found, f"{row}/entryDate"),
        date(found, f"{row}/exitDate"),
        signed(found, f"{row}/returnPct"),
        signed(found, f"{row}/fundingPct"),
        quote(found, f"{row}/exitReason"),
    ]


def _rows(found: Found, field: str, most: int) -> list[str]:
    return [f"/{field}/{index}" for index in range(min(most, found.size(f"/{field}")))]


_TELLERS: Final[Mapping[str, Callable[[Found, Style, Draft], None]]] = MappingProxyType(
    {"outcomes": _outcomes, "positions": _positions, "signals": _signals}
)

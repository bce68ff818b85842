"""`verdict BTC`: an overview of one coin, from its row of the table of coins and its verdict in brief."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from service import formats
from service.cli.calling import Paying, ask_or_pay, lines_of, show_request, with_query
from service.cli.commands import SECTIONS, CatalogueRow
from service.cli.environment import (
    SHAPING,
    Environment,
    Utf8Text,
    VerdictCommand,
    dry_run_option,
    exclude,
    max_price_of,
    url_option,
    yes_option,
)
from service.cli.formatting import change, footer, signed, usd
from service.cli.formatting import trend as trend_cell
from service.cli.layout import facts, flow, heading
from service.cli.output_format import format_of, paid_not_lost, write_answer
from service.cli.show.verdicts import STYLES
from service.cli.terminal import Cell, tell
from service.client.answer import RawAnswer, UnreadableAnswerError, reading
from service.client.connection import fill
from service.client.errors import DONE, VerdictError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from service.cli.terminal import Display, Part

_ROWS: Final = {row.offer: row for _, rows in SECTIONS for row in rows if isinstance(row, CatalogueRow)}
_COINS: Final = _ROWS["coins"]
_SIGNAL: Final = _ROWS["signal"]
_BRIEF: Final = {"detail": "brief"}
_REASONS: Final = 2


@click.command("overview", cls=VerdictCommand, example="verdict BTC")
@click.argument("symbol", type=Utf8Text(), help="A ticker such as BTC, 1 to 20 letters and digits.")
@click.pass_context
def overview(context: click.Context, /, *, symbol: str, **typed: Any) -> int:
    """Price, changes, trends, funding and verdict of one coin; uses up two questions."""
    exclude(context, ["as_json", "ndjson", "csv"])
    environment: Environment = context.obj
    if typed["dry_run"]:
        as_json = format_of(typed) != "human"
        for row, query in ((_COINS, {"symbols": symbol}), (_SIGNAL, _BRIEF)):
            target = with_query(fill(row.path, {"symbol": symbol})[0], query)
            show_request(environment, typed["url"], "GET", target, as_json=as_json, price=row.price)
        return DONE
    paying = Paying(typed["url"], typed["yes"], typed["max_price"])
    client = environment.client(typed["url"])
    try:
        coins = ask_or_pay(environment, client, _COINS.path, {"symbols": symbol}, paying)
        with paid_not_lost(coins), reading():
            coin, meta = coins.data["coins"][0], coins.meta
        signal = None
        try:
            path, _ = fill(_SIGNAL.path, {"symbol": coin["symbol"]})
            signal = ask_or_pay(environment, client, path, _BRIEF, paying).data
        except VerdictError as error:  # the answer to the first call, which may have been paid for, is still shown
            tell(f"verdict: The verdict is missing: {error}")
            if isinstance(error, UnreadableAnswerError) and error.body:
                tell(error.body.decode(errors="replace"))
    finally:
        client.close()
    data = {"symbol": coin["symbol"], "coin": coin, "signal": signal}
    document = {"schemaVersion": 1, "data": data, "meta": meta}
    answer = RawAnswer(200, coins.headers, json.dumps(document, ensure_ascii=False).encode())
    screen = environment.screen
    return write_answer(screen, typed, answer, lines_of(lines, answer, screen, {}))


for _add in (url_option, *SHAPING, dry_run_option, yes_option, max_price_of("each of its two calls")):
    _add(overview)


def lines(data: Any, meta: Any, screen: Display, _chosen: object) -> Iterator[str]:
    """Price and changes, trends, funding with the side that pays, the verdict with its strongest reasons."""
    coin, signal = data["coin"], data["signal"]
    stale = set(coin["_stale_fields"])

    def marked(field: str, *parts: Any) -> list[Any]:
        return [*parts, Cell("(stale)", "warn")] if field in stale else list(parts)

    yield from heading(
        screen,
        [
            Cell(coin["symbol"], "strong"),
            *([Cell(coin["name"])] if coin["name"] else []),
            *marked("price", Cell(usd(coin["price"]), "strong")),
        ],
    )
    yield ""
    weekly = trend_cell(coin["trend_weekly"])
    rows: list[tuple[str, list[Part]]] = [
        ("Change", [change(coin["change_24h"]), "in 24 h,", change(coin["change_7d"]), "in 7 days"]),
        ("Trend", [*marked("trend_daily", *_trend(coin)), ", weekly", *marked("trend_weekly", weekly)]),
        ("Funding", marked("funding_apr", *_funding(coin["funding_apr"]))),
    ]
    if signal is not None:
        rows.append(("Verdict", list(_verdict(signal))))
        rows += [("", [Cell(sign, style), reason]) for sign, style, reason in _reasons(signal)]
    yield from facts(screen, rows)
    yield ""
    more = f"Every rule: `verdict signal {coin['symbol']}`. Carry, correlation: `verdict coin risk {coin['symbol']}`."
    yield from flow(screen, [Cell(more, "dim")])
    yield from footer(screen, meta)


def _trend(coin: Any) -> Iterator[Part]:
    yield "daily"
    yield trend_cell(coin["trend_daily"])
    if coin["streak_days"]:
        yield f"for {formats.count(coin['streak_days'], 'day')}"


def _funding(apr: float | None) -> Iterator[Part]:
    yield Cell(signed(apr), "strong")
    if apr is not None:
        yield "a year"
        if apr:
            yield ", longs pay shorts" if apr > 0 else ", shorts pay longs"


def _verdict(signal: Any) -> Iterator[Part]:
    yield Cell(signal["verdict"].upper().replace("-", " "), STYLES.get(signal["verdict"]))
    yield Cell(signed(signal["score"], unit=""), "strong")
    yield f"(-4 to +4), {signal['confidence']} confidence"


def _reasons(signal: Any) -> Iterator[tuple[str, Any, str]]:
    """The sentences of the rules that count most, the strongest first."""
    counting = [rule for rule in signal["rules"] if rule["contribution"]]
    for rule in sorted(counting, key=lambda rule: -abs(rule["contribution"]))[:_REASONS]:
        is_up = rule["contribution"] > 0
        sentence = signal["evidence"][rule["evidence"]].partition(" This counts ")[0]
        yield "+" if is_up else "-", "good" if is_up else "bad", sentence

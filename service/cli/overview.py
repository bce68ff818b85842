"""`verdict BTC`: an overview of one coin, from its row of the table of coins and its verdict in brief."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from service import formats
from service.cli import output_format
from service.cli.api_command import ask_or_pay, path_with_query, show_request
from service.cli.formatting import change, footer, signed, usd
from service.cli.formatting import trend as trend_cell
from service.cli.layout import facts, flow, heading
from service.cli.show.verdicts import STYLES
from service.cli.terminal import Cell, tell
from service.client.answer import RawAnswer, reading
from service.client.caller import open_client
from service.client.connection import fill
from service.client.errors import DONE, RefusalError, VerdictError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from service.cli.command import Arguments
    from service.cli.terminal import Display, Part

_PRICE_USDC: Final = "0.005"
"""Price of each of the two calls."""

_COINS: Final = "/api/cli/coins"
_SIGNAL: Final = "/api/cli/signal/{symbol}"
_BRIEF: Final = {"detail": "brief"}
_REASONS: Final = 2


def run(arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Ask for both answers and show them as one.

    Returns:
        The exit code.

    Raises:
        RefusedError: If the coin is unknown or the service refuses the first call. If the second fails, the verdict is
            missing and the reason is on stderr.
    """
    if arguments.dry_run:
        signal_path = fill(_SIGNAL, {"symbol": arguments.symbol})[0]
        for path, query in ((_COINS, {"symbols": arguments.symbol}), (signal_path, _BRIEF)):
            show_request(
                arguments.url,
                environment,
                "GET",
                path_with_query(path, query),
                as_json=output_format.format_of(arguments) != "human",
                price=_PRICE_USDC,
                counted=True,
            )
        return DONE
    client = open_client(arguments, environment)
    try:
        coins = ask_or_pay(arguments, environment, client, _COINS, {"symbols": arguments.symbol})
        with reading():
            row = coins.data["coins"][0]
        try:
            signal = ask_or_pay(arguments, environment, client, fill(_SIGNAL, {"symbol": row["symbol"]})[0], _BRIEF)
        except (VerdictError, RefusalError) as error:  # what the first call cost is not lost with the second
            tell(f"verdict: no verdict: {error}")
            signal = None
    finally:
        client.close()
    document = {"schemaVersion": 1, "data": _data(row, signal), "meta": coins.meta}
    answer = RawAnswer(200, coins.headers, json.dumps(document, ensure_ascii=False).encode())
    return output_format.write_answer(
        arguments, environment, answer, lambda data, meta: lines(data, meta, output_format.stdout_screen(environment))
    )


def _data(row: Any, signal: RawAnswer | None) -> dict[str, Any]:
    return {"symbol": row["symbol"], "coin": row, "signal": None if signal is None else signal.data}


def lines(data: Any, meta: Any, screen: Display) -> Iterator[str]:
    """Price and changes, trends, funding with the side that pays, the verdict with its strongest reasons."""
    coin, signal = data["coin"], data["signal"]
    stale = set(coin["_stale_fields"])

    def marked(field: str, *parts: Part) -> list[Part]:
        return [*parts, Cell("(stale)", "warn")] if field in stale else list(parts)

    yield from heading(
        screen,
        [
            Cell(coin["symbol"], "strong"),
            *([Cell(coin["name"])] if coin["name"] else []),
            Cell(usd(coin["price"]), "strong"),
            *([Cell("(stale)", "warn")] if "price" in stale else []),
        ],
    )
    yield ""
    rows: list[tuple[str, list[Part]]] = [
        ("Change", [change(coin["change_24h"]), "in 24 h,", change(coin["change_7d"]), "in 7 days"]),
        ("Trend", [*marked("trend_daily", *_trend(coin)), ", weekly", *marked("trend_weekly", _weekly(coin))]),
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


def _weekly(coin: Any) -> Cell:
    return trend_cell(coin["trend_weekly"])


def _funding(apr: float | None) -> Iterator[Part]:
    yield Cell(signed(apr), "strong")
    if apr is not None:
        yield "a year"
        if apr:
            yield ", longs pay shorts" if apr > 0 else ", shorts pay longs"


def _verdict(signal: Any) -> Iterator[Part]:
    yield Cell(signal["verdict"].upper().replace("-", " "), STYLES.get(signal["verdict"]))
    yield Cell(signed(signal["score"], unit=""), "strong")
    yield f"of ±4, {signal['confidence']} confidence"


def _reasons(signal: Any) -> Iterator[tuple[str, Any, str]]:
    """The sentences of the rules that count most, the strongest first."""
    counting = [rule for rule in signal["rules"] if rule["contribution"]]
    for rule in sorted(counting, key=lambda rule: -abs(rule["contribution"]))[:_REASONS]:
        is_up = rule["contribution"] > 0
        sentence = signal["evidence"][rule["evidence"]].partition(" This counts ")[0]
        yield "+" if is_up else "-", "good" if is_up else "bad", sentence

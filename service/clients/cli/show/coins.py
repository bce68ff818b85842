"""`verdict coins --sort change_24h`: the table of all coins."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import UNKNOWN, change, footer, money, signed, trend, usd
from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.show.paging import more
from service.clients.cli.tables import table

_HEADERS: Final = ("COIN", "PRICE", "24 H", "7 D", "VOLUME", "FUNDING", "TREND", "VERDICT")
_WIDE_HEADERS: Final = ("30 D", "CAP")
_ROOMY: Final = 110


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """A row per coin, and how to get the next page."""
    coins, page = data["coins"], data["meta"]
    yield from flow(screen, [Cell(f"{len(coins)} of {page['total']} coins", "strong"), "· prices in USD, changes in %"])
    if coins:
        yield ""
        is_wide = screen.width >= _ROOMY
        rows = [[*_row(coin), *(_wide(coin) if is_wide else ())] for coin in coins]
        yield from table(
            screen,
            [*_HEADERS, *(_WIDE_HEADERS if is_wide else ())],
            rows,
            right="lrrrrrllrr"[: len(_HEADERS) + 2 * is_wide],
        )
        if any(_is_stale(coin) for coin in coins):
            yield from flow(screen, [Cell("* Not all values of this coin could be refreshed.", "dim")])
    yield ""
    yield from more(screen, page)
    yield from footer(screen, meta)


def _row(coin: Any) -> list[Cell | object]:
    return [
        Cell(f"{coin['symbol']}{'*' * _is_stale(coin)}", "strong"),
        usd(coin["price"]),
        change(coin["change_24h"], unit=""),
        change(coin["change_7d"], unit=""),
        money(coin["volume_24h_usd"]),
        signed(coin["funding_apr"]),
        trend(coin["trend_daily"]),
        UNKNOWN if coin["verdict"] is None else coin["verdict"],
    ]


def _is_stale(coin: Any) -> bool:
    """Whether a value that is shown could not be refreshed; unknown values are shown as such."""
    return any(coin[name] is not None for name in coin["_stale_fields"])


def _wide(coin: Any) -> list[Cell | object]:
    return [change(coin["change_30d"], unit=""), money(coin["market_cap"])]

"""`verdict category info "Layer 1 (L1)"`: what a category's coins are worth, and which way they go."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli import plots
from service.clients.cli.figures import UNKNOWN, change, direction, footer, money, trend, usd
from service.clients.cli.prose import facts, flow, heading
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.show import breadth
from service.clients.cli.tables import table

_HEADERS: Final = ("COIN", "NAME", "PRICE", "24 H", "MARKET CAP", "TREND", "FOR")
_BAR: Final = 24
_ROOMY: Final = 110


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """The category as a whole, its breadth, then a row a coin."""
    yield from heading(
        screen, [Cell(data["name"], "strong"), Cell(money(data["market_cap"]), "strong"), change(data["change_24h"])]
    )
    if data["description"]:
        yield from flow(screen, [Cell(data["description"], "dim")])
    yield ""
    yield from breadth.lines(screen, data["trends"])
    yield ""
    yield from facts(
        screen,
        [
            ("Volume, 24 h", [money(data["volume_24h"])]),
            ("Ahead", [", ".join(data["leaders"])]),
            ("Behind", [", ".join(data["laggards"])]),
        ],
    )
    yield ""
    yield from _coins(data["coins"], screen)
    yield ""
    yield from footer(screen, meta)


def _coins(coins: Any, screen: Screen) -> Iterator[str]:
    """Where there is room, the change as a bar, too."""
    drawn = screen.width >= _ROOMY
    changes = [coin["change_24h"] or 0.0 for coin in coins]
    low, high = min(0.0, *changes, 0.0), max(0.0, *changes, 0.0)
    rows = [[*_row(coin), *([_bar(coin["change_24h"], low, high)] if drawn else [])] for coin in coins]
    yield from table(screen, [*_HEADERS, *([""] if drawn else [])], rows, right="llrrrlr")


def _row(coin: Any) -> list[Cell | object]:
    streak = coin["streak_days"]
    return [
        Cell(coin["symbol"], "strong"),
        coin["name"],
        usd(coin["price"]),
        change(coin["change_24h"]),
        money(coin["market_cap"]),
        trend(coin["trend_daily"]),
        UNKNOWN if streak is None else f"{streak} d",
    ]


def _bar(value: float | None, low: float, high: float) -> Cell:
    return Cell(plots.bar(value, low, high, _BAR), direction(value))

"""`verdict rwa symbol`: a real-world asset, as its perpetual trades."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.clients.cli.figures import change, footer, money, signed, trend, usd
from service.clients.cli.prose import facts, flow
from service.clients.cli.screen import Cell, Part, Screen


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the asset.

    Args:
        data: Of the envelope.
        meta: Of the envelope.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    yield from flow(screen, [Cell(data["name"], "strong"), Cell(f"· {data['assetType']}, {data['id']}", "dim")])
    yield ""
    stale = set(data["_stale_fields"])

    def marked(field: str, *parts: Part) -> list[Part]:
        return [*parts, Cell("stale", "warn")] if field in stale else list(parts)

    yield from facts(
        screen,
        [
            ("Price", marked("price", Cell(usd(data["price"]), "strong"))),
            ("Change, 24 h", marked("change_24h", change(data["change_24h"]))),
            ("Trend, daily", marked("trend_daily", trend(data["trend_daily"]))),
            ("Trend, weekly", marked("trend_weekly", trend(data["trend_weekly"]))),
            ("Funding", marked("funding", *_funding(data["funding"]))),
            ("Open interest", marked("open_interest_usd", money(data["open_interest_usd"]))),
            ("Volume, 24 h", marked("volume_24h_usd", money(data["volume_24h_usd"]))),
        ],
    )
    yield ""
    yield from footer(screen, meta, f"a perpetual on {data['venue']}")


def _funding(told: Any) -> list[Part]:
    if told["rate"] is None:
        return ["-"]
    hours = f"{told['interval_hours']:g} h"
    payer = "longs pay shorts" if told["rate"] > 0 else "shorts pay longs" if told["rate"] < 0 else "nobody pays"
    return [
        Cell(f"{signed(told['apr'])} a year", "strong"),
        f"({payer} {abs(told['rate']) * 100:.4g} % every {hours}); of the perpetual, the asset itself pays none",
    ]

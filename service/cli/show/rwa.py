"""Views of `rwa list` and `rwa symbol`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from service.cli.formatting import change, footer, money, signed, trend, usd
from service.cli.layout import facts, flow, table
from service.cli.terminal import Cell, Display, Part


def rwa_assets(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the list."""
    assets = data["assets"]
    kinds = Counter(one["assetType"] for one in assets)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    shown = f"{len(assets)} of {data['count']}" if len(assets) < data["count"] else str(len(assets))
    yield from flow(screen, [Cell(f"{shown} real-world assets", "strong"), f"· {said}" if said else ""])
    if assets:
        yield ""
        rows = [
            (place, one["symbol"], one["name"], Cell(one["assetType"], "dim"), one["id"])
            for place, one in enumerate(assets, 1)
        ]
        yield from table(screen, ("", "SYMBOL", "NAME", "TYPE", "ID"), rows, right="r")
    yield ""
    yield from footer(screen, meta, "the most traded first")


def rwa_symbol(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the asset."""
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


def _funding(funding: Any) -> list[Part]:
    if funding["rate"] is None:
        return ["-"]
    hours = f"{funding['interval_hours']:g} h"
    payer = "longs pay shorts" if funding["rate"] > 0 else "shorts pay longs" if funding["rate"] < 0 else "nobody pays"
    return [
        Cell(f"{signed(funding['apr'])} a year", "strong"),
        f"({payer} {abs(funding['rate']) * 100:.4g} % every {hours}); of the perpetual, the asset itself pays none",
    ]

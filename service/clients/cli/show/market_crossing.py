"""`verdict market crossing`: when more coins began to rise than to fall, and the other way."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.clients.cli.figures import day, elapsed_s, footer, span
from service.clients.cli.prose import flow, heading
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.tables import table

_HEADERS = ("CLOSE OF", "AGO", "CROSSED", "UP", "DOWN", "UP LESS DOWN", "COINS")


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """A row a crossing, each figure before and after it."""
    yield from heading(screen, [Cell("Breadth crossings", "strong"), Cell("of the last 90 closed days")])
    yield ""
    if data["crossings"]:
        yield from table(screen, _HEADERS, [_row(found, meta) for found in data["crossings"]], right="lrlrrrr")
    else:
        yield from flow(screen, [data.get("message") or "None."])
    yield ""
    yield from footer(screen, meta)


def _row(found: Any, meta: Any) -> list[Cell | object]:
    before, after = found["previous"], found["current"]
    upward = found["direction"] == "UP over DOWN"
    return [
        day(found["at"]),
        span(elapsed_s(found["at"], meta["ts"])),
        Cell(f"{'▲' if upward else '▼'} {found['direction']}", "good" if upward else "bad"),
        f"{before['UP']} → {after['UP']}",
        f"{before['DOWN']} → {after['DOWN']}",
        f"{before['UP'] - before['DOWN']:+} → {after['UP'] - after['DOWN']:+}",
        found["universe"],
    ]

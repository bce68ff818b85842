"""`verdict funding alerts`: coins whose funding entered a zone, and whether they are still in it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import elapsed_s, footer, percent, signed, span, usd
from service.clients.cli.prose import facts, flow, heading, listed
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.tables import table

_HEADERS: Final = ("AGO", "COIN", "ZONE", "A YEAR", "RANK", "PRICE", "STATE")
_ZONES: Final[Mapping[str, tuple[str, Style]]] = {
    "very-hot": ("▲▲", "bad"),
    "hot": ("▲", "warn"),
    "cold": ("▼", "accent"),
    "very-cold": ("▼▼", "good"),
}


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:
    """What is still on, then a row an event, newest first."""
    events, page = data["events"], data["meta"]
    of = [Cell(f"of {str(chosen['symbol']).upper()}")] if chosen.get("symbol") else []
    yield from heading(screen, [Cell("Funding alerts", "strong"), *of, Cell(f"{len(events)} of {page['total']:,}")])
    yield ""
    if events:
        yield from facts(screen, [("Still on", _open(events))])
        yield ""
        yield from table(screen, _HEADERS, [_row(event, meta) for event in events], right="rllrrr")
        yield ""
        yield from flow(
            screen, [Cell("A YEAR: funding when it fired. RANK: its percentile in the coin's last 30 days.", "dim")]
        )
    else:
        yield from flow(screen, ["None: no coin's funding entered a zone."])
        yield ""
    if page["next_cursor"]:
        yield from flow(screen, [Cell(f"Older ones: --cursor {page['next_cursor']}", "dim")])
    yield from footer(screen, meta)


def _zone(name: str) -> Cell:
    sign, style = _ZONES.get(name, ("", None))
    return Cell(f"{sign:<2} {name}", style)


def _open(events: Any) -> list[Part]:
    """How many of those shown are not cleared yet, by zone."""
    counts = Counter(event["triggerZone"] for event in events if event["clearedAt"] is None)
    return listed(Cell(f"{counts[name]} {name}", _ZONES[name][1]) for name in _ZONES if counts[name]) or ["none"]


def _row(event: Any, meta: Any) -> list[Cell | object]:
    cleared = event["clearedAt"]
    lasted = span(elapsed_s(event["firedAt"], cleared))
    return [
        span(elapsed_s(event["firedAt"], meta["ts"])),
        Cell(event["asset"], "strong"),
        _zone(event["triggerZone"]),
        signed(event["fundingAtTrigger"]),
        percent(event["percentile"]),
        usd(event["price"]),
        Cell("on", "warn") if cleared is None else Cell(f"cleared after {lasted}", "dim"),
    ]

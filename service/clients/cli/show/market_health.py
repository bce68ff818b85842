"""`verdict market health`: how many coins go which way, and with `--context` who leads and what does not fit."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli import plots
from service.clients.cli.figures import direction, footer, percent, signed, trend
from service.clients.cli.prose import facts, flow, heading, listed
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.show import breadth
from service.clients.cli.tables import table

_BAR: Final = 40
_REGIMES: Final[Mapping[str, Style]] = {"risk-on": "good", "neutral": "warn", "risk-off": "bad"}


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Breadth as a bar, extremes, and the context where it was asked for."""
    yield from heading(
        screen,
        [
            Cell("Market", "strong"),
            Cell(f"{data['universe']} coins at the close of {data['date']} (UTC)"),
            Cell(f"net {breadth.net(data['trends']).text}", "strong"),
        ],
    )
    yield ""
    yield from breadth.lines(screen, data["trends"])
    yield ""
    yield from facts(screen, _figures(data))
    if "interpretation" in data:
        yield from _context(data, screen)
    yield ""
    yield from footer(screen, meta)


def _figures(data: Any) -> Iterator[tuple[str, list[Part]]]:
    if data.get("regime"):
        lasting = data.get("regime_age_days")
        since = [] if lasting is None else [f"for {lasting} days"]
        yield "Regime", [Cell(data["regime"], _REGIMES.get(data["regime"])), *since]
    if data.get("velocity") is not None:
        moved = Cell(signed(data["velocity"], unit=""), direction(data["velocity"]))
        yield "Velocity", ["the net share moved by", moved, "points a day over five days"]
    extremes = listed(
        Cell(f"{found['state']} {percent(found['share_pct'])} of all", "warn") for found in data["extremes"]
    )
    yield "Extremes", extremes or ["none: no trend holds 60 % of the coins"]


def _context(data: Any, screen: Screen) -> Iterator[str]:
    movers = [*data["leadership"], *reversed(data["laggards"])]
    if movers:
        yield ""
        off = Cell(", percentage points off the median 30-day return", "dim")
        yield from flow(screen, [Cell("Ahead and behind", "strong"), off])
        yield from table(screen, ["COIN", "POINTS", "TREND", ""], list(_movers(movers, screen)), right="lr")
    if data["divergences"]:
        yield ""
        yield screen.paint("strong", "What does not fit")
        for found in data["divergences"]:
            yield from flow(screen, [found["detail"]], label="  ·", indent=4)
    yield ""
    yield screen.paint("strong", "In words")
    yield from flow(screen, [data["interpretation"]], indent=2)


def _movers(movers: Any, screen: Screen) -> Iterator[list[Cell | object]]:
    values = [mover["relative_pct"] for mover in movers]
    low, high = min(0.0, *values), max(0.0, *values)
    for mover in movers:
        value = mover["relative_pct"]
        drawn = plots.bar(value, low, high, min(_BAR, max(screen.width - 40, 1)))
        yield [
            mover["symbol"],
            Cell(signed(value, 1, unit=""), direction(value)),
            trend(mover["trend_daily"]),
            Cell(drawn, direction(value)),
        ]

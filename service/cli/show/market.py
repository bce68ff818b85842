"""View of `market health`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import direction, footer, percent, signed, trend
from service.cli.layout import facts, flow, heading, listed
from service.cli.show.columns import Field, columns, strong
from service.cli.terminal import Cell, Display, Part, Style

_WIDEST: Final = 100
_BAR: Final = 40
_LETTERS: Final = {"UP": "█", "HODL": "▒", "DOWN": "░"}
"""Characters of the bar; they differ, so it reads without colour too."""
_REGIMES: Final[Mapping[str, Style]] = {"risk-on": "good", "neutral": "warn", "risk-off": "bad"}


def market_health(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Breadth as a bar, extremes, and the context where it was asked for."""
    counts = data["trends"]
    total = sum(counts[state] for state in _LETTERS)
    net = 100 * (counts["UP"] - counts["DOWN"]) / total if total else None
    closed = Cell(f"{data['universe']} coins at the close of {data['date']} (UTC)")
    yield from heading(screen, [strong("Market"), closed, strong(f"net {signed(net, 1)}")])
    yield ""
    if total:
        parts = [(counts[state], trend(state).style, letter) for state, letter in _LETTERS.items()]
        yield plots.shares(screen, parts, min(screen.width, _WIDEST))
        said = {state: f"{letter} {state} {counts[state]}" for state, letter in _LETTERS.items()}
        yield from heading(
            screen,
            [Cell(f"{text} ({percent(100 * counts[one] / total)})", trend(one).style) for one, text in said.items()],
        )
    else:
        yield screen.paint("dim", "No coin's trend is known.")
    yield ""
    yield from facts(screen, _figures(data))
    if "interpretation" in data:
        yield from _context(data, screen)
    yield ""
    yield from footer(screen, meta)


def _figures(data: Any) -> Iterator[tuple[str, list[Part]]]:
    if data.get("regime"):
        lasting = data.get("regime_age_days")
        since = [] if lasting is None else [f"for {formats.count(lasting, 'day')}"]
        yield "Regime", [Cell(data["regime"], _REGIMES.get(data["regime"])), *since]
    if data.get("velocity") is not None:
        moved = Cell(signed(data["velocity"], unit=""), direction(data["velocity"]))
        yield "Velocity", ["the net share moved by", moved, "points a day over five days"]
    extremes = listed(Cell(f"{one['state']} {percent(one['share_pct'])} of all", "warn") for one in data["extremes"])
    yield "Extremes", extremes or ["none: no trend holds 60 % of the coins"]


def _context(data: Any, screen: Display) -> Iterator[str]:
    movers = [*data["leadership"], *reversed(data["laggards"])]
    if movers:
        yield ""
        off = Cell(", percentage points off the median 30-day return", "dim")
        yield from flow(screen, [strong("Ahead and behind"), off])
        moved = [mover["relative_pct"] for mover in movers]
        low, high, wide = min(0.0, *moved), max(0.0, *moved), min(_BAR, max(screen.width - 40, 1))
        shown = (
            Field("COIN", "symbol"),
            Field("POINTS", "relative_pct", lambda value: Cell(signed(value, 1, unit=""), direction(value)), "r"),
            Field("TREND", "trend_daily", trend),
            Field("", "relative_pct", lambda value: Cell(plots.bar(value, low, high, wide), direction(value))),
        )
        yield from columns(screen, shown, movers)
    if data["divergences"]:
        yield ""
        yield screen.paint("strong", "Divergences")
        for found in data["divergences"]:
            yield from flow(screen, [found["detail"]], label="  ·", indent=4)
    yield ""
    yield screen.paint("strong", "In words")
    yield from flow(screen, [data["interpretation"]], indent=2)

"""Funding of the whole market, and the coins whose rate moved."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.clients.cli.figures import change, signed
from service.clients.cli.plots import shares
from service.clients.cli.prose import flow, heading
from service.clients.cli.screen import Cell, Part, Screen, Style, sparkline
from service.clients.cli.tables import table
from service.clients.cli.watch.views.view import fitted

_HEAT: Final[dict[str, Style]] = {"hot": "bad", "warm": "warn", "cool": "accent", "cold": "accent"}
_POINTS: Final = 60
_MOVERS_FROM: Final = 4


class Funding:
    """The state of now, and the mean of what came before."""

    def __init__(self) -> None:
        self._now: Any = None
        self._means: list[float | None] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note a state."""
        self._now = data
        self._means = [*self._means, data["market"]["avgApr"]][-_POINTS:]

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """The market, how many pay and are paid, and the movers."""
        market = self._now["market"]
        past = sparkline(self._means, _POINTS // 2) if len(self._means) > 1 else ""
        yield from flow(screen, [*_market(market), Cell(past, "dim")])
        even = market["total"] - market["positive"] - market["negative"]
        parts: list[tuple[float, Style, str]] = [
            (market["positive"], "warn", "█"),
            (even, "dim", "░"),
            (market["negative"], "accent", "▓"),
        ]
        yield shares(screen, parts, min(screen.width, 80))
        paying = (f"█ longs pay on {market['positive']} coins", f"▓ shorts pay on {market['negative']}")
        yield from heading(screen, map(Cell, paying))
        yield ""
        yield from fitted(self._movers(screen), rows - _MOVERS_FROM)

    def tell(self, data: Any) -> Sequence[Part]:
        """The market, and who moved."""
        moved = [part for one in data["movers"] for part in (",", Cell(one["symbol"], "strong"), *_moved(one))][1:]
        return [*_market(data["market"]), *(["movers:", *moved] if moved else ["nobody moved"])]

    def _movers(self, screen: Screen) -> Iterator[str]:
        movers = self._now["movers"]
        if not movers:
            yield screen.paint("dim", "No rate has moved against what was last paid.")
            return
        rows = [(Cell(one["symbol"], "strong"), *_moved(one)) for one in movers]
        yield from table(screen, ("COIN", "A YEAR", "POINTS IN 1 H"), rows, right="lrr")


def _market(market: Any) -> list[Part]:
    heat = market["temperature"] or "unknown"
    return ["Funding is", Cell(heat, _HEAT.get(heat, "strong")), f", {signed(market['avgApr'])} a year in the mean"]


def _moved(one: Any) -> tuple[Cell, Cell]:
    return Cell(signed(one["funding_apr"])), change(one["change_1h"], unit="")

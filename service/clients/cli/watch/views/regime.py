"""Positions of coins as their regimes have them."""

from collections.abc import Iterator, Sequence
from typing import Any

from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Part, Screen
from service.clients.cli.show.regime import STYLES, positions
from service.clients.cli.watch.views.view import fitted


class Regime:
    """The positions of now, and what is new among them."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}
        self._news: list[Part] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note positions."""
        held = {one["symbol"]: one for one in data}
        if self._held:
            came = [symbol for symbol, one in held.items() if _side(self._held.get(symbol)) != _side(one)]
            gone = sorted(self._held.keys() - held.keys())
            news = [Cell(f"{symbol} {_side(held[symbol])}", STYLES.get(_side(held[symbol]))) for symbol in came]
            self._news = [*news, *(Cell(f"{symbol} none", "warn") for symbol in gone)]
        self._held = held

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """How many there are, what turned with the last event, and the positions."""
        yield from flow(screen, self.tell(None))
        yield ""
        if self._held:
            yield from fitted(positions(list(self._held.values()), screen), rows - 2)

    def tell(self, data: Any) -> Sequence[Part]:  # noqa: ARG002 - all views alike
        """How many there are, and what turned."""
        longs = sum(_side(one) == "long" for one in self._held.values())
        counts = [Cell(f"{longs} long,", "good"), Cell(f"{len(self._held) - longs} short", "bad")]
        return [*counts, *(["turned:", *self._news] if self._news else [])]


def _side(one: Any) -> str:
    return one["direction"] if one else ""

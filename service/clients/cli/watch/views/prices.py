"""Prices, those of the coins that moved most since the view began behind those all others are compared with."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.clients.cli.figures import change, elapsed_s, price
from service.clients.cli.screen import Cell, Part, Screen, sparkline
from service.clients.cli.tables import table

_FIRST: Final = ("BTC", "ETH")
"""What every coin's trend is compared with, beside USD."""

_POINTS: Final = 8
_COLUMN: Final = 38
_OLD_S: Final = 60.0
_TOLD: Final = 8


class Prices:
    """Prices of all coins."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._seen: dict[str, deque[float]] = {}
        self._old: set[str] = set()
        self._moved: list[str] = []

    def take(self, data: Any, meta: Any) -> None:
        """Note prices; those that changed with the event are told."""
        told = {symbol: tick for symbol, tick in data["prices"].items() if tick is not None}
        self._moved = [symbol for symbol, tick in told.items() if self._last(symbol) != tick["price"]]
        self._old = {symbol for symbol, tick in told.items() if (elapsed_s(tick["ts"], meta["ts"]) or 0.0) > _OLD_S}
        for gone in self._seen.keys() - data["prices"].keys():
            del self._seen[gone]
        for symbol, tick in told.items():
            self._began.setdefault(symbol, tick["price"])
            self._seen.setdefault(symbol, deque(maxlen=_POINTS)).append(tick["price"])

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """Prices in as many columns as there is room for."""
        columns = max((screen.width + 2) // _COLUMN, 1)
        symbols = sorted(self._seen, key=self._place)
        deep = max(min(rows - 2, -(-len(symbols) // columns)), 1)
        shown = symbols[: deep * columns]
        grid = [
            [cell for place in range(row, len(shown), deep) for cell in self._cells(shown[place])]
            for row in range(deep)
        ]
        heads = ("COIN", "PRICE", "CHANGE", "") * columns
        filled = [row + [""] * (len(heads) - len(row)) for row in grid]
        yield from table(screen, heads, filled, right="lrrl" * columns)
        if len(symbols) > len(shown):
            yield screen.paint("dim", f"{len(symbols) - len(shown)} more; change since the view began")
        else:
            yield screen.paint("dim", "change since the view began")

    def tell(self, data: Any) -> Sequence[Part]:
        """Prices that changed."""
        moved = sorted((symbol for symbol in self._moved if symbol in data["prices"]), key=self._place)
        said: list[Part] = []
        for symbol in moved[:_TOLD]:
            said += [",", Cell(symbol, "strong"), price(self._last(symbol)), self._change(symbol)]
        rest = len(moved) - _TOLD
        return [*said[1:], *([f"and {rest} more"] if rest > 0 else [])] or ["no price changed"]

    def _cells(self, symbol: str) -> list[Cell]:
        now = Cell(f"{price(self._last(symbol))}{' old' if symbol in self._old else ''}")
        return [Cell(symbol, "strong"), now, self._change(symbol), Cell(self._line(symbol), "dim")]

    def _line(self, symbol: str) -> str:
        return sparkline(list(self._seen[symbol]), _POINTS).ljust(_POINTS)

    def _change(self, symbol: str) -> Cell:
        return change(self._moved_by(symbol))

    def _moved_by(self, symbol: str) -> float:
        began = self._began[symbol]
        return (self._seen[symbol][-1] / began - 1) * 100 if began else 0.0

    def _last(self, symbol: str) -> float | None:
        return self._seen[symbol][-1] if symbol in self._seen else None

    def _place(self, symbol: str) -> tuple[int, float, str]:
        first = _FIRST.index(symbol) if symbol in _FIRST else len(_FIRST)
        return first, -abs(round(self._moved_by(symbol), 2)), symbol

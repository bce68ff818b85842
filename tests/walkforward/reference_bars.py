"""Daily bars and payments for the reference implementation, read from the files themselves, day by day.

Nothing of the service reads them here: how it does is what the comparison is about, too.
"""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from tests.market.recordings import DATA

RECORDED = DATA / "hyperliquid"
BUNDLED = Path(__file__).resolve().parents[2] / "fixtures" / "upstream" / "hyperliquid"

DAY_MS = 86_400_000


class Bar(NamedTuple):
    """A day of a coin: prices in USD, volume in base units."""

    open: float
    high: float
    low: float
    close: float
    volume: float


class History(NamedTuple):
    """Bars by coin and day (from 1970-01-01), and what a long paid over a day, as a fraction of the notional."""

    bars: dict[str, dict[int, Bar]]
    paid: dict[str, dict[int, float]]

    @property
    def days(self) -> range:
        """The calendar: from the first day on which any coin has a bar to the last."""
        known = [day for bars in self.bars.values() for day in bars]
        return range(min(known), max(known) + 1)

    def only(self, *coins: str) -> "History":
        """The same market, had there been only these coins."""
        return History(
            {coin: self.bars[coin] for coin in coins}, {coin: self.paid[coin] for coin in coins if coin in self.paid}
        )


@cache
def recorded() -> History:
    """The real recordings: 116 coins, funding of 40 of them."""
    return _read(RECORDED)


@cache
def bundled() -> History:
    """The fixtures that the repository brings with it."""
    return _read(BUNDLED)


def _read(folder: Path) -> History:
    bars: dict[str, dict[int, Bar]] = {}
    for coin, rows in _files(folder / "candles-1d"):
        bars[coin] = {row["t"] // DAY_MS: Bar(*(float(row[field]) for field in "ohlcv")) for row in rows}
    paid: dict[str, dict[int, float]] = {}
    for coin, rows in _files(folder / "funding"):
        of_day: dict[int, list[float]] = defaultdict(list)
        for row in rows:
            of_day[row["time"] // DAY_MS].append(float(row["fundingRate"]))
        paid[coin] = {day: math.fsum(rates) for day, rates in of_day.items()}
    return History(bars, paid)


def _files(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path) as file:
            found = json.load(file)
        yield path.name.removesuffix(".json.gz"), found if isinstance(found, list) else _unpacked(found)


def _unpacked(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table written by columns: one value where all are equal, whole numbers as differences."""
    length = max(len(cells) for cells in columns.values() if isinstance(cells, list))
    whole = {
        name: list(accumulate(cells)) if isinstance(cells, list) and isinstance(cells[0], int) else cells
        for name, cells in columns.items()
    }
    filled = {name: cells if isinstance(cells, list) else [cells] * length for name, cells in whole.items()}
    return [dict(zip(filled, row, strict=True)) for row in zip(*filled.values(), strict=True)]

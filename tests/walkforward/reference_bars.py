"""Daily bars and payments for the reference implementation, read from the files themselves, day by day.

Nothing of the service reads them here: how it does is what the comparison is about, too.
"""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from tests.market.recordings import DATA, price_of_one, size_of

RECORDED = DATA / "hyperliquid"
BUNDLED = Path(__file__).resolve().parents[2] / "fixtures" / "upstream" / "hyperliquid"

T = TypeVar("T")

HOUR_MS, DAY_MS = 3_600_000, 86_400_000

FEE_BPS = 4.5
"""Hyperliquid's base taker fee."""


class Bar(NamedTuple):
    """A day of a coin: prices in USD, volume in base units."""

    open: float
    high: float
    low: float
    close: float
    volume: float


def slippage_bps(daily_usd: list[float]) -> int:
    """Slippage by what was traded on each day so far, the last one being that of the decision."""
    if len(daily_usd) < 30:
        return 150
    usual = median(daily_usd[-30:])
    if usual >= 1e9:
        return 1
    if usual >= 1e8:
        return 3
    if usual >= 1e7:
        return 10
    if usual >= 1e6:
        return 25
    return 60 if usual >= 1e5 else 150


Costs = dict[int, float]
"""What a fill costs that was decided on a day, as a share of its notional."""


def costs_of(bars: dict[int, Bar]) -> Costs:
    """The costs of every day of a coin, from that day and those before it."""
    daily_usd: list[float] = []
    costs = {}
    for day in sorted(bars):
        daily_usd.append(bars[day].close * bars[day].volume)
        costs[day] = (FEE_BPS + slippage_bps(daily_usd)) / 10_000
    return costs


@dataclass(frozen=True)
class History:
    """Bars by coin and day (from 1970-01-01), and what a long paid over a day, as a fraction of the notional."""

    bars: dict[str, dict[int, Bar]]
    paid: dict[str, dict[int, float]]

    @cached_property
    def days(self) -> range:
        """The calendar: from the first day on which any coin has a bar to the last."""
        known = [day for bars in self.bars.values() for day in bars]
        return range(min(known), max(known) + 1)

    @cached_property
    def costs(self) -> dict[str, Costs]:
        """What fills cost, by coin."""
        return {coin: costs_of(bars) for coin, bars in self.bars.items()}

    def only(self, *coins: str) -> "History":
        """The same market, had there been only these coins."""
        return History(
            {coin: self.bars[coin] for coin in coins}, {coin: self.paid[coin] for coin in coins if coin in self.paid}
        )

    def until(self, over: int) -> "History":
        """What was known before a day."""
        return History(*({coin: _until(known, over) for coin, known in of.items()} for of in (self.bars, self.paid)))


def _until(known: dict[int, T], over: int) -> dict[int, T]:
    return {day: value for day, value in known.items() if day < over}


@cache
def recorded() -> History:
    """The real recordings: 116 coins, funding of 40 of them."""
    return _read(RECORDED)


@cache
def bundled() -> History:
    """The fixtures that the repository brings with it."""
    return _read(BUNDLED)


def _read(folder: Path) -> History:
    """By public ticker: the venue's kPEPE is a thousand PEPE."""
    bars: dict[str, dict[int, Bar]] = {}
    for coin, rows in files(folder / "candles-1d"):
        bars[coin.removeprefix("k")] = {
            row["t"] // DAY_MS: Bar(
                *(price_of_one(coin, row[field]) for field in "ohlc"),  # type: ignore[misc] # four
                volume=float(row["v"]) * size_of(coin),
            )
            for row in rows
        }
    paid: dict[str, dict[int, float]] = {}
    for coin, rows in files(folder / "funding"):
        of_day: dict[int, dict[int, float]] = defaultdict(dict)
        for row in rows:
            hour = round(row["time"] / HOUR_MS)  # paid for the hour that has just ended, within minutes
            of_day[(hour - 1) // 24][hour] = float(row["fundingRate"])
        paid[coin.removeprefix("k")] = {
            day: math.fsum(rates.values()) for day, rates in of_day.items() if len(rates) >= 23
        }
    return History(bars, paid)


def files(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The rows of every file of a folder, by the venue's name of the coin."""
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

"""The recorded market that a back-test reads: daily bars and daily funding of many coins on one calendar."""

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from service.analytics.bars import Floats
from service.clock import DAY_MS


class DayBar(NamedTuple):
    """One daily bar: `day` counts from 1970-01-01 UTC, prices are USD, `volume` is in base units."""

    day: int
    open: float
    high: float
    low: float
    close: float
    volume: float


_WIDTH: Final = len(DayBar._fields)


class MarketTape(NamedTuple):
    """Tables of shape (days, coins), a row for every day from `first_day` on, NaN where a coin has no bar.

    `coins` are in alphabetical order, those delisted since included. `funding` is the fraction of its notional that a
    long paid over that UTC day (negative: was paid), the sum of the day's payments; NaN where it was not recorded.
    """

    coins: tuple[str, ...]
    first_day: int
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    funding: Floats

    def until(self, rows: int) -> "MarketTape":
        """The first `rows` days (views), with all coins, those included that have no bar by then."""
        days = (table[:rows] for table in (self.open, self.high, self.low, self.close, self.volume, self.funding))
        return MarketTape(self.coins, self.first_day, *days)


def build_tape(bars: Mapping[str, Sequence[DayBar]], paid: Mapping[str, Mapping[int, float]]) -> MarketTape:
    """Lay the recordings of many coins on one calendar, from the first bar of any of them to the last.

    Args:
        bars: Closed daily bars by coin, in any order; a coin that has none is left out.
        paid: By coin and day what a long paid over that day, a fraction of notional; other days and coins are ignored.

    Returns:
        The tape; one without rows and coins where there are no bars.

    Raises:
        ValueError: If a coin has two bars of one day, a price is not positive and finite, or a volume or payment is
            negative (a volume) or not finite: a record that is broken must not be traded on.
    """
    flat = {coin: np.fromiter(chain.from_iterable(rows), np.float64, _WIDTH * len(rows)) for coin, rows in bars.items()}
    return _lay({coin: numbers.reshape(-1, _WIDTH) for coin, numbers in flat.items()}, paid)


def build_tape_from_packed(
    bars: "Mapping[str, array[float]]", last_day: int, paid: Mapping[str, Mapping[int, float]]
) -> MarketTape:
    """As `build_tape`, of packed bars up to a day: six numbers each, those of a `DayBar` with the open in epoch ms."""
    tables = {coin: np.array(numbers).reshape(-1, _WIDTH) for coin, numbers in bars.items()}
    for table in tables.values():
        table[:, 0] //= DAY_MS
    return _lay({coin: table[table[:, 0] <= last_day] for coin, table in tables.items()}, paid)


def _lay(bars: Mapping[str, Floats], paid: Mapping[str, Mapping[int, float]]) -> MarketTape:
    coins = tuple(sorted(coin for coin, recorded in bars.items() if len(recorded)))
    counts = [len(bars[coin]) for coin in coins]
    rows = np.concatenate([np.empty((0, _WIDTH)), *(bars[coin] for coin in coins)])
    if not (np.isfinite(rows).all() and (rows[:, 1:5] > 0).all() and (rows[:, 5] >= 0).all()):
        raise ValueError("a bar has a price that is not positive, or a number that is not finite")
    day = rows[:, 0].astype(np.int64)
    first, last = (int(day.min()), int(day.max())) if day.size else (0, -1)
    place = (day - first) * len(coins) + np.repeat(np.arange(len(coins)), counts)
    if np.unique(place).size != place.size:
        raise ValueError("a coin has two bars of one day")
    laid = np.full((5, (last - first + 1) * len(coins)), np.nan)
    laid[:, place] = rows[:, 1:].T
    opens, high, low, close, volume = laid.reshape(5, last - first + 1, len(coins))
    funding = _payments(coins, range(first, last + 1), paid)
    return MarketTape(coins, first, opens, high, low, close, volume, funding)


def _payments(coins: Sequence[str], days: range, paid: Mapping[str, Mapping[int, float]]) -> Floats:
    laid = np.full((len(days), len(coins)), np.nan)
    for column, coin in enumerate(coins):
        known = [(day - days.start, payment) for day, payment in paid.get(coin, {}).items() if day in days]
        if known:
            rows, payments = zip(*known, strict=True)
            laid[list(rows), column] = payments
    if np.isinf(laid).any():
        raise ValueError("a funding payment is not finite")
    return laid

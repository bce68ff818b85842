"""How long the rest of a series takes to load: what comes before it, at the pace that the venue allows.

It is computed from what the store lacks, so every process can tell it, the one that loads and the others.
"""

from collections.abc import Callable, Sequence
from typing import Final

from service.clock import DAY_MS, HOUR_MS, Clock
from service.market.filling import Filling, Pace
from service.market.observed import MAJORS, REACH_MS, SETTLE_MS, Progress
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS, FUNDING_PAGE
from service.market.store import MarketStore
from service.units import Interval

_PAGES: Final = -(-REACH_MS // HOUR_MS // FUNDING_PAGE)
"""Answers that a coin's payments take."""


class Loading:
    """Estimates how long it takes until the series of a coin are stored.

    Daily bars are loaded first, of BTC and ETH, then of the coins most traded. Then hourly bars and payments of funding
    take turns, call by call.

    Args:
        clock: What has closed.
        store: Knows what is missing.
        source: Knows what a call weighs, and how fast weight may be spent.
        origin: Which history the venue tells at this moment.
        pace: How long a coin's hourly bars took lately, in the process that loads them: others use the venue too.
    """

    def __init__(
        self, clock: Clock, store: MarketStore, source: Hyperliquid, origin: Callable[[], str], pace: Pace
    ) -> None:
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._pace = pace

    async def bars(self, coin: str, interval: Interval) -> Filling:
        """Of how many coins there are bars, and how long it takes until there are those of one.

        Args:
            coin: Venue symbol of a listed coin.
            interval: Length of a bar.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        days = await self._store.progress(self._origin())
        if interval == "1d":
            # The sort is stable: the majors first, the others in their order.
            order = sorted(days, key=lambda row: row.venue_symbol not in MAJORS)
            return _filling(days, self._source.wait_s(self._daily_weight(_until(order, coin))))
        hours = await self._store.progress(self._origin(), "1h")
        place = len([row for row in _until(hours, coin) if row.last_ms is None])
        wait_s = self._source.wait_s(self._daily_weight(days) + place * self._hour_weight())
        return _filling(hours, max(wait_s, place * self._pace.piece_s()))

    async def payments(self) -> Filling:
        """Of how many coins payments of funding are stored, and how long it takes until there are those of the first.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        paid, days = await self._store.funding_progress(self._origin()), await self._store.progress(self._origin())
        pages = 0 if any(row.last_ms is not None for row in paid) else _PAGES
        return _filling(paid, self._source.wait_s(self._daily_weight(days) + pages * self._hour_weight()))

    def daily_wait_s(self, coins: int) -> float:
        """Seconds until the daily bars of so many coins that have none have been asked for."""
        return self._source.wait_s(coins * self._source.weight_of_bars("1d", EARLIEST_MS))

    def _daily_weight(self, days: Sequence[Progress]) -> int:
        """What it weighs to ask for the daily bars that are missing."""
        newest_ms = (self._clock.now_ms() - SETTLE_MS) // DAY_MS * DAY_MS - DAY_MS
        starts = (EARLIEST_MS if row.last_ms is None else row.last_ms for row in days)
        return sum(self._source.weight_of_bars("1d", start_ms) for start_ms in starts if start_ms < newest_ms)

    def _hour_weight(self) -> int:
        """What a coin's hourly bars weigh, and the page of payments that is asked for in turn with them."""
        since_ms = self._clock.now_ms() - REACH_MS
        return self._source.weight_of_bars("1h", since_ms) + self._source.weight_of_payments(since_ms)


def _until(rows: Sequence[Progress], coin: str) -> Sequence[Progress]:
    """The rows up to a coin's, that included; all of them where it has none."""
    places = [place for place, row in enumerate(rows, 1) if row.venue_symbol == coin]
    return rows[: places[0]] if places else rows


def _filling(rows: Sequence[Progress], remaining_s: float) -> Filling:
    listed = [row for row in rows if row.listed]
    return Filling(sum(row.last_ms is not None for row in listed), len(listed), remaining_s=remaining_s)

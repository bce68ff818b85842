"""Load recorded history in bulk: whole coins by column, many in a transaction, before the refresh loops ask bar by bar.

A recording has no rate limit. What is stored is what the adapter would have read from the replay server, bar by bar; a
test compares the two.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, repeat
from typing import Any, Final, Protocol

from service.clock import HOUR_MS, Clock
from service.market.hourly import REACH_MS
from service.market.observed import SETTLE_MS, PaymentRow
from service.market.sources.hyperliquid import EARLIEST_MS, FUNDING_PAGE
from service.market.sources.hyperliquid_wire import BAR_COLUMNS, PAYMENT_COLUMNS, BarColumns, payments_of
from service.market.store import BarRow, MarketStore
from service.units import INTERVAL_MS, Interval

LOAD_EVERY_S: Final = 1.0
"""A round in which everything is loaded compares two strings."""

COINS_A_BATCH: Final = 12
"""Coins a transaction: with 2,160 hours each some 50 ms of the writer's time, for which a price waits at most."""

_log: Final = logging.getLogger("verdict.market")


class Recorded(Protocol):
    """A recording of the first venue."""

    def coins(self) -> Sequence[str]:
        """Venue symbols of every market, delisted coins included."""

    def delisted(self) -> Sequence[str]:
        """Venue symbols of the main market's delisted coins."""

    def columns(self, kind: str, coin: str) -> bytes | None:
        """Rows of one kind (`candles-1d`, `candles-1h`, `funding`) by column, as JSON; null where there are none."""

    def now(self) -> tuple[int, int]:
        """Now in recorded time, and what is added to recorded time on the way out; epoch milliseconds."""


class BulkHistory:
    """Loads what the store lacks of a recording, once for each origin.

    Args:
        clock: What time it is.
        store: Where series are kept.
        recorded: The recording.
        origin: Which history is told at this moment; a replay's changes at midnight.
        coins: An event that is set once the service knows coins.

    Attributes:
        days: Set once the daily bars are there.
        complete: Set once hourly bars and payments are there too, and coins are known. Both are set as well where the
            recording cannot be read in bulk: the refresh loops then fetch it.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        recorded: Recorded,
        origin: Callable[[], str],
        coins: Callable[[], asyncio.Event],
    ) -> None:
        self.days = asyncio.Event()
        self.complete = asyncio.Event()
        self._clock = clock
        self._store = store
        self._recorded = recorded
        self._origin = origin
        self._coins = coins
        self._loaded_of = ""

    async def round(self) -> None:
        """Load what the store lacks of the present origin. Before the store holds that origin nothing is loaded.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round loads what is missing then.
        """
        origin = self._origin()
        if origin == self._loaded_of or await self._store.held() != origin:
            return
        try:
            await self._load(origin)
        except (ValueError, KeyError) as error:
            _log.warning("recorded history is fetched bar by bar", extra={"reason": str(error)})
        self._loaded_of = origin
        self.days.set()
        await self._coins().wait()
        self.complete.set()

    async def _load(self, origin: str) -> None:
        coins, main = self._recorded.coins(), [coin for coin in self._recorded.coins() if ":" not in coin]
        await self._load_bars(origin, "1d", coins, EARLIEST_MS)
        await self._store.put_delisted(origin, self._recorded.delisted())
        self.days.set()
        # Some hours more than the refresh loops keep complete would be asked for never: begin where those begin.
        since_ms = (self._clock.now_ms() - REACH_MS) // HOUR_MS * HOUR_MS
        await self._load_bars(origin, "1h", main, since_ms)
        await self._load_payments(origin, main, since_ms)

    async def _load_bars(self, origin: str, interval: Interval, coins: Sequence[str], since_ms: int) -> None:
        rows: dict[str, list[BarRow]] = {}
        for batch in _batches(await self._store.without_bars(coins, interval)):
            rows, _ = await asyncio.gather(
                asyncio.to_thread(self._bars, interval, batch, since_ms),
                self._store.put_closed_bars(origin, interval, rows),
            )

    async def _load_payments(self, origin: str, coins: Sequence[str], since_ms: int) -> None:
        rows: dict[str, list[PaymentRow]] = {}
        for batch in _batches(await self._store.without_payments(coins)):
            rows, _ = await asyncio.gather(
                asyncio.to_thread(self._payments, batch, since_ms), self._store.put_all_payments(origin, rows)
            )

    def _bars(self, interval: Interval, coins: Sequence[str], since_ms: int) -> dict[str, list[BarRow]]:
        at_ms, shift_ms = self._recorded.now()
        step_ms = INTERVAL_MS[interval]
        until_ms = at_ms // 1_000 * 1_000 - SETTLE_MS - step_ms + shift_ms
        found: dict[str, list[BarRow]] = {}
        for coin in coins:
            text = self._recorded.columns(f"candles-{interval}", coin)
            if text is not None:
                columns = BAR_COLUMNS.decode(text)
                found[coin] = [row for row in _shifted(columns, shift_ms, step_ms) if since_ms <= row[0] <= until_ms]
        return found

    def _payments(self, coins: Sequence[str], since_ms: int) -> dict[str, list[PaymentRow]]:
        at_ms, shift_ms = self._recorded.now()
        found: dict[str, list[PaymentRow]] = {}
        for coin in coins:
            text = self._recorded.columns("funding", coin)
            if text is not None:
                columns = PAYMENT_COLUMNS.decode(text)
                paid = zip(accumulate(columns.times), _filled(columns.rates, len(columns.times)), strict=True)
                rows = [(paid_ms + shift_ms, rate) for paid_ms, rate in paid if paid_ms <= at_ms]
                rows = [row for row in rows if row[0] >= since_ms]
                pages = (rows[first : first + FUNDING_PAGE] for first in range(0, len(rows), FUNDING_PAGE))
                found[coin] = [payment for page in pages for payment in payments_of(page)]
        return found


def _shifted(columns: BarColumns, shift_ms: int, step_ms: int) -> Iterable[BarRow]:
    """Sound bars of a coin, in present time."""
    cells = (columns.open, columns.high, columns.low, columns.close, columns.volumes)
    length = len(columns.times)
    filled = (_filled(cell, length) for cell in cells)
    rows = zip(accumulate(columns.times), *filled, accumulate(columns.trades), strict=True)
    for open_ms, first, high, low, last, volume, count in rows:
        if open_ms % step_ms == 0 and 0 < low <= first <= high and low <= last <= high:
            yield open_ms + shift_ms, first, high, low, last, volume, count


def _filled(cells: object, length: int) -> Iterable[Any]:
    return cells if isinstance(cells, list) else repeat(cells, length)


def _batches(coins: Sequence[str]) -> Iterable[Sequence[str]]:
    """Coins a transaction; none at last: while a batch is read, the one before it is written."""
    return [*(coins[first : first + COINS_A_BATCH] for first in range(0, len(coins), COINS_A_BATCH)), ()]

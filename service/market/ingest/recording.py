"""Loads recorded history in bulk: whole coins by column, many per transaction, before the refresh jobs start.

A recording has no rate limit. The stored rows equal what the adapter would read from the replay server bar by bar; a
test compares the two.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any, Final, Protocol

from service.clock import HOUR_MS, Clock
from service.market.funding import on_schedule
from service.market.models import FUNDING_HOURS, REACH_MS, SETTLE_MS, BarRow, PaymentRow
from service.market.sources.hyperliquid_wire import (
    BAR_COLUMNS,
    EARLIEST_MS,
    PAYMENT_COLUMNS,
    BarColumns,
)
from service.market.store import MarketStore
from service.market.symbols import per_coin, unit_of
from service.units import INTERVAL_MS, Interval


class MarketRecording(Protocol):
    """A recording of the first venue."""

    def coins(self) -> Sequence[str]:
        """Venue symbols of every market, delisted coins included."""

    def delisted(self) -> Sequence[str]:
        """Venue symbols of the main market's delisted coins."""

    def columns(self, kind: str, coin: str) -> bytes | None:
        """Rows of one kind (`candles-1d`, `candles-1h`, `funding`) by column, as JSON; null if there are none."""

    def now(self) -> tuple[int, int]:
        """Current recorded time, and the shift added to recorded times; epoch milliseconds."""


def main_coins(recorded: MarketRecording) -> list[str]:
    """Venue symbols of the main market, delisted coins included."""
    return [coin for coin in recorded.coins() if ":" not in coin]


def first_hour(now_ms: int) -> int:
    """First hour that is loaded: where the refresh jobs begin, which never request older hours."""
    return (now_ms - REACH_MS) // HOUR_MS * HOUR_MS


def closed_bars(
    recorded: MarketRecording, interval: Interval, coins: Iterable[str], since_ms: int
) -> dict[str, list[BarRow]]:
    """Closed bars of coins that opened at or after an instant, oldest first.

    Raises:
        ValueError: If the recording does not have the venue's format.
    """
    at_ms, shift_ms = recorded.now()
    step_ms = INTERVAL_MS[interval]
    until_ms = at_ms // 1_000 * 1_000 - SETTLE_MS - step_ms + shift_ms
    found: dict[str, list[BarRow]] = {}
    for coin in coins:
        text = recorded.columns(f"candles-{interval}", coin)
        if text is not None:
            columns = BAR_COLUMNS.decode(text)
            rows = _shifted(columns, shift_ms, step_ms, unit_of(coin)[1])
            found[coin] = [row for row in rows if since_ms <= row[0] <= until_ms]
    return found


def funding_payments(recorded: MarketRecording, coins: Iterable[str], since_ms: int) -> dict[str, list[PaymentRow]]:
    """Funding payments of coins from an instant on, oldest first.

    Raises:
        ValueError: If the recording does not have the venue's format.
    """
    at_ms, shift_ms = recorded.now()
    found: dict[str, list[PaymentRow]] = {}
    for coin in coins:
        text = recorded.columns("funding", coin)
        if text is not None:
            columns = PAYMENT_COLUMNS.decode(text)
            paid = zip(accumulate(columns.times), _filled(columns.rates, len(columns.times)), strict=True)
            rows = [
                (paid_ms + shift_ms, rate)
                for paid_ms, rate in paid
                if since_ms <= paid_ms + shift_ms and paid_ms <= at_ms
            ]
            found[coin] = on_schedule(rows, FUNDING_HOURS)
    return found


def _shifted(columns: BarColumns, shift_ms: int, step_ms: int, units: int) -> Iterable[BarRow]:
    """Valid bars of a coin, shifted to the present; prices and volumes of single coins."""
    cells = (columns.open, columns.high, columns.low, columns.close, columns.volumes)
    length = len(columns.times)
    filled = (_filled(cell, length) for cell in cells)
    rows: Iterable[Any] = zip(accumulate(columns.times), *filled, accumulate(columns.trades), strict=True)
    if units > 1:
        rows = (
            (open_ms, *(per_coin(price, units) for price in prices), volume * units, count)
            for open_ms, *prices, volume, count in rows
        )
    for open_ms, first, high, low, last, volume, count in rows:
        if open_ms % step_ms == 0 and 0 < low <= first <= high and low <= last <= high:
            yield open_ms + shift_ms, first, high, low, last, volume, count


def _filled(cells: object, length: int) -> Iterable[Any]:
    return cells if isinstance(cells, list) else repeat(cells, length)


LOAD_EVERY_S: Final = 1.0
"""Once everything is loaded, a round only compares two strings."""

COINS_A_BATCH: Final = 12
"""Coins per transaction: 2,160 hours each take the writer some 50 ms, for which a price waits at most."""

_log: Final = logging.getLogger("verdict.market")


class PreparedRecording(MarketRecording, Protocol):
    """A recording of the first venue whose rows another process may have prepared."""

    async def prepared(self, origin: str) -> Path | None:
        """The next complete prepared file of a dataset; null if there are no more.

        The first has daily bars, the second payments, the last past funding alerts, the others hourly bars.
        """


class RecordingLoader:
    """Loads what the store lacks of a recording, once per dataset.

    Args:
        clock: Current time.
        store: Stores series.
        recorded: The recording.
        origin: The current dataset; a replay's changes at midnight.
        coins: Returns an event that is set once coins are known.

    Attributes:
        days: Set once daily bars are loaded.
        paid: Set once payments are loaded too, and coins are known.
        complete: Set once hourly bars are loaded too. All three are also set if the recording cannot be loaded in bulk:
            the refresh jobs then fetch it.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        recorded: PreparedRecording,
        origin: Callable[[], str],
        coins: Callable[[], asyncio.Event],
    ) -> None:
        self.days = asyncio.Event()
        self.paid = asyncio.Event()
        self.complete = asyncio.Event()
        self._clock = clock
        self._store = store
        self._recorded = recorded
        self._origin = origin
        self._coins = coins
        self._loaded_of = ""

    async def round(self) -> None:
        """Load what the store lacks of the current dataset. Nothing is loaded before the store holds that dataset.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used; the next round continues.
        """
        origin = self._origin()
        if origin == self._loaded_of or await self._store.held() != origin:
            return
        try:
            await self._load(origin)
        except (ValueError, KeyError) as error:
            _log.warning(
                "Recorded history could not be loaded in bulk. It is fetched bar by bar.", extra={"reason": str(error)}
            )
        self._loaded_of = origin
        self.days.set()
        await self._coins().wait()
        self.paid.set()
        self.complete.set()

    async def _load(self, origin: str) -> None:
        coins, main = self._recorded.coins(), main_coins(self._recorded)
        await self._adopt(origin)
        await self._load_bars(origin, "1d", coins, EARLIEST_MS)
        await self._store.put_delisted(origin, self._recorded.delisted())
        self.days.set()
        await self._adopt(origin)
        since_ms = first_hour(self._clock.now_ms())
        await self._load_payments(origin, main, since_ms)
        await self._coins().wait()
        self.paid.set()
        while await self._adopt(origin):
            pass
        await self._load_bars(origin, "1h", main, since_ms)

    async def _adopt(self, origin: str) -> bool:
        """Copy the next prepared file; whether there was one."""
        path = await self._recorded.prepared(origin)
        if path is not None:
            await self._store.adopt(origin, path)
        return path is not None

    async def _load_bars(self, origin: str, interval: Interval, coins: Sequence[str], since_ms: int) -> None:
        rows: dict[str, list[BarRow]] = {}
        for batch in _batches(await self._store.without_bars(coins, interval)):
            rows, _ = await asyncio.gather(
                asyncio.to_thread(closed_bars, self._recorded, interval, batch, since_ms),
                self._store.put_closed_bars(origin, interval, rows),
            )

    async def _load_payments(self, origin: str, coins: Sequence[str], since_ms: int) -> None:
        rows: dict[str, list[PaymentRow]] = {}
        for batch in _batches(await self._store.without_payments(coins)):
            rows, _ = await asyncio.gather(
                asyncio.to_thread(funding_payments, self._recorded, batch, since_ms),
                self._store.put_all_payments(origin, rows),
            )


def _batches(coins: Sequence[str]) -> Iterable[Sequence[str]]:
    """Coins per transaction, then an empty batch: while one batch is read, the previous one is written."""
    return [*(coins[first : first + COINS_A_BATCH] for first in range(0, len(coins), COINS_A_BATCH)), ()]

"""Load recorded history in bulk: whole coins by column, many in a transaction, before the refresh loops ask bar by bar.

A recording has no rate limit. What is stored is what the adapter would have read from the replay server, bar by bar; a
test compares the two.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from service.clock import Clock
from service.market.observed import BarRow, PaymentRow
from service.market.recorded_rows import Recorded, closed_bars, first_hour, funding_payments, main_coins
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import MarketStore
from service.units import Interval

LOAD_EVERY_S: Final = 1.0
"""A round in which everything is loaded compares two strings."""

COINS_A_BATCH: Final = 12
"""Coins a transaction: with 2,160 hours each some 50 ms of the writer's time, for which a price waits at most."""

_log: Final = logging.getLogger("verdict.market")


class PreparedHistory(Recorded, Protocol):
    """A recording of the first venue, whose rows another process may have prepared."""

    async def prepared(self, origin: str) -> Path | None:
        """The next file of tables that was prepared of a history, once it is complete; null where there are no more.

        The first has daily bars, the second payments, the last past funding alerts, the others hourly bars.
        """


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
        paid: Set once payments are there too, and coins are known.
        complete: Set once hourly bars are there too. All three are set as well where the recording cannot be read in
            bulk: the refresh loops then fetch it.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        recorded: PreparedHistory,
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
        """Take over the next file that was prepared; whether there was one."""
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
    """Coins a transaction; none at last: while a batch is read, the one before it is written."""
    return [*(coins[first : first + COINS_A_BATCH] for first in range(0, len(coins), COINS_A_BATCH)), ()]

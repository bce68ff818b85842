"""The closed daily bars that prices are compared with: the last close and the scale of each coin."""

from collections.abc import Mapping
from typing import Final

from service.clock import DAY_MS, HOUR_MS, SECOND_MS, Clock
from service.market.plausibility import Reference, scale_of
from service.market.plausibility_rules import OLDEST_MS, SCALE_BARS
from service.market.store import MarketStore

READ_EVERY_S: Final = HOUR_MS / SECOND_MS
_SPAN_MS: Final = SCALE_BARS * DAY_MS + OLDEST_MS


class References:
    """Reads the newest closed bars of coins from the store, once an hour, and of coins that have none when asked.

    Args:
        clock: When they are due.
        store: Where bars are kept.

    Attributes:
        now: By ticker.
    """

    def __init__(self, clock: Clock, store: MarketStore) -> None:
        self.now: dict[str, Reference] = {}
        self._clock = clock
        self._store = store
        self._due_s = -READ_EVERY_S

    def forget(self) -> None:
        """Another history begins."""
        self.now = {}

    async def read(self, coins: Mapping[str, str]) -> bool:
        """Read what is due.

        Args:
            coins: Venue symbol by ticker.

        Returns:
            Whether a coin has a reference now that had none before.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        is_due = self._clock.monotonic() >= self._due_s
        wanted = {symbol: coin for symbol, coin in coins.items() if is_due or symbol not in self.now}
        if not wanted:
            return False
        if is_due:
            self._due_s = self._clock.monotonic() + READ_EVERY_S
        rows = await self._store.closed_bars(list(wanted.values()), since_ms=self._clock.now_ms() - _SPAN_MS)
        silent = [coin for coin in wanted.values() if not rows[coin]]
        rows |= await self._store.closed_bars(silent)
        found = {
            symbol: Reference(bars[-1][4], bars[-1][0] + DAY_MS, scale_of([bar[4] for bar in bars]))
            for symbol, coin in wanted.items()
            if (bars := rows[coin])
        }
        is_new = not found.keys() <= self.now.keys()
        self.now |= found
        return is_new

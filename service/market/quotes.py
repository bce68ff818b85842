"""Keeping price and funding fresh."""

import asyncio
from collections.abc import Awaitable, Callable

from service.clock import Clock
from service.market.observed import Failure
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError


class QuoteRefresh:
    """Asks for the quotes of all coins, one round at a time.

    Args:
        clock: When a failure happened.
        store: Where quotes and failures are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        load: Shows the desk what the store holds.

    Attributes:
        coins_known: Set once the store holds quotes that this process has fetched.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        load: Callable[[], Awaitable[None]],
    ) -> None:
        self.coins_known = asyncio.Event()
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._load = load

    async def round(self) -> None:
        """Ask once. An answer that comes while the origin changes belongs to neither history and is dropped.

        Raises:
            UpstreamError: If the venue gave no quotes; the store then says so, and keeps what it has.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin = self._origin()
        try:
            found = await self._source.quotes()
        except UpstreamError as error:
            await self._store.put_failure(Failure(self._clock.now_ms(), error.upstream_status, error.body))
            await self._load()
            raise
        if self._origin() == origin:
            await self._store.put_quotes(origin, found.observed_ms, found.quotes)
            await self._load()
            self.coins_known.set()

"""Keeping the listing and the quotes fresh."""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from service.clock import HOUR_MS, Clock
from service.market.observed import VENUE, Failure, Quote, Quotes
from service.market.sources.hyperliquid import Hyperliquid
from service.rwa.drawers import Drawers
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import DEX, Listing, Priced, list_assets
from service.upstream.failure import UpstreamError

LISTING_EVERY_MS: Final = HOUR_MS
_OK: Final = 200
_log: Final = logging.getLogger("verdict.rwa")


class ListingRefresh:
    """Reads what is listed, once an hour.

    Args:
        clock: When it is due.
        drawers: Where it is kept.
        source: The venue.
        origin: Which history the venue tells at this moment.
        coins: The coins of the main dex by ticker, to tell wrappers by; while none is known, the listing waits.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: Drawers,
        source: Hyperliquid,
        origin: Callable[[], str],
        coins: Callable[[], Mapping[str, Priced]],
    ) -> None:
        self._clock = clock
        self._drawer = drawers.listing
        self._source = source
        self._origin = origin
        self._coins = coins
        self._left_out: list[str] = []

    async def round(self) -> None:
        """Read it if it is due.

        Raises:
            UpstreamError: If the venue did not say; the listing then stays as it is.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin, coins, kept = self._origin(), self._coins(), self._drawer.now
        fresh = kept.observed_ms is not None and self._clock.now_ms() - kept.observed_ms < LISTING_EVERY_MS
        if not coins or (fresh and kept.origin == origin):
            return
        try:
            observed_ms, listing, left_out = await self._read(coins)
        except UpstreamError as error:
            await self._drawer.fail(Failure(self._clock.now_ms(), error.upstream_status, error.body))
            raise
        if self._origin() == origin:
            await self._drawer.put(origin, listing, observed_ms)
            if left_out != self._left_out:
                _log.info("left out, no real-world assets", extra={"assets": left_out})
            self._left_out = left_out

    async def _read(self, coins: Mapping[str, Priced]) -> tuple[int, Listing, list[str]]:
        annotations = await self._source.annotations()
        shown = await self._source.quotes(DEX)
        listing, left_out = list_assets(shown.quotes, annotations, coins)
        if not listing.assets:
            raise UpstreamError(VENUE, _OK, b"no real-world asset is annotated")
        return shown.observed_ms, listing, left_out


class QuotesRefresh:
    """Asks for the quotes of the whole dex, one round at a time.

    Args:
        clock: When a failure happened.
        drawers: Where quotes and failures are kept.
        source: The venue.
        fallback: Who is asked when the venue fails.
        origin: Which history the venue tells at this moment.
    """

    def __init__(
        self, clock: Clock, drawers: Drawers, source: Hyperliquid, fallback: TradifiFallback, origin: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._drawer = drawers.quotes
        self._source = source
        self._fallback = fallback
        self._origin = origin

    async def round(self) -> None:
        """Ask once. What an answer lacks keeps its last value, with its own older time.

        Raises:
            UpstreamError: If neither venue gave quotes; the first one's failure is then noted.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin, kept = self._origin(), self._drawer.now
        known = {quote.symbol: quote for quote in kept.value.quotes} if kept.value and kept.origin == origin else {}
        try:
            found = await self._source.quotes(DEX)
            quotes = [_merged(quote, known.get(quote.symbol)) for quote in found.quotes]
            told = Quotes(found.observed_ms, quotes)
        except UpstreamError as error:
            told = await self._stand_in(known, error)
        if self._origin() == origin:
            await self._drawer.put(origin, told, told.observed_ms)

    async def _stand_in(self, known: Mapping[str, Quote], error: UpstreamError) -> Quotes:
        try:
            shown = {quote.symbol: quote for quote in await self._fallback.quotes(known)} if known else {}
        except UpstreamError:
            shown = {}
        times = [quote.price_ms for quote in shown.values() if quote.price_ms is not None]
        if not times:
            await self._drawer.fail(Failure(self._clock.now_ms(), error.upstream_status, error.body))
            raise error
        return Quotes(max(times), [shown.get(symbol, quote) for symbol, quote in known.items()])


def _merged(quote: Quote, known: Quote | None) -> Quote:
    """A quote, with the last known price and funding where it brings none."""
    if known is None:
        return quote
    if quote.price is None:
        quote = replace(quote, price=known.price, price_ms=known.price_ms, venue=known.venue)
    if quote.funding is None:
        hours = known.interval_hours
        quote = replace(quote, funding=known.funding, funding_ms=known.funding_ms, interval_hours=hours)
    return quote

"""Keeping price and funding fresh: asked for in rounds, pushed in between, stood in for when the venue fails."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec.structs import replace

from service.clock import Clock
from service.market.observed import VENUE, Failure, Quote, Quotes
from service.market.sources.hyperliquid import Hyperliquid
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError
from service.upstream.socket import Frame

QUOTES_EVERY_S: Final = 15.0
FEED_EVERY_S: Final = 5.0
"""At most so often a pushed frame is read."""

LARGEST_LEAP: Final = 2.0
"""A pushed price that is more than so many times the last one known, or so many times less, needs an answer's word."""

MOST_LEAPS: Final = 0.1
"""Of all prices; where more leap, the frame's order is another than it was."""

_log: Final = logging.getLogger("verdict.market")


class QuoteRefresh:
    """Asks for the quotes of all coins, one round at a time, and takes what is pushed between two rounds.

    Args:
        clock: When a failure happened.
        store: Where quotes and failures are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        load: Shows the desk what the store holds.
        known: The last quotes of all coins in a history, by ticker.
        fallback: Who is asked when the venue fails.

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
        known: Callable[[str], Mapping[str, Quote]],
        fallback: Fallback,
    ) -> None:
        self.coins_known = asyncio.Event()
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._load = load
        self._known = known
        self._fallback = fallback
        self._failure: Failure | None = None
        self._frame: tuple[Frame, str] | None = None
        self._fed_s: float | None = None
        self._newest: tuple[str, int] = ("", 0)
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Ask once. An answer that comes while the origin changes belongs to neither history and is dropped.

        Where the venue fails, its feed is enough if that still tells prices; else the fall-back is asked.

        Raises:
            UpstreamError: If nobody gave quotes; the store then says so, and keeps what it has.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin = self._origin()
        try:
            found = await self._source.quotes()
        except UpstreamError as error:
            self._failure = Failure(self._clock.now_ms(), error.upstream_status, error.body)
            if not await self._stand_in(origin, self._failure):
                raise
        else:
            self._failure = None
            await self._keep(origin, found)

    def hear(self, frame: Frame) -> None:
        """Take note of a pushed frame; `feed` reads the last one."""
        self._frame = (frame, self._origin())

    def forget(self) -> None:
        """Nobody listens any more: what was heard last is not to be read once somebody listens again."""
        self._frame = None

    async def feed(self) -> None:
        """Read the newest frame that was pushed since the last time, if there is one.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        if self._frame is None:
            return
        (frame, origin), self._frame = self._frame, None
        found = self._source.read_frame(frame.value, frame.at_ms)
        found = found and _believed(found, self._known(origin))
        if found is not None:
            self._fed_s = self._clock.monotonic()
            await self._keep(origin, found)

    async def _keep(self, origin: str, found: Quotes) -> None:
        async with self._turn:
            if self._origin() != origin:
                return
            newest_origin, newest_ms = self._newest
            # What lies ahead of the clock was dated before that was set back, and overtakes nothing.
            overtaken = newest_origin == origin and found.observed_ms < newest_ms <= self._clock.now_ms()
            kept = _overtaken(found, newest_ms) if overtaken else found
            await self._store.put_quotes(origin, kept, failure=self._failure)
            self._newest = (origin, kept.observed_ms)
            await self._load()
            self.coins_known.set()

    async def _stand_in(self, origin: str, failure: Failure) -> bool:
        """Whether somebody else tells quotes."""
        stands_in = not self._is_fed() and await self._ask_fallback(origin, failure)
        fed = self._is_fed()
        if not stands_in:
            await self._store.put_failure(failure, venue=VENUE if fed else None)
        await self._load()
        return stands_in or fed

    def _is_fed(self) -> bool:
        return self._fed_s is not None and self._clock.monotonic() - self._fed_s < QUOTES_EVERY_S

    async def _ask_fallback(self, origin: str, failure: Failure) -> bool:
        known = self._known(origin)
        if not known:
            return False
        try:
            quotes = await self._fallback.quotes(known)
        except UpstreamError:  # the session has logged it; what is told is the first venue's failure
            return False
        told_ms = [quote.price_ms for quote in quotes if quote.price_ms is not None]
        if not told_ms or self._origin() != origin or self._is_fed():
            return False
        observed_ms = min(told_ms)
        await self._store.put_quotes(origin, Quotes(observed_ms, quotes), venue=self._fallback.name, failure=failure)
        self._newest = (origin, observed_ms)
        return True


def _believed(frame: Quotes, known: Mapping[str, Quote]) -> Quotes | None:
    """What a frame is worth whose coins are told by their places alone; null where those seem to be other coins'.

    The venue's places never change (orders name coins by them), but nothing in a frame shows that. So a price that
    leaps is left to the next answer, which names its coin.
    """
    leapt = {quote.symbol for quote in frame.quotes if _leaps(quote.price, known.get(quote.symbol))}
    if not leapt:
        return frame
    _log.warning("pushed prices are not believed", extra={"coins": sorted(leapt), "of": len(frame.quotes)})
    if len(leapt) > len(frame.quotes) * MOST_LEAPS:
        return None
    quotes = [_unseen(known[quote.symbol]) if quote.symbol in leapt else quote for quote in frame.quotes]
    return Quotes(frame.observed_ms, quotes, frame.delisted)


def _leaps(price: float | None, last: Quote | None) -> bool:
    if price is None or last is None or last.price is None:
        return False
    return max(price, last.price) > min(price, last.price) * LARGEST_LEAP


def _unseen(quote: Quote) -> Quote:
    """A quote of which no price was seen."""
    return replace(quote, price=None, price_ms=None, funding=None, funding_ms=None)


def _overtaken(found: Quotes, newest_ms: int) -> Quotes:
    """What an answer is worth that is older than what was pushed meanwhile: who is listed, but no price."""
    return Quotes(newest_ms, [_unseen(quote) for quote in found.quotes], found.delisted)

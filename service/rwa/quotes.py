"""Keeping the listing and the quotes fresh."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import HOUR_MS, Clock
from service.market.observed import VENUE, Failure, Quote, Quotes
from service.market.plausibility import Second
from service.market.plausibility_rules import DELISTING_MS, OLDEST_MS, SECOND_AGE_MS, Reason
from service.market.quarantine import Quarantine, Sifted, Surroundings
from service.market.quarantine_report import publish
from service.market.references import References
from service.market.second_venue import SecondVenue
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.market.universe import Universe
from service.rwa.drawers import Drawers
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import DEX, Listed, Listing, Priced, list_assets
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
        self._drawers = drawers
        self._drawer = drawers.listing
        self._source = source
        self._origin = origin
        self._coins = coins
        self._left_out: list[str] = []
        self._flagged: dict[str, int] = {}
        self._universe = Universe()

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
            known = kept.value.assets if kept.value and kept.origin == origin else ()
            observed_ms, listing, left_out = await self._read(origin, coins, known)
        except UpstreamError as error:
            await self._drawer.fail(Failure(self._clock.now_ms(), error.upstream_status, error.body))
            raise
        if self._origin() == origin:
            await self._drawer.put(origin, listing, observed_ms)
            if left_out != self._left_out:
                _log.info("left out, no real-world assets", extra={"assets": left_out})
            self._left_out = left_out

    async def _read(
        self, origin: str, coins: Mapping[str, Priced], known: Sequence[Listed]
    ) -> tuple[int, Listing, list[str]]:
        """What is listed now: an asset is added once its quote is kept, and goes once it was flagged for an hour."""
        annotations = await self._source.annotations()
        shown = await self._source.quotes(DEX)
        traded, delisted = {quote.venue_symbol for quote in shown.quotes}, shown.delisted or ()
        reason = self._universe.judge_names(
            traded, frozenset(delisted), frozenset(asset.id for asset in known), shown.observed_ms
        )
        if reason is not None:
            raise _refusal(reason)
        quoted = accepted_quotes(self._drawers, origin).values()
        admitted = {quote.venue_symbol for quote in quoted} if known else traded
        admitted.update(asset.id for asset in known)
        found, left_out = list_assets(shown.quotes, annotations, coins)
        now_ms = shown.observed_ms
        self._flagged = {asset: self._flagged.get(asset, now_ms) for asset in delisted}
        gone = {asset for asset, since_ms in self._flagged.items() if now_ms - since_ms >= DELISTING_MS}
        missing = [asset for asset in known if asset.id not in traded | gone]
        listing = Listing([*(asset for asset in found.assets if asset.id in admitted), *missing])
        if not listing.assets:
            raise UpstreamError(VENUE, _OK, b"no real-world asset is annotated")
        return shown.observed_ms, listing, left_out


class QuotesRefresh:
    """Asks for the quotes of the whole dex, one round at a time.

    Every answer, of either venue, passes the plausibility check and the quarantine before it is stored.

    Args:
        clock: When a failure happened.
        drawers: Where quotes, failures, and what is held back are kept.
        store: Where bars are kept.
        source: The venue.
        fallback: The second venue: asked when the first fails, and when something is held back.
        origin: Which history the venue tells at this moment.
        has_bars: Whether daily bars have been asked for of every asset.

    Attributes:
        quarantine: Holds back what fails the check.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: Drawers,
        store: MarketStore,
        source: Hyperliquid,
        fallback: TradifiFallback,
        origin: Callable[[], str],
        has_bars: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._drawers = drawers
        self._source = source
        self._fallback = fallback
        self._origin = origin
        self._has_bars = has_bars
        self._references = References(clock, store)
        self.quarantine = Quarantine()
        self._second = SecondVenue(clock, fallback.prices)
        self._universe = Universe()
        self._of = ""
        self._waiting: Quotes | None = None
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Ask once. What an answer lacks, or is held back of it, keeps its last value, with its own older time.

        Raises:
            UpstreamError: If neither venue gave quotes, or both were held back; the first one's failure is then noted.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        async with self._turn:
            origin = self._origin()
            if origin != self._of:
                self._of = origin
                self.quarantine.forget()
                self._references.forget()
                self._second.forget()
            self._waiting = None
            known = accepted_quotes(self._drawers, origin)
            try:
                told = await self._poll(known)
            except UpstreamError as error:
                told = await self._stand_in(known, error)
            finally:
                await self._tell()
            if self._origin() == origin:
                await self._drawers.quotes.put(origin, told, told.observed_ms)

    async def recheck(self) -> None:
        """Judge first prices again as soon as there is something to compare them with.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        async with self._turn:
            found, origin = self._waiting, self._of
            if found is None or origin != self._origin():
                return
            if self._clock.now_ms() - found.observed_ms > SECOND_AGE_MS:
                self._waiting = None
                return
            is_second_due = self._is_listed() and not self._second.was_asked
            if await self._references.read(_coins(found)) or is_second_due:
                known = accepted_quotes(self._drawers, origin)
                sifted = await self._judge(found, known)
                await self._tell()
                if sifted.whole is None:
                    await self._drawers.quotes.put(origin, _merge(sifted.quotes, known), found.observed_ms)

    async def _poll(self, known: Mapping[str, Quote]) -> Quotes:
        """Ask the first venue.

        Raises:
            UpstreamError: If it fails, or its whole answer is held back.
            ServiceError: `UNAVAILABLE` if the store could not be read.
        """
        found = await self._source.quotes(DEX)
        reason = self._universe.judge(found, known)
        listed = self._universe.admit(found, known, self._second.shown)
        self.quarantine.count(VENUE, Reason.TICKER_INVALID, found.dropped)
        if reason is not None:
            self.quarantine.reject(VENUE, reason, found.observed_ms)
            raise _refusal(reason)
        if self._is_listed():
            await self._second.check()
        sifted = await self._judge(replace(found, quotes=listed), known)
        if sifted.whole is not None:
            raise _refusal(sifted.whole)
        merged = _merge(sifted.quotes, known)
        self._second.compare({quote.symbol: quote for quote in merged.quotes})
        return merged

    async def _judge(self, found: Quotes, known: Mapping[str, Quote]) -> Sifted:
        """Judge an answer of the first venue, and ask the second one about what is held back."""
        sifted = await self._sift(found, VENUE, known, self._second.shown)
        if self._is_listed() and await self._second.ask(sifted.unsettled):
            sifted = await self._sift(found, VENUE, known, self._second.shown)
        self.quarantine.note(sifted, VENUE)
        is_waiting = any(Reason.PRICE_UNCONFIRMED in reasons for reasons in sifted.findings.values())
        self._waiting = found if is_waiting else None
        return sifted

    async def _sift(
        self, found: Quotes, source: str, known: Mapping[str, Quote], second: Mapping[str, Second]
    ) -> Sifted:
        await self._references.read(_coins(found))
        was_asked, agreed = self._second.was_asked, self._second.agreed
        around = Surroundings(known, self._references.now, second, self._has_bars(), was_asked, agreed)
        return self.quarantine.sift(found, source, around)

    async def _stand_in(self, known: Mapping[str, Quote], error: UpstreamError) -> Quotes:
        """What the second venue tells in the first one's place.

        Raises:
            UpstreamError: The first venue's, if the second one tells nothing that is accepted.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        try:
            shown = await self._fallback.quotes(known) if known else []
        except UpstreamError:  # the session has logged it; what is told is the first venue's failure
            shown = []
        times = [quote.price_ms for quote in shown if quote.price_ms is not None]
        if times:
            sifted = await self._sift(Quotes(min(times), shown), self._fallback.name, known, {})
            self.quarantine.note(sifted, self._fallback.name)
            if sifted.whole is None and any(quote.price is not None for quote in sifted.quotes.quotes):
                return _merge(sifted.quotes, known)
        await self._drawers.quotes.fail(Failure(self._clock.now_ms(), error.upstream_status, error.body))
        raise error

    async def _tell(self) -> None:
        await publish(self._drawers.quarantine, self.quarantine.report(), self._of, self._clock.now_ms())

    def _is_listed(self) -> bool:
        """Whether it is known which assets there are, without which the second venue's cannot be told."""
        return self._drawers.listing.now.value is not None


def accepted_quotes(drawers: Drawers, origin: str) -> dict[str, Quote]:
    """The last accepted quotes of a history, by ticker."""
    kept = drawers.quotes.now
    return {quote.symbol: quote for quote in kept.value.quotes} if kept.value and kept.origin == origin else {}


def _coins(found: Quotes) -> dict[str, str]:
    return {quote.symbol: quote.venue_symbol for quote in found.quotes}


def _refusal(reason: Reason) -> UpstreamError:
    return UpstreamError(VENUE, _OK, f"quarantined: {reason}".encode())


def _merge(found: Quotes, known: Mapping[str, Quote]) -> Quotes:
    """An answer, with the last known values where it brings none. Assets that it lacks stay until they are too old."""
    told = {quote.symbol: _merged(quote, known.get(quote.symbol)) for quote in found.quotes}
    oldest_ms = found.observed_ms - OLDEST_MS
    missing = [
        quote
        for symbol, quote in known.items()
        if symbol not in told and max(quote.price_ms or 0, quote.funding_ms or 0) > oldest_ms
    ]
    return Quotes(found.observed_ms, [*told.values(), *missing])


def _merged(quote: Quote, known: Quote | None) -> Quote:
    """A quote, with the last known price and funding where it brings none."""
    if known is None:
        return quote
    if quote.price is None:
        prev_price = known.prev_price  # of the same row as the price
        quote = replace(quote, price=known.price, price_ms=known.price_ms, prev_price=prev_price, venue=known.venue)
    if quote.funding is None:
        hours = known.interval_hours
        quote = replace(quote, funding=known.funding, funding_ms=known.funding_ms, interval_hours=hours)
    return quote

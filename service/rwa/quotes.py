"""Keeps the quotes of the dex fresh."""

import asyncio
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from service.clock import Clock
from service.market.models import VENUE, Quote, Quotes
from service.market.plausibility.quarantine import Baseline, CheckedQuotes, Quarantine, publish_report
from service.market.plausibility.quotes import SecondQuote
from service.market.plausibility.references import BarReferences, SecondVenueCheck
from service.market.plausibility.rules import OLDEST_MS, SECOND_AGE_MS, RejectReason
from service.market.plausibility.universe import UniverseCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.rwa.documents import RwaDocuments, accepted_quotes, refusal
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import DEX
from service.storage.documents import FetchFailure
from service.upstream.failures import UpstreamError


class AssetQuotesRefresh:
    """Requests the quotes of the whole dex, one round at a time.

    Every answer, of either venue, passes the plausibility check and the quarantine before it is stored.

    Args:
        clock: Time source.
        documents: Stores quotes, failures and the quarantine report.
        store: Bars.
        source: The venue.
        fallback: The second venue: asked when the first fails, and when values are held back.
        origin: The current dataset of the venue.
        has_bars: Whether daily bars were requested for every asset.

    Attributes:
        quarantine: Holds back what fails the check.
        references: What first prices are compared with.
    """

    def __init__(
        self,
        clock: Clock,
        documents: RwaDocuments,
        store: MarketStore,
        source: Hyperliquid,
        fallback: TradifiFallback,
        origin: Callable[[], str],
        has_bars: Callable[[], bool],
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._source = source
        self._fallback = fallback
        self._origin = origin
        self._has_bars = has_bars
        self.references = BarReferences(clock, store)
        self.quarantine = Quarantine()
        self._second = SecondVenueCheck(clock, fallback.prices)
        self._universe = UniverseCheck()
        self._bound_origin = ""
        self._waiting: Quotes | None = None
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Request once. Missing values, and those held back, keep their last value and its older time.

        Raises:
            UpstreamError: If neither venue had valid quotes; the first one's failure is then stored.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        async with self._turn:
            origin = self._origin()
            if origin != self._bound_origin:
                self._bound_origin = origin
                self.quarantine.forget()
                self.references.forget()
                self._second.forget()
            self._waiting = None
            known = accepted_quotes(self._documents, origin)
            try:
                quotes_found = await self._poll(known)
            except UpstreamError as error:
                quotes_found = await self._use_fallback(known, error)
            finally:
                await self._publish_report()
            if self._origin() == origin:
                await self._documents.quotes.put(origin, quotes_found, quotes_found.observed_ms)

    async def recheck(self) -> None:
        """Check first prices again as soon as there is something to compare them with.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        async with self._turn:
            found, origin = self._waiting, self._bound_origin
            if found is None or origin != self._origin():
                return
            if self._clock.now_ms() - found.observed_ms > SECOND_AGE_MS:
                self._waiting = None
                return
            is_second_due = self._is_listed() and not self._second.was_asked
            if await self.references.read(_coins(found)) or is_second_due:
                known = accepted_quotes(self._documents, origin)
                checked = await self._judge(found, known)
                await self._publish_report()
                if checked.whole is None:
                    await self._documents.quotes.put(origin, _merge(checked.quotes, known), found.observed_ms)

    async def _poll(self, known: Mapping[str, Quote]) -> Quotes:
        """Ask the first venue.

        Raises:
            UpstreamError: If it fails, or its whole answer is held back.
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        found = await self._source.quotes(DEX)
        reason = self._universe.judge(found, known)
        listed = self._universe.admit(found, known, self._second.shown)
        self.quarantine.count(VENUE, RejectReason.TICKER_INVALID, found.dropped)
        if reason is not None:
            self.quarantine.reject(VENUE, reason, found.observed_ms)
            raise refusal(reason)
        if self._is_listed():
            await self._second.check()
        checked = await self._judge(replace(found, quotes=listed), known)
        if checked.whole is not None:
            raise refusal(checked.whole)
        merged = _merge(checked.quotes, known)
        self._second.compare({quote.symbol: quote for quote in merged.quotes})
        return merged

    async def _judge(self, found: Quotes, known: Mapping[str, Quote]) -> CheckedQuotes:
        """Check an answer of the first venue, and ask the second one about what is held back."""
        checked = await self._check_quotes(found, VENUE, known, self._second.shown)
        if self._is_listed() and await self._second.ask(checked.unsettled):
            checked = await self._check_quotes(found, VENUE, known, self._second.shown)
        self.quarantine.note(checked, VENUE)
        is_waiting = any(RejectReason.PRICE_UNCONFIRMED in reasons for reasons in checked.findings.values())
        self._waiting = found if is_waiting else None
        return checked

    async def _check_quotes(
        self, found: Quotes, source: str, known: Mapping[str, Quote], second: Mapping[str, SecondQuote]
    ) -> CheckedQuotes:
        await self.references.read(_coins(found))
        was_asked, agreed = self._second.was_asked, self._second.agreed
        baseline = Baseline(known, self.references.now, second, self._has_bars(), was_asked, agreed)
        return self.quarantine.check(found, source, baseline)

    async def _use_fallback(self, known: Mapping[str, Quote], error: UpstreamError) -> Quotes:
        """The second venue's quotes in place of the first one's.

        Raises:
            UpstreamError: The first venue's, if the second one has no accepted quotes.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        try:
            shown = await self._fallback.quotes(known) if known else []
        except UpstreamError:  # logged by the session; callers see the first venue's failure
            shown = []
        times = [quote.price_ms for quote in shown if quote.price_ms is not None]
        if times:
            checked = await self._check_quotes(Quotes(min(times), shown), self._fallback.name, known, {})
            self.quarantine.note(checked, self._fallback.name)
            if checked.whole is None and any(quote.price is not None for quote in checked.quotes.quotes):
                return _merge(checked.quotes, known)
        await self._documents.quotes.fail(FetchFailure(self._clock.now_ms(), error.upstream_status, error.body))
        raise error

    async def _publish_report(self) -> None:
        await publish_report(
            self._documents.quarantine, self.quarantine.report(), self._bound_origin, self._clock.now_ms()
        )

    def _is_listed(self) -> bool:
        """Whether the assets are known, without which the second venue's cannot be matched."""
        return self._documents.listing.current.value is not None


def _coins(found: Quotes) -> dict[str, str]:
    return {quote.symbol: quote.venue_symbol for quote in found.quotes}


def _merge(found: Quotes, known: Mapping[str, Quote]) -> Quotes:
    """An answer with the last known values where it has none. Missing assets stay until they are too old."""
    quotes_found = {quote.symbol: _merged(quote, known.get(quote.symbol)) for quote in found.quotes}
    oldest_ms = found.observed_ms - OLDEST_MS
    missing = [
        quote
        for symbol, quote in known.items()
        if symbol not in quotes_found and max(quote.price_ms or 0, quote.funding_ms or 0) > oldest_ms
    ]
    return Quotes(found.observed_ms, [*quotes_found.values(), *missing])


def _merged(quote: Quote, known: Quote | None) -> Quote:
    """A quote with the last known price and funding where it has none."""
    if known is None:
        return quote
    if quote.price is None:
        prev_price = known.prev_price  # of the same row as the price
        quote = replace(quote, price=known.price, price_ms=known.price_ms, prev_price=prev_price, venue=known.venue)
    if quote.funding is None:
        hours = known.interval_hours
        quote = replace(quote, funding=known.funding, funding_ms=known.funding_ms, interval_hours=hours)
    return quote

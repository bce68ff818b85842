"""Keeps price and funding fresh: polled in rounds, pushed in between, from the second venue while the first fails."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from service.clock import Clock
from service.market.fallback import SecondVenueApi
from service.market.models import VENUE, Quote, Quotes
from service.market.plausibility.quarantine import Baseline, CheckedQuotes, Quarantine, QuarantineReport, publish_report
from service.market.plausibility.quotes import FieldReasons, SecondQuote
from service.market.plausibility.references import BarReferences, SecondVenueCheck
from service.market.plausibility.rules import SECOND_AGE_MS, RejectReason
from service.market.plausibility.universe import UniverseCheck, is_listed
from service.market.service import MarketService
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.storage.documents import Document, FetchFailure
from service.upstream.failures import UpstreamError
from service.upstream.websocket import Frame

QUOTES_EVERY_S: Final = 15.0
FEED_EVERY_S: Final = 5.0
"""Minimum seconds between two pushed frames that are read."""

LONGEST_WAIT_S: Final = 30.0
"""Maximum seconds that other jobs wait for the first prices of all coins."""

RECHECK_EVERY_S: Final = 1.0
_OK: Final = 200


class QuoteRefresh:
    """Polls the quotes of all coins, and reads what is pushed between two rounds.

    Everything passes the plausibility check and the quarantine before it is stored.

    Args:
        clock: Time source.
        store: Stores quotes and failures.
        source: The venue.
        origin: The current dataset; a replay's changes at midnight.
        service: The market service, which knows the last accepted quotes.
        fallback: The second venue: asked when the first fails, and when values are held back.
        report: The quarantine's document.
        has_bars: Whether daily bars were requested for every coin.

    Attributes:
        coins_known: Set once the store holds coins that this process fetched.
        quarantine: Holds back what fails the check.
        references: What first prices are compared with.
        prices_known: Set once no first price waits for its bars, or `LONGEST_WAIT_S` after the first round.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        service: MarketService,
        fallback: SecondVenueApi,
        report: Document[QuarantineReport],
        has_bars: Callable[[], bool],
    ) -> None:
        self.coins_known = asyncio.Event()
        self.prices_known = asyncio.Event()
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._service = service
        self._fallback = fallback
        self._report = report
        self._has_bars = has_bars
        self.references = BarReferences(clock, store)
        self.quarantine = Quarantine()
        self._second = SecondVenueCheck(clock, fallback.prices)
        self._universe = UniverseCheck()
        self._bound_origin = ""
        self._waiting: Quotes | None = None
        self._began_s = clock.monotonic()
        self._failure: FetchFailure | None = None
        self._frame: tuple[Frame, str] | None = None
        self._feed_s: float | None = None
        self._newest: tuple[str, int] = ("", 0)
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Poll once. An answer that arrives while the dataset changes is dropped.

        If the venue fails, or its whole answer is held back, its feed suffices while it has prices; otherwise the
        second venue is asked.

        Raises:
            UpstreamError: If there are no quotes from any source; the store notes the failure and keeps its values.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        origin = self._origin()
        try:
            found = await self._source.quotes()
            self._failure = None
            await self._poll(origin, found)
        except UpstreamError as error:
            self._failure = FetchFailure(self._clock.now_ms(), error.upstream_status, error.body)
            if not await self._use_fallback(origin, self._failure):
                raise

    def on_frame(self, frame: Frame) -> None:
        """Remember a pushed frame; `feed` reads the last one."""
        self._frame = (frame, self._origin())

    def forget(self) -> None:
        """Drop the remembered frame when the connection ends."""
        self._frame = None

    async def feed(self) -> None:
        """Read the newest pushed frame, if there is a new one.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        if self._frame is None:
            return
        (frame, origin), self._frame = self._frame, None
        found = self._source.read_frame(frame.value, frame.at_ms)
        if found is not None:
            listed = self._service.quotes(origin)
            if not listed:  # a new dataset begins: the next answer names its coins
                return
            quotes = [quote for quote in found.quotes if is_listed(quote, listed)]
            if await self._accept(origin, replace(found, quotes=quotes)) is None:
                self._feed_s = self._clock.monotonic()

    async def recheck(self) -> None:
        """Check first prices again as soon as there are bars to compare them with.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        found, origin = self._waiting, self._bound_origin
        if found is None or origin != self._origin():
            return
        if self._clock.now_ms() - found.observed_ms > SECOND_AGE_MS:
            self._waiting = None
        elif await self.references.read({quote.symbol: quote.venue_symbol for quote in found.quotes}):
            await self._accept(origin, found)

    async def _poll(self, origin: str, found: Quotes) -> None:
        """Process an answer that names its coins.

        Raises:
            UpstreamError: If the whole answer is held back.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        known = self._service.quotes(origin)
        if newcomers := self._universe.newcomers(found, known):
            await self._second.ask(newcomers)
        reason = self._universe.judge(found, known)
        listed = self._universe.admit(found, known, self._second.shown)
        self.quarantine.count(VENUE, RejectReason.TICKER_INVALID, found.dropped)
        if reason is None:
            reason = await self._accept(origin, replace(found, quotes=listed), is_polled=True)
        else:
            self.quarantine.reject(VENUE, reason, found.observed_ms)
            await self._publish_report()
        if reason is not None:
            raise UpstreamError(VENUE, _OK, f"quarantined: {reason}".encode())

    async def _accept(self, origin: str, found: Quotes, *, is_polled: bool = False) -> RejectReason | None:
        """Store what passes the check, and ask the second venue about the rest. Returns why nothing passed."""
        if origin == self._bound_origin:
            await self._second.check()
        else:  # the store drops prices of another history with the first put: ask before, so that new ones replace them
            self._second.forget()
            await self._second.ask(frozenset(quote.symbol for quote in found.quotes))
        checked = await self._store_checked(origin, found, is_polled=is_polled)
        if checked and await self._second.ask(checked.unsettled):
            checked = await self._store_checked(origin, found, is_polled=is_polled)
        if checked is None:
            return None
        self.quarantine.note(checked, VENUE)
        self._second.compare(self._service.quotes(origin))
        self._waiting = found if any(map(_is_first, checked.findings.values())) else None
        waited_s = self._clock.monotonic() - self._began_s
        if checked.whole is None and (self._waiting is None or self._has_bars() or waited_s >= LONGEST_WAIT_S):
            self.prices_known.set()
        await self._publish_report()
        return checked.whole

    async def _store_checked(self, origin: str, found: Quotes, *, is_polled: bool) -> CheckedQuotes | None:
        async with self._turn:
            if self._origin() != origin:
                return None
            newest_origin, newest_ms = self._newest
            # A time ahead of the clock is from before it was set back, and overtakes nothing.
            overtaken = newest_origin == origin and found.observed_ms < newest_ms <= self._clock.now_ms()
            current = _overtaken(found, newest_ms) if overtaken else found
            checked = self.quarantine.check(current, VENUE, await self._baseline(origin, self._second.shown))
            if checked.whole is None:
                if is_polled:
                    self._source.adopt_universe()
                await self._store.put_quotes(origin, checked.quotes, failure=self._failure)
                self._newest = (origin, current.observed_ms)
                await self._reload()
                self.coins_known.set()
            return checked

    async def _baseline(self, origin: str, second: Mapping[str, SecondQuote]) -> Baseline:
        """What observations are compared with now."""
        if origin != self._bound_origin:
            self._bound_origin = origin
            self.quarantine.forget()
            self.references.forget()
        known = self._service.quotes(origin)
        await self.references.read({symbol: quote.venue_symbol for symbol, quote in known.items()})
        was_asked, agreed = self._second.was_asked, self._second.agreed
        return Baseline(known, self.references.now, second, self._has_bars(), was_asked, agreed)

    async def _reload(self) -> None:
        self._service.show(await self._store.snapshot())

    async def _publish_report(self) -> None:
        await publish_report(self._report, self.quarantine.report(), self._bound_origin, self._clock.now_ms())

    async def _use_fallback(self, origin: str, failure: FetchFailure) -> bool:
        """Whether another source has quotes."""
        stands_in = not self._is_feed_live() and await self._ask_fallback(origin, failure)
        fed = self._is_feed_live()
        if not stands_in:
            await self._store.put_failure(failure, venue=VENUE if fed else None)
        await self._reload()
        return stands_in or fed

    def _is_feed_live(self) -> bool:
        return self._feed_s is not None and self._clock.monotonic() - self._feed_s < QUOTES_EVERY_S

    async def _ask_fallback(self, origin: str, failure: FetchFailure) -> bool:
        known = self._service.quotes(origin)
        if not known:
            return False
        try:
            quotes = await self._fallback.quotes(known)
        except UpstreamError:  # logged by the session; callers see the first venue's failure
            return False
        times_ms = [quote.price_ms for quote in quotes if quote.price_ms is not None]
        if not times_ms or self._origin() != origin or self._is_feed_live():
            return False
        found = Quotes(min(times_ms), quotes)
        checked = self.quarantine.check(found, self._fallback.name, await self._baseline(origin, {}))
        self.quarantine.note(checked, self._fallback.name)
        await self._publish_report()
        if checked.whole is not None or all(quote.price is None for quote in checked.quotes.quotes):
            return False
        await self._store.put_quotes(origin, checked.quotes, venue=self._fallback.name, failure=failure)
        self._newest = (origin, found.observed_ms)
        return True


def _is_first(found: FieldReasons) -> bool:
    return RejectReason.PRICE_UNCONFIRMED in found


def _unseen(quote: Quote) -> Quote:
    """A quote without price and funding."""
    return replace(quote, price=None, price_ms=None, funding=None, funding_ms=None)


def _overtaken(found: Quotes, newest_ms: int) -> Quotes:
    """An answer older than a pushed frame: it defines which coins are listed, but no prices."""
    return replace(found, observed_ms=newest_ms, quotes=[_unseen(quote) for quote in found.quotes])

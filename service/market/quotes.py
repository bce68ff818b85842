"""Keeping price and funding fresh: asked for in rounds, pushed in between, stood in for when the venue fails."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from service.clock import Clock
from service.market.desk import MarketDesk
from service.market.observed import VENUE, Failure, Quote, Quotes
from service.market.plausibility import Findings, Second
from service.market.plausibility_rules import SECOND_AGE_MS, Reason
from service.market.quarantine import Quarantine, Report, Sifted, Surroundings
from service.market.quarantine_report import publish
from service.market.references import References
from service.market.second_venue import SecondVenue
from service.market.shelf import Drawer
from service.market.sources.hyperliquid import Hyperliquid
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.market.universe import Universe, is_listed
from service.upstream.failure import UpstreamError
from service.upstream.socket import Frame

QUOTES_EVERY_S: Final = 15.0
FEED_EVERY_S: Final = 5.0
"""At most so often a pushed frame is read."""

LONGEST_WAIT_S: Final = 30.0
"""Everything else that needs prices waits so long for the first prices of all coins."""

RECHECK_EVERY_S: Final = 1.0
_OK: Final = 200


class QuoteRefresh:
    """Asks for the quotes of all coins, one round at a time, and takes what is pushed between two rounds.

    Everything passes the plausibility check and the quarantine before it is stored.

    Args:
        clock: When a failure happened.
        store: Where quotes and failures are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        desk: What answers; it knows the last accepted quotes.
        fallback: The second venue: asked when the first fails, and when something is held back.
        report: Where it is told what is held back.
        has_bars: Whether daily bars have been asked for of every coin.

    Attributes:
        coins_known: Set once the store holds coins that this process has fetched.
        quarantine: Holds back what fails the check.
        prices_known: Set once no first price waits for its bars any more, or `LONGEST_WAIT_S` after the first round.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        desk: MarketDesk,
        fallback: Fallback,
        report: Drawer[Report],
        has_bars: Callable[[], bool],
    ) -> None:
        self.coins_known = asyncio.Event()
        self.prices_known = asyncio.Event()
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._desk = desk
        self._fallback = fallback
        self._report = report
        self._has_bars = has_bars
        self._references = References(clock, store)
        self.quarantine = Quarantine()
        self._second = SecondVenue(clock, fallback.prices)
        self._universe = Universe()
        self._of = ""
        self._waiting: Quotes | None = None
        self._began_s = clock.monotonic()
        self._failure: Failure | None = None
        self._frame: tuple[Frame, str] | None = None
        self._fed_s: float | None = None
        self._newest: tuple[str, int] = ("", 0)
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Ask once. An answer that comes while the origin changes belongs to neither history and is dropped.

        Where the venue fails, or its whole answer is held back, its feed is enough if that still tells prices; else the
        second venue is asked.

        Raises:
            UpstreamError: If nobody gave quotes; the store then says so, and keeps what it has.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        origin = self._origin()
        try:
            found = await self._source.quotes()
            self._failure = None
            await self._poll(origin, found)
        except UpstreamError as error:
            self._failure = Failure(self._clock.now_ms(), error.upstream_status, error.body)
            if not await self._stand_in(origin, self._failure):
                raise

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
        if found is not None:
            listed = self._desk.quotes(origin)
            if not listed:  # another history begins: the next answer names its coins
                return
            quotes = [quote for quote in found.quotes if is_listed(quote, listed)]
            if await self._accept(origin, replace(found, quotes=quotes)) is None:
                self._fed_s = self._clock.monotonic()

    async def recheck(self) -> None:
        """Judge first prices again as soon as there are bars to compare them with.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        found, origin = self._waiting, self._of
        if found is None or origin != self._origin():
            return
        if self._clock.now_ms() - found.observed_ms > SECOND_AGE_MS:
            self._waiting = None
        elif await self._references.read({quote.symbol: quote.venue_symbol for quote in found.quotes}):
            await self._accept(origin, found)

    async def _poll(self, origin: str, found: Quotes) -> None:
        """Take an answer that names its coins.

        Raises:
            UpstreamError: If the whole answer is held back.
            ServiceError: `UNAVAILABLE` if the store could not be written.
        """
        known = self._desk.quotes(origin)
        if newcomers := self._universe.newcomers(found, known):
            await self._second.ask(newcomers)
        reason = self._universe.judge(found, known)
        listed = self._universe.admit(found, known, self._second.shown)
        self.quarantine.count(VENUE, Reason.TICKER_INVALID, found.dropped)
        if reason is None:
            reason = await self._accept(origin, replace(found, quotes=listed), is_polled=True)
        else:
            self.quarantine.reject(VENUE, reason, found.observed_ms)
            await self._tell()
        if reason is not None:
            raise UpstreamError(VENUE, _OK, f"quarantined: {reason}".encode())

    async def _accept(self, origin: str, found: Quotes, *, is_polled: bool = False) -> Reason | None:
        """Store what passes the check, and ask the second venue about the rest. Says why if nothing passes."""
        if origin == self._of:
            await self._second.check()
        else:  # the store drops prices of another history with the first put: ask before, so that new ones replace them
            self._second.forget()
            await self._second.ask(frozenset(quote.symbol for quote in found.quotes))
        sifted = await self._keep(origin, found, is_polled=is_polled)
        if sifted and await self._second.ask(sifted.unsettled):
            sifted = await self._keep(origin, found, is_polled=is_polled)
        if sifted is None:
            return None
        self.quarantine.note(sifted, VENUE)
        self._second.compare(self._desk.quotes(origin))
        self._waiting = found if any(map(_is_first, sifted.findings.values())) else None
        waited_s = self._clock.monotonic() - self._began_s
        if sifted.whole is None and (self._waiting is None or self._has_bars() or waited_s >= LONGEST_WAIT_S):
            self.prices_known.set()
        await self._tell()
        return sifted.whole

    async def _keep(self, origin: str, found: Quotes, *, is_polled: bool) -> Sifted | None:
        async with self._turn:
            if self._origin() != origin:
                return None
            newest_origin, newest_ms = self._newest
            # What lies ahead of the clock was dated before that was set back, and overtakes nothing.
            overtaken = newest_origin == origin and found.observed_ms < newest_ms <= self._clock.now_ms()
            kept = _overtaken(found, newest_ms) if overtaken else found
            sifted = self.quarantine.sift(kept, VENUE, await self._around(origin, self._second.shown))
            if sifted.whole is None:
                if is_polled:
                    self._source.adopt_universe()
                await self._store.put_quotes(origin, sifted.quotes, failure=self._failure)
                self._newest = (origin, kept.observed_ms)
                await self._show()
                self.coins_known.set()
            return sifted

    async def _around(self, origin: str, second: Mapping[str, Second]) -> Surroundings:
        """What observations are compared with at this moment."""
        if origin != self._of:
            self._of = origin
            self.quarantine.forget()
            self._references.forget()
        known = self._desk.quotes(origin)
        await self._references.read({symbol: quote.venue_symbol for symbol, quote in known.items()})
        was_asked, agreed = self._second.was_asked, self._second.agreed
        return Surroundings(known, self._references.now, second, self._has_bars(), was_asked, agreed)

    async def _show(self) -> None:
        self._desk.show(await self._store.snapshot())

    async def _tell(self) -> None:
        await publish(self._report, self.quarantine.report(), self._of, self._clock.now_ms())

    async def _stand_in(self, origin: str, failure: Failure) -> bool:
        """Whether somebody else tells quotes."""
        stands_in = not self._is_fed() and await self._ask_fallback(origin, failure)
        fed = self._is_fed()
        if not stands_in:
            await self._store.put_failure(failure, venue=VENUE if fed else None)
        await self._show()
        return stands_in or fed

    def _is_fed(self) -> bool:
        return self._fed_s is not None and self._clock.monotonic() - self._fed_s < QUOTES_EVERY_S

    async def _ask_fallback(self, origin: str, failure: Failure) -> bool:
        known = self._desk.quotes(origin)
        if not known:
            return False
        try:
            quotes = await self._fallback.quotes(known)
        except UpstreamError:  # the session has logged it; what is told is the first venue's failure
            return False
        told_ms = [quote.price_ms for quote in quotes if quote.price_ms is not None]
        if not told_ms or self._origin() != origin or self._is_fed():
            return False
        found = Quotes(min(told_ms), quotes)
        sifted = self.quarantine.sift(found, self._fallback.name, await self._around(origin, {}))
        self.quarantine.note(sifted, self._fallback.name)
        await self._tell()
        if sifted.whole is not None or all(quote.price is None for quote in sifted.quotes.quotes):
            return False
        await self._store.put_quotes(origin, sifted.quotes, venue=self._fallback.name, failure=failure)
        self._newest = (origin, found.observed_ms)
        return True


def _is_first(found: Findings) -> bool:
    return Reason.PRICE_UNCONFIRMED in found


def _unseen(quote: Quote) -> Quote:
    """A quote of which no price was seen."""
    return replace(quote, price=None, price_ms=None, funding=None, funding_ms=None)


def _overtaken(found: Quotes, newest_ms: int) -> Quotes:
    """What an answer is worth that is older than what was pushed meanwhile: who is listed, but no price."""
    return replace(found, observed_ms=newest_ms, quotes=[_unseen(quote) for quote in found.quotes])

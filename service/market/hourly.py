"""Series by the hour, kept in the background: the bars of the last ninety days, and the funding paid in them."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock, day_of
from service.market.filling import Pace
from service.market.history import REPORT_S
from service.market.observed import REACH_MS, SETTLE_MS, VENUE, Progress
from service.market.patience import Patience
from service.market.schedule import Signal
from service.market.series_check import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import FUNDING_PAGE
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError

KEPT_MS: Final = 100 * DAY_MS
"""Hours older than this are forgotten."""

SPREAD_MS: Final = 30 * MINUTE_MS
"""The coins' new hours are asked for over this long after the hour, the most traded first: never all at once."""

_log: Final = logging.getLogger("verdict.market")


class HourlyRefresh(ABC):
    """Fetches what is missing of a series by the hour, one coin after the other, one round at a time.

    Args:
        clock: What hour it is.
        store: Where the series is kept.
        source: The venue.
        origin: Which history the venue tells at this moment.
        background: Held while the venue is asked.
        check: Decides whether an answer is stored.
        may_ask: Whether nothing more urgent is missing; asked before each coin.

    Attributes:
        news: Set after the first coin, and after every round that brought coins which were not known before.
        pace: How long a coin takes.
        known: Coins whose series was complete when last looked at.
        total: Coins that were listed then.
    """

    name: str

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        background: asyncio.Lock,
        check: SeriesCheck,
        may_ask: Callable[[], bool],
    ) -> None:
        self.news = Signal()
        self.pace = Pace(clock)
        self.known = self.total = 0
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._background = background
        self._check = check
        self._may_ask = may_ask
        self._patience = Patience(clock)
        self._reported_s: float | None = None
        self._pruned_day: int | None = None

    async def round(self) -> None:
        """Fetch what is due, and once a day forget what is too old.

        Raises:
            UpstreamError: If the venue wants to be left alone for a while; what was fetched until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin = self._origin()
        progress = await self._progress(origin)
        self._count(progress)
        known = self.known
        self.pace.begin()
        for place, coin in enumerate(progress):
            if not self._may_ask() or self._origin() != origin:
                break
            if self._is_due(origin, coin, place / len(progress)):
                await self._fetch(origin, coin)
                self.pace.note()
                self._report()
            if self.known > known == 0:
                known = self.known
                self.news.set()
        if self.known > known:
            self.news.set()
        today = day_of(self._clock.now_ms())
        if self._pruned_day != today:
            await self._store.prune(self._clock.now_ms() - KEPT_MS)
            self._pruned_day = today

    @abstractmethod
    async def _progress(self, origin: str) -> list[Progress]:
        """How far the series of the listed coins go, the most traded first."""

    @abstractmethod
    async def _ask(self, origin: str, coin: Progress) -> bool:
        """Ask for what follows the last entry, or for all that is kept, and keep it; whether there was any."""

    @abstractmethod
    def _newest_ms(self) -> int:
        """Time of the newest entry that can be there."""

    def _is_due(self, origin: str, coin: Progress, place: float) -> bool:
        """Whether a coin lacks its newest hour and its turn has come, or lacks more than that."""
        newest_ms = self._newest_ms()
        if coin.last_ms is not None and coin.last_ms >= newest_ms:
            return False
        past_ms = (self._clock.now_ms() - SETTLE_MS) % HOUR_MS
        behind = coin.last_ms is None or coin.last_ms < newest_ms - HOUR_MS
        return (behind or past_ms >= place * SPREAD_MS) and self._patience.is_over(origin, coin.venue_symbol)

    async def _fetch(self, origin: str, coin: Progress) -> None:
        """Fetch one coin's; its failure is its own, unless the venue asks for silence."""
        try:
            found = await self._ask(origin, coin)
        except UpstreamError as error:
            if error.retry_after_s:
                raise
            _log.info("no hours", extra={"coin": coin.venue_symbol, "status": error.upstream_status})
            found = False
        self._patience.note(coin.venue_symbol, found=found)
        self.known += found and coin.last_ms is None

    def _count(self, progress: Sequence[Progress]) -> None:
        self.known = sum(coin.last_ms is not None for coin in progress)
        self.total = len(progress)

    def _report(self) -> None:
        now_s = self._clock.monotonic()
        due = self._reported_s is None or now_s - self._reported_s >= REPORT_S
        if due and self.known < self.total:
            self._reported_s = now_s
            _log.info(self.name, extra={"known": self.known, "total": self.total})

    def _start_ms(self) -> int:
        """The first hour that is kept complete."""
        return (self._clock.now_ms() - REACH_MS) // HOUR_MS * HOUR_MS


class HourlyBars(HourlyRefresh):
    """Keeps closed hourly bars."""

    name = "hourly history"

    async def _progress(self, origin: str) -> list[Progress]:
        return [coin for coin in await self._store.progress(origin, "1h") if coin.listed]

    async def _ask(self, origin: str, coin: Progress) -> bool:
        # The last stored bar is asked for again: that it is the same shows that the answer continues this history.
        start_ms = self._start_ms()
        if coin.last_ms is not None and coin.last_ms < start_ms:
            coin = replace(coin, last_ms=None)
        async with self._background:
            history = await self._source.bars(coin.venue_symbol, "1h", coin.last_ms or start_ms)
        last_closed_ms = history.observed_ms - SETTLE_MS - HOUR_MS
        newest_ms = start_ms - HOUR_MS if coin.last_ms is None else coin.last_ms
        bars = [bar for bar in history.bars if newest_ms < bar.open_ms <= last_closed_ms]
        if self._origin() == origin:
            if not await self._check.accepts_bars(origin, coin, "1h", history, last_closed_ms, venue=VENUE):
                return False
            await self._store.put_bars(origin, coin.venue_symbol, bars, last_closed_ms, interval="1h")
        return bool(bars)

    def _newest_ms(self) -> int:
        return (self._clock.now_ms() - SETTLE_MS) // HOUR_MS * HOUR_MS - HOUR_MS


class FundingHistory(HourlyRefresh):
    """Keeps what funding was paid, page by page where much is missing.

    There is no fall-back: the venue keeps its history, so a gap is filled when it is back.
    """

    name = "funding history"

    async def _progress(self, origin: str) -> list[Progress]:
        return await self._store.funding_progress(origin)

    async def _ask(self, origin: str, coin: Progress) -> bool:
        start_ms, found = self._start_ms(), False
        # Payments are dated to the minute, so the last one itself may lie a moment after its date.
        start_ms = start_ms if coin.last_ms is None else max(start_ms, coin.last_ms + MINUTE_MS)
        while True:
            async with self._background:
                rows = await self._source.funding_history(coin.venue_symbol, start_ms)
            if self._origin() != origin:
                return True
            if not self._check.accepts_payments(origin, coin, rows, VENUE):
                return found
            await self._store.put_payments(origin, coin.venue_symbol, rows)
            found = found or bool(rows)
            if len(rows) < FUNDING_PAGE or rows[-1][0] < start_ms:
                return found
            start_ms = rows[-1][0] + MINUTE_MS

    def _newest_ms(self) -> int:
        return (self._clock.now_ms() - SETTLE_MS) // HOUR_MS * HOUR_MS

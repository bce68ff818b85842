"""Keeps hourly series in the background: bars of the last 90 days, and funding payments."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock, day_of
from service.market.ingest.candles import REPORT_S, RetryBackoff
from service.market.loading import LoadPace
from service.market.models import REACH_MS, SETTLE_MS, VENUE, SeriesProgress
from service.market.plausibility.rules import PAYMENT_LATE_MS
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import FUNDING_PAGE
from service.market.store import MarketStore
from service.scheduler import EventFanout
from service.upstream.failures import UpstreamError

KEPT_MS: Final = 100 * DAY_MS
"""Older hours are deleted."""

SPREAD_MS: Final = 30 * MINUTE_MS
"""New hours are requested over this span, the most traded coins first, never all at once."""

_log: Final = logging.getLogger("verdict.market")


class HourlySeriesRefresh(ABC):
    """Fetches what is missing of an hourly series, coin after coin, one round at a time.

    Args:
        clock: Current hour.
        store: Stores the series.
        source: The venue.
        origin: The current dataset.
        background: Held during requests.
        check: Decides whether an answer is stored.
        may_ask: Whether nothing more urgent is missing; checked before each coin.

    Attributes:
        news: Set after the first coin, and after every round with coins that were unknown before.
        pace: Time per coin.
        known: Number of coins with a series at the last count.
        total: Number of listed coins then.
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
        self.news = EventFanout()
        self.pace = LoadPace(clock)
        self.known = self.total = 0
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._background = background
        self._check = check
        self._may_ask = may_ask
        self._backoff = RetryBackoff(clock)
        self._reported_s: float | None = None
        self._pruned_day: int | None = None

    async def round(self) -> None:
        """Fetch what is due, and delete old hours once a day.

        Raises:
            UpstreamError: If the venue asks to wait; what was fetched until then is stored.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
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
    async def _progress(self, origin: str) -> list[SeriesProgress]:
        """How far the series of listed coins go, the most traded first."""

    @abstractmethod
    async def _ask(self, origin: str, coin: SeriesProgress) -> bool:
        """Fetch and store what follows the last entry, or everything; whether there was any."""

    @abstractmethod
    def _newest_ms(self) -> int:
        """Time of the newest entry that can exist."""

    def _is_due(self, origin: str, coin: SeriesProgress, place: float) -> bool:
        """Whether a coin lacks its newest hour and its turn has come, or lacks more than that."""
        newest_ms = self._newest_ms()
        if coin.last_ms is not None and coin.last_ms >= newest_ms:
            return False
        past_ms = (self._clock.now_ms() - SETTLE_MS) % HOUR_MS
        behind = coin.last_ms is None or coin.last_ms < newest_ms - HOUR_MS
        return (behind or past_ms >= place * SPREAD_MS) and self._backoff.may_retry(origin, coin.venue_symbol)

    async def _fetch(self, origin: str, coin: SeriesProgress) -> None:
        """Fetch one coin. A failure skips it, unless the venue asks to wait."""
        try:
            found = await self._ask(origin, coin)
        except UpstreamError as error:
            if error.retry_after_s:
                raise
            _log.info(
                "Hourly data could not be fetched.", extra={"coin": coin.venue_symbol, "status": error.upstream_status}
            )
            found = False
        self._backoff.record(coin.venue_symbol, found=found)
        self.known += found and coin.last_ms is None

    def _count(self, progress: Sequence[SeriesProgress]) -> None:
        self.known = sum(coin.last_ms is not None for coin in progress)
        self.total = len(progress)

    def _report(self) -> None:
        now_s = self._clock.monotonic()
        due = self._reported_s is None or now_s - self._reported_s >= REPORT_S
        if due and self.known < self.total:
            self._reported_s = now_s
            _log.info(self.name, extra={"known": self.known, "total": self.total})

    def _start_ms(self) -> int:
        """First hour that is kept complete."""
        return (self._clock.now_ms() - REACH_MS) // HOUR_MS * HOUR_MS


class HourlyBarsRefresh(HourlySeriesRefresh):
    """Keeps closed hourly bars."""

    name = "hourly history"

    async def _progress(self, origin: str) -> list[SeriesProgress]:
        return [coin for coin in await self._store.progress(origin, "1h") if coin.listed]

    async def _ask(self, origin: str, coin: SeriesProgress) -> bool:
        # Request the last stored bar again: if it is unchanged, the answer continues this history.
        start_ms = self._start_ms()
        if coin.last_ms is not None and coin.last_ms < start_ms:
            coin = replace(coin, last_ms=None)
        async with self._background:
            history = await self._source.bars(coin.venue_symbol, "1h", coin.last_ms or start_ms)
        last_closed_ms = history.observed_ms - SETTLE_MS - HOUR_MS
        newest_ms = start_ms - HOUR_MS if coin.last_ms is None else coin.last_ms
        if self._origin() != origin:
            return any(newest_ms < bar.open_ms <= last_closed_ms for bar in history.bars)
        judged = await self._check.judge_bars(origin, coin, "1h", history, last_closed_ms, venue=VENUE)
        bars = [bar for bar in judged.storable if newest_ms < bar.open_ms <= last_closed_ms]
        if bars:
            await self._store.put_bars(origin, coin.venue_symbol, bars, last_closed_ms, interval="1h")
        return judged.reason is None and bool(bars)

    def _newest_ms(self) -> int:
        return (self._clock.now_ms() - SETTLE_MS) // HOUR_MS * HOUR_MS - HOUR_MS


class FundingRefresh(HourlySeriesRefresh):
    """Keeps funding payments, page by page where much is missing.

    There is no fallback: the venue keeps its history, so a gap is filled when it is back.
    """

    name = "funding history"

    async def _progress(self, origin: str) -> list[SeriesProgress]:
        return await self._store.funding_progress(origin)

    async def _ask(self, origin: str, coin: SeriesProgress) -> bool:
        start_ms, found = self._start_ms(), False
        start_ms = start_ms if coin.last_ms is None else max(start_ms, _after(coin.last_ms))
        while True:
            async with self._background:
                rows = await self._source.funding_history(coin.venue_symbol, start_ms)
            if self._origin() != origin:
                return True
            paid = self._check.storable_payments(origin, coin, rows, VENUE)
            if paid is None:
                return found
            await self._store.put_payments(origin, coin.venue_symbol, paid)
            found = found or bool(paid)
            if len(rows) < FUNDING_PAGE or rows[-1][0] < start_ms:
                return found
            start_ms = rows[-1][0] + 1

    def _newest_ms(self) -> int:
        return (self._clock.now_ms() - SETTLE_MS) // HOUR_MS * HOUR_MS


def _after(paid_ms: int) -> int:
    """First instant after every stamp of the payment that is stored at `paid_ms`."""
    return paid_ms + PAYMENT_LATE_MS + 1

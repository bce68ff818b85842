"""Keeps closed daily bars complete."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.fallback import SecondVenueApi
from service.market.models import MAJORS, SETTLE_MS, VENUE, SeriesProgress
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import MarketStore
from service.scheduler import EventFanout
from service.upstream.failures import UpstreamError

LATE_MS: Final = 15 * MINUTE_MS
"""A bar that the first venue has not provided this long after its close is requested from the fallback."""

REPORT_S: Final = 60.0
"""Seconds between two log lines about progress."""

_log: Final = logging.getLogger("verdict.market")


class DailyBarsRefresh:
    """Fetches missing daily bars, one round at a time.

    Args:
        clock: Current day; also how long coins without news are left alone.
        store: Stores bars.
        source: The venue.
        origin: The current dataset; a replay's changes at midnight.
        background: Held during requests that can wait, so that a price request waits behind one of them at most.
        fallback: Asked for late bars.
        check: Decides whether an answer is stored.

    Attributes:
        news: Set when there are new bars: those of BTC and ETH, or at the end of a round.
        idle: Whether the last round left nothing to request.
        caught_up: Set once that was so for the first time.
        left: Number of coins that are due and not requested yet.
        asked_ms: Start of the last complete round; null before the first of this dataset.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        background: asyncio.Lock,
        fallback: SecondVenueApi,
        check: SeriesCheck,
    ) -> None:
        self.news = EventFanout()
        self.caught_up = asyncio.Event()
        self.idle = False
        self.asked_ms: int | None = None
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._background = background
        self._fallback = fallback
        self._check = check
        self._backoff = RetryBackoff(clock)
        self._asked_of = ""
        self._known = self._total = self.left = 0
        self._reported_s: float | None = None

    async def round(self) -> None:
        """Fetch every missing closed bar: BTC and ETH first, then the most traded coins.

        Raises:
            UpstreamError: If the venue asks to wait; what was fetched until then is stored.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        origin, began_ms = self._origin(), self._clock.now_ms()
        if origin != self._asked_of:
            self._asked_of, self.asked_ms = origin, None
        progress = await self._store.progress(origin)
        due = self._due(origin, progress)
        self.idle = not due
        self._known, self._total = _count(progress, self._newest_ms())
        refusal: UpstreamError | None = None
        self.left = len(due)
        for coins in _parts(due):
            known = self._known
            refusal = await self._fetch(origin, coins, refusal)
            if self._known < known + len(coins) or coins[-1] is due[-1]:
                await self._store.mark_history_tried(origin, self._clock.now_ms())
            self.news.set()
        if refusal is not None:
            raise refusal
        self.idle = True
        self.caught_up.set()
        if progress and self._origin() == origin:
            if self.asked_ms is None:
                self.news.set()  # stored bars may be published only now
            self.asked_ms = began_ms

    def _due(self, origin: str, progress: Sequence[SeriesProgress]) -> list[SeriesProgress]:
        """Coins without their newest closed bar, except those that are backing off.

        A delisted coin is requested once, for its whole history.
        """
        newest_ms = self._newest_ms()
        return [
            coin
            for coin in progress
            if (not coin.listed or coin.last_ms is None or coin.last_ms < newest_ms)
            and self._backoff.may_retry(origin, coin.venue_symbol)
        ]

    def _newest_ms(self) -> int:
        """Open time of the newest closed bar."""
        return (self._clock.now_ms() - SETTLE_MS) // DAY_MS * DAY_MS - DAY_MS

    def _is_late(self) -> bool:
        """Whether the newest bar should be available by now."""
        return self._clock.now_ms() >= self._newest_ms() + DAY_MS + LATE_MS

    async def _fetch(
        self, origin: str, coins: Sequence[SeriesProgress], refusal: UpstreamError | None
    ) -> UpstreamError | None:
        """Fetch the bars of coins. A failure skips its coin, unless the venue asks to wait.

        Returns:
            The failure that asks to wait, now or before; after it only the fallback is asked.
        """
        for coin in coins:
            found: bool | None = False
            if refusal is None:
                try:
                    found = await self._fetch_coin(origin, coin)
                except UpstreamError as error:
                    refusal = error if error.retry_after_s else None
                    _log.info(
                        "Daily bars could not be fetched.",
                        extra={"coin": coin.venue_symbol, "status": error.upstream_status},
                    )
            elif not self._is_late():
                break
            found = found or await self._substitute(origin, coin)
            if found or (found is False and refusal is None):
                self._backoff.record(coin.venue_symbol, found=found)
            self._known += found is True and coin.listed
            self.left -= 1
            self._report()
        return refusal

    async def _fetch_coin(self, origin: str, coin: SeriesProgress) -> bool:
        """Fetch a coin's bars. True if there was a new closed one, or none is left to come.

        The last stored bar is requested again: if it is unchanged, the answer continues this history.
        """
        start_ms = EARLIEST_MS if coin.last_ms is None else coin.last_ms
        async with self._background:
            history = await self._source.bars(coin.venue_symbol, "1d", start_ms)
        if self._origin() != origin:
            return True
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        judged = await self._check.judge_bars(origin, coin, "1d", history, last_closed_ms, venue=VENUE)
        if judged.storable:
            await self._store.put_bars(origin, coin.venue_symbol, judged.storable, last_closed_ms)
        if judged.reason is not None:
            return False
        if not coin.listed:
            await self._store.settle(origin, coin.venue_symbol)
        newest_ms = -1 if coin.last_ms is None else coin.last_ms
        return not coin.listed or any(newest_ms < bar.open_ms <= last_closed_ms for bar in history.bars)

    async def _substitute(self, origin: str, coin: SeriesProgress) -> bool | None:
        """Ask the fallback for a coin's late bars. True if it had one, null if one is provisional.

        Another venue's bars may continue a history, but never begin one.
        """
        if not self._is_late() or not coin.listed or coin.last_ms is None:
            return False
        try:
            history = await self._fallback.daily_bars(coin.symbol, coin.last_ms)
        except UpstreamError:  # logged by the session
            return False
        if history is None or self._origin() != origin:
            return False
        if history.provisional:
            return None
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        venue = self._fallback.name
        # The stored bar may be the other venue's, which differs a little: compare only newer bars.
        follows = replace(history, bars=[bar for bar in history.bars if bar.open_ms > coin.last_ms])
        judged = await self._check.judge_bars(origin, coin, "1d", follows, last_closed_ms, venue=venue)
        bars = [bar for bar in judged.storable if bar.open_ms <= last_closed_ms]
        await self._store.put_bars(origin, coin.venue_symbol, bars, last_closed_ms, venue=venue)
        return judged.reason is None and bool(bars)

    def _report(self) -> None:
        """Log the progress, once a minute while bars are being fetched."""
        now_s = self._clock.monotonic()
        due = self._reported_s is None or now_s - self._reported_s >= REPORT_S
        if due and self._known < self._total:
            self._reported_s = now_s
            _log.info("daily history", extra={"known": self._known, "total": self._total})


def _parts(due: Sequence[SeriesProgress]) -> list[Sequence[SeriesProgress]]:
    """BTC and ETH first, because everything is compared with them; then the others."""
    majors = [coin for coin in due if coin.venue_symbol in MAJORS]
    others = [coin for coin in due if coin.venue_symbol not in MAJORS]
    return [coins for coins in (majors, others) if coins]


def _count(progress: Sequence[SeriesProgress], newest_ms: int) -> tuple[int, int]:
    """Listed coins with their newest bar, and all listed coins."""
    listed = [coin for coin in progress if coin.listed]
    return sum(coin.last_ms is not None and coin.last_ms >= newest_ms for coin in listed), len(listed)


FIRST_WAIT_S: Final = 60.0
LONGEST_WAIT_S: Final = 3_600.0
"""A coin without news is requested again after a minute, then less and less often, at last hourly."""


class RetryBackoff:
    """Exponential backoff of coins that had nothing new, for one dataset at a time.

    Args:
        clock: Monotonic time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._origin = ""
        self._waits: dict[str, tuple[float, float]] = {}

    def may_retry(self, origin: str, coin: str) -> bool:
        """Whether a coin may be requested."""
        if origin != self._origin:
            self._origin, self._waits = origin, {}
        return self._waits.get(coin, (0.0, 0.0))[0] <= self._clock.monotonic()

    def record(self, coin: str, *, found: bool) -> None:
        """Record whether a requested coin had something new."""
        if found:
            self._waits.pop(coin, None)
        else:
            _, wait_s = self._waits.get(coin, (0.0, FIRST_WAIT_S))
            self._waits[coin] = (self._clock.monotonic() + wait_s, min(2 * wait_s, LONGEST_WAIT_S))

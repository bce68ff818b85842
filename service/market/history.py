"""Keeping closed daily bars complete."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.observed import MAJORS, SETTLE_MS, VENUE, Progress
from service.market.patience import Patience
from service.market.schedule import Signal
from service.market.series_check import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError

LATE_MS: Final = 15 * MINUTE_MS
"""So long after its close a bar that the venue has not given is asked of the fall-back."""

REPORT_S: Final = 60.0
"""Seconds between two lines of the log about how far history is."""

_log: Final = logging.getLogger("verdict.market")


class HistoryRefresh:
    """Fetches what is missing of the coins' daily bars, one round at a time.

    Args:
        clock: What day it is, and how long coins without progress are left alone.
        store: Where bars are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        background: Held while something is asked for that can wait, so that a price waits behind one such call at most.
        fallback: Who is asked for bars that are late.
        check: Decides whether an answer is stored.

    Attributes:
        news: Set whenever there are bars worth concluding from: the first venue's majors, or the end of a round.
        idle: Whether the last round left nothing that could be asked for at once.
        caught_up: Set once that was so for the first time.
        left: How many coins are due and have not been asked for.
        asked_ms: When the last round began that asked for everything that was due, to its end; null before the first of
            this history.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        background: asyncio.Lock,
        fallback: Fallback,
        check: SeriesCheck,
    ) -> None:
        self.news = Signal()
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
        self._patience = Patience(clock)
        self._asked_of = ""
        self._known = self._total = self.left = 0
        self._reported_s: float | None = None

    async def round(self) -> None:
        """Fetch every closed bar that is missing, BTC and ETH first, then the most traded.

        Raises:
            UpstreamError: If the venue wants to be left alone for a while; what was fetched until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
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
                self.news.set()  # what is already there may be concluded from only now
            self.asked_ms = began_ms

    def _due(self, origin: str, progress: Sequence[Progress]) -> list[Progress]:
        """The coins whose newest closed bar we lack, but those that were asked for it in vain a moment ago.

        A delisted coin is asked once, for all it ever was.
        """
        newest_ms = self._newest_ms()
        return [
            coin
            for coin in progress
            if (not coin.listed or coin.last_ms is None or coin.last_ms < newest_ms)
            and self._patience.is_over(origin, coin.venue_symbol)
        ]

    def _newest_ms(self) -> int:
        """Open of the newest bar that is closed."""
        return (self._clock.now_ms() - SETTLE_MS) // DAY_MS * DAY_MS - DAY_MS

    def _is_late(self) -> bool:
        """Whether the newest bar should be there by now."""
        return self._clock.now_ms() >= self._newest_ms() + DAY_MS + LATE_MS

    async def _fetch(
        self, origin: str, coins: Sequence[Progress], refusal: UpstreamError | None
    ) -> UpstreamError | None:
        """Fetch the bars of coins; one coin's failure is its own, unless the venue asks for silence.

        Returns:
            The silence asked for, now or before; the venue is not asked after it, the fall-back is.
        """
        for coin in coins:
            found: bool | None = False
            if refusal is None:
                try:
                    found = await self._fetch_coin(origin, coin)
                except UpstreamError as error:
                    refusal = error if error.retry_after_s else None
                    _log.info("no bars", extra={"coin": coin.venue_symbol, "status": error.upstream_status})
            elif not self._is_late():
                break
            found = found or await self._substitute(origin, coin)
            if found or (found is False and refusal is None):
                self._patience.note(coin.venue_symbol, found=found)
            self._known += found is True and coin.listed
            self.left -= 1
            self._report()
        return refusal

    async def _fetch_coin(self, origin: str, coin: Progress) -> bool:
        """Fetch a coin's bars; says whether there was a new closed one, or nothing more to come.

        The last stored bar is asked for again: that it is the same shows that the answer continues this history.
        """
        start_ms = EARLIEST_MS if coin.last_ms is None else coin.last_ms
        async with self._background:
            history = await self._source.bars(coin.venue_symbol, "1d", start_ms)
        if self._origin() != origin:
            return True
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        if not await self._check.accepts_bars(origin, coin, "1d", history, last_closed_ms, venue=VENUE):
            return False
        await self._store.put_bars(origin, coin.venue_symbol, history.bars, last_closed_ms)
        if not coin.listed:
            await self._store.settle(origin, coin.venue_symbol)
        newest_ms = -1 if coin.last_ms is None else coin.last_ms
        return not coin.listed or any(newest_ms < bar.open_ms <= last_closed_ms for bar in history.bars)

    async def _substitute(self, origin: str, coin: Progress) -> bool | None:
        """Ask the fall-back for the bars of a coin that are late; says whether it had one, null if one is provisional.

        Only what follows a history is asked for: one venue's bars go on where another's end, but never begin.
        """
        if not self._is_late() or not coin.listed or coin.last_ms is None:
            return False
        try:
            history = await self._fallback.daily_bars(coin.symbol, coin.last_ms)
        except UpstreamError:  # the session has logged it
            return False
        if history is None or self._origin() != origin:
            return False
        if history.provisional:
            return None
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        venue = self._fallback.name
        # The stored bar may be the other venue's, whose open and close differ a little: only what follows is compared.
        follows = replace(history, bars=[bar for bar in history.bars if bar.open_ms > coin.last_ms])
        if not await self._check.accepts_bars(origin, coin, "1d", follows, last_closed_ms, venue=venue):
            return False
        bars = [bar for bar in follows.bars if bar.open_ms <= last_closed_ms]
        await self._store.put_bars(origin, coin.venue_symbol, bars, last_closed_ms, venue=venue)
        return bool(bars)

    def _report(self) -> None:
        """Say how far history is, once a minute while it is being fetched."""
        now_s = self._clock.monotonic()
        due = self._reported_s is None or now_s - self._reported_s >= REPORT_S
        if due and self._known < self._total:
            self._reported_s = now_s
            _log.info("daily history", extra={"known": self._known, "total": self._total})


def _parts(due: Sequence[Progress]) -> list[Sequence[Progress]]:
    """BTC and ETH by themselves, since everything is compared with them; then the others."""
    majors = [coin for coin in due if coin.venue_symbol in MAJORS]
    others = [coin for coin in due if coin.venue_symbol not in MAJORS]
    return [coins for coins in (majors, others) if coins]


def _count(progress: Sequence[Progress], newest_ms: int) -> tuple[int, int]:
    """How many listed coins have their newest bar, of how many."""
    listed = [coin for coin in progress if coin.listed]
    return sum(coin.last_ms is not None and coin.last_ms >= newest_ms for coin in listed), len(listed)

"""Keeping closed daily bars complete, and reading the charts they make."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from service.clock import DAY_MS, MINUTE_MS, SECOND_MS, Clock
from service.market.observed import MAJORS, Chart, Progress, Row
from service.market.patience import Patience
from service.market.sources.hyperliquid import EARLIEST_MS, Hyperliquid
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError

SETTLE_MS: Final = 5 * SECOND_MS
"""So long after its close a bar counts as closed: the venue's last trades of the day have then entered it."""

LATE_MS: Final = 15 * MINUTE_MS
"""So long after its close a bar that the venue has not given is asked of the fall-back."""

BATCH: Final = 8
"""Coins whose bars are fetched before their charts are read: enough to share the work, few enough to be seen soon."""

REPORT_S: Final = 60.0
"""Seconds between two lines of the log about how far history is."""

_log: Final = logging.getLogger("verdict.market")


class HistoryRefresh:
    """Fetches what is missing of the coins' daily bars, one round at a time.

    Args:
        clock: What day it is, and how long coins without progress are left alone.
        store: Where bars and charts are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        load: Shows the desk what the store holds.
        background: Held while something is asked for that can wait, so that a price waits behind one such call at most.
        fallback: Who is asked for bars that are late.

    Attributes:
        idle: Whether the last round left nothing that could be asked for at once.
        asked_ms: When the last round began that asked for everything that was due, to its end; null before the first of
            this history.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        load: Callable[[], Awaitable[None]],
        background: asyncio.Lock,
        fallback: Fallback,
    ) -> None:
        self.idle = False
        self.asked_ms: int | None = None
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._load = load
        self._background = background
        self._fallback = fallback
        self._patience = Patience(clock)
        self._asked_of = ""
        self._reported_s: float | None = None

    async def round(self) -> None:
        """Fetch every closed bar that is missing, BTC and ETH first, then the most traded, and read the charts.

        Raises:
            UpstreamError: If the venue wants to be left alone for a while; what was fetched until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin, began_ms = self._origin(), self._clock.now_ms()
        if origin != self._asked_of:
            self._asked_of, self.asked_ms = origin, None
        progress = await self._store.progress(origin)
        await self._read_charts(origin, progress)
        due = self._due(origin, progress)
        self.idle = not due
        refusal: UpstreamError | None = None
        for batch in _batches(due):
            refusal = await self._fetch(origin, batch, refusal)
            progress = await self._store.progress(origin)
            await self._read_charts(origin, progress)
            await self._store.mark_history_tried(origin, self._clock.now_ms())
            await self._load()
            self._report(progress)
            if refusal is not None and not self._is_late():
                break
        if refusal is not None:
            raise refusal
        self.idle = True
        self.asked_ms = began_ms if progress and self._origin() == origin else self.asked_ms

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
        self, origin: str, batch: Sequence[Progress], refusal: UpstreamError | None
    ) -> UpstreamError | None:
        """Fetch the bars of some coins; one coin's failure is its own, unless the venue asks for silence.

        Returns:
            The silence asked for, now or before; the venue is not asked after it, the fall-back is.
        """
        for coin in batch:
            found = False
            if refusal is None:
                try:
                    found = await self._fetch_coin(origin, coin)
                except UpstreamError as error:
                    refusal = error if error.retry_after_s else None
                    _log.warning("no bars", extra={"coin": coin.venue_symbol, "status": error.upstream_status})
            found = found or await self._substitute(origin, coin)
            if found or refusal is None:
                self._patience.note(coin.venue_symbol, found=found)
        return refusal

    async def _fetch_coin(self, origin: str, coin: Progress) -> bool:
        """Fetch a coin's bars; says whether there was a new closed one, or nothing more to come."""
        start_ms = EARLIEST_MS if coin.last_ms is None else coin.last_ms + DAY_MS
        async with self._background:
            history = await self._source.bars(coin.venue_symbol, "1d", start_ms)
        if self._origin() != origin:
            return True
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        await self._store.put_bars(origin, coin.venue_symbol, history.bars, last_closed_ms)
        if not coin.listed:
            await self._store.settle(origin, coin.venue_symbol)
        return not coin.listed or any(start_ms <= bar.open_ms <= last_closed_ms for bar in history.bars)

    async def _substitute(self, origin: str, coin: Progress) -> bool:
        """Ask the fall-back for the bars of a coin that are late; says whether it had one.

        Only what follows a history is asked for: one venue's bars go on where another's end, but never begin.
        """
        if not self._is_late() or not coin.listed or coin.last_ms is None:
            return False
        try:
            history = await self._fallback.daily_bars(coin.symbol, coin.last_ms + DAY_MS)
        except UpstreamError:  # the session has logged it
            return False
        if history is None or self._origin() != origin:
            return False
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        bars = [bar for bar in history.bars if coin.last_ms < bar.open_ms <= last_closed_ms]
        await self._store.put_bars(origin, coin.venue_symbol, bars, last_closed_ms, venue=self._fallback.name)
        return bool(bars)

    def _report(self, progress: Sequence[Progress]) -> None:
        """Say how far history is, once a minute while much of it is missing."""
        now_s, newest_ms = self._clock.monotonic(), self._newest_ms()
        if self._reported_s is None or now_s - self._reported_s >= REPORT_S:
            self._reported_s = now_s
            listed = [coin for coin in progress if coin.listed]
            known = sum(coin.last_ms is not None and coin.last_ms >= newest_ms for coin in listed)
            _log.info("daily history", extra={"known": known, "total": len(listed)})

    async def _read_charts(self, origin: str, progress: Sequence[Progress]) -> None:
        """Read the charts of the coins that have bars, common with BTC's and ETH's, that their chart has not seen."""
        lasts = {coin.venue_symbol: coin.last_ms for coin in progress if coin.listed and coin.last_ms is not None}
        if not lasts.keys() >= set(MAJORS):
            return
        common_ms = min(lasts[major] for major in MAJORS)
        reached = {coin: min(last_ms, common_ms) for coin, last_ms in lasts.items()}
        seen = {coin.venue_symbol: coin.inputs_ms for coin in progress}
        todo = [coin for coin, inputs_ms in reached.items() if seen[coin] is None or seen[coin] != inputs_ms]
        for at in range(0, len(todo), BATCH):
            some = todo[at : at + BATCH]
            bars = await self._store.closed_bars({*some, *MAJORS})
            charts = await asyncio.to_thread(_charts, bars, some)
            await self._store.put_charts(origin, {coin: (reached[coin], charts[coin]) for coin in some})


def _batches(due: Sequence[Progress]) -> list[Sequence[Progress]]:
    """BTC and ETH by themselves, since every chart needs them; then the others, some at a time."""
    majors = [coin for coin in due if coin.venue_symbol in MAJORS]
    others = [coin for coin in due if coin.venue_symbol not in MAJORS]
    batches = [majors, *(others[at : at + BATCH] for at in range(0, len(others), BATCH))]
    return [batch for batch in batches if batch]


def _charts(bars: Mapping[str, Sequence[Row]], coins: Sequence[str]) -> dict[str, Chart]:
    from service.analytics.trend import assess  # noqa: PLC0415 - brings numpy, which only a process that fetches needs

    return {
        coin: Chart(
            through_ms=found.through_ms,
            trend_daily=found.daily and found.daily.state,
            trend_daily_since_ms=found.daily and found.daily.since_ms,
            trend_weekly=found.weekly and found.weekly.state,
            trend_weekly_since_ms=found.weekly and found.weekly.since_ms,
            btc_correlation=found.btc_correlation,
        )
        for coin, found in assess(bars, coins).items()
    }

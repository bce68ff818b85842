"""Keeping closed bars complete, and reading the charts they make."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from service.clock import DAY_MS, SECOND_MS, Clock
from service.market.observed import MAJORS, Chart, Progress, Row
from service.market.sources.hyperliquid import EARLIEST_MS, Hyperliquid
from service.market.store import MarketStore
from service.upstream.failure import UpstreamError

SETTLE_MS: Final = 5 * SECOND_MS
"""So long after its close a bar counts as closed: the venue's last trades of the day have then entered it."""

BATCH: Final = 8
"""Coins whose bars are fetched before their charts are read: enough to share the work, few enough to be seen soon."""

FIRST_WAIT_S: Final = 60.0
LONGEST_WAIT_S: Final = 3_600.0
"""A coin that has no new bar when it should is asked again after a minute, then ever less often, hourly at last."""

_log: Final = logging.getLogger("verdict.market")


class HistoryRefresh:
    """Fetches what is missing of the coins' daily bars, one round at a time.

    Args:
        clock: What day it is, and how long coins without progress are left alone.
        store: Where bars and charts are kept.
        source: The venue.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        load: Shows the desk what the store holds.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        load: Callable[[], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._store = store
        self._source = source
        self._origin = origin
        self._load = load
        self._waits: dict[tuple[str, str], tuple[float, float]] = {}

    async def round(self) -> None:
        """Fetch every closed bar that is missing, BTC and ETH first, then the most traded, and read the charts.

        Raises:
            UpstreamError: If the venue wants to be left alone for a while; what was fetched until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin = self._origin()
        progress = await self._store.progress(origin)
        await self._read_charts(origin, progress)
        for batch in _batches(self._due(origin, progress)):
            refusal = await self._fetch(origin, batch)
            await self._read_charts(origin, await self._store.progress(origin))
            await self._store.mark_history_tried(origin, self._clock.now_ms())
            await self._load()
            if refusal is not None:
                raise refusal

    def _due(self, origin: str, progress: Sequence[Progress]) -> list[Progress]:
        """The coins whose newest closed bar we lack, but those that were asked for it in vain a moment ago."""
        newest_ms = (self._clock.now_ms() - SETTLE_MS) // DAY_MS * DAY_MS - DAY_MS
        now_s = self._clock.monotonic()
        self._waits = {key: wait for key, wait in self._waits.items() if key[0] == origin}
        return [
            coin
            for coin in progress
            if (coin.last_ms is None or coin.last_ms < newest_ms)
            and self._waits.get((origin, coin.venue_symbol), (0.0, 0.0))[0] <= now_s
        ]

    async def _fetch(self, origin: str, batch: Sequence[Progress]) -> UpstreamError | None:
        """Fetch the bars of some coins; one coin's failure is its own, unless the venue asks for silence."""
        for coin in batch:
            try:
                found = await self._fetch_coin(origin, coin)
            except UpstreamError as error:
                if error.retry_after_s:
                    return error
                _log.warning("no bars", extra={"coin": coin.venue_symbol, "status": error.upstream_status})
                found = False
            self._note(origin, coin.venue_symbol, found=found)
        return None

    async def _fetch_coin(self, origin: str, coin: Progress) -> bool:
        """Fetch a coin's bars; says whether there was a new closed one."""
        start_ms = EARLIEST_MS if coin.last_ms is None else coin.last_ms + DAY_MS
        history = await self._source.daily_bars(coin.venue_symbol, start_ms)
        if self._origin() != origin:
            return True
        last_closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
        await self._store.put_bars(origin, coin.venue_symbol, history.bars, last_closed_ms)
        return any(start_ms <= bar.open_ms <= last_closed_ms for bar in history.bars)

    def _note(self, origin: str, coin: str, *, found: bool) -> None:
        if found:
            self._waits.pop((origin, coin), None)
        else:
            _, wait_s = self._waits.get((origin, coin), (0.0, FIRST_WAIT_S))
            self._waits[origin, coin] = (self._clock.monotonic() + wait_s, min(2 * wait_s, LONGEST_WAIT_S))

    async def _read_charts(self, origin: str, progress: Sequence[Progress]) -> None:
        """Read the charts of the coins that have bars, common with BTC's and ETH's, that their chart has not seen."""
        lasts = {coin.venue_symbol: coin.last_ms for coin in progress if coin.last_ms is not None}
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

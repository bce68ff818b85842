"""Keeping the closed daily bars of the assets complete, and reading the trends they make."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.observed import SETTLE_MS, VENUE, Chart, Progress, Row
from service.market.series_check import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import MarketStore
from service.rwa.drawers import Charts, Drawers
from service.upstream.failure import UpstreamError

PATIENCE_MS: Final = 10 * MINUTE_MS
"""So long after midnight the new bars are asked for: until then the coins' take the venue's budget."""

BATCH: Final = 8
"""Assets whose bars are fetched before their trends are read."""

WAIT_S: Final = 900.0
"""An asset that has no new bar when it should is asked again after a quarter of an hour."""

_log: Final = logging.getLogger("verdict.rwa")


class BarsRefresh:
    """Fetches what is missing of the assets' daily bars, one round at a time.

    Args:
        clock: What day it is.
        drawers: What is listed, and where trends are kept.
        store: Where bars are kept.
        source: The venue.
        origin: Which history the venue tells at this moment.
        held: Which history the store holds: until it is the same, bars have no place.
        check: Decides whether an answer is stored.

    Attributes:
        has_asked: Whether bars have been asked for of every asset.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: Drawers,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        held: Callable[[], str],
        check: SeriesCheck,
    ) -> None:
        self.has_asked = False
        self._clock = clock
        self._drawers = drawers
        self._store = store
        self._source = source
        self._origin = origin
        self._held = held
        self._check = check
        self._of = ""
        self._last_ms: dict[str, int] = {}
        self._wait_until_s: dict[str, float] = {}

    async def round(self) -> None:
        """Fetch every closed bar that is missing, the most traded first, and read the trends.

        Raises:
            UpstreamError: If the venue wants to be left alone for a while; what was fetched until then is kept.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin, listing = self._origin(), self._drawers.listing.now
        if listing.value is None or not origin == self._held() == listing.origin:
            return
        assets = [asset.id for asset in listing.value.assets]
        if self._of != origin:
            self._wait_until_s.clear()
            self._last_ms = _last(await self._store.closed_bars(assets))
            self._of = origin
            self.has_asked = False
            await self._read(origin, assets, assets)
        due = self._due(assets)
        for at in range(0, len(due), BATCH):
            refusal = await self._fetch(origin, due[at : at + BATCH])
            await self._read(origin, due[at : at + BATCH], assets)
            if refusal is not None:
                raise refusal
        self.has_asked = True

    def _due(self, assets: Sequence[str]) -> list[str]:
        newest_ms = (self._clock.now_ms() - PATIENCE_MS) // DAY_MS * DAY_MS - DAY_MS
        now_s = self._clock.monotonic()
        return [
            asset
            for asset in assets
            if self._last_ms.get(asset, 0) < newest_ms and self._wait_until_s.get(asset, 0.0) <= now_s
        ]

    async def _fetch(self, origin: str, batch: Sequence[str]) -> UpstreamError | None:
        """Fetch the bars of some assets; one asset's failure is its own, unless the venue asks for silence."""
        for asset in batch:
            last_ms = self._last_ms.get(asset)
            # The last stored bar is asked for again: that it is the same shows that the answer continues this history.
            start_ms = EARLIEST_MS if last_ms is None else last_ms
            self._wait_until_s[asset] = self._clock.monotonic() + WAIT_S
            try:
                history = await self._source.bars(asset, "1d", start_ms)
            except UpstreamError as error:
                if error.retry_after_s:
                    self._wait_until_s.pop(asset)
                    return error
                _log.info("no bars", extra={"asset": asset, "status": error.upstream_status})
            else:
                if self._origin() == origin:
                    closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
                    known = Progress(asset, asset.rpartition(":")[2].upper(), listed=True, last_ms=last_ms)
                    if await self._check.accepts_bars(origin, known, "1d", history, closed_ms, venue=VENUE):
                        await self._store.put_bars(origin, asset, history.bars, closed_ms)
        return None

    async def _read(self, origin: str, some: Sequence[str], assets: Sequence[str]) -> None:
        """Read the trends of some assets; those of what is no longer listed go."""
        bars = {asset: rows for asset, rows in (await self._store.closed_bars(some)).items() if rows}
        if self._origin() != origin:
            return
        self._last_ms |= _last(bars)
        kept = self._drawers.charts.now
        charts = kept.value.charts if kept.value and kept.origin == origin else {}
        found = {**charts, **await asyncio.to_thread(_charts, bars)}
        found = {asset: found[asset] for asset in assets if asset in found}
        if found:
            through = [chart.through_ms for chart in found.values() if chart.through_ms is not None]
            await self._drawers.charts.put(origin, Charts(found), max(through, default=None))


def _last(bars: Mapping[str, Sequence[Row]]) -> dict[str, int]:
    return {asset: rows[-1][0] for asset, rows in bars.items() if rows}


def _charts(bars: Mapping[str, Sequence[Row]]) -> dict[str, Chart]:
    from service.analytics.trend import assess_alone  # noqa: PLC0415 - brings numpy, which only a leader needs

    return {
        asset: Chart(
            through_ms=found.through_ms,
            trend_daily=found.daily and found.daily.state,
            trend_daily_since_ms=found.daily and found.daily.since_ms,
            trend_weekly=found.weekly and found.weekly.state,
            trend_weekly_since_ms=found.weekly and found.weekly.since_ms,
        )
        for asset, found in assess_alone(bars).items()
    }

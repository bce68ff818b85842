"""Keeps the closed daily bars of the assets complete, computes their trends, and fetches the hours a day ago."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, Clock
from service.market.models import SETTLE_MS, VENUE, CoinChart, Row, SeriesProgress
from service.market.past_prices import PastPriceReader
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import EARLIEST_MS
from service.market.store import MarketStore
from service.rwa.documents import AssetCharts, ListedAsset, RwaDocuments
from service.upstream.failures import UpstreamError

START_DELAY_MS: Final = 10 * MINUTE_MS
"""New bars are requested this long after midnight; until then the coins' take the venue's budget."""

BATCH: Final = 8
"""Assets whose bars are fetched before their trends are computed."""

WAIT_S: Final = 900.0
"""Seconds before an asset without its new bar is requested again."""

HOURS_BEFORE: Final = 26
"""Hours that are fetched of an asset whose price a day ago is not known."""

_log: Final = logging.getLogger("verdict.rwa")


class AssetBarsRefresh:
    """Fetches missing daily bars of the assets, one round at a time.

    Args:
        clock: Current day.
        documents: Listing and trends.
        store: Stores bars.
        source: The venue.
        origin: The current dataset of the venue.
        held: The dataset of the store; bars are fetched only when both agree.
        check: Decides whether an answer is stored.
        past: Prices that changes are measured from.

    Attributes:
        has_asked: Whether bars were requested for every asset.
    """

    def __init__(
        self,
        clock: Clock,
        documents: RwaDocuments,
        store: MarketStore,
        source: Hyperliquid,
        origin: Callable[[], str],
        held: Callable[[], str],
        check: SeriesCheck,
        past: PastPriceReader,
    ) -> None:
        self.has_asked = False
        self._clock = clock
        self._documents = documents
        self._store = store
        self._source = source
        self._origin = origin
        self._held = held
        self._check = check
        self._past = past
        self._bound_origin = ""
        self._last_ms: dict[str, int] = {}
        self._wait_until_s: dict[str, float] = {}
        self._hours_until_s: dict[str, float] = {}

    async def refresh(self) -> None:
        """Fetch the daily bars that are missing, then the hours of a day ago.

        Raises:
            UpstreamError: If the venue asks to wait.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        await self.round()
        await self.fetch_hours()

    async def round(self) -> None:
        """Fetch every missing closed bar, the most traded assets first, and compute trends.

        Raises:
            UpstreamError: If the venue asks to wait; what was fetched until then is stored.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        origin, listing = self._origin(), self._documents.listing.current
        if listing.value is None or not origin == self._held() == listing.origin:
            return
        assets = [asset.id for asset in listing.value.assets]
        if self._bound_origin != origin:
            self._wait_until_s.clear()
            self._hours_until_s.clear()
            self._last_ms = _last(await self._store.closed_bars(assets))
            self._bound_origin = origin
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
        newest_ms = (self._clock.now_ms() - START_DELAY_MS) // DAY_MS * DAY_MS - DAY_MS
        now_s = self._clock.monotonic()
        return [
            asset
            for asset in assets
            if self._last_ms.get(asset, 0) < newest_ms and self._wait_until_s.get(asset, 0.0) <= now_s
        ]

    async def _fetch(self, origin: str, batch: Sequence[str]) -> UpstreamError | None:
        """Fetch the bars of some assets. A failure skips its asset, unless the venue asks to wait."""
        for asset in batch:
            last_ms = self._last_ms.get(asset)
            # Request the last stored bar again: if it is unchanged, the answer continues this history.
            start_ms = EARLIEST_MS if last_ms is None else last_ms
            self._wait_until_s[asset] = self._clock.monotonic() + WAIT_S
            try:
                history = await self._source.bars(asset, "1d", start_ms)
            except UpstreamError as error:
                if error.retry_after_s:
                    self._wait_until_s.pop(asset)
                    return error
                _log.info("Daily bars could not be fetched.", extra={"asset": asset, "status": error.upstream_status})
            else:
                if self._origin() == origin:
                    closed_ms = history.observed_ms - SETTLE_MS - DAY_MS
                    known = SeriesProgress(asset, asset.rpartition(":")[2].upper(), listed=True, last_ms=last_ms)
                    judged = await self._check.judge_bars(origin, known, "1d", history, closed_ms, venue=VENUE)
                    if judged.storable:
                        await self._store.put_bars(origin, asset, judged.storable, closed_ms)
        return None

    async def fetch_hours(self) -> None:
        """Fetch the last hours of assets whose price a day ago is not known, as after a start or an interruption.

        An asset is requested again after a quarter of an hour at the earliest.

        Raises:
            UpstreamError: If the venue asks to wait.
            ServiceError: `UNAVAILABLE` if the store cannot be used.
        """
        origin, listing = self._origin(), self._documents.listing.current
        if listing.value is None or not origin == self._held() == listing.origin or not self.has_asked:
            return
        now_s, stored = self._clock.monotonic(), False
        due = [asset for asset in listing.value.assets if self._hours_until_s.get(asset.id, 0.0) <= now_s]
        if any(self._is_unknown(asset) for asset in due):
            await self._past.refresh()
        for asset in filter(self._is_unknown, due):
            self._hours_until_s[asset.id] = now_s + WAIT_S
            stored = await self._fetch_hours(origin, asset) or stored
        if stored:
            await self._past.refresh()

    def _is_unknown(self, asset: ListedAsset) -> bool:
        return self._past.now.before(asset.id, self._clock.now_ms(), DAY_MS) is None

    async def _fetch_hours(self, origin: str, asset: ListedAsset) -> bool:
        """Fetch the hours of one asset; whether any was stored. A failure skips it, unless the venue asks to wait."""
        start_ms = (self._clock.now_ms() // HOUR_MS - HOURS_BEFORE) * HOUR_MS
        try:
            history = await self._source.bars(asset.id, "1h", start_ms)
        except UpstreamError as error:
            if error.retry_after_s:
                raise
            _log.info("Hourly bars could not be fetched.", extra={"asset": asset.id, "status": error.upstream_status})
            return False
        if self._origin() != origin:
            return False
        closed_ms = history.observed_ms - SETTLE_MS - HOUR_MS
        known = SeriesProgress(asset.id, asset.symbol, listed=True, last_ms=None)
        judged = await self._check.judge_bars(origin, known, "1h", history, closed_ms, venue=VENUE)
        if judged.storable:
            await self._store.put_bars(origin, asset.id, judged.storable, closed_ms, interval="1h")
        return bool(judged.storable)

    async def _read(self, origin: str, some: Sequence[str], assets: Sequence[str]) -> None:
        """Compute the trends of some assets; delete those of assets that are no longer listed."""
        bars = {asset: rows for asset, rows in (await self._store.closed_bars(some)).items() if rows}
        if self._origin() != origin:
            return
        self._last_ms |= _last(bars)
        current = self._documents.charts.current
        charts = current.value.charts if current.value and current.origin == origin else {}
        found = {**charts, **await asyncio.to_thread(_charts, bars)}
        found = {asset: found[asset] for asset in assets if asset in found}
        if found:
            through = [chart.through_ms for chart in found.values() if chart.through_ms is not None]
            await self._documents.charts.put(origin, AssetCharts(found), max(through, default=None))


def _last(bars: Mapping[str, Sequence[Row]]) -> dict[str, int]:
    return {asset: rows[-1][0] for asset, rows in bars.items() if rows}


def _charts(bars: Mapping[str, Sequence[Row]]) -> dict[str, CoinChart]:
    from service.analytics.trend import assess_alone  # noqa: PLC0415 - brings numpy, which only a leader needs

    return {
        asset: CoinChart(
            through_ms=found.through_ms,
            trend_daily=found.daily and found.daily.state,
            trend_daily_since_ms=found.daily and found.daily.since_ms,
            trend_weekly=found.weekly and found.weekly.state,
            trend_weekly_since_ms=found.weekly and found.weekly.since_ms,
        )
        for asset, found in assess_alone(bars).items()
    }

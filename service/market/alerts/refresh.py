"""Watches the funding of all coins: first unobserved payments, then the current rates."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, cast

from service.clock import HOUR_MS, Clock
from service.market.alerts.store import AlertStore, WatchState
from service.market.alerts.watch import (
    READ_MS,
    FundingScan,
    FundingWatch,
    WatchUpdate,
    earliest_judged,
    judge_past,
    oldest_present,
    update_of,
)
from service.market.freshness import QUOTE, Freshness
from service.market.models import VENUE, CoinView, PaymentRow
from service.market.series import SeriesReader
from service.market.service import MarketService

BATCH: Final = 16
"""Coins whose past is read at a time."""

_GAP_MS: Final = 2 * HOUR_MS
"""After this long without a scan, payments are judged before the current rates."""


class AlertRefresh:
    """Scans the funding of all coins, one round at a time.

    Args:
        clock: Current time.
        series: Payments.
        alerts: Stores events.
        market: Current rates.
        origin: The current dataset; a replay's changes at midnight.
        ready: Set once the service is ready.

    Attributes:
        tried: Set once a round has ended, whatever the result, or waits until the service is ready.
    """

    def __init__(
        self,
        clock: Clock,
        series: SeriesReader,
        alerts: AlertStore,
        market: MarketService,
        origin: Callable[[], str],
        ready: asyncio.Event,
    ) -> None:
        self._clock = clock
        self._series = series
        self._alerts = alerts
        self._market = market
        self._origin = origin
        self._ready = ready
        self._bound_origin = ""
        self._initial_state = WatchState(None, {})
        self._scanned_ms: int | None = None
        self._watches: dict[str, FundingWatch] = {}
        self.tried = asyncio.Event()

    async def round(self) -> None:
        """Judge unobserved payments, then the current rates.

        If the store already has past events, the scan waits until the service is ready: reading a month of payments
        takes half a second.

        A coin is skipped while its rate is not fresh, is another venue's (its rank would mean nothing), or its history
        is still being fetched.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used; the next round continues from the store.
        """
        origin = self._origin()
        if self._market.state.origin != origin:
            return
        try:
            watch_state = await self._alerts.watch_state(origin)
            if watch_state.through_ms is not None and not self._ready.is_set():
                await self._alerts.record(origin, [])  # adds the closes of their hours, which are stored by now
                self.tried.set()
                await self._ready.wait()
            if self._bound_origin != origin or self._scanned_ms != watch_state.through_ms:
                # At first, and after another process has led: these machines lack what it found.
                self._initial_state, self._watches, self._bound_origin = watch_state, {}, origin
                self._scanned_ms = watch_state.through_ms
            views = {view.venue_symbol: view for view in self._market.view().values()}
            await self._begin(origin, views.keys() - self._watches.keys())
            caught_up = await self._catch_up()
            await self._scan_present(origin, views, caught_up)
        except BaseException:
            self._bound_origin = ""  # the machines may be ahead of the store: read them again
            raise
        finally:
            self.tried.set()

    async def _begin(self, origin: str, coins: Collection[str]) -> None:
        """Begin to watch coins whose payments reach the present, within an hour."""
        if not coins:
            return
        now_ms = self._clock.now_ms()
        recent = await self._series.funding_since(coins, oldest_present(now_ms))
        ready = sorted(coin for coin, payments in recent.items() if payments)
        findings = []
        for at in range(0, len(ready), BATCH):
            batch = ready[at : at + BATCH]
            past = await self._series.funding_since(batch, now_ms - READ_MS)
            for coin in batch:
                findings.append(self._read_past(coin, past[coin], now_ms))
                await asyncio.sleep(0)  # some two milliseconds each
        if findings:
            await self._alerts.record(origin, findings)

    def _read_past(self, coin: str, payments: Sequence[PaymentRow], now_ms: int) -> WatchUpdate:
        if coin not in self._initial_state.zones:
            self._watches[coin], finding = judge_past(coin, payments, now_ms)
            return finding
        through_ms = max(self._initial_state.through_ms or 0, earliest_judged(now_ms))
        watch = self._watches[coin] = FundingWatch(self._initial_state.zones[coin], through_ms)
        return update_of(coin, watch, watch.pay(payments))

    async def _catch_up(self) -> list[WatchUpdate]:
        """Add new payments of watched coins, each from its last one on."""
        hour_ms = self._clock.now_ms() // HOUR_MS * HOUR_MS
        lagging: dict[int, list[str]] = {}
        for coin, watch in self._watches.items():
            if watch.newest_ms < hour_ms:
                lagging.setdefault(watch.newest_ms, []).append(coin)
        findings = []
        for newest_ms, coins in lagging.items():
            paid = await self._series.funding_since(coins, newest_ms + 1)
            findings += [update_of(coin, self._watches[coin], self._watches[coin].pay(paid[coin])) for coin in coins]
        return findings

    async def _scan_present(self, origin: str, views: Mapping[str, CoinView], caught_up: Sequence[WatchUpdate]) -> None:
        """Judge the current rates and store what was found."""
        seen = [view for view in views.values() if self._can_judge(view)]
        judged = [*caught_up, *map(self._judge, seen)]
        scan = None
        if seen:
            gone = (self._initial_state.zones.keys() | self._watches.keys()) - views.keys()
            scan = FundingScan(max(view.funding_ms or 0 for view in seen), gone)
            for coin in gone:
                self._watches.pop(coin, None)
                self._initial_state.zones.pop(coin, None)
        findings = [finding for finding in judged if finding.changes]
        if findings or scan:
            await self._alerts.record(origin, findings, scan)
        if scan:
            self._scanned_ms = scan.through_ms

    def _can_judge(self, view: CoinView) -> bool:
        """Whether a coin's rate is fresh, of the first venue, and continues the last scan without a gap."""
        watch, now_ms = self._watches.get(view.venue_symbol), self._clock.now_ms()
        if watch is None or view.venue != VENUE or view.funding_apr is None or view.funding_ms is None:
            return False
        # The last scan is in the future only if the clock was set back.
        older = view.funding_ms < watch.through_ms <= now_ms
        if older or QUOTE.judge(view.funding_ms, now_ms) is not Freshness.FRESH:
            return False
        return now_ms - watch.through_ms <= _GAP_MS or watch.newest_ms >= oldest_present(now_ms)

    def _judge(self, view: CoinView) -> WatchUpdate:
        watch = self._watches[view.venue_symbol]
        # `_can_judge` has checked that there is a rate and a time.
        at_ms, apr = cast("int", view.funding_ms), cast("float", view.funding_apr)
        return update_of(view.venue_symbol, watch, watch.judge(at_ms, apr, view.interval_hours, view.price))

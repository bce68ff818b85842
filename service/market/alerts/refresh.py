"""Watching the funding of all coins: first what they paid while nobody looked, then what they are going to pay."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, cast

from service.clock import HOUR_MS, Clock
from service.market.alerts.past import READ_MS, earliest_judged, found, judge_past, oldest_present
from service.market.alerts.store import AlertStore, Finding, Scan, Standing
from service.market.alerts.watch import Watch
from service.market.desk import MarketDesk
from service.market.freshness import QUOTE, Freshness
from service.market.observed import VENUE, CoinView, PaymentRow
from service.market.series import Series

BATCH: Final = 16
"""Coins whose past is read at a time."""

_GAP_MS: Final = 2 * HOUR_MS
"""After so long unwatched, what was paid meanwhile is judged before the present is."""


class AlertRefresh:
    """Looks at the funding of all coins, one round at a time.

    Args:
        clock: Now.
        series: What was paid.
        alerts: Where events are kept.
        market: What is going to be paid.
        origin: Which history the venue tells at this moment; a replay's changes at midnight.
        ready: An event that is set once the service is ready.

    Attributes:
        tried: Set once a round has ended, whatever came of it, or waits until the service is ready.
    """

    def __init__(
        self,
        clock: Clock,
        series: Series,
        alerts: AlertStore,
        market: MarketDesk,
        origin: Callable[[], str],
        ready: asyncio.Event,
    ) -> None:
        self._clock = clock
        self._series = series
        self._alerts = alerts
        self._market = market
        self._origin = origin
        self._ready = ready
        self._of = ""
        self._begun = Standing(None, {})
        self._looked_ms: int | None = None
        self._watches: dict[str, Watch] = {}
        self.tried = asyncio.Event()

    async def round(self) -> None:
        """Look once: judge payments that were made unwatched, then the present rates.

        Where the store already has the events of the past, the look waits until the service is ready: reading a month
        of payments takes half a second.

        A coin is passed over while its rate is not fresh, is another venue's (its rank among this venue's payments
        would mean nothing), or its history is still being fetched.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round begins where the store is.
        """
        origin = self._origin()
        if self._market.state.origin != origin:
            return
        try:
            standing = await self._alerts.standing(origin)
            if standing.through_ms is not None and not self._ready.is_set():
                await self._alerts.record(origin, [])  # events get the closes of their hours, which are there by now
                self.tried.set()
                await self._ready.wait()
            if self._of != origin or self._looked_ms != standing.through_ms:
                # At first, and after another process has led and looked: these machines know nothing of what it found.
                self._begun, self._watches, self._of = standing, {}, origin
                self._looked_ms = standing.through_ms
            views = {view.venue_symbol: view for view in self._market.view().values()}
            await self._begin(origin, views.keys() - self._watches.keys())
            caught_up = await self._catch_up()
            await self._look(origin, views, caught_up)
        except BaseException:
            self._of = ""  # the machines may be ahead of the store now, and are read from it again
            raise
        finally:
            self.tried.set()

    async def _begin(self, origin: str, coins: Collection[str]) -> None:
        """Begin to watch coins whose payments are there up to the present, an hour more or less."""
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

    def _read_past(self, coin: str, payments: Sequence[PaymentRow], now_ms: int) -> Finding:
        if coin not in self._begun.zones:
            self._watches[coin], finding = judge_past(coin, payments, now_ms)
            return finding
        through_ms = max(self._begun.through_ms or 0, earliest_judged(now_ms))
        watch = self._watches[coin] = Watch(self._begun.zones[coin], through_ms)
        return found(coin, watch, watch.pay(payments))

    async def _catch_up(self) -> list[Finding]:
        """Take over the payments of watched coins that have come since; each is asked for from its last one on."""
        hour_ms = self._clock.now_ms() // HOUR_MS * HOUR_MS
        lagging: dict[int, list[str]] = {}
        for coin, watch in self._watches.items():
            if watch.newest_ms < hour_ms:
                lagging.setdefault(watch.newest_ms, []).append(coin)
        findings = []
        for newest_ms, coins in lagging.items():
            paid = await self._series.funding_since(coins, newest_ms + 1)
            findings += [found(coin, self._watches[coin], self._watches[coin].pay(paid[coin])) for coin in coins]
        return findings

    async def _look(self, origin: str, views: Mapping[str, CoinView], caught_up: Sequence[Finding]) -> None:
        """Judge the present rates, and keep what was found."""
        seen = [view for view in views.values() if self._can_judge(view)]
        judged = [*caught_up, *map(self._judge, seen)]
        scan = None
        if seen:
            gone = (self._begun.zones.keys() | self._watches.keys()) - views.keys()
            scan = Scan(max(view.funding_ms or 0 for view in seen), gone)
            for coin in gone:
                self._watches.pop(coin, None)
                self._begun.zones.pop(coin, None)
        findings = [finding for finding in judged if finding.changes]
        if findings or scan:
            await self._alerts.record(origin, findings, scan)
        if scan:
            self._looked_ms = scan.through_ms

    def _can_judge(self, view: CoinView) -> bool:
        """Whether a coin's rate is fresh and this venue's, and nothing lies unjudged between it and the last look."""
        watch, now_ms = self._watches.get(view.venue_symbol), self._clock.now_ms()
        if watch is None or view.venue != VENUE or view.funding_apr is None or view.funding_ms is None:
            return False
        # What it has looked at up to lies ahead only where the clock was set back since.
        older = view.funding_ms < watch.through_ms <= now_ms
        if older or QUOTE.judge(view.funding_ms, now_ms) is not Freshness.FRESH:
            return False
        return now_ms - watch.through_ms <= _GAP_MS or watch.newest_ms >= oldest_present(now_ms)

    def _judge(self, view: CoinView) -> Finding:
        watch = self._watches[view.venue_symbol]
        # `_can_judge` has seen that there is a rate and a time.
        at_ms, apr = cast("int", view.funding_ms), cast("float", view.funding_apr)
        return found(view.venue_symbol, watch, watch.judge(at_ms, apr, view.interval_hours, view.price))

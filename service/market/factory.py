"""Builds the market package: services that answer, and periodic tasks that keep their data fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from service.clock import Clock
from service.market.alerts.refresh import AlertRefresh
from service.market.alerts.service import AlertService
from service.market.alerts.store import AlertStore
from service.market.categories.documents import (
    CALLS,
    CapStore,
    GeckoCalls,
    GeckoDocuments,
    MonthlyCalls,
    PastCaps,
    known_coins,
    largest_coins,
)
from service.market.categories.documents import UPSTREAM as GECKO
from service.market.categories.refresh import CATEGORIES_EVERY_S, CategoryRefresh
from service.market.categories.service import CategoryService
from service.market.daily_report.models import DAILY_REPORT, TREND_RUNS, DailyReport, TrendRuns
from service.market.daily_report.refresh import DAILY_REPORT_EVERY_S, DailyReportRefresh
from service.market.daily_report.service import BreadthService, RegimeService
from service.market.fallback import FALLBACK_VENUE, BinanceFallback
from service.market.historical import HistoricalService
from service.market.ingest.jobs import FOLLOW_EVERY_S, IngestJobs
from service.market.ingest.recording import PreparedRecording
from service.market.loading import LoadProgress
from service.market.models import MAJORS, VENUE
from service.market.momentum import MOMENTUM, MomentumRefresh, MomentumService, MomentumTable
from service.market.past_prices import REFRESH_S, SNAPSHOT_EVERY_S, PastPriceReader, PriceRecorder
from service.market.plausibility.quarantine import QUARANTINE, QuarantineReport
from service.market.samples import SampleRefresh, SampleStore
from service.market.service import MarketService
from service.market.sources.coingecko import CoinGecko, GeckoCoin
from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS, Hyperliquid
from service.market.store import MarketStore
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.storage.database import Database
from service.storage.documents import Document, DocumentStore
from service.upstream.session import UpstreamSession
from service.upstream.websocket import open_socket
from service.wire.cursor import Cursors

_DAY_S: Final = 86_400.0

MINUTELY_S: Final = 60.0
"""Interval of samples, funding alerts and momentum."""


class MarketData(Struct, frozen=True):
    """The market's services, and what packages above it need.

    Attributes:
        daily_report: The document behind `breadth` and `regimes`.
        trend_runs: How every coin has trended.
        quarantine: The document that lists quarantined values.
        store: The stored series.
        past_caps: Past market caps.
        samples: Hourly samples, among them open interest.
        past_prices: What changes are measured from.
        price_recorder: Stores accepted prices once a minute.
        gecko_coins: Coins by ticker, as CoinGecko last showed them.
        gecko_largest: CoinGecko's largest coins, the largest first.
        gecko: Requests to CoinGecko.
        prices_known: Set once there are prices, stored or new.
        funding_loaded: Set once recorded funding payments are loaded in bulk.
        series_loaded: Set once all recorded series are loaded in bulk.
        past_prices_read: Set once the past prices were read after that.
        momentum_ready: Set once momentum is computed and the service is ready.
        members_changed: Set whenever category members were read.
        daily_bars_loaded: Set once daily bars were requested for every coin.
        is_recorded: Whether recorded history is loaded in bulk.
        readiness: Details for `/readyz`.
        load_progress: How far each kind of data is loaded.
    """

    coins: MarketService
    breadth: BreadthService
    regimes: RegimeService
    historical: HistoricalService
    categories: CategoryService
    alerts: AlertService
    momentum: MomentumService
    daily_report: Document[DailyReport]
    trend_runs: Document[TrendRuns]
    quarantine: Document[QuarantineReport]
    store: MarketStore
    past_caps: PastCaps
    samples: SampleStore
    past_prices: PastPriceReader
    price_recorder: PriceRecorder
    gecko_coins: Callable[[], Mapping[str, GeckoCoin]]
    gecko_largest: Callable[[], Sequence[GeckoCoin]]
    gecko: CoinGecko
    prices_known: asyncio.Event
    funding_loaded: asyncio.Event
    series_loaded: asyncio.Event
    past_prices_read: asyncio.Event
    momentum_ready: asyncio.Event
    members_changed: asyncio.Event
    daily_bars_loaded: asyncio.Event
    is_recorded: bool
    readiness: Callable[[], Mapping[str, object]]
    load_progress: Callable[[], Mapping[str, LoadProgress]]


@asynccontextmanager
async def open_market(  # noqa: PLR0913, PLR0917 - the parts it is built from, each used once
    database: Database,
    document_store: DocumentStore,
    cursors: Cursors,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    feed_url: str,
    origin: Callable[[], str],
    lead: Leadership,
    recorded: PreparedRecording | None = None,
) -> AsyncIterator[MarketData]:
    """Open the market package; it answers at once from the store.

    Args:
        database: Holds the tables.
        document_store: Holds the documents; refreshed here for every package.
        cursors: Encodes page positions.
        clock: Time source.
        sessions: Upstream sessions by name.
        feed_url: The first venue's WebSocket.
        origin: The current dataset of the sessions: `live`, or a replay's name, which changes at midnight.
        lead: Whether this process leads, which means it fetches; the others read what it stores.
        recorded: The recording that the upstreams replay, if any; its history is loaded in bulk.

    Yields:
        The services.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be used.
    """
    store, fallback = MarketStore(database), BinanceFallback(sessions[FALLBACK_VENUE], clock)
    venue, quarantine = Hyperliquid(sessions[VENUE], clock), document_store.document(QUARANTINE, QuarantineReport)
    live = IngestJobs(clock, store, venue, fallback, origin, quarantine, recorded)
    recorder = PriceRecorder(clock, database, origin)
    topics = _Topics(
        gecko=GeckoDocuments.on(document_store),
        conclusions=document_store.document(DAILY_REPORT, DailyReport),
        trend_runs=document_store.document(TREND_RUNS, TrendRuns),
        momenta=document_store.document(MOMENTUM, MomentumTable),
        samples=SampleStore(database),
        alerts=AlertRefresh(clock, store, AlertStore(database), live.service, origin, lead.ready),
        caps=CapStore(database),
        prices=PastPriceReader(clock, database, recorder.coins, live.service.set_past_prices),
        recorder=recorder,
    )
    topics.follow(live.service)
    month = MonthlyCalls(clock, document_store.document(CALLS, GeckoCalls), sessions[GECKO].calls_per_month)
    source = CoinGecko(sessions[GECKO], clock, month.take)
    await store.claim(origin())
    await document_store.refresh()
    await live.load()
    await topics.prices.refresh()
    async with open_socket(VENUE, feed_url, clock, FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket:
        tasks = [
            *live.tasks(socket),
            PeriodicTask("documents", document_store.refresh, FOLLOW_EVERY_S, every_process=True),
            *topics.tasks(clock, live, database, store, source, origin, lead.ready),
        ]
        async with running_tasks(tasks, lead, clock):
            yield topics.build_services(clock, live, database, store, source, cursors, origin, lead)


class _Topics(Struct, frozen=True):
    """Stored data of each topic besides quotes and bars."""

    gecko: GeckoDocuments
    conclusions: Document[DailyReport]
    trend_runs: Document[TrendRuns]
    momenta: Document[MomentumTable]
    samples: SampleStore
    alerts: AlertRefresh
    caps: CapStore
    prices: PastPriceReader
    recorder: PriceRecorder
    members: asyncio.Event = field(default_factory=asyncio.Event)
    summed: asyncio.Event = field(default_factory=asyncio.Event)
    prices_read: asyncio.Event = field(default_factory=asyncio.Event)

    def follow(self, coins: MarketService) -> None:
        """Record the coins' prices, and pass on what CoinGecko's documents say whenever they change."""
        self.recorder.sources.append(lambda origin: coins.quotes(origin).values())
        self.gecko.members.on_change(lambda _: self.members.set())
        self.gecko.coins.on_change(
            lambda current: coins.set_coin_names({symbol: coin.name for symbol, coin in known_coins(current).items()})
        )

    def tasks(
        self,
        clock: Clock,
        live: IngestJobs,
        database: Database,
        store: MarketStore,
        source: CoinGecko,
        origin: Callable[[], str],
        ready: asyncio.Event,
    ) -> Sequence[PeriodicTask]:
        """The periodic tasks of the topics."""
        coins, known = live.service, live.prices_known()
        series = live.series_loaded() or known
        conclude = DailyReportRefresh(
            clock, store, self.conclusions, self.trend_runs, origin, lambda: live.history.asked_ms
        )
        held_back, is_loaded = live.held_back, series.is_set
        categories = CategoryRefresh(clock, self.gecko, self.caps, source, origin, coins.view, held_back, is_loaded)
        samples = SampleRefresh(clock, self.samples, coins, self.gecko_coins, origin)
        momentum = MomentumRefresh(database, self.momenta, origin)

        async def sum_up() -> None:
            await momentum.round()
            await series.wait()
            await ready.wait()
            self.summed.set()

        async def read_prices() -> None:
            has_series = series.is_set()
            await self.prices.refresh()
            if has_series:
                self.prices_read.set()

        days, paid = live.history.news, live.funding.news
        return (
            PeriodicTask(
                "conclude", live.then_reload(conclude.round), DAILY_REPORT_EVERY_S, after=known, wake=days.subscribe()
            ),
            # Past market caps wait only until the service is ready.
            PeriodicTask("categories", categories.round, CATEGORIES_EVERY_S, after=known, wake=self.summed),
            PeriodicTask("samples", samples.round, MINUTELY_S, after=known),
            PeriodicTask("price snapshots", self.recorder.round, SNAPSHOT_EVERY_S, after=known),
            PeriodicTask("past prices", read_prices, REFRESH_S, every_process=True),
            PeriodicTask("past prices of loaded bars", read_prices, _DAY_S, after=series),
            PeriodicTask("alerts", self.alerts.round, MINUTELY_S, after=series, wake=paid.subscribe()),
            PeriodicTask("momentum", sum_up, MINUTELY_S, after=self.alerts.tried, wake=paid.subscribe()),
        )

    def build_services(
        self,
        clock: Clock,
        live: IngestJobs,
        database: Database,
        store: MarketStore,
        source: CoinGecko,
        cursors: Cursors,
        origin: Callable[[], str],
        lead: Leadership,
    ) -> MarketData:
        """The services."""
        coins, momentum = live.service, MomentumService(self.momenta)
        categories = CategoryService(clock, self.gecko, coins.view, source.wait_s)

        daily = partial(_daily_progress, live, lead)

        def load_progress() -> Mapping[str, LoadProgress]:
            view, has_report = coins.view(), self._has_report(origin())
            has_prices = self.prices_read.is_set() or not lead.is_leader()
            breadth = {"breadth": LoadProgress(has_report, 1, "documents")} if view.keys() >= set(MAJORS) else {}
            return {
                "daily history": daily(),
                **breadth,
                "funding history": LoadProgress(momentum.known(), len(view)),
                "past prices": LoadProgress(has_prices, 1, "tables"),
                "categories": categories.load_progress(),
            }

        past = PastCaps(self.caps, origin, lambda: {symbol: coin.id for symbol, coin in self.gecko_coins().items()})
        return MarketData(
            coins=coins,
            breadth=BreadthService(clock, self.conclusions, coins, daily),
            regimes=RegimeService(clock, self.conclusions, coins, daily),
            historical=self._historical(clock, database, live, past),
            categories=categories,
            alerts=AlertService(AlertStore(database), cursors, coins, live.loading.payments),
            momentum=momentum,
            daily_report=self.conclusions,
            trend_runs=self.trend_runs,
            quarantine=live.quarantine,
            store=store,
            past_caps=past,
            samples=self.samples,
            past_prices=self.prices,
            price_recorder=self.recorder,
            gecko_coins=self.gecko_coins,
            gecko_largest=lambda: largest_coins(self.gecko.largest.current),
            gecko=source,
            prices_known=live.prices_known(),
            funding_loaded=live.funding_loaded() or live.prices_known(),
            series_loaded=live.series_loaded() or live.prices_known(),
            past_prices_read=self.prices_read,
            momentum_ready=self.summed,
            members_changed=self.members,
            daily_bars_loaded=live.history.caught_up if live.bulk is None else live.bulk.days,
            is_recorded=live.bulk is not None,
            readiness=lambda: live.readiness(leads=lead.is_leader()),
            load_progress=load_progress,
        )

    def gecko_coins(self) -> Mapping[str, GeckoCoin]:
        """The venue's coins as CoinGecko last showed them, by ticker."""
        return known_coins(self.gecko.coins.current)

    def _historical(self, clock: Clock, database: Database, live: IngestJobs, past: PastCaps) -> HistoricalService:
        coins, worth, bars = live.service, self.gecko_coins, live.loading.bars
        return HistoricalService(clock, database, coins, self.samples, past, worth, self.prices, bars)

    def _has_report(self, origin: str) -> bool:
        """Whether a daily report of a dataset is published."""
        return self.conclusions.current.value is not None and self.conclusions.current.origin == origin


def _daily_progress(live: IngestJobs, lead: Leadership) -> LoadProgress:
    known = live.service.load_progress()
    left = live.history.left if lead.is_leader() else known.total - known.known
    return replace(known, remaining_s=live.loading.daily_wait_s(left))

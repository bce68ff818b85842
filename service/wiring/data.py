"""The data packages, each opened after those it depends on."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.http.health import Check, Health
from service.lookup.factory import Lookups, open_lookups
from service.market.factory import MarketData, open_market
from service.market.loading import LoadProgress
from service.narratives.service import NarrativeService, open_narratives
from service.rwa.factory import open_rwa
from service.rwa.service import RwaService
from service.scheduler import Leadership
from service.sentiment.factory import FEEDS, open_sentiment
from service.sentiment.service import SentimentService
from service.sentiment.views import SentimentViews
from service.settings import Settings
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.table.factory import CoinTables, open_table
from service.transcripts.factory import open_transcripts
from service.transcripts.service import TranscriptService
from service.upstream.feed_fetcher import FeedFetcher, open_feed_fetcher
from service.verdict.factory import open_verdict
from service.verdict.service import VerdictService
from service.walkforward.factory import open_walkforward
from service.walkforward.service import WalkforwardService
from service.wallets.factory import WalletSources, open_wallets
from service.wallets.service import WalletService
from service.wallets.watchlist import read_listed
from service.watch.factory import StreamFeed, open_stream_feed
from service.wire.cursor import Cursors
from service.wiring.upstreams import Upstreams


class Dependencies(Struct, frozen=True):
    """What the data packages depend on; `lead` tells whether this process fetches from upstreams."""

    settings: Settings
    clock: Clock
    database: Database
    documents: DocumentStore
    cursors: Cursors
    upstreams: Upstreams
    lead: Leadership


class DataServices(Struct, frozen=True):
    """The open data packages; `lead` tells whether this process fetches from upstreams."""

    lead: Leadership
    market: MarketData
    rwa: RwaService
    sentiment: SentimentService
    sentiment_views: SentimentViews
    narratives: NarrativeService
    verdict: VerdictService
    table: CoinTables
    lookup: Lookups
    walkforward: WalkforwardService
    transcripts: TranscriptService
    wallets: WalletService
    watch: StreamFeed
    fetcher: FeedFetcher

    def health(self, source: str, store: Callable[[], Mapping[str, object]], payments: Check) -> Health:
        """Build the health check: what `/readyz` waits for, and what it only shows.

        Args:
            source: `fixtures` is ready once all tables are complete, `live` once prices and funding are served.
            store: Whether the store can be written.
            payments: Whether payments work; shown only.
        """
        waited = {"store": store, "market": self.market.readiness}
        optional = {"rwa": self.rwa.readiness, "sentiment": self.sentiment.readiness}
        shown = {
            "payments": payments,
            "categories": self.market.categories.readiness,
            "streams": self.watch.readiness,
            "transcripts": self.transcripts.readiness,
            "wallets": self.wallets.readiness,
        }
        if source == "fixtures":
            return Health({**waited, **optional, "loading": self._loading}, shown)
        return Health(waited, {**optional, **shown, "loading": self._loading})

    def _loading(self) -> Mapping[str, object]:
        """Incomplete loads by name, and whether every route has data to answer from.

        Data that a recording lacks is not waited for: a venue without BTC has no breadth. The leader waits until it has
        fetched transcripts and wallets once.
        """
        every = {**self.market.load_progress(), "contracts and totals": self.lookup.filling()}
        if self.rwa.load_progress().total or not self.rwa.readiness()["ready"]:
            every["real-world assets"] = self.rwa.load_progress()
        if self.market.categories.readiness()["failing"]:
            del every["categories"]
        else:
            every["sentiment"] = LoadProgress(self.sentiment.categories(), every["categories"].total, "categories")
        if self.lead.is_leader():
            for name, service in (("transcripts", self.transcripts), ("wallets", self.wallets)):
                every[name] = LoadProgress(int(service.tried.is_set()), 1, "rounds")
        return {"ready": all(each.known for each in every.values())} | {
            name: str(each) for name, each in every.items() if not each.complete
        }


@asynccontextmanager
async def open_data(dependencies: Dependencies) -> AsyncIterator[DataServices]:
    """Open every data package; close them in reverse order when the block ends.

    Raises:
        SettingsError: If the lists of feeds or wallets cannot be used.
        ServiceError: If the store does not answer.
    """
    settings, clock, database = dependencies.settings, dependencies.clock, dependencies.database
    documents, cursors, upstreams, lead = (
        dependencies.documents,
        dependencies.cursors,
        dependencies.upstreams,
        dependencies.lead,
    )
    sessions, origin = upstreams.sessions, upstreams.origin
    followed = WalletSources(read_listed(settings), upstreams.nodes, origin)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        market = await enter(
            open_market(
                database, documents, cursors, clock, sessions, upstreams.feed_url, origin, lead, upstreams.recorded
            )
        )
        coins = market.coins
        rwa = open_rwa(
            documents,
            market.store,
            clock,
            sessions,
            origin,
            lead,
            coins.view,
            lambda: coins.state.origin,
            market.past_prices,
            market.price_recorder,
            market.daily_bars_loaded,
        )
        rwa_service = await enter(rwa)
        sentiment = await enter(open_sentiment(database, documents, market, clock, sessions, origin, lead))
        fetcher = await enter(open_feed_fetcher(clock, upstreams.spoken))
        verdict = await enter(open_verdict(database, documents, market, sentiment, clock, origin, lead))
        table = await enter(open_table(database, cursors, market, sentiment, verdict, clock, origin, lead))
        yield DataServices(
            lead,
            market,
            rwa_service,
            sentiment,
            SentimentViews(clock, sentiment, coins.find, FEEDS),
            open_narratives(settings, database, clock, sentiment, market.categories.category_names),
            verdict,
            table,
            await enter(open_lookups(documents, market, rwa_service, table.coins, clock, origin, lead)),
            await enter(open_walkforward(database, cursors, market, clock, origin, lead)),
            await enter(open_transcripts(settings, database, cursors, market, fetcher, clock, origin, lead)),
            await enter(open_wallets(database, documents, cursors, market, clock, followed, lead)),
            await enter(open_stream_feed(database, cursors, market, sentiment, clock, lead)),
            fetcher,
        )

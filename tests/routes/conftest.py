import asyncio
from collections.abc import AsyncIterator
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import pytest

from service.access.caller import Caller
from service.access.factory import Access, open_access
from service.access.meter import Meter, open_meter
from service.access.secrets import open_secrets
from service.ask.data_services import AskDependencies
from service.ask.questions import open_questions
from service.lookup.coins import LookupService
from service.lookup.factory import Lookups
from service.lookup.finder import Finder
from service.lookup.overview import OverviewService
from service.lookup.prices import PriceService
from service.lookup.tokens import TokenDocuments
from service.market.alerts.service import AlertService
from service.market.alerts.store import AlertStore
from service.market.categories.documents import CapStore, GeckoDocuments, PastCaps
from service.market.categories.service import CategoryService
from service.market.daily_report.models import DAILY_REPORT, TREND_RUNS, DailyReport, TrendRuns
from service.market.daily_report.service import BreadthService, RegimeService
from service.market.factory import MarketData
from service.market.historical import HistoricalService
from service.market.loading import LoadProgress
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote
from service.market.momentum import MOMENTUM, MomentumService, MomentumTable
from service.market.past_prices import PastPriceReader, PriceRecorder
from service.market.plausibility.quarantine import QUARANTINE, QuarantineReport
from service.market.samples import SampleStore
from service.market.service import MarketService
from service.market.sources.coingecko import CoinGecko
from service.market.store import MarketStore
from service.narratives.service import NarrativeService
from service.notify.service import AlertRuleService
from service.notify.store import RuleStore
from service.payments.receipts import ReceiptService, ReceiptSigner
from service.routes.call import Bound, Call, QuestionRoute, StreamRoute
from service.routes.table import RouteServices, bind
from service.rwa.documents import RwaDocuments
from service.rwa.service import RwaService
from service.sentiment.aggregation import Conclusions as Moods
from service.sentiment.service import SentimentService
from service.sentiment.store import NewsStore
from service.sentiment.views import SentimentViews
from service.settings import Settings
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.streams.broker import StreamBroker
from service.table.coins import CoinTable
from service.table.factory import CoinTables
from service.table.history import CoinHistory
from service.transcripts.pages import TranscriptPages
from service.transcripts.service import TranscriptService
from service.verdict.inputs import InputStore
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.service import VerdictService
from service.verdict.sources import InputCollector, create_sources
from service.walkforward.service import WalkforwardService
from service.walkforward.store import RunStore
from service.wallets.service import WalletService
from service.wallets.store import Scanned, WalletStore
from service.wallets.watchlist import WatchedWallets
from service.watch.changes import STREAM_SHAPES
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.queries import NoParameters
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import FakeClock
from tests.fakes.loading import calls_wait_s, series_loading

T = TypeVar("T", bound=msgspec.Struct)

RECEIPT_KEY = b"receipts".rjust(32, b"\0")
PEPE = Quote("kPEPE", "PEPE", 1e6, 0.0123, 1_753_444_790_000, 0.0000125, 1_753_444_795_000)


class Table:
    """The bound routes, called as the service calls them."""

    def __init__(
        self, bound: dict[str, Bound], access: Access, clock: FakeClock, desks: RouteServices, database: Database
    ) -> None:
        self.bound = bound
        self.database = database
        self.desks = desks
        self.access = access
        self.clock = clock

    async def call(
        self, offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> Answer:
        endpoint = self.bound[offer_id]
        assert not isinstance(endpoint, QuestionRoute | StreamRoute)
        result = endpoint(Call(parameters or NoParameters(), body, caller, network=NETWORK))
        answer: Any = await result if isawaitable(result) else result
        assert isinstance(answer, Answer)
        return answer

    async def data(
        self, kind: type[T], offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> T:
        answer = await self.call(offer_id, caller, parameters, body)
        assert isinstance(answer.data, kind)
        return answer.data

    async def sign_in(self, number: int = 1) -> Caller:
        """A caller with a session of a wallet."""
        nonce = self.access.accounts.nonce().nonce
        session = await self.access.accounts.login(login(wallet(number), nonce, self.clock.now_ms()), NETWORK)
        return await self.access.authenticator.authenticate(session.token)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def desks_over(
    database: Database, clock: FakeClock, access: Access, meter: Meter, coins: MarketService
) -> RouteServices:
    """Every desk, as it is before anything has been fetched; the coins' answers from what it is shown."""
    shelf, store, cursors = DocumentStore(database), MarketStore(database), Cursors(bytes(32))
    conclusions, gecko = shelf.document(DAILY_REPORT, DailyReport), GeckoDocuments.on(shelf)
    past = PastCaps(CapStore(database), lambda: "test", dict)
    prices = PastPriceReader(clock, database, list, coins.set_past_prices)
    market = MarketData(
        coins=coins,
        breadth=BreadthService(clock, conclusions, coins),
        regimes=RegimeService(clock, conclusions, coins),
        historical=HistoricalService(clock, database, coins, SampleStore(database), past, dict, prices, series_loading),
        categories=CategoryService(clock, gecko, coins.view, calls_wait_s),
        alerts=AlertService(AlertStore(database), cursors, coins, series_loading),
        momentum=MomentumService(shelf.document(MOMENTUM, MomentumTable)),
        daily_report=conclusions,
        trend_runs=shelf.document(TREND_RUNS, TrendRuns),
        quarantine=shelf.document(QUARANTINE, QuarantineReport),
        store=store,
        past_caps=past,
        samples=SampleStore(database),
        past_prices=prices,
        price_recorder=PriceRecorder(clock, database, lambda: "test"),
        gecko_coins=dict,
        gecko_largest=tuple,
        gecko=cast(CoinGecko, None),
        prices_known=asyncio.Event(),
        series_loaded=asyncio.Event(),
        past_prices_read=asyncio.Event(),
        momentum_ready=asyncio.Event(),
        funding_loaded=asyncio.Event(),
        members_changed=asyncio.Event(),
        daily_bars_loaded=asyncio.Event(),
        is_recorded=False,
        readiness=coins.readiness,
        load_progress=dict,
    )
    sentiment = SentimentService(
        clock, shelf.document("sentiment.conclusions", Moods), market.categories.find, market.categories.load_progress
    )
    observer = InputCollector(clock, create_sources(clock, market, sentiment), coins)
    scorecards = Scorecards(shelf.document(SCORECARD, Scorecard), shelf.document(BACKTEST, Scorecard), lambda: "test")
    verdict = VerdictService(clock, coins, observer, InputStore(database), Ledger(database), scorecards)
    walkforward = WalkforwardService(clock, RunStore(database), cursors, coins, lambda: "test")
    receipts = ReceiptService(database, ReceiptSigner(RECEIPT_KEY), cursors)
    rwa = RwaService(clock, RwaDocuments.open(shelf), lambda: prices.now)
    transcripts = TranscriptService(clock, TranscriptPages(database), cursors, (), coins.find, market.categories.find)
    scanned = shelf.document("wallets.scanned", Scanned)
    wallets = WalletService(clock, WatchedWallets(database, (), clock), WalletStore(database), scanned, cursors)
    table = CoinTables(
        CoinTable(clock, market, sentiment, cursors),
        CoinHistory(clock, database, market, verdict, lambda: "test"),
    )
    tokens = TokenDocuments.on(shelf)
    finder = Finder(clock, market, table.coins, rwa, tokens)
    lookup = Lookups(
        PriceService(clock, market),
        LookupService(clock, market, table.coins, finder),
        finder,
        OverviewService(clock, market, tokens),
        lambda: LoadProgress(1, 1),
    )
    rooms = AskDependencies(
        access.accounts,
        meter,
        market,
        rwa,
        sentiment,
        verdict,
        table,
        walkforward,
        transcripts,
        wallets,
        Answer({}),
        clock,
    )
    streams = StreamBroker(clock, cursors, STREAM_SHAPES, lambda: True)
    asked = open_questions(rooms)
    alerts = AlertRuleService(
        clock, RuleStore(database), key=b"k" * 32, mail=None, find=coins.find, source="fixtures", private=False
    )
    return RouteServices(
        access.accounts,
        market,
        rwa,
        sentiment,
        SentimentViews(clock, sentiment, coins.find, ()),
        NarrativeService(clock, sentiment, NewsStore(database), TranscriptPages(database), (), list),
        verdict,
        table,
        lookup,
        walkforward,
        receipts,
        transcripts,
        wallets,
        streams,
        alerts,
        asked,
    )


@pytest.fixture
async def table(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Table]:
    settings = Settings(data_dir=tmp_path, public_url="https://api.example.org")
    coins = MarketService(clock)
    coins.show(MarketSnapshot(MarketState("test", 1, quotes_ms=clock.now_ms()), [(PEPE, CoinChart())]))
    async with open_database(tmp_path / "verdict.db", clock) as db, open_meter(db, clock) as meter:
        access = await open_access(settings, open_secrets(tmp_path), db, clock)
        desks = desks_over(db, clock, access, meter, coins)
        yield Table(bind(settings, clock.now_ms(), desks), access, clock, desks, db)

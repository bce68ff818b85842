"""A market, its conclusions, its moods and what it paid, put in by hand: everything that a verdict rests on."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS
from service.market.daily_report.models import DAILY_REPORT, DailyReport
from service.market.daily_report.service import RegimeService
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote, VenueCoin
from service.market.momentum import MOMENTUM, Momentum, MomentumService, MomentumTable
from service.market.service import MarketService
from service.market.store import MarketStore
from service.sentiment.aggregation import CoinMood
from service.sentiment.aggregation import Conclusions as Moods
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.storage.documents import DocumentStore, FetchFailure
from service.verdict.inputs import InputRecorder, InputStore
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.service import VerdictService
from service.verdict.sources import InputCollector, VerdictSources, create_sources
from service.wire.envelope import Answer
from service.wire.market import MarketHealth, TrendCounts, TrendShares
from service.wire.queries import SignalQuery
from service.wire.regime import CoinRegime, MarketRegime
from service.wire.verdict import Signal
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import category_loading
from tests.fakes.market import market_of

ORIGIN = "test"
CLOSE_MS = START_MS // DAY_MS * DAY_MS
"""When the last day closed."""

PAID_MS = START_MS - 10 * MINUTE_MS
HEARD_MS = START_MS - 5 * MINUTE_MS
PRICE = 100.0
UP = CoinChart(CLOSE_MS, "UP", CLOSE_MS - DAY_MS, "UP", CLOSE_MS - DAY_MS, 0.5)
COINS = ("PEPE", "BTC", "ETH")
MOMENT = Momentum(PAID_MS, 12.5, 10.95, 61.5, 720)
MOOD = CoinMood("accumulation", "Accumulation: a quiet rise.", 0.1, None, 1, None)


def quote(symbol: str, at_ms: int = START_MS) -> Quote:
    venue_symbol = "kPEPE" if symbol == "PEPE" else symbol
    return Quote(venue_symbol, symbol, 1e6, PRICE, at_ms, 0.0000125, at_ms)


def concluded(through_ms: int = CLOSE_MS) -> DailyReport:
    counts, shares = TrendCounts(3, 0, 0), TrendShares(100.0, 0.0, 0.0)
    health = MarketHealth("2025-07-24", 3, counts, shares, hasExtremes=False, extremes=[])
    regime = MarketRegime("risk-on", "2025-07-20T00:00:00.000Z", 5, 0.8)
    coins = [CoinRegime("BTC", "risk-on", 0.9), CoinRegime("PEPE", "neutral", 0.4)]
    return DailyReport(through_ms, [], health, [], regime, [], [], [], coins, {})


class World:
    """The rooms below, as one process has them, and the verdicts made over them.

    Attributes:
        quotes: What is quoted, by ticker; `show` has the market know it.
        charts: What is charted, by ticker.
    """

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.origin = ORIGIN
        self.shelf = DocumentStore(database)
        self.conclusions = self.shelf.document(DAILY_REPORT, DailyReport)
        self.momenta = self.shelf.document(MOMENTUM, MomentumTable)
        self.moods = self.shelf.document("sentiment.conclusions", Moods)
        self.scorecard = self.shelf.document(SCORECARD, Scorecard)
        self.backtest = self.shelf.document(BACKTEST, Scorecard)
        self.coins = MarketService(clock)
        self.market = market_of(
            coins=self.coins,
            regimes=RegimeService(clock, self.conclusions, self.coins),
            momentum=MomentumService(self.momenta),
            daily_report=self.conclusions,
            store=MarketStore(database),
            readiness=dict,
        )
        self.sentiment = SentimentService(clock, self.moods, str, category_loading)
        self.sources = create_sources(clock, self.market, self.sentiment)
        self.observer = InputCollector(clock, self.sources, self.coins)
        self.inputs = InputStore(database)
        self.ledger = Ledger(database)
        self.recorder = self.new_recorder()
        self.desk = self.new_desk()
        self.quotes = {symbol: quote(symbol) for symbol in COINS}
        self.charts: dict[str, CoinChart] = dict.fromkeys(COINS, UP)
        self.state = MarketState(ORIGIN, 1, START_MS, START_MS, None, "hyperliquid")

    def new_recorder(self) -> InputRecorder:
        return InputRecorder(self.clock, self.inputs, self.observer, self.coins, lambda: self.origin)

    def new_desk(self) -> VerdictService:
        """A desk that has answered nothing yet, over a ledger and a scorecard read anew."""
        scorecards = Scorecards(self.scorecard, self.backtest, lambda: self.origin)
        return VerdictService(self.clock, self.coins, self.observer, self.inputs, Ledger(self.database), scorecards)

    def show(self, *, failure: FetchFailure | None = None, delisted: Mapping[str, str] | None = None) -> None:
        """Have the market answer from quotes and charts as they are now."""
        revision = self.state.revision + 1
        self.state = replace(self.state, origin=self.origin, revision=revision, failure=failure)
        coins = [(each, self.charts.get(symbol, CoinChart())) for symbol, each in self.quotes.items()]
        gone = [VenueCoin(venue, symbol, listed=False) for symbol, venue in (delisted or {}).items()]
        self.coins.show(MarketSnapshot(self.state, coins, gone))

    def refresh(self, price: float = PRICE) -> None:
        """Have all coins quoted now."""
        now_ms = self.clock.now_ms()
        self.quotes = {
            symbol: replace(each, price=price, price_ms=now_ms, funding_ms=now_ms)
            for symbol, each in self.quotes.items()
        }
        self.state = replace(self.state, quotes_ms=now_ms)
        self.show()

    async def conclude(self, found: DailyReport) -> None:
        await self.conclusions.put(ORIGIN, found, found.through_ms)

    async def pay(self, moments: Mapping[str, Momentum]) -> None:
        await self.momenta.put(ORIGIN, MomentumTable(dict(moments)), PAID_MS)

    async def feel(self, moods: Mapping[str, CoinMood], heard_ms: int = HEARD_MS) -> None:
        await self.moods.put(ORIGIN, Moods(heard_ms, heard_ms, None, "", dict(moods), {}, MOOD, {}), heard_ms)

    async def know(self) -> None:
        """Have every source know everything of BTC; of PEPE all but a mood."""
        self.show()
        await self.conclude(concluded())
        await self.pay({"BTC": MOMENT, "PEPE": MOMENT})
        await self.feel({"BTC": MOOD})

    def ask(self, **sources: Any) -> None:
        """Have other sources asked."""
        self.sources = VerdictSources(**(self.sources._asdict() | sources))
        self.observer._sources = self.sources

    async def signal(self, symbol: str = "BTC", as_of: str | None = None) -> Signal:
        return read(await self.desk.signal(SignalQuery(symbol, as_of)))

    async def entries(self) -> list[tuple[str, str, str]]:
        """Kind, ticker and verdict id of all that was issued, in order."""
        rows = await self.database.read("SELECT kind, symbol, verdict_id FROM verdict_ledger ORDER BY seq")
        return [(kind, symbol, verdict_id) for kind, symbol, verdict_id in rows]


def read(answer: Answer) -> Signal:
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=Signal)

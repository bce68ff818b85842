"""A market, its conclusions, its moods and what it paid, put in by hand: everything that a verdict rests on."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS
from service.market.conclusions.concluded import CONCLUSIONS, Conclusions
from service.market.conclusions.regime_desk import RegimeDesk
from service.market.desk import MarketDesk
from service.market.momentum import MOMENTUM, Momenta, Momentum, MomentumDesk
from service.market.observed import Chart, Coin, Failure, Quote, Snapshot, State
from service.market.shelf import Shelf
from service.market.store import MarketStore
from service.sentiment.desk import SentimentDesk
from service.sentiment.mood import CoinMood
from service.sentiment.mood import Conclusions as Moods
from service.storage.database import Database
from service.verdict.desk import VerdictDesk
from service.verdict.fanout import Observer
from service.verdict.inputs import InputStore, Recorder
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.sources import SourceSet, open_sources
from service.wire.envelope import Answer
from service.wire.market import MarketHealth, TrendCounts, TrendShares
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
UP = Chart(CLOSE_MS, "UP", CLOSE_MS - DAY_MS, "UP", CLOSE_MS - DAY_MS, 0.5)
COINS = ("KPEPE", "BTC", "ETH")
MOMENT = Momentum(PAID_MS, 12.5, 10.95, 61.5, 720)
MOOD = CoinMood("accumulation", "Accumulation: a quiet rise.", 0.1)


def quote(symbol: str, at_ms: int = START_MS) -> Quote:
    venue_symbol = "kPEPE" if symbol == "KPEPE" else symbol
    return Quote(venue_symbol, symbol, 1e6, PRICE, at_ms, 0.0000125, at_ms)


def concluded(through_ms: int = CLOSE_MS) -> Conclusions:
    counts, shares = TrendCounts(3, 0, 0), TrendShares(100.0, 0.0, 0.0)
    health = MarketHealth("2025-07-24", 3, counts, shares, hasExtremes=False, extremes=[])
    regime = MarketRegime("risk-on", "2025-07-20T00:00:00.000Z", 5, 0.8)
    coins = [CoinRegime("BTC", "risk-on", 0.9), CoinRegime("KPEPE", "neutral", 0.4)]
    return Conclusions(through_ms, [], health, [], regime, [], [], [], coins, {})


class World:
    """The rooms below, as one process has them, and the verdicts made over them.

    Attributes:
        quotes: What is quoted, by ticker; `show` has the market know it.
        charts: What is charted, by ticker.
    """

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.origin = ORIGIN
        self.shelf = Shelf(database)
        self.conclusions = self.shelf.drawer(CONCLUSIONS, Conclusions)
        self.momenta = self.shelf.drawer(MOMENTUM, Momenta)
        self.moods = self.shelf.drawer("sentiment.conclusions", Moods)
        self.scorecard = self.shelf.drawer(SCORECARD, Scorecard)
        self.backtest = self.shelf.drawer(BACKTEST, Scorecard)
        self.coins = MarketDesk(clock)
        self.market = market_of(
            coins=self.coins,
            regimes=RegimeDesk(clock, self.conclusions, self.coins),
            momentum=MomentumDesk(self.momenta),
            conclusions=self.conclusions,
            store=MarketStore(database),
            readiness=dict,
        )
        self.sentiment = SentimentDesk(clock, self.moods, str, category_loading)
        self.sources = open_sources(clock, self.market, self.sentiment)
        self.observer = Observer(clock, self.sources, self.coins)
        self.inputs = InputStore(database)
        self.ledger = Ledger(database)
        self.recorder = self.new_recorder()
        self.desk = self.new_desk()
        self.quotes = {symbol: quote(symbol) for symbol in COINS}
        self.charts: dict[str, Chart] = dict.fromkeys(COINS, UP)
        self.state = State(ORIGIN, 1, START_MS, START_MS, None, "hyperliquid")

    def new_recorder(self) -> Recorder:
        return Recorder(self.clock, self.inputs, self.observer, self.coins, lambda: self.origin)

    def new_desk(self) -> VerdictDesk:
        """A desk that has answered nothing yet, over a ledger and a scorecard read anew."""
        scorecards = Scorecards(self.scorecard, self.backtest, lambda: self.origin)
        return VerdictDesk(self.clock, self.coins, self.observer, self.inputs, Ledger(self.database), scorecards)

    def show(self, *, failure: Failure | None = None, delisted: Mapping[str, str] | None = None) -> None:
        """Have the market answer from quotes and charts as they are now."""
        revision = self.state.revision + 1
        self.state = replace(self.state, origin=self.origin, revision=revision, failure=failure)
        coins = [(each, self.charts.get(symbol, Chart())) for symbol, each in self.quotes.items()]
        gone = [Coin(venue, symbol, listed=False) for symbol, venue in (delisted or {}).items()]
        self.coins.show(Snapshot(self.state, coins, gone))

    def refresh(self, price: float = PRICE) -> None:
        """Have all coins quoted now."""
        now_ms = self.clock.now_ms()
        self.quotes = {
            symbol: replace(each, price=price, price_ms=now_ms, funding_ms=now_ms)
            for symbol, each in self.quotes.items()
        }
        self.state = replace(self.state, quotes_ms=now_ms)
        self.show()

    async def conclude(self, found: Conclusions) -> None:
        await self.conclusions.put(ORIGIN, found, found.through_ms)

    async def pay(self, moments: Mapping[str, Momentum]) -> None:
        await self.momenta.put(ORIGIN, Momenta(dict(moments)), PAID_MS)

    async def feel(self, moods: Mapping[str, CoinMood], heard_ms: int = HEARD_MS) -> None:
        await self.moods.put(ORIGIN, Moods(heard_ms, heard_ms, None, "", dict(moods), {}), heard_ms)

    async def know(self) -> None:
        """Have every source know everything of BTC; of KPEPE all but a mood."""
        self.show()
        await self.conclude(concluded())
        await self.pay({"BTC": MOMENT, "KPEPE": MOMENT})
        await self.feel({"BTC": MOOD})

    def ask(self, **sources: Any) -> None:
        """Have other sources asked."""
        self.sources = SourceSet(**(self.sources._asdict() | sources))
        self.observer._sources = self.sources

    async def signal(self, symbol: str = "BTC", as_of: str | None = None) -> Signal:
        return read(await self.desk.signal(symbol, as_of))

    async def entries(self) -> list[tuple[str, str, str]]:
        """Kind, ticker and verdict id of all that was issued, in order."""
        rows = await self.database.read("SELECT kind, symbol, verdict_id FROM verdict_ledger ORDER BY seq")
        return [(kind, symbol, verdict_id) for kind, symbol, verdict_id in rows]


def read(answer: Answer) -> Signal:
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=Signal)

"""A small market in a store, with everything that rows and history are made of: moved by hand."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from service.clock import DAY_MS, HOUR_MS
from service.market.alerts.service import AlertService
from service.market.alerts.store import AlertStore
from service.market.categories.documents import (
    CapStore,
    GeckoCategories,
    GeckoCoins,
    GeckoDocuments,
    GeckoMembers,
    Membership,
    PastCaps,
    known_coins,
    largest_coins,
)
from service.market.categories.service import CategoryService
from service.market.factory import MarketData
from service.market.historical import HistoricalService
from service.market.models import Bar, PaymentRow, Quote, Quotes, Row
from service.market.momentum import MOMENTUM, Momentum, MomentumService, MomentumTable
from service.market.past_prices import PastPriceReader, PriceRecorder
from service.market.plausibility.quarantine import QUARANTINE, QuarantineReport
from service.market.samples import SampleStore
from service.market.sources.coingecko import CoinGecko, GeckoCategory, GeckoCoin
from service.market.symbols import canonical
from service.sentiment.aggregation import CoinMood
from service.sentiment.aggregation import Conclusions as Moods
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.table.coins import CoinTable
from service.table.history import CoinHistory
from service.verdict.inputs import InputStore
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.service import VerdictService
from service.verdict.sources import InputCollector, create_sources
from service.wire.coins import CoinRow, CoinsQuery, SelectedCoins
from service.wire.coins import Coins as Page
from service.wire.cursor import Cursors
from service.wire.market import Stance
from tests.fakes.clock import FakeClock
from tests.fakes.loading import calls_wait_s, category_loading, series_loading
from tests.market.concluding import FAR_AHEAD_MS, Leader, wave
from tests.market.parts import show_only

COINS = ("BTC", "ETH", "SOL", "kPEPE", "YOUNG")
DAYS = 220
LAST = 20_000
"""The last closed day, counted from 1970-01-01."""

TITLES = {"BTC": "Bitcoin", "ETH": "Ethereum", "SOL": "Solana", "kPEPE": "Pepe"}
CAPS: Mapping[str, float | None] = {"BTC": 2e12, "ETH": 4e11, "SOL": 8e10, "kPEPE": None}


class Days(NamedTuple):
    """How a coin's waves go."""

    period: float
    phase: float = 0.0
    drift: float = 0.0


WAVES = {
    "BTC": Days(20.0),
    "ETH": Days(15.0, 1.0),
    "SOL": Days(11.0, 2.0, 0.002),
    "kPEPE": Days(9.0, 0.5, -0.003),
}


class World(Leader):
    """A market that has concluded, and the table over it."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        super().__init__(database, clock)
        self.momenta = self.document_store.document(MOMENTUM, MomentumTable)
        self.gecko = GeckoDocuments.on(self.document_store)
        self.quarantine = self.document_store.document(QUARANTINE, QuarantineReport)
        self.moods = self.document_store.document("sentiment.conclusions", Moods)
        self.caps, cursors = CapStore(database), Cursors(bytes(32))

        def origin() -> str:
            return self.origin

        def worth() -> Mapping[str, GeckoCoin]:
            return known_coins(self.gecko.coins.current)

        past = PastCaps(self.caps, origin, lambda: {symbol: coin.id for symbol, coin in worth().items()})
        prices = PastPriceReader(clock, database, lambda: list(COINS), self.coins.set_past_prices)
        self.market = MarketData(
            coins=self.coins,
            breadth=self.breadth,
            regimes=self.regimes,
            historical=HistoricalService(
                clock, database, self.coins, SampleStore(database), past, worth, prices, series_loading
            ),
            categories=CategoryService(clock, self.gecko, self.coins.view, calls_wait_s),
            alerts=AlertService(AlertStore(database), cursors, self.coins, series_loading),
            momentum=MomentumService(self.momenta),
            daily_report=self.document,
            trend_runs=self.runs,
            quarantine=self.quarantine,
            store=self.store,
            past_caps=past,
            samples=SampleStore(database),
            past_prices=prices,
            price_recorder=PriceRecorder(clock, database, origin),
            gecko_coins=worth,
            gecko_largest=lambda: largest_coins(self.gecko.largest.current),
            gecko=cast(CoinGecko, None),
            prices_known=asyncio.Event(),
            series_loaded=asyncio.Event(),
            past_prices_read=asyncio.Event(),
            funding_loaded=asyncio.Event(),
            momentum_ready=asyncio.Event(),
            members_changed=asyncio.Event(),
            daily_bars_loaded=asyncio.Event(),
            is_recorded=False,
            readiness=self.coins.readiness,
            load_progress=dict,
        )
        self.sentiment = SentimentService(clock, self.moods, self.market.categories.find, category_loading)
        self.observer = InputCollector(clock, create_sources(clock, self.market, self.sentiment), self.coins)
        self.backtested = self.document_store.document(BACKTEST, Scorecard)
        scorecards = Scorecards(self.document_store.document(SCORECARD, Scorecard), self.backtested, origin)
        self.inputs = InputStore(database)
        self.verdict = VerdictService(clock, self.coins, self.observer, self.inputs, Ledger(database), scorecards)
        self.table = CoinTable(clock, self.market, self.sentiment, cursors)
        self.history = CoinHistory(clock, database, self.market, self.verdict, lambda: self.origin)

    async def fill(self) -> None:
        """Fill the store with all that there is to know, at noon of the day after the last closed one."""
        self.at(LAST, 12 * 3_600)
        now_ms = self.clock.now_ms()
        await self.store.claim(self.origin)
        await self.quote(now_ms)
        for coin in COINS:
            await self.give(coin, days_of(coin))
            await self.store.put_bars(self.origin, coin, hours_of(coin, now_ms), FAR_AHEAD_MS, interval="1h")
            await self.store.put_payments(self.origin, coin, payments(now_ms))
        await self.round(asked=True)
        await self.momenta.put(
            self.origin,
            MomentumTable(
                {
                    canonical(coin): Momentum(now_ms - HOUR_MS, 10.95 + 20 * place, 10.95, 50.0, 700)
                    for place, coin in enumerate(COINS)
                    if coin != "YOUNG"
                }
            ),
            now_ms,
        )
        await self.know(now_ms)
        await self.feel({"BTC": "euphoria", "ETH": "neutral", "SOL": "accumulation"}, now_ms)
        await self.market.past_prices.refresh()

    async def quote(self, at_ms: int) -> None:
        """Let the venue show all coins at an instant."""
        quotes = [
            Quote(coin, canonical(coin), 1e6 * (place + 1), 100.0 + place, at_ms, 0.0000125, at_ms, 1e4, 98.0)
            for place, coin in enumerate(COINS)
        ]
        await show_only(self.store, self.origin, at_ms, quotes)
        await self.follow()

    async def quote_one(self, coin: str, at_ms: int) -> None:
        """Set what the venue reports for one coin."""
        quote = Quote(coin, canonical(coin), 1e6, 100.0, at_ms, 0.0000125, at_ms, 1e4, 98.0)
        await self.store.put_quotes(self.origin, Quotes(at_ms, [quote]))
        await self.follow()

    async def know(self, seen_ms: int) -> None:
        """Let CoinGecko have shown its coins and categories."""
        coins: dict[str, GeckoCoin] = {
            canonical(coin): GeckoCoin(coin.lower(), canonical(coin), name, 100.0, CAPS[coin], 1e9, seen_ms)
            for coin, name in TITLES.items()
        }
        await self.gecko.coins.put(self.origin, GeckoCoins(coins), seen_ms)
        rows = (
            GeckoCategory("l1", "Layer 1 (L1)", None, 3e12, 1.0, 1e10, seen_ms),
            GeckoCategory("none", "Unread", None, 1e12, 1.0, 1e10, seen_ms),
            GeckoCategory("meme", "Meme", None, 1e10, 1.0, 1e9, seen_ms),
        )
        await self.gecko.categories.put(self.origin, GeckoCategories(rows), seen_ms)
        members = {
            "l1": Membership(frozenset({"btc", "eth", "sol"}), seen_ms),
            "meme": Membership(frozenset({"kpepe", "sol"}), seen_ms),
        }
        await self.gecko.members.put(self.origin, GeckoMembers(members), seen_ms)

    async def feel(self, stances: Mapping[str, Stance], at_ms: int) -> None:
        """Let coins have these stances."""
        moods = {coin: CoinMood(stance, f"{coin} is {stance}.", 0.1, None, 1, None) for coin, stance in stances.items()}
        await self.moods.put(
            self.origin,
            Moods(None, at_ms, None, "", moods, {}, CoinMood("neutral", "Neutral.", 0.0, None, 1, None), {}),
            at_ms,
        )

    def page(self, **asked: object) -> Page:
        """A page of whole rows."""
        data = self.table.coins(CoinsQuery(**asked)).data  # type: ignore[arg-type] # as a caller writes it
        assert isinstance(data, Page)
        return data

    def selected(self, **asked: object) -> SelectedCoins:
        """A page of chosen fields."""
        data = self.table.coins(CoinsQuery(**asked)).data  # type: ignore[arg-type] # as a caller writes it
        assert isinstance(data, SelectedCoins)
        return data

    def row(self, symbol: str) -> CoinRow:
        """The row of a coin."""
        return self.table.rows()[symbol]


def days_of(coin: str) -> Sequence[Row]:
    """A coin's closed days; the young one has ten."""
    if coin == "YOUNG":
        return wave(range(LAST - 9, LAST + 1), 12.0)
    return wave(range(LAST - DAYS + 1, LAST + 1), *WAVES[coin])


def hours_of(coin: str, now_ms: int) -> Sequence[Bar]:
    """The closed hours of the last two days, each a little higher than the one before."""
    first = now_ms // HOUR_MS - 48
    closes = {hour: 90.0 + (hour - first) * 0.1 + len(coin) for hour in range(first, first + 48)}
    return [Bar(hour * HOUR_MS, p - 0.1, p + 1.0, p - 1.0, p, 2.0, 3) for hour, p in closes.items()]


def payments(now_ms: int) -> Sequence[PaymentRow]:
    """A payment an hour in the last ten days, growing."""
    first = now_ms // HOUR_MS - 240
    return [(hour * HOUR_MS, 1e-6 * (hour - first + 1), 1.0) for hour in range(first, first + 240)]


def midnight(day: int) -> int:
    """The instant at which a day closes, epoch milliseconds."""
    return (day + 1) * DAY_MS

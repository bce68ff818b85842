"""The room's parts without their loops."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS
from service.market.daily_report.models import DAILY_REPORT, TREND_RUNS, DailyReport, TrendRuns
from service.market.daily_report.refresh import DailyReportRefresh
from service.market.ingest.candles import DailyBarsRefresh
from service.market.ingest.hourly import FundingRefresh, HourlyBarsRefresh
from service.market.ingest.quotes import QuoteRefresh
from service.market.models import Bar, BarBatch, Quote, Quotes
from service.market.plausibility.quarantine import QUARANTINE, QuarantineReport
from service.market.plausibility.quotes import SecondQuote
from service.market.plausibility.series import SeriesCheck
from service.market.service import MarketService
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession
from service.wire.market import RiskContext
from tests.fakes.clock import START_MS, FakeClock
from tests.market.recordings import price_of_one
from tests.market.venue import Venue

TODAY = START_MS // DAY_MS


class Standby:
    """A second venue: has what a test gives it, and fails while it has nothing at all.

    Attributes:
        shows: Price, funding and hours between payments, by ticker, as of `at_ms`.
        agrees_with: The first venue, if it shows the same prices when it is asked to confirm them.
        days: Bars by ticker.
        asked: Tickers whose bars were asked for.
        provisional: Whether bars wait to be confirmed.
    """

    name = "binance"

    def __init__(self, agrees_with: Venue | None = None) -> None:
        self.agrees_with = agrees_with
        self.shows: dict[str, tuple[float, float | None, float]] = {}
        self.at_ms = START_MS
        self.days: dict[str, list[Bar]] = {}
        self.asked: list[str] = []
        self.rounds = self.confirmations = 0
        self.provisional = False

    async def prices(self) -> dict[str, SecondQuote]:
        self.confirmations += 1
        if self.agrees_with is not None:
            now_ms, shown = self.agrees_with.clock.now_ms(), self.agrees_with.contexts
            return {
                canonical(coin): SecondQuote(price_of_one(coin, row["markPx"]), float(row["funding"] or 0), now_ms)
                for coin, row in shown.items()
                if row["markPx"] is not None
            }
        if not self.shows:
            raise UpstreamError(self.name, 503, b"down too")
        return {symbol: SecondQuote(price, funding, self.at_ms) for symbol, (price, funding, _) in self.shows.items()}

    async def quotes(self, known: Mapping[str, Quote]) -> list[Quote]:
        self.rounds += 1
        if not self.shows:
            raise UpstreamError(self.name, 503, b"down too")
        return [
            replace(
                known[symbol], price=price, price_ms=self.at_ms, venue=self.name, interval_hours=hours,
                funding=known[symbol].funding if funding is None else funding,
                funding_ms=known[symbol].funding_ms if funding is None else self.at_ms,
            )
            for symbol, (price, funding, hours) in self.shows.items()
            if symbol in known
        ]  # fmt: skip

    async def daily_bars(self, symbol: str, start_ms: int) -> BarBatch | None:
        self.asked.append(symbol)
        if symbol == "BROKEN":
            raise UpstreamError(self.name, 500, b"no")
        bars = self.days.get(symbol)
        if bars and self.provisional:
            return BarBatch(self.at_ms, [], len(bars))
        return None if bars is None else BarBatch(self.at_ms, [bar for bar in bars if bar.open_ms >= start_ms])


class Parts:
    def __init__(self, venue: Venue, session: UpstreamSession, database: Database, clock: FakeClock) -> None:
        self.origin = "test"
        self.venue = venue
        self.store = store = MarketStore(database)
        self.clock = clock
        self.desk = MarketService(clock)
        self.source = Hyperliquid(session, clock)
        self.fallback = Standby(agrees_with=venue)
        self.background = asyncio.Lock()
        self.document_store = DocumentStore(database)
        self.report = self.document_store.document(QUARANTINE, QuarantineReport)
        self.quotes = QuoteRefresh(
            clock, store, self.source, self.told, self.desk, self.fallback, self.report, self.has_bars
        )
        self.check = SeriesCheck(
            clock, store, self.desk.quotes, self.quotes.quarantine, self.fallback, self.quotes.references
        )
        self.history = DailyBarsRefresh(
            clock, store, self.source, self.told, self.background, self.fallback, self.check
        )
        conclusions = self.document_store.document(DAILY_REPORT, DailyReport)
        runs = self.document_store.document(TREND_RUNS, TrendRuns)
        self.conclude = DailyReportRefresh(clock, store, conclusions, runs, self.told, lambda: self.history.asked_ms)
        self.hours = HourlyBarsRefresh(clock, store, self.source, self.told, self.background, self.check, self.may_ask)
        self.funding = FundingRefresh(clock, store, self.source, self.told, self.background, self.check, self.may_ask)

    def told(self) -> str:
        return self.origin

    def has_bars(self) -> bool:
        return self.history.asked_ms is not None

    def may_ask(self) -> bool:
        return self.history.idle

    async def load(self) -> None:
        self.desk.show(await self.store.snapshot())

    async def rounds(self) -> None:
        await self.quotes.round()
        await self.keep_history()

    async def keep_history(self) -> None:
        """What the two loops do one after the other; a refusal ends the first of them alone."""
        try:
            await self.history.round()
        finally:
            await self.conclude.round()
            await self.load()

    def risk(self, symbol: str) -> RiskContext:
        return said(self.desk, symbol)

    def list_market(self, *others: str, days: range = range(TODAY - 120, TODAY + 1)) -> None:
        for coin in ("BTC", "ETH", *others):
            self.venue.list_coin(coin, days)


async def show_only(store: MarketStore, origin: str, now_ms: int, quotes: Sequence[Quote]) -> None:
    """Let the venue show these coins, and call all others delisted for an hour."""
    shown = {quote.venue_symbol for quote in quotes}
    gone = [coin.venue_symbol for coin in await store.coins() if coin.venue_symbol not in shown]
    for at_ms in (now_ms - HOUR_MS, now_ms):
        await store.put_quotes(origin, Quotes(at_ms, quotes, gone))


def said(desk: MarketService, symbol: str) -> RiskContext:
    """The payload, read back as a client would."""
    answer = desk.risk(symbol)
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=RiskContext)


async def until(condition: Callable[[], bool]) -> None:
    """Let everything run until something is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for is of many kinds
            await asyncio.sleep(0)

"""The room's parts without their loops."""

import asyncio
from collections.abc import Callable

import msgspec

from service.clock import DAY_MS
from service.market.desk import MarketDesk
from service.market.history import HistoryRefresh
from service.market.quotes import QuoteRefresh
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.upstream.session import UpstreamSession
from service.wire.market import RiskContext
from tests.fakes.clock import START_MS, FakeClock
from tests.market.venue import Venue

TODAY = START_MS // DAY_MS


class Parts:
    def __init__(self, venue: Venue, session: UpstreamSession, store: MarketStore, clock: FakeClock) -> None:
        self.origin = "test"
        self.venue = venue
        self.store = store
        self.clock = clock
        self.desk = MarketDesk(clock)
        self.source = Hyperliquid(session, clock)
        self.quotes = QuoteRefresh(clock, store, self.source, lambda: self.origin, self.load)
        self.history = HistoryRefresh(clock, store, self.source, lambda: self.origin, self.load)

    async def load(self) -> None:
        self.desk.show(await self.store.snapshot())

    async def rounds(self) -> None:
        await self.quotes.round()
        await self.history.round()

    def risk(self, symbol: str) -> RiskContext:
        return said(self.desk, symbol)

    def list_market(self, *others: str, days: range = range(TODAY - 120, TODAY + 1)) -> None:
        for coin in ("BTC", "ETH", *others):
            self.venue.list_coin(coin, days)


def said(desk: MarketDesk, symbol: str) -> RiskContext:
    """The payload, read back as a client would."""
    answer = desk.risk(symbol)
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=RiskContext)


async def until(condition: Callable[[], bool]) -> None:
    """Let everything run until something is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for is of many kinds
            await asyncio.sleep(0)

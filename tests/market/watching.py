"""Funding alerts over a real store: quotes and payments are put in by hand, rounds are called one at a time."""

from collections.abc import Iterable, Mapping

from service.clock import HOUR_MS
from service.market.alerts.refresh import AlertRefresh
from service.market.alerts.service import AlertService
from service.market.alerts.store import AlertStore
from service.market.models import Bar, Quote
from service.market.service import MarketService
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.scheduler import already_set
from service.storage.database import Database
from service.wire.cursor import Cursors
from service.wire.market import FundingAlert, FundingAlerts
from service.wire.queries import AlertsQuery
from tests.fakes.clock import FakeClock
from tests.fakes.loading import series_loading
from tests.market.parts import show_only

CALM = 0.000_01
HOT = 0.00003
VERY_HOT = 0.0001
WARM = 0.00002
"""Not hot, but too hot to leave off being so."""
COLD = -0.000_02
ORIGIN = "one"


def calm(hours: int) -> list[float]:
    """Rates that all differ a little, under the default, the oldest first."""
    return [CALM + (hour * 37 % 101 - 50) * 1e-9 for hour in range(hours)]


class Watching:
    """The parts of funding alerts and a market that shows what a test wants."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.database = database
        self.origin = ORIGIN
        self.ready = already_set()
        self.store = MarketStore(database)
        self.market = MarketService(clock)
        self.alerts = AlertStore(database)
        self.desk = AlertService(self.alerts, Cursors(bytes(32)), self.market, series_loading)
        self.refresh = self.new_refresh()

    def new_refresh(self) -> AlertRefresh:
        """What a process that starts has."""
        return AlertRefresh(self.clock, self.store, self.alerts, self.market, lambda: self.origin, self.ready)

    @property
    def hour_ms(self) -> int:
        return self.clock.now_ms() // HOUR_MS * HOUR_MS

    async def pay(self, coin: str, rates: Iterable[float], through_ms: int | None = None) -> None:
        """Payments of successive hours, the last of which is that of this hour."""
        listed = list(rates)
        last_ms = self.hour_ms if through_ms is None else through_ms
        rows = [(last_ms - (len(listed) - 1 - place) * HOUR_MS, rate, 1.0) for place, rate in enumerate(listed)]
        await self.store.put_payments(self.origin, coin, rows)

    async def close(self, coin: str, close: float, closed_ms: int) -> None:
        bar = Bar(closed_ms - HOUR_MS, close, close, close, close, 1.0, 1)
        await self.store.put_bars(self.origin, coin, [bar], closed_ms, interval="1h")

    async def show(self, rates: Mapping[str, float | None], price: float = 100.0, venue: str = "hyperliquid") -> None:
        """All coins there are, with the rates that run now."""
        now_ms = self.clock.now_ms()
        quotes = [
            Quote(coin, canonical(coin), 1.0, price, now_ms, rate, None if rate is None else now_ms, venue=venue)
            for coin, rate in rates.items()
        ]
        await show_only(self.store, self.origin, now_ms, quotes)
        self.market.show(await self.store.snapshot())

    async def look(self, rates: Mapping[str, float | None], minutes: float = 1, price: float = 100.0) -> None:
        """Let time pass, show rates, and look."""
        await self.clock.advance(minutes * 60)
        await self.show(rates, price)
        await self.refresh.round()

    async def said(self, query: AlertsQuery | None = None) -> FundingAlerts:
        answer = await self.desk.alerts(query or AlertsQuery())
        assert isinstance(answer.data, FundingAlerts)
        return answer.data

    async def events(self) -> list[FundingAlert]:
        return (await self.said(AlertsQuery(limit=200))).events

    async def zones(self) -> list[tuple[str, str, bool]]:
        """Asset, zone and whether it is open, of every event, newest first."""
        return [(event.asset, event.triggerZone, event.clearedAt is None) for event in await self.events()]

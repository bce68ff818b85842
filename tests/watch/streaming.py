"""Streams over a real store: a market is put in by hand, rounds are called one at a time, readers read along."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, iso
from service.market.alerts.service import AlertService
from service.market.alerts.store import AlertStore
from service.market.alerts.watch import FundingScan, WatchUpdate, ZoneChange
from service.market.daily_report.models import DAILY_REPORT, DailyReport
from service.market.daily_report.service import RegimeService
from service.market.models import Quote, Quotes
from service.market.service import MarketService
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.sentiment.aggregation import CoinMood
from service.sentiment.aggregation import Conclusions as Moods
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.storage.documents import DocumentStore, FetchFailure
from service.streams.broker import StreamBroker
from service.streams.state import SubscriptionOptions
from service.streams.subscriber import StreamSubscriber
from service.watch.changes import STREAM_SHAPES
from service.watch.factory import is_live
from service.watch.follower import StreamFollower
from service.watch.sampler import StreamSampler
from service.watch.store import StreamStore
from service.wire.cursor import Cursors
from service.wire.market import Crossing, MarketHealth, TrendCounts, TrendShares, Zone
from service.wire.regime import MarketRegime, RegimePosition
from service.wire.streams import StreamName
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import category_loading, series_loading
from tests.fakes.market import market_of

ORIGIN = "one"
CURSORS = Cursors(b"k" * 32)
CLOSE_MS = START_MS // DAY_MS * DAY_MS
REST = 0.0000125
"""The venue's resting rate an hour: 10.95 percent a year."""

LONG = RegimePosition("BTC", "risk-on", "long", 0.9, 90.0, None, "2025-07-20", 5)


def crossing(at_ms: int, name: str = "one") -> Crossing:
    return Crossing(name, 5, 3, "UP over DOWN", iso(at_ms), TrendCounts(3, 0, 5), TrendCounts(5, 0, 3), 8)


def concluded(
    *crossings: Crossing, positions: Iterable[RegimePosition] = (LONG,), through_ms: int = CLOSE_MS
) -> DailyReport:
    """What is concluded of a day; crossings newest first, as they are kept."""
    counts, shares = TrendCounts(3, 0, 0), TrendShares(100.0, 0.0, 0.0)
    health = MarketHealth("2025-07-24", 3, counts, shares, hasExtremes=False, extremes=[])
    regime = MarketRegime("risk-on", "2025-07-20T00:00:00.000Z", 5, 0.8)
    return DailyReport(through_ms, [], health, list(crossings), regime, [], list(positions), [], [], {})


class Process:
    """What one process has over a store that others may share.

    Attributes:
        origin: Of what `quote`, `fire` and the like put into the store.
    """

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock, self.origin = database, clock, ORIGIN
        self.shelf = DocumentStore(database)
        self.conclusions = self.shelf.document(DAILY_REPORT, DailyReport)
        self.moods = self.shelf.document("sentiment.conclusions", Moods)
        self.coins = MarketService(clock)
        self.series = MarketStore(database)
        self.alerts = AlertStore(database)
        self.market = market_of(
            coins=self.coins,
            regimes=RegimeService(clock, self.conclusions, self.coins),
            alerts=AlertService(self.alerts, CURSORS, self.coins, series_loading),
            daily_report=self.conclusions,
            store=self.series,
            readiness=dict,
        )
        self.sentiment = SentimentService(clock, self.moods, str, category_loading)
        self.hub = StreamBroker(clock, CURSORS, STREAM_SHAPES, lambda: is_live(self.coins.state, clock.now_ms()))
        self.store = StreamStore(database)
        self.follower = StreamFollower(self.store, self.hub)
        self.sampler = StreamSampler(clock, self.store, self.market, self.sentiment, self.follower.follow)

    async def hear(self) -> None:
        """Take over what is in the store, as the rooms below do each second."""
        await self.shelf.refresh()
        self.coins.show(await self.series.snapshot())

    async def quote(self, prices: Mapping[str, float | None], rates: Mapping[str, float | None] | None = None) -> None:
        """Have all coins there are shown now; a rate that is not given is the resting one."""
        now_ms, given = self.clock.now_ms(), dict.fromkeys(prices, REST) | dict(rates or {})
        quotes = [
            Quote(coin, canonical(coin), 1.0, price, _seen(price, now_ms), given[coin], _seen(given[coin], now_ms))
            for coin, price in prices.items()
        ]
        await self.series.put_quotes(self.origin, Quotes(now_ms, quotes))
        await self.hear()

    async def fail(self) -> None:
        await self.series.put_failure(FetchFailure(self.clock.now_ms(), 500, "down"))
        await self.hear()

    async def pay(self, coin: str, rate: float, ago_ms: int = HOUR_MS) -> None:
        await self.series.put_payments(self.origin, coin, [(self.clock.now_ms() - ago_ms, rate, 1.0)])

    async def turn(self, coin: str, before: Zone | None, after: Zone | None, at_ms: int | None = None) -> None:
        """Have a coin's funding pass from one zone to another, now or at an instant."""
        at_ms = self.clock.now_ms() if at_ms is None else at_ms
        change = ZoneChange(at_ms, before, after, 30.0, 99.0, 1.0, 100.0)
        await self.alerts.record(self.origin, [WatchUpdate(coin, [change], after)], FundingScan(at_ms))

    async def conclude(self, found: DailyReport) -> None:
        await self.conclusions.put(self.origin, found, found.through_ms)

    async def feel(self, mood: CoinMood, heard_ms: int | None = None) -> None:
        now_ms = self.clock.now_ms() if heard_ms is None else heard_ms
        await self.moods.put(self.origin, Moods(now_ms, now_ms, None, "", {}, {}, mood, {}), now_ms)

    async def round(self) -> None:
        """Five seconds later, the next look."""
        await self.clock.advance(5)
        await self.sampler.round()

    def join(self, stream: StreamName, cursor: str | None = None, *, interval: int = 10, diff: bool = False) -> "Ear":
        return Ear(self.hub.join(stream, SubscriptionOptions(interval, diff, 0), cursor, "fixtures"))

    def seen(self, stream: StreamName) -> tuple[int, int, int, Any]:
        """Number, instant, as-of and content of the newest state that this process knows."""
        state = self.follower.newest()[stream]
        return state.seq, state.at_ms, state.as_of_ms, msgspec.json.decode(state.data)


class Ear:
    """Somebody who reads along."""

    def __init__(self, reader: StreamSubscriber) -> None:
        self.reader = reader

    def lines(self) -> list[dict[str, Any]]:
        """What came since the last time."""
        found: list[dict[str, Any]] = []
        while piece := self.reader.take():
            found += [msgspec.json.decode(line) for line in piece.splitlines()]
        return found

    def events(self) -> list[Any]:
        """The content of the events among it."""
        return [line["data"] for line in self.lines() if line["type"] == "event"]


def _seen(value: float | None, at_ms: int) -> int | None:
    return None if value is None else at_ms


def aged(position: RegimePosition, days: int) -> RegimePosition:
    return replace(position, holdDays=position.holdDays + days)

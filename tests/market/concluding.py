"""A market put straight into the store, and what is concluded from it: moved by hand, one round at a time."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from service.clock import DAY_MS, SECOND_MS
from service.market.daily_report.models import DAILY_REPORT, TREND_RUNS, DailyReport, TrendRuns
from service.market.daily_report.refresh import DailyReportRefresh
from service.market.daily_report.service import BreadthService, RegimeService
from service.market.models import Bar, Quote, Row
from service.market.service import MarketService
from service.market.store import MarketStore
from service.market.symbols import canonical
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.wire.envelope import Answer
from tests.fakes.clock import FakeClock
from tests.market.parts import show_only

T = TypeVar("T")

FAR_AHEAD_MS = 2**52


def wave(days: range, period: float, phase: float = 0.0, drift: float = 0.0) -> list[Row]:
    """A coin that goes up and down around a drift."""
    return [
        (day * DAY_MS, p * 0.999, p * 1.01, p * 0.99, p)
        for day, p in (
            (day, 100 * math.exp(0.4 * math.sin(day / period + phase) + drift * (day - days[0]))) for day in days
        )
    ]


def quote(coin: str, at_ms: int, price: float) -> Quote:
    return Quote(coin, canonical(coin), 1e6, price, at_ms, 0.0000125, at_ms)


class Reader:
    """What one process has in memory and answers from."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.store = MarketStore(database)
        self.document_store = DocumentStore(database)
        self.document = self.document_store.document(DAILY_REPORT, DailyReport)
        self.runs = self.document_store.document(TREND_RUNS, TrendRuns)
        self.coins = MarketService(clock)
        self.breadth = BreadthService(clock, self.document, self.coins)
        self.regimes = RegimeService(clock, self.document, self.coins)

    async def follow(self) -> None:
        await self.document_store.refresh()
        self.coins.show(await self.store.snapshot())

    @property
    def told(self) -> DailyReport:
        assert self.document.current.value is not None
        return self.document.current.value


class Leader(Reader):
    """The process that concludes."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        super().__init__(database, clock)
        self.database = database
        self.origin = "test"
        self.asked_ms: int | None = None
        self.refresh = DailyReportRefresh(
            clock, self.store, self.document, self.runs, lambda: self.origin, lambda: self.asked_ms
        )

    async def list_coins(self, *coins: str, price: float = 100.0) -> None:
        """Show these coins, and no others, at one price now."""
        now_ms = self.clock.now_ms()
        await show_only(self.store, self.origin, now_ms, [quote(coin, now_ms, price) for coin in coins])

    async def give(self, coin: str, rows: Sequence[Row], volumes: Mapping[int, float] | None = None) -> None:
        """Keep closed bars; of 1 coin a day where volumes by day are not given."""
        known = volumes or {}
        bars = [Bar(*row, known.get(row[0] // DAY_MS, 1.0), 1) for row in rows]
        await self.store.put_bars(self.origin, coin, bars, FAR_AHEAD_MS)

    async def round(self, *, asked: bool = False) -> None:
        if asked:
            self.asked_ms = self.clock.now_ms()
        await self.refresh.round()
        await self.follow()

    def at(self, day: int, seconds: float = 0.0) -> None:
        """Go to so long after the close of a day."""
        self.clock.set_wall((day + 1) * DAY_MS + round(seconds * SECOND_MS))


def read(answer: Answer, kind: type[T]) -> T:
    """The payload, read back as a client would."""
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=kind)

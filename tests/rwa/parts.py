"""The room's parts without their loops, over a small dex, a small Binance and a real store."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from msgspec import Struct

from service.clock import DAY_MS
from service.market.past_prices import PastPrice, PastPriceReader, PastPrices
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.rwa.candles import AssetBarsRefresh
from service.rwa.documents import RwaDocuments, accepted_quotes
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import AssetListingRefresh
from service.rwa.quotes import AssetQuotesRefresh
from service.rwa.service import RwaService
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.session import UpstreamSession
from service.wire.envelope import Answer
from service.wire.rwa import RwaAsset, RwaAssets
from tests.fakes.clock import START_MS, FakeClock
from tests.market.binance_venue import BinanceVenue
from tests.market.venue import Venue, candle, context
from tests.upstream.conftest import listening

T = TypeVar("T")

TODAY = START_MS // DAY_MS


class Coin(Struct, frozen=True):
    """As much of a coin as tells a wrapper."""

    price: float | None


class DexVenue(Venue):
    """The dex `xyz`, and what is said of its coins.

    Attributes:
        notes: Annotations by coin.
    """

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.notes: dict[str, dict[str, Any]] = {}

    def list_asset(
        self,
        ticker: str,
        category: str | None = "stocks",
        *,
        price: str | None = "100.0",
        volume: str = "1.0",
        **note: Any,
    ) -> None:
        coin = f"xyz:{ticker}"
        self.contexts[coin] = context(price, volume=volume) | {"prevDayPx": "80.0", "openInterest": "3.0"}
        close = float(price or 1)
        self.candles.setdefault(coin, [candle(coin, TODAY - 1, close, close, close, close)])
        if category is not None:
            self.notes[coin] = {"category": category} | note

    def _reply(self, ask: dict[str, Any], now_ms: int) -> object:
        if ask["type"] == "perpConciseAnnotations":
            return list(self.notes.items())
        assert ask.get("dex", "xyz") == "xyz"
        return super()._reply(ask, now_ms)


@asynccontextmanager
async def open_dex(clock: FakeClock) -> AsyncIterator[DexVenue]:
    venue = DexVenue(clock)
    app = web.Application()
    app.router.add_post("/info", venue.info)
    async with listening(app) as url:
        venue.url = url
        yield venue


class SamePrice(dict[int, PastPrice]):
    """The price 80 at every instant."""

    def get(self, at_ms: int, default: Any = None) -> Any:  # noqa: ARG002 - of `dict`
        return PastPrice(80.0, at_ms)


class EveryAsset(dict[str, SamePrice]):
    """The price 80 of every asset."""

    def get(self, asset: str, default: Any = None) -> Any:  # noqa: ARG002 - of `dict`
        return SamePrice()


class Parts:
    """What a process that leads has.

    Attributes:
        coins: What the main dex lists.
        held: The history that the store holds.
    """

    def __init__(
        self,
        dex: DexVenue,
        binance: BinanceVenue,
        sessions: tuple[UpstreamSession, UpstreamSession],
        database: Database,
        clock: FakeClock,
    ) -> None:
        self.origin = self.held = "test"
        self.dex, self.binance, self.clock, self.database = dex, binance, clock, database
        self.sessions = sessions
        self.coins: dict[str, Coin] = {"BTC": Coin(118_000.0)}
        self.store, self.document_store = MarketStore(database), DocumentStore(database)
        self.documents = RwaDocuments.open(self.document_store)
        self.past = PastPriceReader(clock, database, list, lambda _: None)
        self.past.now = PastPrices(EveryAsset())
        self.desk = RwaService(clock, self.documents, lambda: self.past.now)
        source = Hyperliquid(sessions[0], clock)
        fallback = TradifiFallback(sessions[1], clock, lambda: self.documents.listing.current.value)
        self.listing = AssetListingRefresh(clock, self.documents, source, lambda: self.origin, lambda: self.coins)
        self.quotes = AssetQuotesRefresh(
            clock, self.documents, self.store, source, fallback, lambda: self.origin, lambda: self.bars.has_asked
        )
        check = SeriesCheck(clock, self.store, lambda of: accepted_quotes(self.documents, of), self.quotes.quarantine)
        self.bars = AssetBarsRefresh(
            clock, self.documents, self.store, source, lambda: self.origin, lambda: self.held, check, self.past
        )

    async def rounds(self) -> None:
        await self.listing.round()
        await self.bars.round()
        await self.quotes.round()

    def told(self, text: str) -> RwaAsset:
        return read(self.desk.symbol(text), RwaAsset)

    def listed(self) -> list[str]:
        return [asset.id for asset in read(self.desk.assets(None, 1_000), RwaAssets).assets]

    def asked(self) -> list[str]:
        return [json.loads(body)["type"] for body in self.dex.faults.requests]


def read(answer: Answer, kind: type[T]) -> T:
    """The payload, read back as a client would."""
    assert isinstance(answer.data, msgspec.Raw)
    return msgspec.json.decode(bytes(answer.data), type=kind, strict=True)

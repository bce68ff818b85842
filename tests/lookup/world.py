"""The small market of the table's tests with everything that lookups need: moved by hand."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from service.clock import HOUR_MS
from service.lookup.coins import LookupService
from service.lookup.finder import Finder
from service.lookup.overview import OverviewService
from service.lookup.prices import PriceService
from service.lookup.tokens import TokenDocuments, Tokens
from service.market.categories.documents import GeckoLargest
from service.market.models import Bar
from service.market.sources.coingecko import GeckoCoin, GeckoToken
from service.rwa.documents import AssetListing, ListedAsset, RwaDocuments
from service.rwa.service import RwaService
from service.storage.database import Database
from service.wire.coins import CoinLookup, Resolved, ResolveQuery
from service.wire.envelope import Answer, encode
from tests.fakes.clock import FakeClock
from tests.market.concluding import FAR_AHEAD_MS
from tests.table.world import World, hours_of

T = TypeVar("T")

USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
PEPE = "0x6982508145454ce325ddbe47a25d4ec3d2311933"
WIF = "EKpQGSJtjMFqKZ9KQanSqYXRcFBfBopzLHYwdM65zcjm"

TOKENS = (
    GeckoToken("usd-coin", "USDC", "USDC", {"ethereum": USDC, "an-unknown-chain": "0x1"}),
    GeckoToken("kpepe", "PEPE", "Pepe", {"ethereum": PEPE}),
    GeckoToken("dogwifcoin", "WIF", "dogwifhat", {"solana": WIF}),
)

ASSETS = (
    ListedAsset("xyz:AAPL", "AAPL", "Apple", "equity"),
    ListedAsset("xyz:SOL", "SOL", "Solaris Oilfield", "equity"),
)


def read(answer: Answer, kind: type[T]) -> T:
    """The payload as it is sent."""
    data = answer.data if isinstance(answer.data, msgspec.Raw) else encode(answer.data)
    return msgspec.json.decode(bytes(data), type=kind)


def week_of_hours(coin: str, now_ms: int) -> Sequence[Bar]:
    """The closed hours of the last nine days, each with its own close; the last two days are those of the table."""
    first = now_ms // HOUR_MS - 9 * 24
    older = [
        Bar(hour * HOUR_MS, 1.0, 9e9, 0.1, 1_000.0 + len(coin) + (hour - first) * 0.25, 2.0, 3)
        for hour in range(first, first + 7 * 24)
    ]
    return [*older, *hours_of(coin, now_ms)]


class LookupWorld(World):
    """The market, and the services of the package over it."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        super().__init__(database, clock)
        self.tokens = TokenDocuments.on(self.document_store)
        self.assets = RwaDocuments.open(self.document_store)
        self.rwa = RwaService(clock, self.assets, lambda: self.market.past_prices.now)
        self.prices = PriceService(clock, self.market)
        self.finder = Finder(clock, self.market, self.table, self.rwa, self.tokens)
        self.lookups = LookupService(clock, self.market, self.table, self.finder)
        self.overview = OverviewService(clock, self.market, self.tokens)

    async def learn(self) -> None:
        """Fill the market, then what lookups read: hours of nine days, contracts, the largest coins, assets."""
        await self.fill()
        now_ms = self.clock.now_ms()
        for coin in ("BTC", "ETH", "SOL", "kPEPE"):
            await self.store.put_bars(self.origin, coin, week_of_hours(coin, now_ms), FAR_AHEAD_MS, interval="1h")
        await self.market.past_prices.refresh()
        await self.tokens.tokens.put(self.origin, Tokens(TOKENS), now_ms)
        await self.assets.listing.put(self.origin, AssetListing(ASSETS), now_ms)
        rows = (
            GeckoCoin("btc", "BTC", "Bitcoin", 100.0, 2e12, 1e9, now_ms),
            GeckoCoin("usd-coin", "USDC", "USDC", 0.9999, 64e9, 12e9, now_ms),
            GeckoCoin("one-token", "ONE", "One", 4.0, None, None, now_ms),
            GeckoCoin("another-one", "ONE", "Another", None, None, None, now_ms),
        )
        await self.gecko.largest.put(self.origin, GeckoLargest(rows), now_ms)

    def found(self, symbol: str) -> CoinLookup:
        return read(self.lookups.by_symbol(symbol), CoinLookup)

    def resolved(self, text: str, limit: int = 5) -> Resolved:
        return read(self.finder.resolve(ResolveQuery(text, limit)), Resolved)

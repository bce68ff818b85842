"""Which assets are listed, and their types, from the venue's annotations."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

from service.clock import HOUR_MS, Clock
from service.market.models import VENUE, Quote
from service.market.plausibility.quotes import is_same_asset
from service.market.plausibility.rules import DELISTING_MS
from service.market.plausibility.universe import UniverseCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.sources.hyperliquid_wire import Annotation
from service.rwa.documents import AssetListing, ListedAsset, RwaDocuments, accepted_quotes, refusal
from service.storage.documents import FetchFailure
from service.upstream.failures import UpstreamError
from service.wire.rwa import AssetType

DEX: Final = "xyz"
"""The builder dex."""

_TYPES: Final[Mapping[str, AssetType]] = {
    "stock": "equity",
    "equity": "equity",
    "etf": "etf",
    "fund": "etf",
    "metal": "metal",
    "commodity": "commodity",
    "index": "index",
    "fx": "fx",
    "forex": "fx",
}
"""Category in the singular → type. Other categories are left out."""

_IRREGULAR: Final[Mapping[str, str]] = {"indices": "index", "indexes": "index"}
_METALS: Final = frozenset(
    {"metal", "gold", "silver", "platinum", "palladium", "copper", "aluminium", "aluminum", "nickel", "zinc", "tin"}
)
_WRAPPER: Final = frozenset({"wrapper", "wrapped"})
_GOLD_TOKENS: Final = frozenset({"PAXG", "XAUT"})
"""On-chain tokens of gold: wrappers in any category."""

LONGEST_NAME: Final = 80
LISTING_EVERY_MS: Final = HOUR_MS
_OK: Final = 200

_log: Final = logging.getLogger("verdict.rwa")


class HasPrice(Protocol):
    """A coin of the main dex."""

    @property
    def price(self) -> float | None:
        """USD; null if unknown."""


class AssetListingRefresh:
    """Reads the listing once an hour.

    Args:
        clock: Decides when it is due.
        documents: Stores it.
        source: The venue.
        origin: The current dataset of the venue.
        coins: Coins of the main dex by ticker, to detect wrappers; the listing waits until there are some.
    """

    def __init__(
        self,
        clock: Clock,
        documents: RwaDocuments,
        source: Hyperliquid,
        origin: Callable[[], str],
        coins: Callable[[], Mapping[str, HasPrice]],
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._document = documents.listing
        self._source = source
        self._origin = origin
        self._coins = coins
        self._left_out: list[str] = []
        self._flagged: dict[str, int] = {}
        self._universe = UniverseCheck()

    async def round(self) -> None:
        """Read the listing if due.

        Raises:
            UpstreamError: If there is no valid answer; the listing then stays unchanged.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        origin, coins, current = self._origin(), self._coins(), self._document.current
        fresh = current.observed_ms is not None and self._clock.now_ms() - current.observed_ms < LISTING_EVERY_MS
        if not coins or (fresh and current.origin == origin):
            return
        try:
            known = current.value.assets if current.value and current.origin == origin else ()
            observed_ms, listing, left_out = await self._read(origin, coins, known)
        except UpstreamError as error:
            await self._document.fail(FetchFailure(self._clock.now_ms(), error.upstream_status, error.body))
            raise
        if self._origin() == origin:
            await self._document.put(origin, listing, observed_ms)
            if left_out != self._left_out:
                _log.debug("Assets left out: their category is not listed.", extra={"assets": left_out})
            self._left_out = left_out

    async def _read(
        self, origin: str, coins: Mapping[str, HasPrice], known: Sequence[ListedAsset]
    ) -> tuple[int, AssetListing, list[str]]:
        """Read the listing: an asset joins once its quote is accepted, and leaves after an hour of flags."""
        annotations = await self._source.annotations()
        shown = await self._source.quotes(DEX)
        traded, delisted = {quote.venue_symbol for quote in shown.quotes}, shown.delisted or ()
        reason = self._universe.judge_names(
            traded, frozenset(delisted), frozenset(asset.id for asset in known), shown.observed_ms
        )
        if reason is not None:
            raise refusal(reason)
        quoted = accepted_quotes(self._documents, origin).values()
        admitted = {quote.venue_symbol for quote in quoted} if known else traded
        admitted.update(asset.id for asset in known)
        found, left_out = list_assets(shown.quotes, annotations, coins)
        now_ms = shown.observed_ms
        self._flagged = {asset: self._flagged.get(asset, now_ms) for asset in delisted}
        gone = {asset for asset, since_ms in self._flagged.items() if now_ms - since_ms >= DELISTING_MS}
        missing = [asset for asset in known if asset.id not in traded | gone]
        listing = AssetListing([*(asset for asset in found.assets if asset.id in admitted), *missing])
        if not listing.assets:
            raise UpstreamError(VENUE, _OK, b"No real-world asset is annotated.")
        return shown.observed_ms, listing, left_out


def list_assets(
    quotes: Iterable[Quote], annotations: Mapping[str, Annotation], coins: Mapping[str, HasPrice]
) -> tuple[AssetListing, list[str]]:
    """Select the real-world assets of a dex.

    Args:
        quotes: All that it trades.
        annotations: By the venue's symbol.
        coins: Coins of the main dex by ticker.

    Returns:
        Assets with a known type, the most traded first; and what was left out, for the log.
    """
    listed, left_out = [], []
    for quote in sorted(quotes, key=lambda quote: (-quote.volume_usd, quote.venue_symbol)):
        annotation = annotations.get(quote.venue_symbol, Annotation())
        kind = kind_of(quote.symbol, annotation)
        if kind is None or is_wrapper(quote, annotation, coins.get(quote.symbol)):
            left_out.append(f"{quote.venue_symbol} ({annotation.category or 'not annotated'})")
        else:
            name = (annotation.display_name or quote.symbol)[:LONGEST_NAME]
            listed.append(ListedAsset(quote.venue_symbol, quote.symbol, name, kind))
    return AssetListing(listed), sorted(left_out)


def kind_of(symbol: str, annotation: Annotation) -> AssetType | None:
    """Type of an asset by its annotation; null if it is not listed here.

    Args:
        symbol: Ticker; a commodity with a metal's name is that metal.
        annotation: The venue's annotation.
    """
    kind = _TYPES.get(_singular(annotation.category))
    keywords = {_singular(keyword) for keyword in annotation.keywords}
    if kind == "equity" and "etf" in keywords:
        return "etf"
    called = {symbol.lower(), *(annotation.display_name or "").lower().split()}
    if kind == "commodity" and not _METALS.isdisjoint(keywords | called):
        return "metal"
    return kind


def is_wrapper(quote: Quote, annotation: Annotation, coin: HasPrice | None) -> bool:
    """Whether it represents a coin or a token.

    Args:
        quote: Its quote.
        annotation: Its annotation.
        coin: The coin with the same ticker, if any. A wrapper has its price; without a price it counts as one.
    """
    if quote.symbol in _GOLD_TOKENS or not _WRAPPER.isdisjoint(word.casefold() for word in annotation.keywords):
        return True
    if coin is None:
        return False
    return quote.price is None or coin.price is None or is_same_asset(quote.price, coin.price)


def _singular(word: str) -> str:
    folded = word.strip().casefold()
    if folded in _IRREGULAR:
        return _IRREGULAR[folded]
    return folded.removesuffix("ies") + "y" if folded.endswith("ies") else folded.removesuffix("s")

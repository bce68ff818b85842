"""What is listed: each asset's kind, as the venue's annotations say it. Pure, no I/O, no clock."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from service.market.observed import Quote
from service.market.plausibility import is_same_asset
from service.market.sources.hyperliquid_wire import Annotation
from service.wire.rwa import AssetType

DEX: Final = "xyz"
"""The builder dex that is read."""

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
"""Category, in the singular → type. Every other category is left out."""

_IRREGULAR: Final[Mapping[str, str]] = {"indices": "index", "indexes": "index"}
_METALS: Final = frozenset(
    {"metal", "gold", "silver", "platinum", "palladium", "copper", "aluminium", "aluminum", "nickel", "zinc", "tin"}
)
_WRAPPER: Final = frozenset({"wrapper", "wrapped"})
_GOLD_TOKENS: Final = frozenset({"PAXG", "XAUT"})
"""Tokens on a chain that stand for gold: wrappers, wherever they are filed."""

LONGEST_NAME: Final = 80


class Priced(Protocol):
    """A coin of the main dex, as far as it matters here."""

    @property
    def price(self) -> float | None:
        """USD; null where it is not known."""


class Listed(Struct, frozen=True):
    """One asset: the venue's name of it (`xyz:AAPL`), ticker, what people call it, kind."""

    id: str
    symbol: str
    name: str
    type: AssetType


class Listing(Struct, frozen=True):
    """Everything listed, the most traded first."""

    assets: Sequence[Listed] = ()


def list_assets(
    quotes: Iterable[Quote], annotations: Mapping[str, Annotation], coins: Mapping[str, Priced]
) -> tuple[Listing, list[str]]:
    """Choose the real-world assets of a dex.

    Args:
        quotes: All that it trades.
        annotations: What is said of them, by the venue's name.
        coins: The coins of the main dex by ticker.

    Returns:
        Those whose kind is said, most traded first; and what was left out, for the log.
    """
    listed, left_out = [], []
    for quote in sorted(quotes, key=lambda quote: (-quote.volume_usd, quote.venue_symbol)):
        annotation = annotations.get(quote.venue_symbol, Annotation())
        kind = kind_of(quote.symbol, annotation)
        if kind is None or is_wrapper(quote, annotation, coins.get(quote.symbol)):
            left_out.append(f"{quote.venue_symbol} ({annotation.category or 'not annotated'})")
        else:
            name = (annotation.display_name or quote.symbol)[:LONGEST_NAME]
            listed.append(Listed(quote.venue_symbol, quote.symbol, name, kind))
    return Listing(listed), sorted(left_out)


def kind_of(symbol: str, annotation: Annotation) -> AssetType | None:
    """What kind of asset an annotation says; null where it says none that is listed here.

    Args:
        symbol: Ticker: a commodity that is called by a metal's name is that metal.
        annotation: What the venue says.
    """
    kind = _TYPES.get(_singular(annotation.category))
    keywords = {_singular(keyword) for keyword in annotation.keywords}
    if kind == "equity" and "etf" in keywords:
        return "etf"
    called = {symbol.lower(), *(annotation.display_name or "").lower().split()}
    if kind == "commodity" and not _METALS.isdisjoint(keywords | called):
        return "metal"
    return kind


def is_wrapper(quote: Quote, annotation: Annotation, coin: Priced | None) -> bool:
    """Whether it stands for a coin or a token.

    Args:
        quote: What the dex shows.
        annotation: What the venue says.
        coin: The coin with the same ticker, if there is one: a wrapper has its price, and what cannot be told apart
            counts as one.
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

"""Hyperliquid's wire format: the parts of its answers and frames that are read.

Source: the venue's API documentation ("Info endpoint: perpetuals", "Subscriptions") and recorded samples. Numbers are
decimal strings, times integer milliseconds. The answer for an unknown coin or dex is `null`.
"""

from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta, Raw, Struct
from msgspec.json import Decoder

from service.clock import LATEST_MS
from service.market.models import Bar
from service.market.symbols import per_coin

EARLIEST_MS: Final = 1_676_851_200_000
"""Monday 2023-02-20, the week of the venue's first daily bar: history is requested from here on."""

FUNDING_PAGE: Final = 500
"""Payments in one answer."""

_FINITE: Final = 1e100

Number: TypeAlias = Annotated[float, Meta(ge=-_FINITE, le=_FINITE)]
"""A decimal string as a float. The bounds reject NaN and infinities, and keep products of two finite."""

At: TypeAlias = Annotated[int, Meta(ge=0, le=LATEST_MS)]
"""Epoch milliseconds."""

Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
"""Number of trades. JSON does not bound integers, the store does."""

Column: TypeAlias = list[Number] | Number
"""Values of a recorded column: a list, or one value where all are equal."""

T = TypeVar("T")


class VenueAsset(Struct, frozen=True, rename="camel"):
    """A row of the universe."""

    name: str
    is_delisted: bool = False


class VenueUniverse(Struct, frozen=True):
    """`meta`: everything that is or was listed on a dex."""

    universe: tuple[VenueAsset, ...]


class AssetContext(Struct, frozen=True, rename="camel"):
    """A coin's context. `funding` is the fraction paid an hour, `open_interest` base units, `day_ntl_vlm` USD."""

    funding: Number | None = None
    open_interest: Number | None = None
    prev_day_px: Number | None = None
    day_ntl_vlm: Number | None = None
    mark_px: Number | None = None


Contexts: TypeAlias = tuple[AssetContext, ...]


class CandleRow(
    Struct,
    frozen=True,
    rename={
        "open_ms": "t",
        "coin": "s",
        "interval": "i",
        "open": "o",
        "close": "c",
        "high": "h",
        "low": "l",
        "volume": "v",
        "trades": "n",
    },
):
    """One bar; volume in base units."""

    open_ms: At
    coin: str
    interval: str
    open: Number
    close: Number
    high: Number
    low: Number
    volume: Annotated[float, Meta(ge=0, le=_FINITE)]
    trades: Count


class FundingRate(Struct, frozen=True, rename={"rate": "fundingRate", "time_ms": "time"}):
    """One payment of funding: the fraction paid, and when."""

    coin: str
    rate: Number
    time_ms: At


class BarColumns(
    Struct,
    frozen=True,
    rename={"times": "t", "open": "o", "high": "h", "low": "l", "close": "c", "volumes": "v", "trades": "n"},
):
    """Bars of one coin by column, as a recording stores them.

    Integer columns hold the first value, then differences: `times` in milliseconds, `trades`.
    """

    times: list[int]
    open: Column
    high: Column
    low: Column
    close: Column
    volumes: Column
    trades: list[int]


class PaymentColumns(Struct, frozen=True, rename={"times": "time", "rates": "fundingRate"}):
    """Payments of one coin by column, as a recording stores them; `times` as those of bars."""

    times: list[int]
    rates: Column


class Annotation(Struct, frozen=True, rename="camel"):
    """A builder's annotation of one of its coins. All of it is free text."""

    category: str = ""
    display_name: str | None = None
    keywords: tuple[str, ...] = ()


class DexContexts(Struct, frozen=True):
    """`data` of an `allDexsAssetCtxs` frame: by dex (the main one has no name), contexts in its universe's order.

    The contexts of each dex stay encoded, because only one of nine is needed.
    """

    ctxs: tuple[tuple[str, Raw], ...]


class ContextsFrame(Struct, frozen=True):
    """`data` of an `assetCtxs` frame: contexts of one dex. Without `dex` it is that of an `allDexsAssetCtxs` frame."""

    ctxs: Raw
    dex: str | None = None


def bar_of(candle: CandleRow, units: int) -> Bar:
    """The bar in single coins, where the venue's unit is `units` of them."""
    first, high, low, last = (per_coin(price, units) for price in (candle.open, candle.high, candle.low, candle.close))
    return Bar(candle.open_ms, first, high, low, last, candle.volume * units, candle.trades)


def is_sound(bar: Bar, step_ms: int) -> bool:
    """Whether it is a valid bar: on the UTC grid, with ordered prices."""
    ends = (bar.open, bar.close)
    return bar.open_ms % step_ms == 0 and 0 < bar.low <= min(ends) and max(ends) <= bar.high


def _decoder(kind: type[T]) -> Decoder[T]:
    """Lax only in that numbers may be strings, as the venue writes them."""
    return Decoder(kind, strict=False)


META_AND_CONTEXTS: Final = _decoder(tuple[VenueUniverse, Contexts])
CANDLES: Final = _decoder(tuple[CandleRow, ...] | None)  # type: ignore[arg-type] # a union is no `type` to mypy
BAR_COLUMNS: Final = _decoder(BarColumns)
PAYMENT_COLUMNS: Final = _decoder(PaymentColumns)
FUNDING_HISTORY: Final = _decoder(tuple[FundingRate, ...] | None)  # type: ignore[arg-type]
ANNOTATIONS: Final = _decoder(tuple[tuple[str, Annotation], ...])
DEX_CONTEXTS: Final = _decoder(DexContexts)
CONTEXTS_FRAME: Final = _decoder(ContextsFrame)
CONTEXTS: Final = _decoder(Contexts)

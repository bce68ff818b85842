"""Hyperliquid: `POST /info`.

Source: the venue's API documentation ("Info endpoint: perpetuals", "Rate limits and user limits") and recorded samples.
Numbers are decimal strings, times integer milliseconds.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta, Struct
from msgspec.json import Decoder

from service.clock import DAY_MS, Clock
from service.market.observed import Bar, Quote
from service.market.symbols import canonical
from service.upstream.failure import UpstreamError
from service.upstream.session import UpstreamSession

EARLIEST_MS: Final = 1_676_851_200_000
"""Monday 2023-02-20, the week in which the venue's first daily bar opened: history is asked for from here on."""

_INFO: Final = "/info"
_WEIGHT: Final = 20
_CANDLES_A_WEIGHT: Final = 60
_FINITE: Final = 1e300
_OK: Final = 200

Number: TypeAlias = Annotated[float, Meta(ge=-_FINITE, le=_FINITE)]
"""A decimal string as a float; the bounds refuse NaN and the infinities, which a float alone would let in."""

T = TypeVar("T")

_log: Final = logging.getLogger("verdict.market")


class Asset(Struct, frozen=True, rename="camel"):
    """A row of the universe."""

    name: str
    sz_decimals: int
    max_leverage: int
    is_delisted: bool = False


class Universe(Struct, frozen=True):
    """`meta`: everything that is or was listed."""

    universe: tuple[Asset, ...]


class AssetContext(Struct, frozen=True, rename="camel"):
    """A coin's context. `funding` is the fraction paid an hour, `open_interest` base units, `day_ntl_vlm` USD."""

    funding: Number | None = None
    open_interest: Number | None = None
    prev_day_px: Number | None = None
    day_ntl_vlm: Number | None = None
    premium: Number | None = None
    oracle_px: Number | None = None
    mark_px: Number | None = None
    mid_px: Number | None = None


class Candle(
    Struct,
    frozen=True,
    rename={
        "open_ms": "t",
        "close_ms": "T",
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
    """One bar; `close_ms` is its last millisecond."""

    open_ms: int
    close_ms: int
    coin: str
    interval: str
    open: Number
    close: Number
    high: Number
    low: Number
    volume: Number
    trades: int


class FundingRate(Struct, frozen=True, rename={"rate": "fundingRate", "time_ms": "time"}):
    """One payment of funding: the fraction paid, and when."""

    coin: str
    rate: Number
    time_ms: int
    premium: Number | None = None


class Mids(Struct, frozen=True):
    """`data` of an `allMids` frame."""

    mids: dict[str, Number]


class DexContexts(Struct, frozen=True):
    """`data` of an `allDexsAssetCtxs` frame: by dex (the first has no name), contexts in the order of its universe."""

    ctxs: tuple[tuple[str, tuple[AssetContext, ...]], ...]


class MidsFrame(Struct, frozen=True, tag_field="channel", tag="allMids"):
    """WebSocket frame of all mid prices."""

    data: Mids


class DexContextsFrame(Struct, frozen=True, tag_field="channel", tag="allDexsAssetCtxs"):
    """WebSocket frame of all contexts of all dexes."""

    data: DexContexts


def _decoder(kind: type[T]) -> Decoder[T]:
    """Lax only in that numbers may stand in strings, as the venue writes them."""
    return Decoder(kind, strict=False)


META_AND_CONTEXTS: Final = _decoder(tuple[Universe, tuple[AssetContext, ...]])
ALL_MIDS: Final = _decoder(dict[str, Number])
CANDLES: Final = _decoder(tuple[Candle, ...] | None)  # type: ignore[arg-type] # a union is no `type` to mypy
FUNDING_HISTORY: Final = _decoder(tuple[FundingRate, ...] | None)  # type: ignore[arg-type]
MIDS_FRAME: Final = _decoder(MidsFrame)
DEX_CONTEXTS_FRAME: Final = _decoder(DexContextsFrame)


class Quotes(Struct, frozen=True):
    """Every listed coin, as the venue showed them at one time."""

    observed_ms: int
    quotes: Sequence[Quote]


class History(Struct, frozen=True):
    """Bars of one coin, oldest first, and the venue's time when it told them."""

    observed_ms: int
    bars: Sequence[Bar]


class Hyperliquid:
    """The venue, as this room asks it.

    Args:
        session: Open session to it; keeps its limits.
        clock: An observation is never dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock

    async def quotes(self) -> Quotes:
        """Ask for price and funding of all coins.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        fetched = await self._session.post_json(
            _INFO, {"type": "metaAndAssetCtxs"}, weight=_WEIGHT, decoder=META_AND_CONTEXTS
        )
        meta, contexts = fetched.value
        if len(meta.universe) != len(contexts):
            raise self._refuse(f"{len(meta.universe)} names for {len(contexts)} contexts")
        observed_ms = min(fetched.date_ms, self._clock.now_ms())
        listed = [pair for pair in zip(meta.universe, contexts, strict=True) if not pair[0].is_delisted]
        quotes = [_quote(asset.name, context, observed_ms) for asset, context in _unambiguous(listed)]
        if not quotes:
            raise self._refuse("no coin is listed")
        return Quotes(observed_ms, quotes)

    async def daily_bars(self, coin: str, start_ms: int) -> History:
        """Ask for a coin's daily bars from a day on, the open one included.

        Args:
            coin: The venue's own symbol.
            start_ms: Open of the first bar wanted.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        wanted = max(0, self._clock.now_ms() - start_ms) // DAY_MS + 1
        fetched = await self._session.post_json(
            _INFO,
            {"type": "candleSnapshot", "req": {"coin": coin, "interval": "1d", "startTime": start_ms}},
            weight=_WEIGHT + -(-wanted // _CANDLES_A_WEIGHT),
            decoder=CANDLES,
        )
        candles = fetched.value or ()
        if any(candle.coin != coin or candle.interval != "1d" for candle in candles):
            raise self._refuse(f"bars of something else than {coin} by the day")
        bars = {candle.open_ms: _bar(candle) for candle in candles if _is_sound(candle)}
        if len(bars) < len(candles):
            _log.warning("bars left out", extra={"coin": coin, "count": len(candles) - len(bars)})
        return History(min(fetched.date_ms, self._clock.now_ms()), [bars[at] for at in sorted(bars)])

    def _refuse(self, why: str) -> UpstreamError:
        return UpstreamError(self._session.name, _OK, why.encode())


def _unambiguous(listed: Iterable[tuple[Asset, AssetContext]]) -> Iterable[tuple[Asset, AssetContext]]:
    """Leave out a coin whose ticker, upper-cased, an earlier one already has: no ticker may mean two coins."""
    taken: dict[str, str] = {}
    for asset, context in listed:
        symbol = canonical(asset.name)
        if symbol in taken:
            _log.warning("ticker is taken", extra={"coin": asset.name, "by": taken[symbol]})
        else:
            taken[symbol] = asset.name
            yield asset, context


def _quote(name: str, context: AssetContext, observed_ms: int) -> Quote:
    price = context.mark_px if context.mark_px is not None and context.mark_px > 0 else None
    return Quote(
        venue_symbol=name,
        symbol=canonical(name),
        volume_usd=context.day_ntl_vlm or 0.0,
        price=price,
        price_ms=None if price is None else observed_ms,
        funding=context.funding,
        funding_ms=None if context.funding is None else observed_ms,
    )


def _bar(candle: Candle) -> Bar:
    return Bar(candle.open_ms, candle.open, candle.high, candle.low, candle.close, candle.volume, candle.trades)


def _is_sound(candle: Candle) -> bool:
    """Whether it can be a day's bar: on the UTC day, and with its prices in order."""
    ends = (candle.open, candle.close)
    return candle.open_ms % DAY_MS == 0 and 0 < candle.low <= min(ends) and max(ends) <= candle.high

"""Hyperliquid: `POST /info`, and the frames of its WebSocket.

Source: the venue's API documentation ("Info endpoint: perpetuals", "Rate limits and user limits", "Subscriptions").

`candleSnapshot` is always asked with `endTime`: one document calls it required, one SDK optional. An answer has 5,000
candles at most; more are read by advancing `startTime`.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw
from msgspec.json import Decoder
from msgspec.structs import replace

from service.clock import HOUR_MS, SECOND_MS, Clock
from service.market.models import FUNDING_HOURS, VENUE, Bar, BarBatch, Quote, Quotes, StampedPayment
from service.market.sources.hyperliquid_wire import (
    ANNOTATIONS,
    CANDLES,
    CONTEXTS,
    CONTEXTS_FRAME,
    DEX_CONTEXTS,
    FUNDING_HISTORY,
    FUNDING_PAGE,
    META_AND_CONTEXTS,
    Annotation,
    AssetContext,
    CandleRow,
    Contexts,
    VenueAsset,
    bar_of,
    is_sound,
)
from service.market.symbols import is_ticker, per_coin, unit_of
from service.units import INTERVAL_MS, Interval
from service.upstream.failures import UpstreamError
from service.upstream.session import Fetched, UpstreamSession

MAIN_DEX: Final = ""
"""The venue's own market. A builder's market has a name that its symbols begin with (`xyz:AAPL`)."""

MOST_CANDLES: Final = 5_000
"""Maximum candles in one answer."""

FEED_SUBSCRIPTIONS: Final[Sequence[Mapping[str, object]]] = ({"type": "assetCtxs", "dex": MAIN_DEX},)
"""The main market alone: its frame has 54 KB, that of all nine markets 96 KB."""

FEED_DECODERS: Final[Mapping[str, Decoder[Any]]] = {"assetCtxs": Decoder(Raw), "allDexsAssetCtxs": Decoder(Raw)}
"""A frame is kept encoded, because most are replaced by the next before they are read. Both forms are supported."""

PRICES_PER_SECOND: Final = 2.0
"""Weight per second of price requests: coins every 15 s, real-world assets every 30 s, 20 each."""

_INFO: Final = "/info"
_WEIGHT: Final = 20
_CANDLES_A_WEIGHT: Final = 60
_PAYMENTS_A_WEIGHT: Final = 20
_OK: Final = 200

_log: Final = logging.getLogger("verdict.market")


class Hyperliquid:
    """Requests to the venue.

    Args:
        session: Open session; keeps its limits.
        clock: An observation is never dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._shown: Sequence[VenueAsset] = ()
        self._universe: Sequence[VenueAsset] = ()

    def wait_s(self, weight: int) -> float:
        """Estimated seconds until this weight is spent, besides price requests."""
        return self._session.wait_s(weight, PRICES_PER_SECOND)

    def weight_of_bars(self, interval: Interval, start_ms: int) -> int:
        """Weight of requesting a coin's bars from an instant on."""
        wanted = max(0, self._clock.now_ms() - start_ms) // INTERVAL_MS[interval] + 1
        return _WEIGHT + -(-wanted // _CANDLES_A_WEIGHT)

    def weight_of_payments(self, start_ms: int) -> int:
        """Weight of requesting the first page of a coin's payments from an instant on."""
        wanted = min(FUNDING_PAGE, max(0, self._clock.now_ms() - start_ms) // HOUR_MS + 1)
        return _WEIGHT + -(-wanted // _PAYMENTS_A_WEIGHT)

    async def quotes(self, dex: str = MAIN_DEX) -> Quotes:
        """Price and funding of all coins of a market.

        Args:
            dex: Name of a builder's market; its tickers come without it (`AAPL` for `xyz:AAPL`).

        Raises:
            UpstreamError: If there is no valid answer.
        """
        named = {"dex": dex} if dex else {}
        fetched = await self._session.post_json(
            _INFO, {"type": "metaAndAssetCtxs", **named}, weight=_WEIGHT, decoder=META_AND_CONTEXTS
        )
        meta, contexts = fetched.value
        if len(meta.universe) != len(contexts):
            raise self._refuse(f"{len(meta.universe)} names for {len(contexts)} contexts.")
        found = _quotes(meta.universe, contexts, min(fetched.date_ms, self._clock.now_ms()))
        if not _has_prices(found):
            raise self._refuse("No coin has a price.")
        if dex == MAIN_DEX:
            self._shown = meta.universe
        return found

    def adopt_universe(self) -> None:
        """Match frames with the universe of the last answer, which passed the plausibility check."""
        self._universe = self._shown

    def read_frame(self, data: bytes, at_ms: int) -> Quotes | None:
        """The main market's quotes in a frame of the WebSocket.

        A frame names no coins: its contexts have the order of the adopted universe. A frame of another length is
        rejected until a round adopts its universe.

        Args:
            data: An `assetCtxs` or `allDexsAssetCtxs` frame.
            at_ms: Time of receipt. Frames carry no time, so its second is the observation time.

        Returns:
            The quotes; null if they are not valid.
        """
        try:
            contexts = _main_contexts(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            contexts = ()
        if len(contexts) == len(self._universe):
            # In whole seconds, like the `Date` of answers, so that both have the same age.
            found = _quotes(self._universe, contexts, at_ms // SECOND_MS * SECOND_MS)
            if _has_prices(found):
                return replace(found, delisted=None, dropped=0)
        _log.warning(
            "WebSocket frame rejected: its contexts do not match the known coins.",
            extra={"names": len(self._universe), "contexts": len(contexts)},
        )
        return None

    async def bars(self, coin: str, interval: Interval, start_ms: int) -> BarBatch:
        """A coin's bars from an instant on, including the open one.

        Args:
            coin: The venue's symbol.
            interval: Length of a bar.
            start_ms: Open time of the first bar wanted.

        Returns:
            The bars; none if the venue does not know the coin.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        step_ms, end_ms = INTERVAL_MS[interval], max(start_ms, self._clock.now_ms())
        _, units = unit_of(coin)
        bars: dict[int, Bar] = {}
        left_out = 0
        while True:
            page = await self._candles(coin, interval, start_ms, end_ms)
            sound = {bar.open_ms: bar for candle in page.value if is_sound(bar := bar_of(candle, units), step_ms)}
            left_out += len(page.value) - len(sound)
            bars |= sound
            full = len(page.value) >= MOST_CANDLES
            newest_ms = max((candle.open_ms for candle in page.value), default=start_ms)
            if not full or not start_ms <= newest_ms <= end_ms - step_ms:
                break
            start_ms = newest_ms + step_ms
        if left_out:
            _log.warning("Invalid bars left out.", extra={"coin": coin, "count": left_out})
        return BarBatch(min(page.date_ms, self._clock.now_ms()), [bars[at] for at in sorted(bars)])

    async def _candles(
        self, coin: str, interval: Interval, start_ms: int, end_ms: int
    ) -> Fetched[tuple[CandleRow, ...]]:
        """One page of candles: the first `MOST_CANDLES` at most."""
        wanted = min(MOST_CANDLES, (end_ms - start_ms) // INTERVAL_MS[interval] + 1)
        asked = {"coin": coin, "interval": interval, "startTime": start_ms, "endTime": end_ms}
        fetched = await self._session.post_json(
            _INFO,
            {"type": "candleSnapshot", "req": asked},
            weight=_WEIGHT + -(-wanted // _CANDLES_A_WEIGHT),
            decoder=CANDLES,
        )
        candles = fetched.value or ()
        if any(candle.coin != coin or candle.interval != interval for candle in candles):
            raise self._refuse(f"The bars are not of {coin} by {interval}.")
        return Fetched(candles, fetched.date_ms)

    async def funding_history(self, coin: str, start_ms: int) -> list[StampedPayment]:
        """Payments of a coin's funding from an instant on, oldest first: the first `FUNDING_PAGE` of them.

        Args:
            coin: The venue's symbol.
            start_ms: First time. After a full answer, ask again from its last payment on.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        fetched = await self._session.post_json(
            _INFO,
            {"type": "fundingHistory", "coin": coin, "startTime": start_ms},
            weight=self.weight_of_payments(start_ms),
            decoder=FUNDING_HISTORY,
        )
        rates = fetched.value or ()
        if any(rate.coin != coin for rate in rates):
            raise self._refuse(f"The funding is not of {coin}.")
        return sorted((rate.time_ms, rate.rate) for rate in rates)

    async def annotations(self) -> dict[str, Annotation]:
        """Annotations of builders about their coins.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        fetched = await self._session.post_json(
            _INFO, {"type": "perpConciseAnnotations"}, weight=_WEIGHT, decoder=ANNOTATIONS
        )
        return dict(fetched.value)

    def _refuse(self, why: str) -> UpstreamError:
        return UpstreamError(self._session.name, _OK, why.encode())


def _main_contexts(data: bytes) -> Contexts:
    frame = CONTEXTS_FRAME.decode(data)
    markets = dict(DEX_CONTEXTS.decode(data).ctxs) if frame.dex is None else {frame.dex: frame.ctxs}
    return CONTEXTS.decode(markets.get(MAIN_DEX, b"[]"))


def _quotes(universe: Sequence[VenueAsset], contexts: Sequence[AssetContext], observed_ms: int) -> Quotes:
    named = [pair for pair in zip(universe, contexts, strict=True) if is_ticker(pair[0].name)]
    listed = [pair for pair in named if not pair[0].is_delisted]
    return Quotes(
        observed_ms,
        [_quote(name, context, observed_ms) for name, context in _unambiguous(listed)],
        [asset.name for asset, _ in named if asset.is_delisted],
        len(universe) - len(named),
    )


def _has_prices(found: Quotes) -> bool:
    """Whether any coin has a price; otherwise another source is asked."""
    return any(quote.price is not None for quote in found.quotes)


def _unambiguous(listed: Iterable[tuple[VenueAsset, AssetContext]]) -> Iterable[tuple[str, AssetContext]]:
    """Names and contexts, without coins whose ticker an earlier one has."""
    taken: dict[str, str] = {}
    for asset, context in listed:
        symbol, _ = unit_of(asset.name)
        if symbol in taken:
            _log.warning(
                "Coin left out: another one has the same ticker.", extra={"coin": asset.name, "by": taken[symbol]}
            )
        else:
            taken[symbol] = asset.name
            yield asset.name, context


def _quote(name: str, context: AssetContext, observed_ms: int) -> Quote:
    """A coin's quote: prices and open interest of single coins, whatever the venue's unit."""
    symbol, units = unit_of(name)
    price = _positive(context.mark_px, units)
    interest = context.open_interest
    return Quote(
        name,
        symbol,
        max(0.0, context.day_ntl_vlm or 0.0),
        price,
        None if price is None else observed_ms,
        context.funding,
        None if context.funding is None else observed_ms,
        None if interest is None or interest < 0 else interest * units,
        _positive(context.prev_day_px, units),
        VENUE,
        FUNDING_HOURS,
    )


def _positive(price: float | None, units: int) -> float | None:
    one = 0.0 if price is None else per_coin(price, units)
    return one if one > 0 else None

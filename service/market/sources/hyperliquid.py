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
from service.market.observed import VENUE, Bar, History, PaymentRow, Quote, Quotes
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
    Asset,
    AssetContext,
    Candle,
    Contexts,
    is_sound,
    payments,
)
from service.market.symbols import canonical, is_ticker
from service.units import INTERVAL_MS, Interval
from service.upstream.failure import UpstreamError
from service.upstream.session import Fetched, UpstreamSession

MAIN_DEX: Final = ""
"""The venue's own market; a builder's has a name, and its coins begin with it (`xyz:AAPL`)."""

MOST_CANDLES: Final = 5_000
"""Candles in one answer."""

FEED_SUBSCRIPTIONS: Final[Sequence[Mapping[str, object]]] = ({"type": "assetCtxs", "dex": MAIN_DEX},)
"""The main market alone: a frame has 54 KB, that of all nine markets 96 KB, of which only the main one is read."""

FEED_DECODERS: Final[Mapping[str, Decoder[Any]]] = {"assetCtxs": Decoder(Raw), "allDexsAssetCtxs": Decoder(Raw)}
"""A frame is kept as it came: most are replaced by the next before anybody reads them. Both forms are understood."""

PRICES_PER_SECOND: Final = 2.0
"""Weight that asking for prices takes: of the coins every 15 seconds, of real-world assets every 30, 20 each."""

_INFO: Final = "/info"
_WEIGHT: Final = 20
_CANDLES_A_WEIGHT: Final = 60
_PAYMENTS_A_WEIGHT: Final = 20
_OK: Final = 200

_log: Final = logging.getLogger("verdict.market")


class Hyperliquid:
    """The venue, as the service asks it.

    Args:
        session: Open session to it; keeps its limits.
        clock: An observation is never dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._shown: Sequence[Asset] = ()
        self._universe: Sequence[Asset] = ()

    def wait_s(self, weight: int) -> float:
        """Estimate of the seconds until so much weight has been spent, beside what asking for prices takes."""
        return self._session.wait_s(weight, PRICES_PER_SECOND)

    def weight_of_bars(self, interval: Interval, start_ms: int) -> int:
        """What it weighs to ask for a coin's bars from an instant on."""
        wanted = max(0, self._clock.now_ms() - start_ms) // INTERVAL_MS[interval] + 1
        return _WEIGHT + -(-wanted // _CANDLES_A_WEIGHT)

    def weight_of_payments(self, start_ms: int) -> int:
        """What it weighs to ask for the first page of a coin's payments of funding from an instant on."""
        wanted = min(FUNDING_PAGE, max(0, self._clock.now_ms() - start_ms) // HOUR_MS + 1)
        return _WEIGHT + -(-wanted // _PAYMENTS_A_WEIGHT)

    async def quotes(self, dex: str = MAIN_DEX) -> Quotes:
        """Ask for price and funding of all coins of a market.

        Args:
            dex: Name of a builder's market, whose coins have their tickers without it (`AAPL` of `xyz:AAPL`).

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        named = {"dex": dex} if dex else {}
        fetched = await self._session.post_json(
            _INFO, {"type": "metaAndAssetCtxs", **named}, weight=_WEIGHT, decoder=META_AND_CONTEXTS
        )
        meta, contexts = fetched.value
        if len(meta.universe) != len(contexts):
            raise self._refuse(f"{len(meta.universe)} names for {len(contexts)} contexts")
        found = _quotes(meta.universe, contexts, min(fetched.date_ms, self._clock.now_ms()))
        if not _tells_prices(found):
            raise self._refuse("no coin has a price")
        if dex == MAIN_DEX:
            self._shown = meta.universe
        return found

    def adopt_universe(self) -> None:
        """Match frames with the universe of the last answer from now on, which has passed the plausibility check."""
        self._universe = self._shown

    def read_frame(self, data: bytes, at_ms: int) -> Quotes | None:
        """Read the main market's quotes off a frame of the WebSocket.

        A frame names no coins: its contexts stand in the order of the adopted universe. One of another length is
        refused until a round has adopted the universe that it belongs to.

        Args:
            data: Of an `assetCtxs` or `allDexsAssetCtxs` frame.
            at_ms: When it was received: frames carry no time, so that is theirs, the second it was in.

        Returns:
            The quotes; null where they cannot be trusted.
        """
        try:
            contexts = _main_contexts(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            contexts = ()
        if len(contexts) == len(self._universe):
            # In whole seconds, as the answers' `Date` is: what is told both ways in one second is of one age.
            found = _quotes(self._universe, contexts, at_ms // SECOND_MS * SECOND_MS)
            if _tells_prices(found):
                return replace(found, delisted=None, dropped=0)
        _log.warning("a frame is refused", extra={"names": len(self._universe), "contexts": len(contexts)})
        return None

    async def bars(self, coin: str, interval: Interval, start_ms: int) -> History:
        """Ask for a coin's bars from one on, the open one included.

        Args:
            coin: The venue's own symbol.
            interval: Length of a bar.
            start_ms: Open of the first bar wanted.

        Returns:
            The bars; none of a coin that the venue does not know.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        step_ms, end_ms = INTERVAL_MS[interval], max(start_ms, self._clock.now_ms())
        bars: dict[int, Bar] = {}
        left_out = 0
        while True:
            page = await self._candles(coin, interval, start_ms, end_ms)
            sound = {candle.open_ms: _bar(candle) for candle in page.value if is_sound(candle, step_ms)}
            left_out += len(page.value) - len(sound)
            bars |= sound
            full = len(page.value) >= MOST_CANDLES
            newest_ms = max((candle.open_ms for candle in page.value), default=start_ms)
            if not full or not start_ms <= newest_ms <= end_ms - step_ms:
                break
            start_ms = newest_ms + step_ms
        if left_out:
            _log.warning("bars left out", extra={"coin": coin, "count": left_out})
        return History(min(page.date_ms, self._clock.now_ms()), [bars[at] for at in sorted(bars)])

    async def _candles(self, coin: str, interval: Interval, start_ms: int, end_ms: int) -> Fetched[tuple[Candle, ...]]:
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
            raise self._refuse(f"bars of something else than {coin} by {interval}")
        return Fetched(candles, fetched.date_ms)

    async def funding_history(self, coin: str, start_ms: int) -> list[PaymentRow]:
        """Ask for payments of a coin's funding from an instant on, oldest first: the first `FUNDING_PAGE` of them.

        The hours between two payments are those that the answer shows (the venue once paid every eight), and the rate
        is spread over them.

        Args:
            coin: The venue's own symbol.
            start_ms: From when on; where the answer is full, ask again from its last payment on.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        fetched = await self._session.post_json(
            _INFO,
            {"type": "fundingHistory", "coin": coin, "startTime": start_ms},
            weight=self.weight_of_payments(start_ms),
            decoder=FUNDING_HISTORY,
        )
        rates = fetched.value or ()
        if any(rate.coin != coin for rate in rates):
            raise self._refuse(f"funding of something else than {coin}")
        return payments(rates)

    async def annotations(self) -> dict[str, Annotation]:
        """Ask what builders say of their coins.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
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


def _quotes(universe: Sequence[Asset], contexts: Sequence[AssetContext], observed_ms: int) -> Quotes:
    named = [pair for pair in zip(universe, contexts, strict=True) if is_ticker(pair[0].name)]
    listed = [pair for pair in named if not pair[0].is_delisted]
    return Quotes(
        observed_ms,
        [_quote(name, symbol, context, observed_ms) for name, symbol, context in _unambiguous(listed)],
        [asset.name for asset, _ in named if asset.is_delisted],
        len(universe) - len(named),
    )


def _tells_prices(found: Quotes) -> bool:
    """Whether anybody has a price: what has none is no market, and somebody else is to be asked for it."""
    return any(quote.price is not None for quote in found.quotes)


def _unambiguous(listed: Iterable[tuple[Asset, AssetContext]]) -> Iterable[tuple[str, str, AssetContext]]:
    """Name, ticker and context; without coins whose ticker an earlier one has: no ticker may mean two coins."""
    taken: dict[str, str] = {}
    for asset, context in listed:
        symbol = canonical(asset.name.partition(":")[2] or asset.name)
        if symbol in taken:
            _log.warning("ticker is taken", extra={"coin": asset.name, "by": taken[symbol]})
        else:
            taken[symbol] = asset.name
            yield asset.name, symbol, context


def _quote(name: str, symbol: str, context: AssetContext, observed_ms: int) -> Quote:
    price = _positive(context.mark_px)
    interest = context.open_interest
    return Quote(
        name,
        symbol,
        max(0.0, context.day_ntl_vlm or 0.0),
        price,
        None if price is None else observed_ms,
        context.funding,
        None if context.funding is None else observed_ms,
        interest if interest is None or interest >= 0 else None,
        _positive(context.prev_day_px),
        VENUE,
        1.0,
    )


def _positive(price: float | None) -> float | None:
    return price if price is not None and price > 0 else None


def _bar(candle: Candle) -> Bar:
    return Bar(candle.open_ms, candle.open, candle.high, candle.low, candle.close, candle.volume, candle.trades)

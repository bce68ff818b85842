"""Answers and frames of venues, and events of a model, read as far as the rooms keep them."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import msgspec

from service.clock import DAY_MS
from service.market.sources.binance import Binance
from service.market.sources.coingecko import CoinGecko
from service.market.sources.hyperliquid import FEED_DECODERS, Hyperliquid
from service.sentiment.sources.alternative import FearGreed
from service.upstream.completions import CompletionError, _read
from service.upstream.failures import UpstreamError
from service.upstream.session import Decoder, Fetched, T
from service.upstream.websocket import Frame, UpstreamSocket
from tests.fakes.clock import START_MS, FakeClock
from tests.fuzz.target import Target, check_sound, run

_CLOCK: Final = FakeClock()
_DAY_MS: Final = START_MS // DAY_MS * DAY_MS


class Told:
    """A session whose every answer is the same; it fails as the true one does."""

    name = "told"

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def get(self, path: str, *, decoder: Decoder[T], **_asked: object) -> Fetched[T]:  # noqa: ARG002
        return self._decoded(decoder)

    async def post_json(self, path: str, payload: object, *, weight: int, decoder: Decoder[T]) -> Fetched[T]:  # noqa: ARG002
        return self._decoded(decoder)

    def _decoded(self, decoder: Decoder[T]) -> Fetched[T]:
        try:
            return Fetched(decoder.decode(self._body), START_MS)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise UpstreamError(self.name, 200, self._body[:100]) from None


def _hear(ask: Callable[[Any], Awaitable[Any]], data: bytes) -> None:
    with suppress(UpstreamError):
        check_sound(run(ask(Told(data))))  # type: ignore[arg-type]


_HYPERLIQUID: Final[tuple[Callable[[Any], Awaitable[Any]], ...]] = (
    lambda told: Hyperliquid(told, _CLOCK).quotes(),
    lambda told: Hyperliquid(told, _CLOCK).quotes("xyz"),
    lambda told: Hyperliquid(told, _CLOCK).bars("BTC", "1d", 0),
    lambda told: Hyperliquid(told, _CLOCK).funding_history("BTC", 0),
    lambda told: Hyperliquid(told, _CLOCK).annotations(),
)
_GECKO: Final[tuple[Callable[[Any], Awaitable[Any]], ...]] = (
    lambda told: CoinGecko(told, _CLOCK).page(1),
    lambda told: CoinGecko(told, _CLOCK).categories(),
    lambda told: CoinGecko(told, _CLOCK).caps("bitcoin", 365),
)


def read_hyperliquid(data: bytes) -> None:
    """Every answer of the first venue."""
    for ask in _HYPERLIQUID:
        _hear(ask, data)


def read_gecko(data: bytes) -> None:
    """Every answer of CoinGecko, and the index of fear and greed."""
    for ask in _GECKO:
        _hear(ask, data)
    _hear(lambda told: FearGreed(told, _CLOCK).newest(), data)


def read_frame(data: bytes) -> None:
    """A frame of the first venue's feed, as its socket takes it."""
    heard: list[Frame] = []
    socket = UpstreamSocket(SimpleNamespace(), "hyperliquid", "", _CLOCK, (), FEED_DECODERS)  # type: ignore[arg-type]
    socket._take(aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, data.decode("utf-8", "replace"), None), heard.append)
    venue = Hyperliquid(Told(_META), _CLOCK)  # type: ignore[arg-type]
    run(venue.quotes())
    for frame in heard:
        check_sound(venue.read_frame(bytes(frame.value), START_MS))
    check_sound(venue.read_frame(data, START_MS))


class _Answers(Told):
    """Answers by path."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        super().__init__(b"")
        self._bodies = bodies

    async def get(self, path: str, *, decoder: Decoder[T], **_asked: object) -> Fetched[T]:
        self._body = self._bodies.get(path.rpartition("/")[2], b"")
        return self._decoded(decoder)


def read_binance(data: bytes) -> None:
    """Every answer of the other venue: by its last name in a path, in one object."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        bodies = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        told: Any = _Answers({name: bytes(body) for name, body in bodies.items()})
        for ask in (Binance.contracts, Binance.marks, _bars):
            with suppress(UpstreamError):
                check_sound(run(ask(Binance(told, _CLOCK))))


_bars: Final = partial(Binance.bars, symbol="BTCUSDT", interval="1d", start_ms=_DAY_MS - 90 * DAY_MS)


class _Content:
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def iter_any(self) -> Any:
        for at in range(0, len(self._data), 50):
            yield self._data[at : at + 50]


def read_events(data: bytes) -> None:
    """What a model writes, in pieces."""
    with suppress(CompletionError):
        check_sound(run(_read(_Content(data))))  # type: ignore[arg-type]


_CONTEXT: Final = {"funding": "0.0000125", "openInterest": "1.5", "prevDayPx": "2", "dayNtlVlm": "3", "markPx": "4.5"}
_META: Final = msgspec.json.encode([{"universe": [{"name": "BTC"}, {"name": "ETH"}]}, [_CONTEXT, _CONTEXT]])


def _answers() -> Iterable[bytes]:
    yield _META
    yield msgspec.json.encode([{"universe": [{"name": "xyz:AAPL", "isDelisted": True}, {"name": "k"}]}, [_CONTEXT] * 2])
    bar = {"t": _DAY_MS, "s": "BTC", "i": "1d", "o": "1", "c": "2", "h": "3", "l": "0.5", "v": "4", "n": 5}
    yield msgspec.json.encode([bar, {**bar, "t": _DAY_MS - DAY_MS}])
    paid = {"coin": "BTC", "fundingRate": "0.0000125", "time": _DAY_MS}
    yield msgspec.json.encode([paid, {**paid, "time": _DAY_MS - 3_600_000}, {**paid, "time": _DAY_MS - 7_200_000}])
    yield b'[["xyz:AAPL",{"category":"stocks","displayName":"Apple","keywords":["a"]}]]'


def _frames() -> Iterable[bytes]:
    data = {"ctxs": [["", [_CONTEXT, _CONTEXT]], ["xyz", []]]}
    yield msgspec.json.encode({"channel": "allDexsAssetCtxs", "data": data})
    yield msgspec.json.encode({"channel": "assetCtxs", "data": {"dex": "", "ctxs": [_CONTEXT, _CONTEXT]}})
    yield msgspec.json.encode(data)
    yield b'{"channel":"pong"}'
    yield b'{"channel":"error","data":"no"}'


def _gecko() -> Iterable[bytes]:
    worth = {"current_price": 1.5, "market_cap": 2, "total_volume": 3, "last_updated": "2025-07-25T11:00:00.000Z"}
    yield msgspec.json.encode([{"id": "bitcoin", "symbol": "btc", "name": "Bitcoin", **worth}])
    told = {"market_cap": 1, "market_cap_change_24h": -1.5, "volume_24h": 2, "updated_at": "2025-07-25T11:00:00Z"}
    yield msgspec.json.encode([{"id": "a", "name": "A", "content": "<p>B &amp; <script>c</script>d.</p>", **told}])
    points = [[_DAY_MS, 1.5], [_DAY_MS - DAY_MS, None]]
    yield msgspec.json.encode({"prices": points, "market_caps": points, "total_volumes": points})
    yield b'{"data":[{"value":"54","timestamp":"1753401600"}],"metadata":{"error":null}}'


def _binance() -> Iterable[bytes]:
    contract = {"symbol": "BTCUSDT", "status": "TRADING", "baseAsset": "BTC", "quoteAsset": "USDT"}
    premium = {"symbol": "BTCUSDT", "markPrice": "1.5", "lastFundingRate": "0.0001", "time": START_MS}
    yield msgspec.json.encode(
        {
            "exchangeInfo": {"symbols": [{**contract, "contractType": "PERPETUAL", "underlyingType": "COIN"}]},
            "fundingInfo": [{"symbol": "BTCUSDT", "fundingIntervalHours": 4}],
            "premiumIndex": [premium],
            "24hr": [{"symbol": "BTCUSDT", "openPrice": "1", "quoteVolume": "2"}],
            "klines": [[_DAY_MS - DAY_MS, "1", "3", "0.5", "2", "4", _DAY_MS - 1, "5", 6, "0", "0", "0"]],
        }
    )


def _events() -> Iterable[bytes]:
    yield (
        b': hi\n\ndata: {"choices":[{"delta":{"content":"Bit"}}]}\n\ndata: {"choices":[{"delta":{"content":"coin"},'
        b'"finish_reason":"stop"}]}\r\n\ndata:{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'
        b"data: [DONE]\n\n"
    )


TARGETS = (
    Target("venues.hyperliquid", read_hyperliquid, _answers, is_json=True),
    Target("venues.frame", read_frame, _frames, is_json=True),
    Target("venues.gecko", read_gecko, _gecko, is_json=True),
    Target("venues.binance", read_binance, _binance, is_json=True),
    Target("venues.events", read_events, _events, (b"data: ", b"\n\n", b"[DONE]", b'"finish_reason":"stop"')),
)

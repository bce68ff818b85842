"""Binance USD-M futures, replayed; mounted under `/binance`: the recorded market as another venue sees it.

What is traded stands in `binance/exchangeInfo.json` and `binance/fundingInfo.json`, as the venue writes them; which
recorded coin each contract follows, and at how many times its price, in `binance/tape.json`.

Prices differ from the recorded ones by up to 0.05 %, in straight lines from hour to hour. Funding is the sum of what
the recording paid over the last hours of the contract's interval.
"""

import math
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web

from service.clock import DAY_MS, HOUR_MS, LATEST_MS
from service.upstream.replay.history import ReplayContext
from service.upstream.replay.recording import Candle

EXCHANGE_INFO: Final = "binance/exchangeInfo.json"
FUNDING_INFO: Final = "binance/fundingInfo.json"
TAPE: Final = "binance/tape.json"

MOST_KLINES: Final = 1_500
LARGEST_DEVIATION: Final = 0.000_5
BUSIER: Final = 6
"""So many times the recorded volume is traded here."""

_DEFAULT_KLINES: Final = 500
_DEFAULT_FUNDING_HOURS: Final = 8
_INTEREST: Final = 0.000_012_5
_MARK_DECIMALS: Final = 8
_INTERVALS: Final = frozenset(
    {"1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w", "1M"}
)
_LARGEST_CRC: Final = 2**32 - 1
_encode: Final = msgspec.json.Encoder().encode

Query = Mapping[str, str]


class Trace(msgspec.Struct, frozen=True):
    """Which recorded coin a contract follows, and how many times its price it costs."""

    coin: str
    scale: float = 1.0


class Listed(msgspec.Struct, frozen=True, rename="camel"):
    """A contract, of the fields used here."""

    symbol: str
    status: str
    contract_type: str
    price_precision: int
    quantity_precision: int


class _Info(msgspec.Struct, frozen=True):
    symbols: list[Listed]


class _Interval(msgspec.Struct, frozen=True, rename="camel"):
    symbol: str
    funding_interval_hours: int


class _Refused(Exception):  # noqa: N818 - what the venue answers, not a fault of ours
    """The venue's own error: code and words."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(said)
        self.body = {"code": code, "msg": said}


def routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, by paths below the mount point; nothing where the set has no such venue."""
    if EXCHANGE_INFO not in context.files:
        return []
    venue = RecordedBinance(context)
    served: Mapping[str, Callable[[Query], object]] = {
        "exchangeInfo": lambda _: msgspec.Raw(context.files[EXCHANGE_INFO]),
        "fundingInfo": lambda _: msgspec.Raw(context.files[FUNDING_INFO]),
        "premiumIndex": venue.premium_index,
        "ticker/24hr": venue.ticker,
        "klines": venue.klines,
    }
    return [web.get(f"/fapi/v1/{name}", _answering(answer)) for name, answer in served.items()]


def _answering(answer: Callable[[Query], object]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def respond(request: web.Request) -> web.Response:
        try:
            status, said = 200, answer(request.query)
        except _Refused as refused:
            status, said = 400, refused.body
        return web.Response(status=status, body=_encode(said), headers={"Content-Type": "application/json"})

    return respond


class RecordedBinance:
    """The other venue, asked at instants of the present.

    Args:
        context: What it stands on.
    """

    def __init__(self, context: ReplayContext) -> None:
        self._now = context.now
        self._tape = context.tape
        info = msgspec.json.decode(context.files[EXCHANGE_INFO], type=_Info)
        adjusted = msgspec.json.decode(context.files[FUNDING_INFO], type=list[_Interval])
        self._hours = {row.symbol: row.funding_interval_hours for row in adjusted}
        self._traces = msgspec.json.decode(context.files[TAPE], type=dict[str, Trace])
        self._listed = {row.symbol: row for row in info.symbols if row.status == "TRADING"}

    def premium_index(self, query: Query) -> object:
        """`premiumIndex`, of one contract or of all."""
        return self._one_or_all(query, self._premium)

    def ticker(self, query: Query) -> object:
        """`ticker/24hr`, of one contract or of all."""
        return self._one_or_all(query, self._day)

    def klines(self, query: Query) -> object:
        """`klines` of one contract, oldest first, the open one included."""
        listed, interval = self._wanted(query), query.get("interval", "")
        if interval not in _INTERVALS:
            raise _Refused(-1120, "Invalid interval.")
        at_ms, shift_ms = self._now()
        limit = _whole(query, "limit", _DEFAULT_KLINES)
        start_ms = _whole(query, "startTime", 0) - shift_ms
        end_ms = _whole(query, "endTime", LATEST_MS) - shift_ms
        trace = self._traces[listed.symbol]
        bars = self._tape.candles(trace.coin, interval, at_ms, start_ms, end_ms)
        bars = [bar for bar in bars if bar.open_ms >= start_ms]
        kept = bars[:limit] if "startTime" in query else bars[-limit:]
        return [self._kline(listed, bar, at_ms, shift_ms) for bar in kept[:MOST_KLINES]]

    def _one_or_all(self, query: Query, tell: Callable[[Listed, float, int, int], object]) -> object:
        wanted = [self._wanted(query)] if "symbol" in query else self._listed.values()
        at_ms, shift_ms = self._now()
        priced = [(listed, self._price(listed, at_ms)) for listed in wanted]
        rows = [tell(listed, price, at_ms, shift_ms) for listed, price in priced if price is not None]
        return rows[0] if "symbol" in query and rows else rows

    def _wanted(self, query: Query) -> Listed:
        if not query.get("symbol"):
            raise _Refused(-1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.")
        listed = self._listed.get(query["symbol"])
        if listed is None:
            raise _Refused(-1121, "Invalid symbol.")
        return listed

    def _price(self, listed: Listed, at_ms: int) -> float | None:
        trace = self._traces[listed.symbol]
        price = self._tape.price(trace.coin, at_ms)
        return None if price is None else price * trace.scale * (1 + deviation(listed.symbol, at_ms))

    def _premium(self, listed: Listed, price: float, at_ms: int, shift_ms: int) -> object:
        hours = self._hours.get(listed.symbol, _DEFAULT_FUNDING_HOURS)
        step_ms, pays = hours * HOUR_MS, listed.contract_type.endswith("PERPETUAL")
        mark = f"{price:.{_MARK_DECIMALS}f}"
        return {
            "symbol": listed.symbol,
            "markPrice": mark,
            "indexPrice": mark,
            "estimatedSettlePrice": mark,
            "lastFundingRate": f"{self._funding(listed, hours, at_ms):.8f}" if pays else "",
            "interestRate": "0.00010000" if pays else "",
            "nextFundingTime": (at_ms // step_ms + 1) * step_ms + shift_ms if pays else 0,
            "time": at_ms + shift_ms,
        }

    def _funding(self, listed: Listed, hours: int, at_ms: int) -> float:
        coin = self._traces[listed.symbol].coin
        rows = self._tape.funding(coin, at_ms, at_ms - hours * HOUR_MS + 1, at_ms)
        hourly = math.fsum(float(row.rate) for row in rows) / len(rows) if rows else _INTEREST
        return hourly * hours

    def _day(self, listed: Listed, price: float, at_ms: int, shift_ms: int) -> object:
        trace, places = self._traces[listed.symbol], listed.price_precision
        hours = self._tape.candles(trace.coin, "1h", at_ms, at_ms - DAY_MS, at_ms)
        before = self._price(listed, at_ms - DAY_MS) or price
        base = BUSIER * math.fsum(float(bar.volume) for bar in hours)
        return {
            "symbol": listed.symbol,
            "priceChange": f"{price - before:.{places}f}",
            "priceChangePercent": f"{(price / before - 1) * 100:.3f}",
            "weightedAvgPrice": f"{(price + before) / 2:.{places}f}",
            "lastPrice": f"{price:.{places}f}",
            "lastQty": f"{base / 100_000:.{listed.quantity_precision}f}",
            "openPrice": f"{before:.{places}f}",
            "highPrice": f"{max(price, before):.{places}f}",
            "lowPrice": f"{min(price, before):.{places}f}",
            "volume": f"{base:.{listed.quantity_precision}f}",
            "quoteVolume": f"{base * (price + before) / 2:.2f}",
            "openTime": at_ms - DAY_MS + shift_ms,
            "closeTime": at_ms + shift_ms,
            "firstId": 1,
            "lastId": 1 + sum(bar.trades for bar in hours),
            "count": 1 + sum(bar.trades for bar in hours),
        }

    def _kline(self, listed: Listed, bar: Candle, at_ms: int, shift_ms: int) -> list[object]:
        scale, places = self._traces[listed.symbol].scale, listed.price_precision
        first = scale * (1 + deviation(listed.symbol, bar.open_ms))
        last = scale * (1 + deviation(listed.symbol, min(bar.close_ms + 1, at_ms)))
        opened, closed = float(bar.open) * first, float(bar.close) * last
        high, low = max(opened, closed, float(bar.high) * first), min(opened, closed, float(bar.low) * first)
        base = BUSIER * float(bar.volume)
        volume, usd = f"{base:.{listed.quantity_precision}f}", f"{base * (opened + closed) / 2:.2f}"
        prices = [f"{price:.{places}f}" for price in (opened, high, low, closed)]
        return [bar.open_ms + shift_ms, *prices, volume, bar.close_ms + shift_ms, usd, bar.trades, "0", "0", "0"]


def deviation(symbol: str, at_ms: int) -> float:
    """How far this venue's price is from the recorded one, as a fraction."""
    hour, passed = divmod(at_ms, HOUR_MS)
    before, after = _chance(symbol, hour), _chance(symbol, hour + 1)
    return LARGEST_DEVIATION * (before + (after - before) * passed / HOUR_MS)


def _chance(symbol: str, hour: int) -> float:
    """A number from -1 to 1 that is always the same for an hour."""
    return 2 * zlib.crc32(f"{symbol}/{hour}".encode()) / _LARGEST_CRC - 1


def _whole(query: Query, name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(LATEST_MS)):
        raise _Refused(-1102, f"Mandatory parameter '{name}' was not sent, was empty/null, or malformed.")
    return int(text)

"""A small Binance: shows what a test puts into it, at the time of the test's clock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

import msgspec
from aiohttp import web

from service.clock import HOUR_MS
from service.units import INTERVAL_MS, Interval
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import listening
from tests.upstream.faults import Faults

ROOT = "/fapi/v1/"


def contract(base: str, kind: str = "PERPETUAL", underlying: str = "COIN", **fields: str) -> dict[str, str]:
    quote = fields.get("quoteAsset", "USDT")
    return {
        "symbol": base + quote, "status": "TRADING", "baseAsset": base, "quoteAsset": quote, "contractType": kind,
        "underlyingType": underlying,
    } | fields  # fmt: skip


def kline(open_ms: int, close: float, step_ms: int = HOUR_MS) -> list[object]:
    prices = [repr(price) for price in (close * 0.99, close * 1.02, close * 0.98, close)]
    return [open_ms, *prices, "10.5", open_ms + step_ms - 1, "1000.0", 7, "5.0", "500.0", "0"]


class BinanceVenue:
    """The venue's books.

    Attributes:
        contracts: Rows of `exchangeInfo`.
        hours: Rows of `fundingInfo`, as symbol → hours.
        prices: Mark prices by symbol, as written.
        rates: Running funding by symbol, as written; empty where there is none.
        lags_ms: How much older than now a row's time is.
        klines: By symbol and interval.
        faults: Put in the venue's place.
        asked: Path and query of every request.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.contracts: list[dict[str, str]] = []
        self.hours: dict[str, int] = {}
        self.prices: dict[str, str] = {}
        self.rates: dict[str, str] = {}
        self.lags_ms: dict[str, int] = {}
        self.klines: dict[tuple[str, str], list[list[object]]] = {}
        self.silent: set[str] = set()
        self.faults = Faults()
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.url = ""

    def trade(self, base: str, price: str, rate: str = "0.00010000", **fields: str) -> None:
        row = contract(base, **fields)
        self.contracts.append(row)
        self.prices[row["symbol"]] = price
        self.rates[row["symbol"]] = rate

    def count(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix(ROOT)
        self.asked.append((path, dict(request.query)))
        fault = await self.faults(request)
        if fault is not None:
            return fault
        date = {"Date": formatdate(self.clock.now_ms() / 1000, usegmt=True)}
        if path in self.silent:
            return web.json_response({"code": -1, "msg": "not now"}, status=400, headers=date)
        return web.Response(body=msgspec.json.encode(self._answer(path, dict(request.query))), headers=date)

    def _answer(self, path: str, query: dict[str, str]) -> Any:
        now_ms = self.clock.now_ms()
        match path:
            case "exchangeInfo":
                return {"symbols": self.contracts}
            case "fundingInfo":
                return [{"symbol": symbol, "fundingIntervalHours": hours} for symbol, hours in self.hours.items()]
            case "premiumIndex":
                return [
                    {"symbol": symbol, "markPrice": price, "lastFundingRate": self.rates.get(symbol, ""),
                     "time": now_ms - self.lags_ms.get(symbol, 0)}
                    for symbol, price in self.prices.items()
                ]  # fmt: skip
            case "ticker/24hr":
                return [{"symbol": symbol, "openPrice": "80.0", "quoteVolume": "5000.5"} for symbol in self.prices]
        interval: Interval = query["interval"]  # type: ignore[assignment]
        start_ms, limit = int(query["startTime"]), int(query["limit"])
        rows = [row for row in self.klines[query["symbol"], interval] if row[0] >= start_ms]  # type: ignore[operator]
        assert INTERVAL_MS[interval]
        return rows[:limit]


@asynccontextmanager
async def open_binance(clock: FakeClock) -> AsyncIterator[BinanceVenue]:
    venue = BinanceVenue(clock)
    app = web.Application()
    app.router.add_get(ROOT + "{path:.*}", venue.serve)
    async with listening(app) as url:
        venue.url = url
        yield venue

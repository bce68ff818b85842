"""A small venue in Hyperliquid's wire format: shows what a test puts into it, at the time of the test's clock."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

from aiohttp import web

from service.clock import DAY_MS, HOUR_MS
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import listening
from tests.upstream.faults import Faults

Candle = dict[str, Any]
Context = dict[str, Any]


def context(price: str | None, funding: str | None = "0.0000125", volume: str = "1000000.0") -> Context:
    return {
        "funding": funding, "openInterest": "1.0", "prevDayPx": "1.0", "dayNtlVlm": volume, "premium": None,
        "oraclePx": "1.0", "markPx": price, "midPx": None, "impactPxs": None, "dayBaseVlm": "1.0",
    }  # fmt: skip


def candle(coin: str, day: int, open_: float, high: float, low: float, close: float) -> Candle:
    return {
        "t": day * DAY_MS, "T": (day + 1) * DAY_MS - 1, "s": coin, "i": "1d", "o": repr(open_), "c": repr(close),
        "h": repr(high), "l": repr(low), "v": "10.0", "n": 7,
    }  # fmt: skip


def hour(coin: str, number: int, close: float = 3.0) -> Candle:
    """The bar of an hour, counted from 1970."""
    return candle(coin, 0, close, close * 4 / 3, close / 3, close) | {
        "t": number * HOUR_MS, "T": (number + 1) * HOUR_MS - 1, "i": "1h",
    }  # fmt: skip


def payment(coin: str, number: int, rate: str = "0.0000125", late_ms: int = 76) -> dict[str, Any]:
    """What was paid at the start of an hour, counted from 1970."""
    return {"coin": coin, "fundingRate": rate, "premium": "0.0", "time": number * HOUR_MS + late_ms}


def walk(coin: str, days: range, step: float = 1.01) -> list[Candle]:
    """A coin that moves by one factor a day."""
    return [candle(coin, day, p, p * 1.02, p * 0.98, p) for day, p in ((day, 100 * step ** (day % 97)) for day in days)]


class Venue:
    """The venue's books.

    Attributes:
        contexts: What is listed, in order.
        delisted: Names among them that are no longer traded.
        candles: Daily bars by coin; those that open after now are not shown.
        hours: Hourly ones.
        funding: Payments by coin.
        sockets: Open ones.
        heard: What was sent to them.
        faults: Put in the venue's place: `venue.faults.next = hang`.
        ahead_ms: How far the venue's clock is ahead of ours.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.contexts: dict[str, Context] = {}
        self.delisted: set[str] = set()
        self.candles: dict[str, list[Candle]] = {}
        self.hours: dict[str, list[Candle]] = {}
        self.funding: dict[str, list[dict[str, Any]]] = {}
        self.sockets: list[web.WebSocketResponse] = []
        self.heard: list[dict[str, Any]] = []
        self.faults = Faults()
        self.ahead_ms = 0
        self.url = ""

    def list_coin(self, coin: str, days: range, step: float = 1.01, price: str = "100.0", volume: str = "1.0") -> None:
        self.contexts[coin] = context(price, volume=volume)
        self.candles[coin] = walk(coin, days, step)

    def asked(self, kind: str) -> list[Any]:
        """The requests of a type that came so far."""
        return [body for body in map(json.loads, self.faults.requests) if body["type"] == kind]

    def asked_bars(self, interval: str = "1d") -> list[str]:
        """The coins whose bars were asked for so far."""
        return [ask["req"]["coin"] for ask in self.asked("candleSnapshot") if ask["req"]["interval"] == interval]

    async def info(self, request: web.Request) -> web.StreamResponse:
        fault = await self.faults(request)
        if fault is not None:
            return fault
        now_ms = self.clock.now_ms() + self.ahead_ms
        body = self._reply(json.loads(await request.read()), now_ms)
        return web.Response(text=json.dumps(body), headers={"Date": formatdate(now_ms / 1000, usegmt=True)})

    def _reply(self, ask: dict[str, Any], now_ms: int) -> object:
        if ask["type"] == "metaAndAssetCtxs":
            universe = [
                {"name": name, "szDecimals": 1, "maxLeverage": 10}
                | ({"isDelisted": True} if name in self.delisted else {})
                for name in self.contexts
            ]
            return [{"universe": universe, "marginTables": [], "collateralToken": 0}, list(self.contexts.values())]
        if ask["type"] == "fundingHistory":
            rows = self.funding.get(ask["coin"], [])
            return [row for row in rows if ask["startTime"] <= row["time"] <= now_ms][:500]
        wanted = ask["req"]
        bars = (self.candles if wanted["interval"] == "1d" else self.hours).get(wanted["coin"], [])
        return [bar for bar in bars if bar["T"] >= wanted["startTime"] and bar["t"] <= now_ms]

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """`GET /ws`: what a test pushes."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        async for message in socket:
            self.heard.append(json.loads(message.data))
        self.sockets.remove(socket)
        return socket

    async def push(self, contexts: list[Context] | None = None) -> None:
        """Send a frame of all contexts, as they are listed or as they are given."""
        shown = list(self.contexts.values()) if contexts is None else contexts
        frame = {"channel": "assetCtxs", "data": {"dex": "", "ctxs": shown}}
        for socket in self.sockets:
            await socket.send_str(json.dumps(frame))


@asynccontextmanager
async def open_venue(clock: FakeClock) -> AsyncIterator[Venue]:
    venue = Venue(clock)
    app = web.Application()
    app.router.add_post("/info", venue.info)
    app.router.add_get("/ws", venue.socket)
    async with listening(app) as url:
        venue.url = url
        yield venue

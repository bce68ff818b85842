"""A small venue in Hyperliquid's wire format: shows what a test puts into it, at the time of the test's clock."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

from aiohttp import web

from service.clock import DAY_MS
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


def walk(coin: str, days: range, step: float = 1.01) -> list[Candle]:
    """A coin that moves by one factor a day."""
    return [candle(coin, day, p, p * 1.02, p * 0.98, p) for day, p in ((day, 100 * step ** (day % 97)) for day in days)]


class Venue:
    """The venue's books.

    Attributes:
        contexts: What is listed, in order.
        delisted: Names among them that are no longer traded.
        candles: Daily bars by coin; those that open after now are not shown.
        faults: Put in the venue's place: `venue.faults.next = hang`.
        ahead_ms: How far the venue's clock is ahead of ours.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.contexts: dict[str, Context] = {}
        self.delisted: set[str] = set()
        self.candles: dict[str, list[Candle]] = {}
        self.faults = Faults()
        self.ahead_ms = 0
        self.url = ""

    def list_coin(self, coin: str, days: range, step: float = 1.01, price: str = "100.0", volume: str = "1.0") -> None:
        self.contexts[coin] = context(price, volume=volume)
        self.candles[coin] = walk(coin, days, step)

    def asked(self, kind: str) -> list[Any]:
        """The requests of a type that came so far."""
        return [body for body in map(json.loads, self.faults.requests) if body["type"] == kind]

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
        wanted = ask["req"]
        return [bar for bar in self.candles[wanted["coin"]] if bar["T"] >= wanted["startTime"] and bar["t"] <= now_ms]


@asynccontextmanager
async def open_venue(clock: FakeClock) -> AsyncIterator[Venue]:
    venue = Venue(clock)
    app = web.Application()
    app.router.add_post("/info", venue.info)
    async with listening(app) as url:
        venue.url = url
        yield venue

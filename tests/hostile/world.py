"""The real market and streams over two venues that forge, moved by hand one step at a time."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from aiohttp import web

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS
from service.errors import ServiceError
from service.market.factory import MarketData, open_market
from service.market.symbols import canonical
from service.scheduler import Leadership, PeriodicTask
from service.sentiment.factory import open_sentiment
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.storage.engine import SqliteConnection, connect
from service.upstream.failures import UpstreamError
from service.upstream.session import open_session
from service.upstream.websocket import Frame
from service.watch.factory import open_stream_feed
from service.wire.cursor import Cursors
from service.wire.market import RiskContext
from tests.fakes.clock import START_MS, FakeClock
from tests.hostile.forgeries import Change
from tests.hostile.market import (
    ONLY_FIRST,
    Shown,
    TrueMarket,
    contract_of,
    daily,
    hourly,
    payments,
    write_first,
    write_second,
)
from tests.market.recordings import size_of
from tests.upstream.conftest import listening

POLL_S = 15.0
FRAME_S = 5.0
AMPLE = 100_000_000
ORIGIN = "hostile"

PRICE_TOLERANCE = 0.015
"""Fraction. A price served as fresh lies this near to one that was true in the minute before."""

FUNDING_TOLERANCE = 270.0
"""Percent a year, of funding served as fresh: the published limit of a change, 0.03 % an hour, is 263."""

BESIDE_TOLERANCE = 10.0
"""Volume and open interest lie within this factor of the truth, the change of a day within as many points."""

Bars = Callable[[str, str, list[dict[str, Any]]], list[dict[str, Any]]]


class Venues:
    """Both venues on one loopback port.

    Attributes:
        forge_polled: Changes the first venue's answers; null: honest.
        forge_pushed: Changes its frames.
        forge_second: Changes the second venue's prices.
        forge_bars: Changes the first venue's bars: coin, interval, bars.
        forge_klines: The same of the second venue.
        forge_payments: Changes the first venue's payments of funding.
        first_up: Whether the first venue answers.
        second_up: Whether the second one does.
        asked: Paths and types of requests so far.
    """

    def __init__(self, clock: FakeClock, truth: TrueMarket) -> None:
        self.clock = clock
        self.truth = truth
        self.url = ""
        self.first_up = self.second_up = True
        self.forge_polled: Change | None = None
        self.forge_pushed: Change | None = None
        self.forge_second: Change | None = None
        self.forge_bars: Bars | None = None
        self.forge_klines: Bars | None = None
        self.forge_payments: Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]] | None = None
        self.begun = truth.shown(clock.now_ms())
        self.begun_ms = clock.now_ms()
        self.asked: list[str] = []
        self.others: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None

    def begin(self) -> None:
        """Remember the honest answer of now: what forgeries that repeat begin with."""
        self.begun_ms = self.clock.now_ms()
        self.begun = self.truth.shown(self.begun_ms)

    def honest(self) -> None:
        """Stop forging, everywhere."""
        self.forge_polled = self.forge_pushed = self.forge_second = None
        self.forge_bars = self.forge_klines = self.forge_payments = None
        self.first_up = self.second_up = True

    def shown(self, forge: Change | None) -> Shown:
        now_ms = self.clock.now_ms()
        shown = self.truth.shown(now_ms)
        return shown if forge is None else forge(shown, self.begun, (now_ms - self.begun_ms) / SECOND_MS)

    def frame(self) -> Frame:
        """What the first venue pushes now."""
        shown = self.shown(self.forge_pushed)
        _, contexts = write_first(shown)
        return Frame("allDexsAssetCtxs", json.dumps({"ctxs": [["", contexts]]}).encode(), self.clock.now_ms())

    async def info(self, request: web.Request) -> web.Response:
        """`POST /info` of the first venue."""
        ask = json.loads(await request.read())
        self.asked.append(ask["type"])
        if not self.first_up:
            return web.Response(status=500, body=b"down")
        now_ms = self.clock.now_ms()
        if ask["type"] == "metaAndAssetCtxs":
            shown = self.shown(self.forge_polled)
            universe, contexts = write_first(shown)
            body: object = [{"universe": universe, "marginTables": [], "collateralToken": 0}, contexts]
            now_ms = shown.date_ms
        elif ask["type"] == "fundingHistory":
            body = payments(ask["coin"], now_ms, ask["startTime"])[:500]
            if self.forge_payments is not None:
                body = self.forge_payments(ask["coin"], body)
        else:
            wanted = ask["req"]
            read = daily if wanted["interval"] == "1d" else hourly
            bars = read(wanted["coin"], now_ms, wanted["startTime"])
            body = bars if self.forge_bars is None else self.forge_bars(wanted["coin"], wanted["interval"], bars)
        return _answer(body, now_ms)

    async def binance(self, request: web.Request) -> web.Response:
        """`GET /fapi/v1/…` of the second venue."""
        path = request.path.removeprefix("/binance/fapi/v1/")
        self.asked.append(path)
        if not self.second_up:
            return web.Response(status=503, body=b"down")
        now_ms = self.clock.now_ms()
        if path == "exchangeInfo":
            body: object = {"symbols": [_contract(coin) for coin in self.truth.coins if coin not in ONLY_FIRST]}
        elif path == "fundingInfo":
            body = []
        elif path == "klines":
            body = self._klines(request.query)
        else:
            shown = self.shown(self.forge_second)
            body, now_ms = write_second(shown, now_ms)[path], shown.date_ms
        return _answer(body, now_ms)

    def _klines(self, query: Mapping[str, str]) -> list[list[object]]:
        coin = next(coin for coin in self.truth.coins if contract_of(coin) == query["symbol"])
        read = daily if query["interval"] == "1d" else hourly
        bars = read(coin, self.clock.now_ms(), int(query["startTime"]))
        bars = [bar for bar in bars if bar["t"] >= int(query["startTime"])]
        if self.forge_klines is not None:
            bars = self.forge_klines(coin, query["interval"], bars)
        return [
            [bar["t"], bar["o"], bar["h"], bar["l"], bar["c"], bar["v"], bar["T"], "1000.0", bar["n"], "0", "0", "0"]
            for bar in bars[: int(query["limit"])]
        ]


def _contract(coin: str) -> dict[str, str]:
    symbol = contract_of(coin)
    return {
        "symbol": symbol, "status": "TRADING", "baseAsset": symbol.removesuffix("USDT"), "quoteAsset": "USDT",
        "contractType": "PERPETUAL", "underlyingType": "COIN",
    }  # fmt: skip


def _answer(body: object, date_ms: int) -> web.Response:
    date = formatdate(max(0, date_ms) / SECOND_MS, usegmt=True)
    return web.Response(text=json.dumps(body), headers={"Date": date})


class _HandSocket:
    """Stands for the feed's socket: a test calls what would hear its frames."""

    def __init__(self) -> None:
        self.hear: Callable[[Frame], None] | None = None

    async def listen(self, hear: Callable[[Frame], None]) -> None:
        self.hear = hear
        await asyncio.Event().wait()


class World:
    """An open market with its streams.

    Attributes:
        venues: What it asks.
        market: Its desks.
        steps: Every loop's step, by the loop's name.
        pushes: Whether the first venue pushes frames.
        tolerance: How far a price may be from the truth; a fraction.
    """

    def __init__(self, venues: Venues, database: Database, market: MarketData, socket: _HandSocket) -> None:
        self.venues = venues
        self.truth = venues.truth
        self.clock = venues.clock
        self.database = database
        self.market = market
        self.steps: dict[str, Callable[[], Awaitable[None]]] = {}
        self._socket = socket
        self.pushes = True
        self.tolerance = PRICE_TOLERANCE
        self._polled_s = -POLL_S

    async def do(self, *names: str) -> None:
        """Do loops' steps; an upstream's failure is what the loop would log."""
        for name in names:
            with suppress(UpstreamError):
                await self.steps[name]()

    async def push(self) -> None:
        """Have a frame pushed, and read."""
        assert self._socket.hear is not None
        self._socket.hear(self.venues.frame())
        await self.do("feed")

    async def step(self, seconds: float = FRAME_S) -> None:
        """Let time pass: a frame, an answer where it is due, and every quarter of a minute what looks at both."""
        self.clock.set_wall(self.clock.at_ms + round(seconds * SECOND_MS))
        self.clock.elapsed_s += seconds
        due = self.clock.elapsed_s - self._polled_s >= POLL_S
        if due:
            self._polled_s = self.clock.elapsed_s
            await self.do("quotes")
        if self.pushes:
            await self.push()
        if due:
            await self.do("alerts", "streams")

    async def run(self, seconds: float, look: bool = False) -> None:
        """Let the service run, and see that it serves nothing wrong.

        Args:
            seconds: How long, by its own clock.
            look: Whether to compare what it serves with what is so.
        """
        each_s = FRAME_S if self.pushes else POLL_S
        for _ in range(round(seconds / each_s)):
            await self.step(each_s)
            if look:
                expect_none(self.wrong())
        if look:
            expect_none(await self.streamed())

    async def warm_up(self) -> None:
        """A first start with honest venues: prices, days, payments, conclusions."""
        await self.do("quotes", "history", "conclude", "funding", "follow")
        await self.run(30)

    def risk(self, symbol: str) -> RiskContext | None:
        """What is served of a coin; null where the route answers that nothing can be said."""
        try:
            answer = self.market.coins.risk(symbol)
        except ServiceError as error:
            if error.code == "UNKNOWN_SYMBOL":
                raise
            return None
        assert isinstance(answer.data, msgspec.Raw)
        return msgspec.json.decode(bytes(answer.data), type=RiskContext)

    def wrong(self, *, is_first: bool = False) -> list[str]:
        """Everything served that is not so: values that look fresh, and old values that never were true.

        Args:
            is_first: Nothing is known from before: coins may be missing or be too many, but have no price, and nobody
                can tell what volumes and open interest are.
        """
        found: list[str] = []
        view = self.market.coins.view()
        strangers = set(view) - set(self.truth.symbols())
        found += [f"{name}: never listed" for name in sorted(strangers) if not is_first or view[name].price is not None]
        if not is_first:
            found += [f"{symbol}: not listed" for symbol in sorted(set(self.truth.symbols()) - set(view))]
        beside = {row.name: row for row in self.truth.shown(self.clock.now_ms()).rows}
        for coin in self.truth.coins:
            symbol = canonical(coin)
            if symbol not in view:
                continue
            seen = view[symbol]
            context = self.risk(symbol)
            if context is not None:
                found += self._wrong_values(coin, context)
            if is_first:
                continue
            row = beside[coin]
            if not _within(seen.volume_usd, float(row.volume), BESIDE_TOLERANCE):
                found.append(f"{symbol}: volume {seen.volume_usd:g}")
            true_price = float(row.price)
            interest = float(row.interest) * true_price
            if seen.open_interest_usd is not None and not _within(seen.open_interest_usd, interest, BESIDE_TOLERANCE):
                found.append(f"{symbol}: open interest {seen.open_interest_usd:g}")
            change = (true_price / float(row.prev) - 1) * 100
            if seen.change_24h is not None and abs(seen.change_24h - change) > BESIDE_TOLERANCE:
                found.append(f"{symbol}: change {seen.change_24h:.1f} for {change:.1f}")
        return found

    def _wrong_values(self, coin: str, context: RiskContext) -> list[str]:
        found, stale = [], set(context._stale_fields)
        now_ms = self.clock.now_ms()
        reach_ms = 11 * MINUTE_MS if "price" in stale else MINUTE_MS
        times = range(now_ms - reach_ms, now_ms + 1, reach_ms // 12)
        true = [self.truth.price(coin, at_ms) / size_of(coin) for at_ms in times]
        low, high = min(true) * (1 - self.tolerance), max(true) * (1 + self.tolerance)
        if context.price is not None and not low <= context.price <= high:
            found.append(f"{coin}: price {context.price:g} for {true[-1]:g}{' stale' if 'price' in stale else ''}")
        apr = self.truth.apr(coin)
        if context.funding_apr is not None and abs(context.funding_apr - apr) > FUNDING_TOLERANCE:
            found.append(f"{coin}: funding {context.funding_apr:g} for {apr:g}")
        return found

    def not_fresh(self) -> list[str]:
        """Coins whose price or funding is null or named stale."""
        contexts = {symbol: self.risk(symbol) for symbol in self.truth.symbols()}
        return [
            symbol
            for symbol, context in contexts.items()
            if context is None or {"price", "funding_apr"} & set(context._stale_fields)
        ]

    async def records(self) -> dict[str, object]:
        """What forging must not change: alerts, coins delisted, conclusions, events of the streams."""
        read = self.database.read
        return {
            "alerts": sorted(await read("SELECT id, zone, cleared_ms FROM funding_events")),
            "delisted": sorted(await read("SELECT venue_symbol FROM market_coins WHERE listed = 0")),
            "told": sorted(await read("SELECT stream, id FROM stream_told")),
            "conclusions": self.market.daily_report.current.value,
        }

    async def streamed(self) -> list[str]:
        """Prices in the newest state of the stream that were not true at their time."""
        rows = await self.database.read(
            "SELECT data FROM stream_states WHERE stream = 'prices' AND data IS NOT NULL ORDER BY seq DESC LIMIT 1"
        )
        ticks = json.loads(rows[0][0])["prices"] if rows else {}
        found = []
        now_ms = self.clock.now_ms()
        for coin in self.truth.coins:
            tick = ticks.get(canonical(coin))
            if tick is None:
                continue
            true = [self.truth.price(coin, now_ms - back * SECOND_MS) / size_of(coin) for back in range(0, 660, 60)]
            if not min(true) * (1 - self.tolerance) <= tick["price"] <= max(true) * (1 + self.tolerance):
                found.append(f"{coin}: streamed {tick['price']:g}")
        return found


def expect_none(found: Sequence[str]) -> None:
    assert not found, f"{len(found)}: {'; '.join(found[:5])}"


def _within(value: float, true: float, factor: float) -> bool:
    return true / factor <= value <= true * factor


@asynccontextmanager
async def open_world(path: Path, truth: TrueMarket | None = None, at_ms: int = START_MS) -> AsyncIterator[World]:
    """Open the market over forging venues; nothing has been asked yet.

    Args:
        path: The database, empty or a copy of an earlier one.
        truth: What is so.
        at_ms: When it begins.
    """
    clock = FakeClock(at_ms)
    venues = Venues(clock, truth or TrueMarket())
    socket = _HandSocket()
    tables: list[PeriodicTask] = []

    @asynccontextmanager
    async def captured(table: Sequence[PeriodicTask], _lead: Leadership, _clock: FakeClock) -> AsyncIterator[None]:
        tables.extend(table)
        yield

    @asynccontextmanager
    async def hand_socket(*_: object) -> AsyncIterator[_HandSocket]:
        yield socket

    app = web.Application()
    app.router.add_post("/info", venues.info)
    app.router.add_get("/binance/{path:.*}", venues.binance)

    def connected(*arguments: Any, **named: Any) -> SqliteConnection:
        connection = connect(*arguments, **named)
        connection.execute("PRAGMA synchronous=OFF")  # no power cut is tested here, and there are thousands of commits
        return connection

    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        venues.url = await enter(listening(app))
        for room in ("market", "watch", "sentiment"):
            stack.enter_context(patch(f"service.{room}.factory.running_tasks", captured))
        stack.enter_context(patch("service.market.factory.open_socket", hand_socket))
        stack.enter_context(patch("service.storage.opening.connect", connected))
        bases = {"hyperliquid": "", "binance": "/binance"}
        sessions = {
            name: await enter(
                open_session(
                    name, venues.url + bases.get(name, f"/{name}"), clock, weight_per_minute=AMPLE, deadline_s=20
                )
            )
            for name in ("hyperliquid", "binance", "coingecko", "alternative", "coindesk", "cointelegraph")
        }
        database = await enter(open_database(path, clock))
        shelf, lead = DocumentStore(database), Leadership(lambda: True)

        def origin() -> str:
            return ORIGIN

        market = await enter(
            open_market(database, shelf, Cursors(b"k" * 32), clock, sessions, f"{venues.url}/ws", origin, lead)
        )
        sentiment = await enter(open_sentiment(database, shelf, market, clock, sessions, origin, lead))
        await enter(open_stream_feed(database, Cursors(b"k" * 32), market, sentiment, clock, lead))
        world = World(venues, database, market, socket)
        world.steps = {loop.name: loop.step for loop in tables}
        listening_task = asyncio.ensure_future(world.steps["socket"]())
        await asyncio.sleep(0)
        try:
            yield world
        finally:
            listening_task.cancel()
            await asyncio.gather(listening_task, return_exceptions=True)


def hours_later(world: World, hours: float) -> None:
    """Set both clocks forward without a round in between."""
    world.clock.set_wall(world.clock.at_ms + round(hours * HOUR_MS))
    world.clock.elapsed_s += hours * 3_600

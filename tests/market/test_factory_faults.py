"""Everything an upstream can do wrong, done to an open room: it keeps answering from what it has, and says so."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count

import pytest
from aiohttp import web

from service.clock import DAY_MS, SECOND_MS
from service.errors import ServiceError
from service.market.factory import MarketData, open_market
from service.scheduler import Leadership
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.session import open_session
from service.wire.cursor import Cursors
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import TODAY, said, until
from tests.market.venue import Venue, context
from tests.upstream.faults import FAULTS, Fault, reset, too_many

DEADLINE_S = 0.3
QUOTES, BARS = "metaAndAssetCtxs", "candleSnapshot"
COINS = ("BTC", "ETH", "SOL")


class House:
    """An open room over a venue; the second venue answers 404 to everything."""

    def __init__(self, market: MarketData, venue: Venue, clock: FakeClock) -> None:
        self.market = market
        self.venue = venue
        self.clock = clock

    def fail(self, kind: str, fault: Fault) -> None:
        """Let requests of one type meet a fault."""

        async def chosen(request: web.Request) -> web.StreamResponse:
            asked = json.loads(await request.read())["type"]
            return await fault(request) if asked == kind else None  # type: ignore[return-value]

        self.venue.faults.next = chosen

    async def be_complete(self) -> None:
        await until(lambda: self.market.coins.readiness()["history"] == {"known": len(COINS), "total": len(COINS)})

    async def pass_time(self, seconds: float, done: Callable[[], bool]) -> None:
        """Let time pass, a second at a time, and what it starts come to its end, until something is so."""
        for _ in range(round(seconds)):
            await self.clock.advance(1)
            for _ in range(5):
                await asyncio.sleep(0.001)
            if done():
                return
        await until(done)

    @property
    def failing(self) -> bool:
        return bool(self.market.coins.readiness()["failing"])


@asynccontextmanager
async def opened(venue: Venue, database: Database, clock: FakeClock) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        sessions = {
            name: await stack.enter_async_context(
                open_session(name, venue.url + path, clock, weight_per_minute=1_000_000, deadline_s=DEADLINE_S)
            )
            for name, path in (("hyperliquid", ""), ("binance", "/binance"), ("coingecko", "/coingecko"))
        }
        room = open_market(
            database,
            DocumentStore(database),
            Cursors(b"k" * 32),
            clock,
            sessions,
            f"{venue.url}/no-feed",
            lambda: "test",
            Leadership(lambda: True),
        )
        yield House(await stack.enter_async_context(room), venue, clock)


@pytest.fixture
async def house(venue: Venue, database: Database, clock: FakeClock) -> AsyncIterator[House]:
    for coin in COINS:
        venue.list_coin(coin, range(TODAY - 120, TODAY + 2))
    async with opened(venue, database, clock) as made:
        await made.be_complete()
        yield made


@pytest.mark.slow
@pytest.mark.promise("risk.stale-limit", "time.as-of-honest", "errors.upstream-timeout-null")
@pytest.mark.parametrize("fault", FAULTS)
async def test_quotes_that_fail_leave_the_last_ones_named_stale_until_they_come_again(house: House, fault: str) -> None:
    house.fail(QUOTES, FAULTS[fault])
    await house.pass_time(20, lambda: house.failing)
    for coin in COINS:
        current = said(house.market.coins, coin)
        assert (current.price, current._stale_fields[:2]) == (100.0, ["price", "funding_apr"])
        assert current.trend_daily is not None
    assert house.market.coins.risk("SOL").as_of_ms == START_MS
    house.venue.faults.next = None
    house.venue.contexts["SOL"] = context("101.0")
    await house.pass_time(120, lambda: not house.failing)
    assert said(house.market.coins, "SOL").price == 101.0


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_bars_that_fail_leave_the_trends_of_the_last_day_until_they_come(house: House, fault: str) -> None:
    before = said(house.market.coins, "SOL")
    house.fail(BARS, FAULTS[fault])
    house.clock.set_wall((TODAY + 1) * DAY_MS + 10 * SECOND_MS)
    asked = len(house.venue.asked_bars())
    await house.pass_time(120, lambda: len(house.venue.asked_bars()) > asked)
    through_ms = (TODAY + 1) * DAY_MS
    await house.pass_time(120, lambda: (house.market.coins.state.quotes_ms or 0) > through_ms)
    current = said(house.market.coins, "SOL")
    assert (current.trend_daily, current.trend_daily_since) == (before.trend_daily, before.trend_daily_since)
    house.venue.faults.next = None
    await house.pass_time(400, lambda: {coin.through_ms for coin in house.market.coins.view().values()} == {through_ms})
    assert said(house.market.coins, "SOL")._stale_fields == ["sentiment_stance"]


@pytest.mark.slow
async def test_with_a_third_of_all_requests_lost_prices_stay_fresh_and_history_becomes_complete(
    venue: Venue, database: Database, clock: FakeClock
) -> None:
    for coin in COINS:
        venue.list_coin(coin, range(TODAY - 120, TODAY + 2))
    numbers = count()

    async def lossy(request: web.Request) -> web.StreamResponse:
        return await reset(request) if next(numbers) % 10 in {2, 5, 9} else None  # type: ignore[return-value]

    venue.faults.next = lossy
    async with opened(venue, database, clock) as house:
        coins = house.market.coins
        await house.pass_time(200, lambda: coins.readiness()["history"] == {"known": 3, "total": 3})
        for _ in range(20):
            began_ms = clock.now_ms()
            await house.pass_time(45, lambda began_ms=began_ms: (coins.state.quotes_ms or 0) >= began_ms)  # type: ignore[misc]
            assert said(coins, "SOL").price == 100.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [QUOTES, BARS])
async def test_nothing_is_asked_before_the_time_that_a_429_named(house: House, kind: str) -> None:
    house.fail(kind, too_many("60"))
    if kind == BARS:
        house.clock.set_wall((TODAY + 1) * DAY_MS + 10 * SECOND_MS)
    before = len(house.venue.asked(kind))
    await house.pass_time(20, lambda: len(house.venue.asked(kind)) > before)
    house.venue.faults.next = None
    refused = len(house.venue.faults.requests)
    await nothing_comes(house, 59, refused)
    await house.pass_time(120, lambda: not house.failing and len(house.venue.faults.requests) > refused)


async def nothing_comes(house: House, seconds: int, known: int) -> None:
    for _ in range(seconds):
        await house.clock.advance(1)
        await asyncio.sleep(0.002)
        assert len(house.venue.faults.requests) == known


async def test_a_thousand_misses_on_one_symbol_ask_the_venue_nothing(house: House) -> None:
    for _ in range(1_000):
        with pytest.raises(ServiceError) as refused:
            house.market.coins.risk("NOSUCHCOIN")
        assert refused.value.code == "UNKNOWN_SYMBOL"
    await asyncio.sleep(0.01)
    assert not [asked for asked in house.venue.faults.requests if b"NOSUCHCOIN" in asked]


async def test_a_thousand_calls_before_the_first_answer_wait_for_one_request(
    venue: Venue, database: Database, clock: FakeClock
) -> None:
    venue.list_coin("BTC", range(TODAY - 120, TODAY + 1))
    release = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        await release.wait()
        return None  # type: ignore[return-value]

    venue.faults.next = slow
    async with opened(venue, database, clock) as house:
        await venue.faults.came(1)
        for _ in range(1_000):
            with pytest.raises(ServiceError) as refused:
                house.market.coins.risk("BTC")
            assert refused.value.code == "UNAVAILABLE"
        assert len(venue.asked(QUOTES)) == 1
        release.set()
        await until(lambda: "BTC" in house.market.coins.view())

"""The whole room over the replay: Hyperliquid's `xyz` and Binance on one wire, with faults put in their place."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from fixtures.assets import ASSETS
from service.clock import DAY_MS, SECOND_MS
from service.errors import ServiceError
from service.market.models import Quotes
from service.market.past_prices import PastPriceReader, PriceRecorder
from service.market.store import MarketStore
from service.rwa.documents import RwaDocuments
from service.rwa.factory import open_rwa
from service.rwa.service import RwaService
from service.scheduler import Leadership
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.replay.server import Replay, replay_server
from service.upstream.session import open_session
from service.wire.rwa import RwaAsset, RwaAssets
from tests.fakes.clock import START_MS, FakeClock
from tests.rwa.parts import Coin, read
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES

AMPLE = 10_000_000
XYZ = {asset.ticker for asset in ASSETS if asset.category.lower() != "rates"}
ON_BINANCE = {"TSLA", "NVDA", "AAPL", "AMZN", "COIN", "MSTR", "HOOD", "GOLD", "SILVER", "PLATINUM", "CL"}


class Stand:
    """A running replay, with faults by upstream.

    Attributes:
        hyperliquid: What stands in Hyperliquid's place; null for itself.
        binance: What stands in Binance's.
        leads: Whether this process fetches.
        held: The history that the store holds.
        asked: Paths of the requests that came.
    """

    def __init__(self, replay: Replay, database: Database, clock: FakeClock) -> None:
        self.replay, self.database, self.clock = replay, database, clock
        self.hyperliquid: faults.Fault | None = None
        self.binance: faults.Fault | None = None
        self.leads = True
        self.held = ""
        self.store = MarketStore(database)
        self.recorder = PriceRecorder(clock, database, lambda: replay.origin)
        self.past = PastPriceReader(clock, database, self.recorder.coins, lambda _: None)
        self.asked: list[str] = []
        replay.interceptor = self._intercept

    async def _intercept(self, request: web.Request) -> web.StreamResponse | None:
        self.asked.append(request.path)
        fault = self.binance if request.path.startswith("/binance") else self.hyperliquid
        return await fault(request) if fault and request.path != "/ws" else None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[RwaService]:
        async with (
            open_session("hyperliquid", self.replay.url, self.clock, weight_per_minute=AMPLE, deadline_s=20) as first,
            open_session(
                "binance", self.replay.base("binance"), self.clock, weight_per_minute=AMPLE, deadline_s=20
            ) as second,
        ):
            await self.claim()
            async with open_rwa(
                DocumentStore(self.database),
                self.store,
                self.clock,
                {"hyperliquid": first, "binance": second},
                lambda: self.replay.origin,
                Leadership(lambda: self.leads),
                lambda: {"BTC": Coin(117_700.0), "HYPE": Coin(42.8)},
                lambda: self.held,
                self.past,
                self.recorder,
            ) as desk:
                yield desk

    async def claim(self) -> None:
        """Make the store hold the present history, as the market room does with its next quotes."""
        await self.store.claim(self.replay.origin)
        self.held = self.replay.origin

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let everything run, and now and then a second pass, until something is so."""
        async with asyncio.timeout(20):
            while not condition():
                for _ in range(10):
                    await asyncio.sleep(0.0005)
                await self.recorder.round()
                await self.past.refresh()
                await self.clock.advance(1)


@pytest.fixture
async def stand(database: Database) -> AsyncIterator[Stand]:
    clock = FakeClock(START_MS + 400 * DAY_MS)
    async with replay_server(FIXTURES, clock, "shifted") as replay:
        yield Stand(replay, database, clock)


def told(desk: RwaService, symbol: str) -> RwaAsset:
    return read(desk.symbol(symbol), RwaAsset)


def answers(desk: RwaService, symbol: str) -> bool:
    try:
        desk.symbol(symbol)
    except ServiceError:
        return False
    return True


def known(desk: RwaService) -> bool:
    history = desk.readiness()["history"]
    return history == {"known": len(XYZ), "total": len(XYZ)} and answers(desk, "AAPL")


@pytest.mark.slow
@pytest.mark.promise("start.ready")
async def test_bars_are_read_and_prices_confirmed_as_soon_as_the_listing_has_come(stand: Stand) -> None:
    async with stand.open() as desk, asyncio.timeout(20):
        while not (known(desk) and all(has_price(desk, symbol) for symbol in XYZ)):
            await stand.clock.settle()
        assert stand.clock.now_ms() == START_MS + 400 * DAY_MS


def has_change(desk: RwaService, symbol: str) -> bool:
    """Whether a change of the price is told: the hours of a day ago come after the daily bars."""
    return answers(desk, symbol) and told(desk, symbol).change_24h is not None


def has_price(desk: RwaService, symbol: str) -> bool:
    """Whether a price is told: one that came before its bars is held back until the next round."""
    return answers(desk, symbol) and told(desk, symbol).price is not None


@pytest.mark.promise("assets.lists", "rwa.no-wrappers", "rwa.symbol-payload")
async def test_every_asset_of_the_dex_answers_and_no_wrapper_does(stand: Stand) -> None:
    async with stand.open() as desk:
        await stand.until(lambda: known(desk) and all(has_change(desk, symbol) for symbol in XYZ))
        listed = read(desk.assets(None, 1_000), RwaAssets)
        assert {asset.symbol for asset in listed.assets} == XYZ
        assert listed.count == len(XYZ)
        for asset in listed.assets:
            answer = desk.symbol(asset.id)
            assert answer.as_of_ms is not None
            assert 0 <= stand.clock.now_ms() - answer.as_of_ms < 60 * SECOND_MS
            seen = read(answer, RwaAsset)
            assert (seen.id, seen.name, seen.assetType) == (asset.id, asset.name, asset.assetType)
            assert seen.price is not None
            assert seen.open_interest_usd
            assert seen.volume_24h_usd
            assert seen.trend_daily in {"UP", "DOWN"}
            assert seen._stale_fields == [] if seen.trend_weekly else ["trend_weekly"]
        for wrapper in ("HYPE", "xyz:HYPE", "BTC"):
            assert not answers(desk, wrapper)


@pytest.mark.slow
async def test_a_restart_and_a_follower_answer_from_the_store_alone(stand: Stand) -> None:
    async with stand.open() as desk:
        await stand.until(lambda: known(desk))
        before = told(desk, "GOLD")
    stand.leads = False
    asked = len(stand.asked)
    async with stand.open() as desk:
        after = told(desk, "GOLD")
    assert after.price == before.price
    assert after.trend_daily == before.trend_daily
    assert stand.asked[asked:] == []


@pytest.mark.slow
@pytest.mark.promise("risk.fall-back-venue")
@pytest.mark.parametrize(
    "fault",
    [
        faults.answer(500, b"broken"),
        faults.answer(429, b"slow down", Retry_After="30"),
        faults.answer(403, b"not from here"),
        faults.html,
        faults.not_a_number,
        faults.reset,
        faults.cut_short,
        faults.gzip_bomb,
        faults.endless,
        faults.answer(200, b"null"),
        faults.redirect("http://127.0.0.1:9/"),
    ],
    ids=["500", "429", "403", "html", "NaN", "reset", "cut", "bomb", "endless", "null", "redirect"],
)
async def test_while_hyperliquid_fails_binance_stands_in_and_the_rest_is_named(
    stand: Stand, fault: faults.Fault
) -> None:
    async with stand.open() as desk:
        await stand.until(lambda: all(answers(desk, symbol) for symbol in XYZ))
        ours = {symbol: told(desk, symbol).price or 0.0 for symbol in XYZ}
        stand.hyperliquid = fault
        await stand.until(lambda: told(desk, "AAPL").venue == "binance")
        for symbol in sorted(XYZ):
            seen = told(desk, symbol)
            assert seen.price == pytest.approx(ours[symbol], rel=0.01)
            if symbol in ON_BINANCE:
                assert (seen.venue, seen.funding.interval_hours in {4.0, 8.0}) == ("binance", True)
                assert {"price", "funding"}.isdisjoint(seen._stale_fields)
            else:
                assert seen.venue == "hyperliquid"
                assert {"price", "funding"} <= set(seen._stale_fields)
        stand.hyperliquid = None
        await stand.until(lambda: told(desk, "AAPL").venue == "hyperliquid")


@pytest.mark.slow
async def test_when_both_fail_the_last_values_are_named_and_then_gone(stand: Stand) -> None:
    async with stand.open() as desk:
        await stand.until(lambda: answers(desk, "AAPL"))
        stand.hyperliquid, stand.binance = faults.answer(503, b"down"), faults.answer(451, b"not here")
        await stand.until(lambda: "price" in told(desk, "AAPL")._stale_fields)
        assert told(desk, "AAPL").price is not None
        await stand.clock.advance(610)
        await stand.until(lambda: not answers(desk, "AAPL"))
        with pytest.raises(ServiceError) as gone:
            desk.symbol("AAPL")
        assert gone.value.details is not None
        assert gone.value.details["upstream"] == "hyperliquid"
        assert desk.assets(None, 1).as_of_ms is not None


@pytest.mark.slow
async def test_the_recorded_day_turns_without_a_wrong_word(stand: Stand) -> None:
    """At midnight the replay's history moves by a day: all of it is fetched anew, none of it mixed."""
    async with stand.open() as desk:
        await stand.until(lambda: known(desk))
        documents = desk._documents
        old = stand.replay.origin
        await stand.clock.advance(12 * 3_600)
        assert stand.replay.origin != old
        await stand.claim()
        await stand.until(lambda: {stand.replay.origin} == _origins(documents))
        await stand.until(lambda: known(desk))
        await stand.until(lambda: told(desk, "AAPL")._stale_fields == [])
        assert isinstance(documents.quotes.current.value, Quotes)


def _origins(documents: RwaDocuments) -> set[str]:
    return {documents.listing.current.origin, documents.quotes.current.origin, documents.charts.current.origin}


async def test_a_room_that_does_not_lead_asks_nobody(stand: Stand) -> None:
    stand.leads = False
    async with stand.open() as desk:
        await stand.clock.advance(120)
        with pytest.raises(ServiceError, match="not available yet"):
            desk.symbol("AAPL")
    assert stand.asked == []

"""The room with its loops: one leads, the others follow, nothing ends a loop, and a restart answers at once."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from service.clock import HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.market.factory import MarketData, open_market
from service.market.ingest.quotes import QUOTES_EVERY_S
from service.market.service import MarketService
from service.scheduler import Leadership, already_set
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.upstream.session import UpstreamSession, open_session
from service.wire.cursor import Cursors
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import TODAY, said, until
from tests.market.venue import Venue, context, hour, payment
from tests.upstream.faults import answer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def listed(venue: Venue) -> Venue:
    for coin in ("BTC", "ETH", "SOL"):
        venue.list_coin(coin, range(TODAY - 120, TODAY + 2))
    return venue


class World:
    """What a room is opened with, and may change while it is open.

    Attributes:
        market: The room, once it has been opened.
    """

    market: MarketData

    def __init__(self, url: str) -> None:
        self.url = url
        self.origin = "test"
        self.leads = True
        self.ready = already_set()

    @asynccontextmanager
    async def open(
        self, database: Database, session: UpstreamSession, clock: FakeClock
    ) -> AsyncIterator[MarketService]:
        async with AsyncExitStack() as stack:
            sessions = {"hyperliquid": session}
            for name in ("binance", "coingecko"):
                opened = open_session(name, f"{self.url}/{name}", clock, weight_per_minute=1_000, deadline_s=20)
                sessions[name] = await stack.enter_async_context(opened)
            market = await stack.enter_async_context(
                open_market(
                    database,
                    DocumentStore(database),
                    Cursors(b"k" * 32),
                    clock,
                    sessions,
                    f"{self.url}/ws",
                    lambda: self.origin,
                    Leadership(lambda: self.leads, ready=self.ready),
                )
            )
            self.market = market
            yield market.coins


@pytest.fixture
def world(venue: Venue) -> World:
    return World(venue.url)


def is_complete(desk: MarketService) -> bool:
    state = desk.readiness()
    return bool(state["coins"]) and state["history"] == {"known": state["coins"], "total": state["coins"]}


async def test_an_opened_room_fetches_until_everything_is_known(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        with pytest.raises(ServiceError, match="not available yet"):
            desk.risk("BTC")
        await until(lambda: is_complete(desk))
        assert desk.readiness()["ready"] is True
        assert said(desk, "SOL")._stale_fields == ["sentiment_stance"]


async def test_what_takes_long_waits_for_momentum_and_then_for_readiness(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    world.ready.clear()
    async with world.open(database, session, clock):
        await until(lambda: bool(world.ready._waiters))
        assert not world.market.momentum_ready.is_set()
        world.ready.set()
        async with asyncio.timeout(20):
            await world.market.momentum_ready.wait()


@pytest.mark.promise("risk.refresh")
async def test_quotes_are_refreshed_every_fifteen_seconds(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        for later in (1, 2):
            await clock.advance(QUOTES_EVERY_S - 0.001)
            assert len(listed.asked("metaAndAssetCtxs")) == later
            await clock.advance(0.001)
            await until(lambda later=later: desk.risk("BTC").as_of_ms == START_MS + later * 15 * SECOND_MS)  # type: ignore[misc]


@pytest.mark.slow
async def test_after_midnight_the_new_bars_come_by_themselves(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        clock.set_wall(START_MS + 43_210 * SECOND_MS)
        await clock.advance(15)
        await until(lambda: len(listed.asked_bars()) == 6)
        await until(lambda: said(desk, "SOL")._stale_fields == ["sentiment_stance"])


async def test_a_restart_answers_at_once_from_what_was_stored(
    listed: Venue, tmp_path: Path, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    path = tmp_path / "verdict.db"
    async with open_database(path, clock) as database, world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        before = said(desk, "SOL")
    listed.faults.next = answer(500, b"down")
    async with open_database(path, clock) as database, world.open(database, session, clock) as desk:
        assert said(desk, "SOL") == before
        assert desk.risk("SOL").as_of_ms == START_MS
        assert desk.readiness()["ready"] is True
        await until(lambda: desk.readiness()["failing"] is True)
        assert said(desk, "SOL").price == before.price


async def test_a_follower_answers_what_the_leader_stored_and_asks_nobody(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    follower = World(listed.url)
    follower.leads = False
    async with follower.open(database, session, clock) as second:
        await clock.advance(30)
        assert listed.faults.requests == []
        async with world.open(database, session, clock) as first:
            await until(lambda: is_complete(first))
            await clock.advance(1)
            await until(lambda: is_complete(second))
            assert said(second, "SOL") == said(first, "SOL")


async def test_a_follower_that_comes_to_lead_fetches(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    world.leads = False
    async with world.open(database, session, clock) as desk:
        await clock.advance(60)
        assert listed.faults.requests == []
        world.leads = True
        await clock.advance(QUOTES_EVERY_S)
        await until(lambda: is_complete(desk))


@pytest.mark.slow
async def test_when_the_origin_changes_prices_pass_over_and_history_is_fetched_anew(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        await settled()  # a round that is under way would begin its wait only after the clock has advanced
        world.origin = "tomorrow"
        listed.list_coin("SOL", range(TODAY - 120, TODAY + 2), 0.97, price="50.0")
        await clock.advance(QUOTES_EVERY_S)
        await until(lambda: desk.view()["SOL"].price in {None, 50.0})
        async with asyncio.timeout(60):
            while desk.view()["SOL"].price != 50.0:  # bars confirm it as soon as they are there
                await clock.advance(1)
                await settled()
        await clock.advance(QUOTES_EVERY_S)
        await until(lambda: is_complete(desk))
        assert len(listed.asked_bars()) == 6


async def test_a_venue_that_is_down_is_asked_again_and_again(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    listed.faults.next = answer(500, b"down")
    async with world.open(database, session, clock) as desk:
        await until(lambda: desk.readiness()["failing"] is True)
        with pytest.raises(ServiceError) as refused:
            desk.risk("BTC")
        assert refused.value.code == "UPSTREAM_5XX"
        listed.faults.next = None
        await clock.advance(QUOTES_EVERY_S)
        await until(lambda: is_complete(desk))


async def test_what_the_venue_pushes_is_answered_within_five_seconds_without_a_round(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        await until(lambda: bool(listed.heard))
        assert listed.heard == [{"method": "subscribe", "subscription": {"type": "assetCtxs", "dex": ""}}]
        await clock.advance(4)
        listed.contexts["SOL"] = context("102.0")
        await listed.push()
        await settled()
        await clock.advance(1)
        await until(lambda: said(desk, "SOL").price == 102.0)
        assert desk.risk("SOL").as_of_ms == START_MS + 4 * SECOND_MS
        assert len(listed.asked("metaAndAssetCtxs")) == 1


async def test_a_socket_that_breaks_changes_nothing_but_freshness_and_is_opened_again(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    async with world.open(database, session, clock) as desk:
        await until(lambda: len(listed.sockets) == 1 and is_complete(desk))
        await listed.sockets[0].close()
        await until(lambda: not listed.sockets)
        await clock.advance(15)
        await until(lambda: desk.risk("SOL").as_of_ms == START_MS + 15 * SECOND_MS)
        assert said(desk, "SOL")._stale_fields == ["sentiment_stance"]
        await until(lambda: len(listed.sockets) == 1)


async def test_only_the_process_that_leads_opens_the_socket(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    world.leads = False
    async with world.open(database, session, clock):
        await clock.advance(30)
        assert (listed.sockets, listed.faults.requests) == ([], [])
        assert "hourly" not in world.market.readiness()
        world.leads = True
        await clock.advance(15)
        await until(lambda: len(listed.sockets) == 1)


@pytest.mark.slow
async def test_readiness_tells_how_far_the_series_by_the_hour_are(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    hours = range(START_MS // HOUR_MS - 48, START_MS // HOUR_MS + 1)
    listed.hours["SOL"] = [hour("SOL", number, 100.0) for number in hours]
    listed.funding = {coin: [payment(coin, number) for number in hours] for coin in ("BTC", "ETH")}
    async with world.open(database, session, clock):
        for _ in range(3):
            await clock.advance(30)
            await settled()
        assert world.market.readiness().items() >= {
            "history": {"known": 3, "total": 3},
            "hourly": {"known": 1, "total": 3},
            "funding": {"known": 2, "total": 3},
        }.items()  # fmt: skip


async def settled() -> None:
    """Let what is under way over sockets come to its end."""
    for _ in range(100):
        await asyncio.sleep(0.001)


async def test_a_closed_room_leaves_no_task_behind(
    listed: Venue, database: Database, session: UpstreamSession, clock: FakeClock, world: World
) -> None:
    before = asyncio.all_tasks()
    async with world.open(database, session, clock) as desk:
        await until(lambda: is_complete(desk))
        assert len(asyncio.all_tasks() - before) >= 3
    left = {task for task in asyncio.all_tasks() - before if "market" in repr(task.get_coro())}
    assert left == set()


@pytest.mark.process
def test_a_process_that_only_answers_does_not_load_numpy() -> None:
    loaded = "import sys, service.market.factory; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, timeout=60, check=False).returncode == 0

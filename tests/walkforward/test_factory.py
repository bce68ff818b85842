"""The factory, opened: who runs, when, and that nothing of a run is left when it closes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from service.market.daily_report.models import DAILY_REPORT, DailyReport
from service.market.service import MarketService
from service.market.store import MarketStore
from service.scheduler import Leadership
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.replay.recording import frozen_at
from service.walkforward import engine, factory
from service.walkforward.factory import open_walkforward
from service.walkforward.histories import read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import PackedRun
from service.walkforward.refresh import EVERY_S, QUIET_S
from service.walkforward.service import WalkforwardService
from service.walkforward.store import RunStore
from service.walkforward.worker import WalkforwardJob
from service.wire.cursor import Cursors
from service.wire.queries import WalkforwardQuery
from service.wire.walkforward import WalkforwardSignals
from tests.fakes.clock import FakeClock
from tests.fakes.market import market_of
from tests.upstream.conftest import FIXTURES
from tests.walkforward.histories import hold_history


class Opened:
    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.leads = True
        self.database, self.clock = database, clock
        self.known = asyncio.Event()
        self.market = market_of(coins=MarketService(clock), store=MarketStore(database), prices_known=self.known)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[WalkforwardService]:
        cursors = Cursors(bytes(32))
        opened = open_walkforward(
            self.database, cursors, self.market, self.clock, lambda: "live", Leadership(lambda: self.leads)
        )
        async with opened as desk:
            yield desk


@pytest.fixture
def opened(database: Database, clock: FakeClock) -> Opened:
    return Opened(database, clock)


async def advance_until(clock: FakeClock, event: asyncio.Event) -> None:
    """Move the clock until something has happened; the store's threads work meanwhile."""
    while not event.is_set():
        await clock.advance(EVERY_S)
        await asyncio.sleep(0.005)


async def message(desk: WalkforwardService) -> str:
    told = (await desk.walkforward(WalkforwardQuery())).data
    assert isinstance(told, WalkforwardSignals)
    return told.meta.message or ""


@pytest.mark.process
async def test_once_there_are_coins_the_leader_walks_and_every_process_tells_it(
    opened: Opened, database: Database, clock: FakeClock
) -> None:
    await hold_history(database, "live", days=4)
    follower = Opened(database, clock)
    follower.leads = False
    follower.known.set()
    runs = RunStore(database)
    async with opened.open() as leading, follower.open() as following:
        await clock.advance(QUIET_S * 2)
        assert "No run has finished yet" in await message(leading)
        opened.known.set()
        await clock.settle()
        while await runs.newest("live") is None:
            await clock.advance(EVERY_S)
            await asyncio.sleep(0.01)
        assert "4 days are recorded" in await message(leading)
        assert "4 days are recorded" in await message(following)
    assert await database.read("SELECT count(*) FROM walkforward_runs") == [(1,)]


async def test_a_run_that_is_under_way_ends_when_the_room_closes(
    opened: Opened, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hold_history(database, "live")
    went: list[str] = []
    begun = asyncio.Event()

    async def endless(_job: WalkforwardJob, _heard: Callable[[int, int], None]) -> PackedRun:
        went.append("begun")
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            went.append("ended")
        raise AssertionError

    monkeypatch.setattr(factory, "run_in_process", endless)
    opened.known.set()
    async with opened.open():
        await advance_until(clock, begun)
        assert went == ["begun"]
    assert went == ["begun", "ended"]


def begin_only(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let runs begin and never end; the event is set when one has begun."""
    begun = asyncio.Event()

    async def run(_job: WalkforwardJob, _heard: Callable[[int, int], None]) -> PackedRun:
        begun.set()
        return await asyncio.Future[PackedRun]()

    monkeypatch.setattr(factory, "run_in_process", run)
    return begun


async def test_the_first_run_waits_until_alerts_momentum_and_series_are_there(
    opened: Opened, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hold_history(database, "live")
    begun = begin_only(monkeypatch)
    summed = asyncio.Event()
    opened.known.set()
    opened.market = replace(opened.market, momentum_ready=summed)
    async with opened.open():
        await clock.advance(QUIET_S * 2)
        assert not begun.is_set()
        summed.set()
        await advance_until(clock, begun)


@pytest.mark.promise("start.walkforward")
async def test_a_walk_forward_on_recorded_history_is_begun_at_once_and_not_after_a_quiet_minute(
    opened: Opened, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hold_history(database, "live")
    begun = begin_only(monkeypatch)
    opened.known.set()
    concluded = DocumentStore(database).document(DAILY_REPORT, DailyReport)
    opened.market = replace(opened.market, is_recorded=True, daily_report=concluded)
    began_ms = clock.now_ms()
    async with opened.open():
        await begun.wait()
    assert clock.now_ms() == began_ms


@pytest.mark.slow
@pytest.mark.promise("start.walkforward")
def test_a_walk_forward_of_the_fixtures_has_no_more_steps_than_fit_in_a_minute() -> None:
    # A step is a back-test or a plan of a shortened tape: 12 ms of CPU on the slowest machine that was measured.
    class EnoughError(Exception):
        pass

    def report(_done: int, total: int) -> None:
        totals.append(total)
        raise EnoughError

    totals: list[int] = []
    now_ms = frozen_at(FIXTURES)
    with pytest.raises(EnoughError):
        engine.run_walkforward(
            WalkforwardRequest(now_ms, Parameters(), read_recordings(FIXTURES / "hyperliquid", now_ms)), report
        )
    assert 0 < totals[0] * 12 < 45_000

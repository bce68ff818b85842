"""The room with its loops: one process records, issues and scores, the others answer all the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from service.clock import SECOND_MS, iso
from service.routes.call import Call
from service.routes.signals import signal
from service.scheduler import Leadership
from service.storage.database import Database
from service.verdict.daily import DAILY_EVERY_S, MOST_WAIT_S
from service.verdict.factory import open_verdict
from service.verdict.inputs import RECORD_EVERY_S
from service.verdict.scorecard import BACKTEST, SCORECARD
from service.verdict.service import VerdictService
from service.wire.queries import SignalQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.knowing import COINS, World, read
from tests.verdict.scorecards import card, cell


class Office(World):
    """One process, its room not opened yet."""

    def __init__(self, database: Database, clock: FakeClock, *, leads: bool = True) -> None:
        super().__init__(database, clock)
        self.leads = leads

    @asynccontextmanager
    async def open(self) -> AsyncIterator[VerdictService]:
        for name in (SCORECARD, BACKTEST):
            self.shelf._documents.pop(name)  # the room opens its own
        opened = open_verdict(
            self.database,
            self.shelf,
            self.market,
            self.sentiment,
            self.clock,
            lambda: self.origin,
            Leadership(lambda: self.leads),
        )
        async with opened as desk:
            yield desk


@pytest.fixture
async def office(database: Database, clock: FakeClock) -> Office:
    made = Office(database, clock)
    await made.know()
    return made


async def rows(office: Office) -> int:
    ((number,),) = await office.database.read("SELECT count(*) FROM verdict_inputs")
    return int(number)


async def test_once_coins_are_known_inputs_are_recorded_and_the_days_verdicts_issued(office: Office) -> None:
    async with office.open():
        for _ in range(20):  # reads wait in one queue with the loops' own, so these have come a long way by then
            assert (await rows(office), await office.entries()) == (0, [])
            assert await office.database.read("SELECT 1 FROM documents WHERE name = 'verdict.scorecard'") == []
        office.market.prices_known.set()
        async with asyncio.timeout(20):
            while not await rows(office):  # noqa: ASYNC110 - a loop of the room's own
                await asyncio.sleep(0)
            assert (await rows(office), await office.entries()) == (1, [])  # of two coins not everything is known
            while not await office.entries():
                await office.clock.advance(MOST_WAIT_S / 4)
        assert [(kind, symbol) for kind, symbol, _ in await office.entries()] == [
            ("daily", symbol) for symbol in sorted(COINS)
        ]


async def test_a_process_that_does_not_lead_answers_and_writes_nothing_unasked(office: Office) -> None:
    office.leads = False
    office.market.prices_known.set()
    async with office.open() as desk:
        await office.clock.settle()
        await office.clock.advance(max(RECORD_EVERY_S, DAILY_EVERY_S))
        assert (await rows(office), await office.entries()) == (0, [])
        said = read(await desk.signal(SignalQuery("BTC")))
        assert [(kind, symbol) for kind, symbol, _ in await office.entries()] == [("asked", "BTC")]
        assert said.sources.regime == "fulfilled"


async def test_an_opened_room_knows_the_record_that_others_made(office: Office, database: Database) -> None:
    others = World(database, office.clock)
    await others.scorecard.put(office.origin, card(cell(40, ups=30, verdict="strong-bull")), START_MS)
    async with office.open() as desk:
        record = read(await desk.signal(SignalQuery("BTC"))).record
        assert record is not None
        assert [(each.days, each.outcomes) for each in record.live.all_coins] == [(1, 40), (3, 0), (7, 0)]


@pytest.mark.promise("signal.as-of-replay", "signal.fan-out")
async def test_the_route_hands_its_parameters_over(office: Office) -> None:
    async with office.open() as desk:
        now = read(await signal(desk, Call(SignalQuery("btc"), None, None)))
        then = read(await signal(desk, Call(SignalQuery("btc", iso(START_MS)), None, None)))
        assert now.verdict_id == then.verdict_id
        assert START_MS % SECOND_MS == 0

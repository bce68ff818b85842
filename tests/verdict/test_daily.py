"""Once a day, when the day is published, every listed coin is judged: whoever asks for what."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from service.clock import DAY_MS
from service.market.daily_report.models import DailyReport
from service.storage.database import Database
from service.storage.documents import Document
from service.verdict.daily import MOST_WAIT_S, DailyVerdicts
from service.verdict.ledger import Ledger
from service.wire.verdict import VerdictInputs
from tests.fakes.clock import START_MS, FakeClock
from tests.verdict.issuing import ORIGIN, known
from tests.verdict.knowing import CLOSE_MS, World, concluded

DAY = CLOSE_MS // DAY_MS - 1


class Stage:
    """A market that tests conclude, and a day's verdicts."""

    def __init__(self, database: Database, clock: FakeClock, world: World) -> None:
        self.database, self.clock, self.world, self.origin = database, clock, world, ORIGIN
        self.inputs: Sequence[VerdictInputs] = [known("BTC", 100.0), known("ETH", 5.0), known("SOL", 7.0, "bear")]
        self.observed = 0
        self.daily = self.new_daily()

    def new_daily(self) -> DailyVerdicts:
        ledger = Ledger(self.database)
        return DailyVerdicts(self.clock, self.world.conclusions, ledger, self.observe, lambda: self.origin)

    async def observe(self) -> Sequence[VerdictInputs]:
        self.observed += 1
        return self.inputs

    async def entries(self) -> list[tuple[object, ...]]:
        return await self.database.read("SELECT kind, day, symbol, verdict FROM verdict_ledger ORDER BY seq")

    async def round(self) -> int:
        await self.daily.round()
        return len(await self.entries())


@pytest.fixture
def stage(database: Database, clock: FakeClock) -> Stage:
    return Stage(database, clock, World(database, clock))


async def publish(drawer: Document[DailyReport], *, days: int = 0, origin: str = ORIGIN) -> None:
    through_ms = CLOSE_MS + days * DAY_MS
    await drawer.put(origin, concluded(through_ms), through_ms)


async def test_a_published_day_has_one_verdict_of_every_coin_abstentions_too(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    stage.inputs = [*(known(f"C{place}", 5.0) for place in range(9)), known("DARK", None)]
    assert await stage.round() == 10
    found = await stage.entries()
    assert {(kind, day) for kind, day, *_ in found} == {("daily", DAY)}
    assert [verdict for *_, verdict in found] == ["bull"] * 9 + ["insufficient-evidence"]


async def test_nothing_is_issued_before_a_day_is_published(stage: Stage) -> None:
    assert await stage.round() == 0
    assert stage.observed == 0


async def test_of_a_day_that_was_issued_the_store_is_not_asked_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(stage.world.conclusions)
    assert await stage.round() == 3
    monkeypatch.delattr(Ledger, "has_day")
    assert await stage.round() == 3


async def test_a_day_is_issued_once_also_by_a_process_that_comes_to_lead(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    assert await stage.round() == 3
    assert await stage.round() == 3
    stage.daily = stage.new_daily()
    assert await stage.round() == 3
    assert stage.observed == 1


async def test_the_next_day_is_issued_when_it_is_published(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    await stage.round()
    await stage.clock.advance(DAY_MS / 1000)
    assert await stage.round() == 3
    await publish(stage.world.conclusions, days=1)
    assert await stage.round() == 6
    assert [day for _, day, *_ in await stage.entries()] == [DAY] * 3 + [DAY + 1] * 3


async def test_a_day_may_be_issued_in_the_very_moment_it_closes(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    stage.clock.set_wall(CLOSE_MS)
    assert await stage.round() == 3


async def test_a_day_that_closed_more_than_a_day_ago_is_past(stage: Stage) -> None:
    """What is known now is no verdict of then."""
    await publish(stage.world.conclusions)
    stage.clock.set_wall(CLOSE_MS + DAY_MS)
    assert await stage.round() == 0
    stage.clock.set_wall(CLOSE_MS - 1)
    assert await stage.round() == 0
    stage.clock.set_wall(CLOSE_MS + DAY_MS - 1)
    assert await stage.round() == 3


async def test_a_day_of_another_history_is_not_issued(stage: Stage) -> None:
    await publish(stage.world.conclusions, origin="another")
    assert await stage.round() == 0


async def test_a_history_that_changes_meanwhile_issues_nothing(stage: Stage) -> None:
    await publish(stage.world.conclusions)

    async def turn() -> Sequence[VerdictInputs]:
        stage.origin = "another"
        return stage.inputs

    stage.daily = DailyVerdicts(
        stage.clock, stage.world.conclusions, Ledger(stage.database), turn, lambda: stage.origin
    )
    assert await stage.round() == 0


async def test_while_prices_are_missing_a_day_is_waited_with_for_an_hour(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    stage.inputs = [known("BTC", 100.0), known("ETH", None)]
    assert await stage.round() == 0
    await stage.clock.advance(MOST_WAIT_S - 1)
    assert await stage.round() == 0
    await stage.clock.advance(1)
    assert await stage.round() == 2


@pytest.mark.parametrize("source", ["risk", "funding", "regime", "sentiment"])
async def test_so_it_is_while_any_source_is_silent_of_more_than_one_coin_in_ten(stage: Stage, source: str) -> None:
    """A service that has just been started knows prices first."""
    await publish(stage.world.conclusions)
    silent = replace(known("DARK", 5.0), raw=replace(known("DARK", 5.0).raw, **{source: None}))
    told = [known(f"C{place}", 5.0) for place in range(9)]
    stage.inputs = [*told[1:], silent]
    assert await stage.round() == 0
    stage.inputs = [*told, silent]
    assert await stage.round() == 10


async def test_prices_that_come_end_the_wait(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    stage.inputs = []
    assert await stage.round() == 0
    stage.inputs = [known("BTC", 100.0), known("ETH", None)]
    assert await stage.round() == 0
    stage.inputs = [known("BTC", 100.0), known("ETH", 5.0)]
    assert await stage.round() == 2


async def test_each_day_is_waited_with_for_an_hour_of_its_own(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    stage.inputs = [known("BTC", None)]
    assert await stage.round() == 0
    await stage.clock.advance(DAY_MS / 1000)
    await publish(stage.world.conclusions, days=1)
    assert await stage.round() == 0


async def test_two_leaders_at_once_issue_a_day_once(stage: Stage) -> None:
    await publish(stage.world.conclusions)
    await asyncio.gather(*(stage.new_daily().round() for _ in range(3)))
    assert len(await stage.entries()) == 3
    assert stage.clock.now_ms() == START_MS

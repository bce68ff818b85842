"""When a day is walked: once, when it is settled, and never again and again where it goes wrong."""

from collections.abc import Callable

import pytest

from service.clock import DAY_MS
from service.market.store import MarketStore
from service.storage.database import Database
from service.walkforward.child_process import RunFailedError
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import PackedRun
from service.walkforward.refresh import (
    FIRST_PAUSE_S,
    FUNDING_WAIT_S,
    LONGEST_PAUSE_S,
    QUIET_S,
    SETTLED_MS,
    WalkforwardScheduler,
)
from service.walkforward.store import RunStore
from service.walkforward.worker import NothingToWalk, WalkforwardJob
from tests.fakes.clock import START_MS, FakeClock
from tests.walkforward.histories import hold_history, publish
from tests.walkforward.runs import TODAY, packed


class Walked:
    """A refresh whose jobs are done at once, or fail as a test says."""

    def __init__(self, clock: FakeClock, database: Database, runs: RunStore) -> None:
        self.origin = "live"
        self.jobs: list[WalkforwardJob] = []
        self.fails: list[Exception | NothingToWalk] = []
        self.runs = runs
        self.clock = clock
        self.refresh = WalkforwardScheduler(
            clock, runs, MarketStore(database), database.address, lambda: self.origin, self.run
        )

    async def run(self, job: WalkforwardJob, heard: Callable[[int, int], None]) -> PackedRun | NothingToWalk:
        self.jobs.append(job)
        heard(1, 2)
        if self.fails:
            fault = self.fails.pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault
        return packed(f"run {len(self.jobs)}", ran_ms=job.now_ms)

    async def rounds(self, *after_s: float) -> list[int]:
        """How many jobs there had been after each pause and a round."""
        counts = []
        for pause_s in after_s:
            await self.clock.advance(pause_s)
            await self.refresh.round()
            counts.append(len(self.jobs))
        return counts


@pytest.fixture
async def market(database: Database) -> MarketStore:
    return await hold_history(database, "live")


@pytest.fixture
def walked(clock: FakeClock, database: Database, runs: RunStore) -> Walked:
    return Walked(clock, database, runs)


async def test_the_last_published_day_is_walked_once_and_not_in_the_first_minute(
    market: MarketStore, walked: Walked, database: Database, clock: FakeClock
) -> None:
    assert await walked.rounds(0, QUIET_S - 1, 1, 30, 3_600) == [0, 0, 1, 1, 1]
    asked = WalkforwardJob(str(database.path), "live", TODAY * DAY_MS, START_MS + round(QUIET_S * 1_000), Parameters())
    assert walked.jobs == [asked]
    assert await walked.runs.is_done("live", ENGINE, Parameters(), TODAY - 1)
    told = await walked.runs.load(1, "live")
    assert told is not None
    assert told.run_id == "run 1"


async def test_what_funding_came_to_is_kept_before_a_run(
    market: MarketStore, walked: Walked, database: Database
) -> None:
    await walked.rounds(0, QUIET_S)
    assert await database.read("SELECT count(*), min(day) FROM funding_days WHERE hours = 24") == [(4, TODAY - 1)]


async def test_nothing_is_walked_before_a_day_is_published(walked: Walked, database: Database) -> None:
    await hold_history(database, "live")
    await database.write(lambda connection: connection.execute("DELETE FROM documents").rowcount)
    assert await walked.rounds(0, QUIET_S, FUNDING_WAIT_S) == [0, 0, 0]
    await publish(database, "live", TODAY)
    assert await walked.rounds(30) == [1]


async def test_a_process_that_starts_again_does_not_walk_a_day_again(
    market: MarketStore, walked: Walked, clock: FakeClock, database: Database, runs: RunStore
) -> None:
    await walked.rounds(0, QUIET_S)
    again = Walked(clock, database, runs)
    assert await again.rounds(0, QUIET_S, FUNDING_WAIT_S) == [0, 0, 0]


async def test_the_next_day_is_walked_an_hour_after_its_close_when_late_bars_and_payments_have_come(
    market: MarketStore, walked: Walked, database: Database, clock: FakeClock
) -> None:
    await walked.rounds(0, QUIET_S)
    midnight_ms = (TODAY + 1) * DAY_MS
    await clock.advance((midnight_ms - clock.now_ms()) / 1_000)
    await publish(database, "live", TODAY + 1)
    assert await walked.rounds(0, SETTLED_MS / 1_000 - 1, 1, 30) == [1, 1, 2, 2]
    assert walked.jobs[-1].until_ms == midnight_ms


async def test_the_first_run_waits_for_the_funding_of_nearly_all_coins_but_not_for_ever(
    market: MarketStore, walked: Walked, database: Database, clock: FakeClock
) -> None:
    await database.write(lambda connection: connection.execute("DELETE FROM funding_rates").rowcount)
    assert await walked.rounds(0, QUIET_S, FUNDING_WAIT_S - QUIET_S - 1, 1) == [0, 0, 0, 1]


async def test_a_store_without_coins_has_no_funding_to_wait_for(walked: Walked, database: Database) -> None:
    await MarketStore(database).claim("live")
    await publish(database, "live", TODAY)
    assert await walked.rounds(0, QUIET_S, FUNDING_WAIT_S - QUIET_S) == [0, 0, 1]


async def test_a_failure_is_logged_and_left_alone_for_longer_each_time(
    market: MarketStore, walked: Walked, caplog: pytest.LogCaptureFixture
) -> None:
    walked.fails = [RunFailedError("exit code 1: it broke"), OSError("no process"), RunFailedError("again")]
    assert await walked.rounds(0, QUIET_S, 30, FIRST_PAUSE_S - 31, 1) == [0, 1, 1, 1, 2]
    assert await walked.rounds(FIRST_PAUSE_S, FIRST_PAUSE_S, 4 * FIRST_PAUSE_S, 30) == [2, 3, 4, 4]
    reasons = [vars(record)["reason"] for record in caplog.records if record.message == "Walk-forward failed"]
    assert reasons == ["exit code 1: it broke", "no process", "again"]


async def test_a_run_that_went_well_makes_the_next_failure_the_first_again(
    market: MarketStore, walked: Walked, database: Database, clock: FakeClock
) -> None:
    walked.fails = [RunFailedError("broken")] * 2
    assert await walked.rounds(0, QUIET_S, FIRST_PAUSE_S, 2 * FIRST_PAUSE_S) == [0, 1, 2, 3]
    await publish(database, "live", TODAY + 1)
    clock.set_wall((TODAY + 1) * DAY_MS + SETTLED_MS)
    walked.fails = [RunFailedError("broken again")]
    assert await walked.rounds(FIRST_PAUSE_S * 8, FIRST_PAUSE_S - 1, 1) == [4, 4, 5]


async def test_the_pause_after_failures_has_an_end(market: MarketStore, walked: Walked) -> None:
    walked.fails = [RunFailedError("broken")] * 20
    await walked.rounds(0, QUIET_S, *[LONGEST_PAUSE_S] * 15)
    assert len(walked.jobs) == 16


async def test_a_store_that_cannot_keep_a_run_does_not_cost_a_run_every_minute(
    market: MarketStore, walked: Walked, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> int:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(walked.runs, "put", full)
    await walked.rounds(0)
    with pytest.raises(RuntimeError):
        await walked.rounds(QUIET_S)
    assert await walked.rounds(30, 30) == [1, 1]


async def test_a_history_that_is_gone_is_no_failure_and_keeps_nothing(
    market: MarketStore, walked: Walked, caplog: pytest.LogCaptureFixture
) -> None:
    walked.fails = [NothingToWalk("the store holds 'b', not 'a'")]
    with caplog.at_level("INFO", "verdict"):
        assert await walked.rounds(0, QUIET_S) == [0, 1]
    assert "Walk-forward skipped" in caplog.messages
    assert await walked.runs.newest("live") is None


async def test_another_history_begins_with_a_quiet_minute_and_patience_of_its_own(
    market: MarketStore, walked: Walked, database: Database
) -> None:
    walked.fails = [RunFailedError("broken")] * 2
    await walked.rounds(0, QUIET_S, FIRST_PAUSE_S)
    walked.origin = "a replay"
    await hold_history(database, "a replay")
    walked.fails = [RunFailedError("broken too")]
    assert await walked.rounds(FUNDING_WAIT_S, QUIET_S - 1, 1, FIRST_PAUSE_S - 1, 1) == [2, 2, 3, 3, 4]
    assert walked.jobs[-1].origin == "a replay"
    assert await walked.runs.newest("a replay") == 1

"""Who walks, and what becomes of a run when its process, its service, its disk or its version is not what it was."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.clock import DAY_MS, day_of
from service.settings import Settings
from service.storage.database import Database, open_database
from service.storage.store import open_store
from service.walkforward.child_process import run_in_process
from service.walkforward.records import PackedRun, pack_run
from service.walkforward.refresh import FIRST_PAUSE_S
from service.walkforward.store import RunStore
from service.walkforward.worker import WalkforwardJob
from service.wiring import build as wiring
from tests.fakes.clock import FakeClock
from tests.fakes.serving import Serving, ended, run_verdict, wait_until
from tests.service.indoors import EVERYTHING, Indoors, Kept, until
from tests.service.walking import ACTIONS, ask, data, older, pages, records, run_told, shortened, walkers, walks
from tests.walkforward.runs import made, packed, summary

pytestmark = pytest.mark.process

STOP_S = 10.0
STEP_S = 5.0
BEFORE_VERDICTS = 9
"""The last step of the schema before verdicts were given and strategies walked."""

WALKED = "Walk-forward finished"
FAILED = "Walk-forward failed"
UNDER_WAY = "Walk-forward is running"


async def child_of(house: Indoors) -> int:
    """Let time pass until this process walks; return who does it."""
    await house.pass_until(lambda: bool(walkers(os.getpid())), step_s=STEP_S)
    (child,) = walkers(os.getpid())
    return child


async def runs_kept(house: Indoors) -> list[Any]:
    async with open_database(house.data_dir / "verdict.db", house.clock) as database:
        return await database.read("SELECT run, run_id FROM walkforward_runs ORDER BY run")


def lasting(record: dict[str, Any]) -> dict[str, Any]:
    """What of a record is the run's, and not this moment's."""
    return {name: value for name, value in record.items() if name not in {"currentPrice", "unrealizedPct"}}


@pytest.mark.promise("walkforward.empty")
async def test_a_run_that_is_killed_in_its_middle_leaves_nothing_and_is_tried_again_later(
    kept: Kept, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "verdict.walkforward")
    async with kept.reopened(tmp_path / "data", walk=run_in_process) as house:
        child = await child_of(house)
        began_s = house.clock.elapsed_s
        await until(lambda: caplog.messages.count(UNDER_WAY) > 3)
        os.kill(child, signal.SIGKILL)
        await until(lambda: FAILED in caplog.messages)
        (failure,) = [record for record in caplog.records if record.message == FAILED]
        assert (failure.levelname, vars(failure)["pause_s"]) == ("ERROR", FIRST_PAUSE_S)
        assert "exit code -9" in vars(failure)["reason"]
        assert not walks(child)
        for target in EVERYTHING:
            assert (await house.ask(target, key=kept.key)).status == 200, target
        for action in ACTIONS:
            told = await data(house, kept.key, action)
            assert (told[action], told["meta"]["run_id"], told["meta"]["total"]) == ([], None, 0)
        assert await runs_kept(house) == []
        await house.pass_time(FIRST_PAUSE_S - 60, 15)
        assert not walkers(os.getpid())
        again = await child_of(house)
        # On a busy machine it is seen a step after it began.
        assert FIRST_PAUSE_S - STEP_S <= house.clock.elapsed_s - began_s <= FIRST_PAUSE_S + 60
    assert not walks(again), "a service that ends takes the run that is under way with it"
    assert not walkers(os.getpid())


async def test_a_folder_from_before_is_brought_up_to_date_and_walked_once_for_both_of_its_processes(
    kept: Kept, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "verdict.walkforward")
    old = older(shortened(kept, tmp_path / "short"), tmp_path / "old", BEFORE_VERDICTS)
    async with (
        old.reopened(tmp_path / "data", walk=run_in_process) as leader,
        old.beside(leader, walk=run_in_process) as follower,
    ):
        for house in (leader, follower):
            assert (await data(house, kept.key))["meta"]["run_id"] is None
        child = await child_of(leader)
        run_id = await run_told(leader, kept.key)
        assert not walks(child)
        await leader.pass_time(120, 10)
        assert not walkers(os.getpid())
        assert await runs_kept(leader) == [(1, run_id)]
        assert caplog.messages.count(WALKED) == 1
        for action in ACTIONS:
            told = [lasting(record) for record in await records(leader, kept.key, action)]
            assert len(told) >= 5
            assert [lasting(record) for record in await records(follower, kept.key, action)] == told
        assert (await leader.ask("/api/cli/signal/BTC", key=kept.key)).status == 200
    doctor = run_verdict("admin", "doctor", "--json", data_dir=str(tmp_path / "data"))
    assert json.loads(doctor.stdout)["ok"], doctor.stdout


@pytest.mark.promise("walkforward.parameters", "walkforward.as-of")
async def test_a_run_by_command_is_told_by_the_service_and_pages_go_on_in_the_one_they_began_in(
    walked: Kept, tmp_path: Path
) -> None:
    async with shortened(walked, tmp_path / "short").reopened(tmp_path / "data") as house:
        before = {action: await records(house, walked.key, action) for action in ACTIONS}
        lists = {action: pages(house, walked.key, action, 150 if action != "positions" else 5) for action in ACTIONS}
        read = {action: await anext(lists[action]) for action in ACTIONS}
        first = read["signals"]["meta"]["run_id"]
        said = await asyncio.to_thread(
            run_verdict, "admin", "walkforward", "--scheme", "rolling", data_dir=str(house.data_dir)
        )
        assert said.returncode == 0, said.stderr
        assert "stored as run 2" in said.stdout
        second = await run_told(house, walked.key, since=first)
        assert f"Run {second}" in said.stdout
        for action, rest in lists.items():
            assert read[action]["meta"]["next_cursor"]
            following = [page async for page in rest]
            assert {page["meta"]["run_id"] for page in following} == {first}
            assert [record["id"] for page in (read[action], *following) for record in page[action]] == [
                record["id"] for record in before[action]
            ]
        reply = await ask(house, walked.key, "outcomes", limit=1)
        assert reply.json["meta"]["as_of"] == reply.json["data"]["meta"]["ran_at"]
        assert reply.json["meta"]["data_age_seconds"] >= 0
        assert reply.json["data"]["summary"]["trials"] > 0


class Written:
    """The store of the service in this process, once it is opened."""

    def __init__(self) -> None:
        self.database: Database | None = None

    @asynccontextmanager
    async def open(self, settings: Settings, clock: FakeClock) -> AsyncIterator[Database]:
        async with open_store(settings, clock) as self.database:
            yield self.database

    async def room(self, pages_more: int) -> None:
        """Leave room in the file for so many pages more."""
        assert self.database is not None
        ((pages_now,),) = await self.database.read("PRAGMA page_count")
        limit = f"PRAGMA max_page_count = {pages_now + pages_more}"
        await self.database.write(lambda connection: connection.execute(limit).fetchall())


async def test_a_run_that_finds_no_room_is_lost_alone_and_is_made_again_when_there_is_some(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written, jobs, today = Written(), list[WalkforwardJob](), day_of(kept.at_ms)
    monkeypatch.setattr(wiring, "open_store", written.open)

    async def walk(job: WalkforwardJob, _heard: Callable[[int, int], None]) -> PackedRun:
        jobs.append(job)
        return packed("new", count=20_000, ran_ms=job.now_ms)

    async with kept.reopened(tmp_path / "data", walk=walk) as house:
        assert written.database is not None
        previous = pack_run(made("old", told=summary()), today - 2)
        await RunStore(written.database).put("live", previous)
        assert await run_told(house, kept.key) == "old"
        await written.room(8)
        await house.pass_until(lambda: bool(jobs), step_s=5)
        await house.pass_time(120, 15)
        assert len(jobs) == 1, "what could not be kept is not computed every minute"
        refusals = [record for record in caplog.records if vars(record).get("loop") == "walkforward"]
        assert [vars(record)["code"] for record in refusals] == ["UNAVAILABLE"]
        assert await runs_kept(house) == [(1, "old")]
        await written.room(100_000)
        assert await run_told(house, kept.key) == "old"
        await house.pass_until(lambda: len(jobs) == 2, step_s=15)
        assert await run_told(house, kept.key, since="old") == "new"
        assert (await data(house, kept.key))["meta"]["total"] == 20_000
        assert jobs[1].now_ms - jobs[0].now_ms >= FIRST_PAUSE_S * 1_000
        assert {job.until_ms for job in jobs} == {today * DAY_MS}


class Hasty(Serving):
    """A service that walks as soon as it knows its market."""

    MODULE = "tests.service.hasty"


def test_a_run_ends_with_the_service_that_leads_and_the_next_leader_begins_it_again(tmp_path: Path) -> None:
    def walker(service: Serving) -> int:
        wait_until(lambda: bool(walkers(service.process.pid)))
        return walkers(service.process.pid).pop()

    with ExitStack() as stack:
        leader = Hasty(data_dir=str(tmp_path))
        stack.enter_context(ended(leader))
        leader.wait_for("ready")
        next_one = Hasty(data_dir=str(tmp_path))
        stack.enter_context(ended(next_one))
        next_one.wait_for("ready")
        key = next_one.make_key("--tier", "pro")
        first = walker(leader)
        leader.process.kill()
        wait_until(lambda: not walks(first))
        second = walker(next_one)
        for action in ACTIONS:
            status, _, body = next_one.ask(f"/api/cli/walkforward?action={action}", key)
            assert (status, body["data"][action], body["data"]["meta"]["run_id"]) == (200, [], None)
        next_one.process.send_signal(signal.SIGTERM)
        assert next_one.process.wait(STOP_S) == 0
        assert not walks(second)
        next_one.wait_for("stopped")
        assert [record for record in next_one.records if record["level"] == "error"] == []
    assert json.loads(run_verdict("admin", "doctor", "--json", data_dir=str(tmp_path)).stdout)["ok"]

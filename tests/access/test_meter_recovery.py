"""What a start does about processes that ended out of order, and what the operator can look at and repair."""

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.access.audit import (
    DayUsage,
    audit_counters,
    find_future_days,
    find_mismatches,
    repair_counters,
    repair_days,
    usage_by_day,
)
from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.clock import DAY_MS, day_of
from service.storage.database import Database
from service.storage.engine import Connection, StorageError
from service.storage.journal import folder_beside
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database

PRO = Caller(1, "api_key", 1, "pro")
TODAY = day_of(START_MS)


@asynccontextmanager
async def dying(path: Path, clock: FakeClock) -> AsyncIterator[Meter]:
    """A meter whose process ends without signing out: its store is gone before it can."""
    opened = open_database(path, clock)
    database = await opened.__aenter__()
    metering = open_meter(database, clock)
    try:
        yield await metering.__aenter__()
    finally:
        await opened.__aexit__(None, None, None)
        await metering.__aexit__(None, None, None)


async def call(meter: Meter, *, answered: bool) -> int:
    decision = await meter.charge(PRO, "coin.risk")
    assert decision.event_id is not None
    if answered:
        meter.delivered(decision.event_id)
    return decision.event_id


async def states_after_restart(path: Path, clock: FakeClock) -> dict[int, int]:
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        assert await meter.verify() == []
        return {row[0]: row[1] for row in await db.read("SELECT id, state FROM usage_events")}


def journals(path: Path) -> list[Path]:
    return list(folder_beside(path).glob("*.marks"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdict.db"


@pytest.mark.promise("meter.once")
async def test_calls_that_were_counted_and_not_answered_are_given_back(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=True)
        await call(meter, answered=False)
        await call(meter, answered=True)
    assert await states_after_restart(path, clock) == {1: 1, 2: 2, 3: 1}
    assert journals(path) == []


@pytest.mark.promise("meter.lease")
async def test_reservations_of_a_dead_process_are_released(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await meter.reserve(PRO, "ask")
    assert await states_after_restart(path, clock) == {1: 2}


async def test_what_was_paid_for_is_never_given_back_and_moves_no_counter(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
        (event_id,) = await meter._database.write(lambda connection: meter.record_paid(connection, [(1, "coin.risk")]))
        await call(meter, answered=True)
    assert event_id == 2
    assert await states_after_restart(path, clock) == {1: 2, 2: 1, 3: 1}
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        assert (await meter.quota_status(PRO)).used == 1
        assert await db.write(repair_counters) == []
        assert await db.inspect(usage_by_day) == [DayUsage(1, TODAY, 1, paid=1)]
        await db.write(lambda connection: meter.record_paid(connection, [(9, "coin.risk")]))
        assert await meter.verify() == [], "a user who has only paid has no counters"


async def test_calls_before_the_dead_process_are_none_of_its_business(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        await call(meter, answered=False)
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
    assert await states_after_restart(path, clock) == {1: 1, 2: 2}


async def test_after_a_reboot_no_call_is_given_back(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
        await meter.reserve(PRO, "ask")
    (journal,) = journals(path)
    with journal.open("r+b") as file:
        file.write(b"another boot")
    assert await states_after_restart(path, clock) == {1: 1, 2: 2}
    assert journals(path) == []


async def test_without_its_journal_no_call_is_given_back(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
    journals(path)[0].unlink()
    assert await states_after_restart(path, clock) == {1: 1}


async def test_a_journal_cut_short_is_not_believed(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
    with journals(path)[0].open("r+b") as file:
        file.truncate(5_000)
    assert await states_after_restart(path, clock) == {1: 1}


async def test_a_start_that_fails_leaves_the_journals_to_the_next(path: Path, clock: FakeClock) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
    async with dying(path, clock):
        assert len(journals(path)) == 1
    assert await states_after_restart(path, clock) == {1: 2}


async def test_reservations_of_a_living_process_stay(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        held = await meter.reserve(PRO, "ask")
        assert held.event_id is not None
        assert (await states_after_restart(path, clock)) == {1: 0}
        await meter.commit(held.event_id)


async def test_a_restored_copy_does_not_meet_the_runs_of_its_future(
    path: Path, clock: FakeClock, tmp_path: Path
) -> None:
    async with dying(path, clock) as meter:
        await call(meter, answered=False)
    (journal,) = journals(path)
    journal.rename(journal.with_name("41.marks"))
    async with open_database(path, clock) as db, open_meter(db, clock):
        assert (await db.read("SELECT max(id) FROM usage_runs")) == [(42,)]


@pytest.mark.promise("meter.counters")
async def test_wrong_counters_are_found_and_repaired_and_the_meter_notices(db: Database, clock: FakeClock) -> None:
    async with open_meter(db, clock) as meter:
        for _ in range(3):
            await meter.charge(Caller(1, "api_key", 1), "coin.risk")

    def spoil(connection: Connection) -> None:
        connection.execute("UPDATE quota SET starter_used = 1, counted = 1")
        connection.execute("INSERT INTO quota VALUES (9, 4, 0, 7, 2, 6)")
        connection.execute("DELETE FROM quota WHERE user_id = 1")

    async with open_meter(db, clock) as meter, open_database(db.path, clock) as doctor:
        await meter.charge(Caller(1, "api_key", 1), "coin.risk")
        await doctor.write(spoil)
        assert [wrong.user_id for wrong in await db.inspect(find_mismatches)] == [1, 9]
        assert len(await meter.verify()) == 2
        assert await doctor.write(repair_counters) == [1, 9]
        assert await db.inspect(audit_counters) == []
        assert (await meter.charge(Caller(1, "api_key", 1), "coin.risk")).quota_status.used == 5
        assert await db.inspect(audit_counters) == []


async def test_days_that_lie_in_the_future_are_named_and_brought_back(db: Database, clock: FakeClock) -> None:
    caller = Caller(1, "api_key", 1, "access")
    async with open_meter(db, clock) as meter:
        clock.set_wall(START_MS + 3_650 * DAY_MS)
        await meter.charge(caller, "coin.risk")
        await meter.charge(Caller(2, "api_key", 2), "coin.risk")
        clock.set_wall(START_MS)
        await meter.charge(caller, "coin.risk")
        assert await db.inspect(lambda look: find_future_days(look, TODAY)) == [(1, TODAY + 3_650), (2, TODAY + 3_650)]
        async with open_database(db.path, clock) as doctor:
            assert await doctor.write(lambda connection: repair_days(connection, TODAY)) == [1, 2]
        assert await db.inspect(lambda look: find_future_days(look, TODAY)) == []
        assert await db.inspect(audit_counters) == []
        assert (await meter.charge(caller, "coin.risk")).quota_status.used == 3
        clock.set_wall(START_MS + DAY_MS)
        assert (await meter.charge(caller, "coin.risk")).quota_status.used == 1


async def test_usage_is_told_by_user_and_day_without_what_was_released(db: Database, clock: FakeClock) -> None:
    async with open_meter(db, clock) as meter:
        await call(meter, answered=True)
        held = await meter.reserve(PRO, "ask")
        assert held.event_id is not None
        await meter.release(held.event_id)
        await meter.charge(Caller(2, "api_key", 2), "coin.risk")
        clock.set_wall(START_MS + DAY_MS)
        await call(meter, answered=True)
        await call(meter, answered=True)
    assert await db.inspect(usage_by_day) == [DayUsage(1, TODAY, 1), DayUsage(1, TODAY + 1, 2), DayUsage(2, TODAY, 1)]
    assert await db.inspect(lambda look: usage_by_day(look, TODAY + 1)) == [DayUsage(1, TODAY + 1, 2)]


async def test_more_users_than_are_remembered_are_counted_all_the_same(
    db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.access.usage_ledger._MAX_CACHED", 3)
    async with open_meter(db, clock) as meter:
        for _ in range(3):
            for user_id in range(1, 9):
                await meter.charge(Caller(user_id, "api_key", 1), "coin.risk")
        assert await meter.verify() == []
        assert (await meter.quota_status(Caller(8, "api_key", 1))).used == 3


async def test_a_starter_used_up_on_a_day_in_the_future_holds_no_longer_than_todays(
    db: Database, clock: FakeClock
) -> None:
    caller = Caller(1, "api_key", 1)
    async with open_meter(db, clock) as meter:
        clock.set_wall(START_MS + 3_650 * DAY_MS)
        for _ in range(10):
            await meter.charge(caller, "coin.risk")
        await db.write(lambda connection: repair_days(connection, TODAY))
    clock.set_wall(START_MS + DAY_MS)
    async with open_meter(db, clock) as meter:
        assert [(await meter.charge(caller, "coin.risk")).event_id is not None for _ in range(2)] == [True, False]


async def test_who_has_used_up_the_starter_today_has_no_more_for_a_repair(db: Database, clock: FakeClock) -> None:
    caller = Caller(1, "api_key", 1)
    async with open_meter(db, clock) as meter:
        for _ in range(10):
            await meter.charge(caller, "coin.risk")
        await db.write(lambda connection: connection.execute("UPDATE quota SET counted = 3").rowcount)
        assert await db.write(repair_counters) == [1]
    async with open_meter(db, clock) as meter:
        assert (await meter.charge(caller, "coin.risk")).event_id is None


async def test_an_audit_in_pieces_leaves_no_event_out_and_a_user_who_asked_nothing_is_right(
    db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.access.audit._PIECE", 2)
    async with open_meter(db, clock) as meter:
        for _ in range(5):
            await meter.charge(Caller(1, "api_key", 1), "coin.risk")
        await db.write(lambda connection: connection.execute("INSERT INTO quota VALUES (9, 0, 0, 0, 0, 0)").rowcount)
        assert await db.inspect(audit_counters) == []


async def test_what_was_used_today_and_on_a_day_in_the_future_counts_together_once_repaired(
    db: Database, clock: FakeClock
) -> None:
    caller = Caller(1, "api_key", 1, "access")
    async with open_meter(db, clock) as meter:
        await meter.charge(caller, "coin.risk")
        clock.set_wall(START_MS + 3_650 * DAY_MS)
        await meter.charge(caller, "coin.risk")
        await db.write(lambda connection: repair_days(connection, TODAY))
        assert await db.inspect(audit_counters) == []
    clock.set_wall(START_MS)
    async with open_meter(db, clock) as meter:
        assert (await meter.quota_status(caller)).used == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.EACCES, r"cannot be written \(Permission denied\).* VERDICT_DATA_DIR"),
        (errno.ENOSPC, r"^The disk of the data folder .* is full"),
    ],
)
async def test_metering_does_not_start_where_its_journal_cannot_be_written(
    db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, code: int, said: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("service.access.meter.Journal", refuse)
    with pytest.raises(StorageError, match=said):
        await open_meter(db, clock).__aenter__()

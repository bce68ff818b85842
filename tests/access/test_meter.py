"""The meter over one database in one process."""

import asyncio
import logging
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import pytest

from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.access.quota import ChargeDecision
from service.access.usage_ledger import LEASE_MS
from service.clock import DAY_MS, SECOND_MS, midnight_after
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection, StorageError
from service.storage.runs import Runs
from service.wire.access import Tier
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database

OFFER = "coin.risk"


def a_caller(user_id: int = 1, tier: Tier = "free") -> Caller:
    return Caller(user_id, "api_key", user_id, tier)


def granted(decisions: list[ChargeDecision]) -> int:
    return sum(decision.event_id is not None for decision in decisions)


async def charge(meter: Meter, times: int, caller: Caller | None = None) -> int:
    """Ask that often at once; how many were granted."""
    return granted(await asyncio.gather(*(meter.charge(caller or a_caller(), OFFER) for _ in range(times))))


async def states(db: Database) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in await db.read("SELECT id, state FROM usage_events ORDER BY id")]


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened
        assert await opened.verify() == []


@pytest.mark.promise("meter.last-question")
async def test_of_a_thousand_calls_at_once_with_one_question_left_exactly_one_is_granted(meter: Meter) -> None:
    assert await charge(meter, 9) == 9
    assert await charge(meter, 1_000) == 1


async def test_a_decision_tells_what_is_left_after_it(meter: Meter) -> None:
    first = await meter.charge(a_caller(), OFFER)
    assert first.event_id == 1
    assert (first.quota_status.used, first.quota_status.remaining) == (1, 9)


async def test_a_refusal_tells_when_the_next_question_comes(meter: Meter) -> None:
    await charge(meter, 10)
    refused = await meter.charge(a_caller(), OFFER)
    assert refused.event_id is None
    assert refused.quota_status.reset_ms == midnight_after(START_MS)


async def test_users_do_not_use_each_others_questions(meter: Meter) -> None:
    assert await charge(meter, 11, a_caller(1)) == 10
    assert await charge(meter, 11, a_caller(2)) == 10
    assert await charge(meter, 60, a_caller(3, "access")) == 50
    assert await charge(meter, 60, a_caller(4, "pro")) == 60


@pytest.mark.promise("quota.day-fixed")
async def test_calls_across_midnight_are_counted_on_the_day_they_are_reserved(meter: Meter, clock: FakeClock) -> None:
    await charge(meter, 10)
    midnight_ms = midnight_after(START_MS)
    clock.set_wall(midnight_ms - 100)
    assert await charge(meter, 100) == 0
    clock.set_wall(midnight_ms + 100)
    assert await charge(meter, 100) == 1


async def test_two_hundred_calls_while_midnight_passes_use_each_day_once(meter: Meter, clock: FakeClock) -> None:
    await charge(meter, 50, a_caller(1, "access"))
    clock.set_wall(midnight_after(START_MS) - 100)
    asked = []
    for call in range(200):
        if call == 100:
            clock.set_wall(midnight_after(START_MS) + 100)
        asked.append(asyncio.ensure_future(meter.charge(a_caller(1, "access"), OFFER)))
        await asyncio.sleep(0)
    assert 0 < granted(await asyncio.gather(*asked)) <= 50
    assert await charge(meter, 200, a_caller(1, "access")) + granted([task.result() for task in asked]) == 50


@pytest.mark.promise("quota.day-fixed")
async def test_a_call_reserved_before_midnight_belongs_to_that_day_when_committed_after(
    meter: Meter, clock: FakeClock
) -> None:
    reserved = await meter.reserve(a_caller(1, "access"), OFFER)
    clock.set_wall(midnight_after(START_MS) + 100)
    assert reserved.event_id is not None
    await meter.commit(reserved.event_id)
    assert await charge(meter, 60, a_caller(1, "access")) == 50


@pytest.mark.promise("meter.clock-back")
async def test_a_clock_set_back_gives_no_extra_question(meter: Meter, clock: FakeClock) -> None:
    await charge(meter, 10)
    clock.set_wall(START_MS + DAY_MS)
    assert await charge(meter, 5) == 1
    clock.set_wall(START_MS)
    assert await charge(meter, 5) == 0
    clock.set_wall(START_MS + DAY_MS)
    assert await charge(meter, 5) == 0


async def test_a_reservation_holds_its_question_until_it_is_released(meter: Meter) -> None:
    await charge(meter, 9)
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    assert await charge(meter, 1) == 0
    await meter.release(held.event_id)
    assert await charge(meter, 2) == 1


async def test_a_committed_call_is_not_given_back_by_a_release(meter: Meter, db: Database) -> None:
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    await meter.commit(held.event_id)
    await meter.commit(held.event_id)
    await meter.release(held.event_id)
    assert await states(db) == [(1, 1)]


async def test_a_second_release_gives_nothing_back(meter: Meter) -> None:
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    await meter.release(held.event_id)
    await meter.release(held.event_id)
    assert (await meter.quota_status(a_caller())).used == 0


async def test_a_question_is_given_back_once_however_often_that_is_asked(meter: Meter, db: Database) -> None:
    await charge(meter, 2)
    for _ in range(2):
        await db.write(lambda connection: meter._ledger.refund(connection, [1]))
    assert (await meter.quota_status(a_caller())).used == 1


async def test_journals_are_for_their_owner_alone_whatever_the_umask(db: Database, clock: FakeClock) -> None:
    before = os.umask(0)
    try:
        async with open_meter(db, clock):
            assert stat.S_IMODE(Runs(db).folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)


@pytest.mark.promise("meter.lease")
async def test_a_call_cancelled_between_reserve_and_commit_is_released(meter: Meter, db: Database) -> None:
    async def call() -> None:
        decision = await meter.reserve(a_caller(), OFFER)
        assert decision.event_id is not None
        try:
            await asyncio.Event().wait()
        finally:
            await meter.release(decision.event_id)

    task = asyncio.create_task(call())
    await charge(meter, 1, a_caller(2))
    await db.write(lambda _: None)
    task.cancel()
    await asyncio.wait([task])
    assert await db.read("SELECT user_id, state FROM usage_events ORDER BY user_id") == [(1, 2), (2, 1)]


@pytest.mark.parametrize("ask", [Meter.charge, Meter.reserve])
async def test_a_caller_cancelled_while_it_waits_is_not_charged(
    meter: Meter, db: Database, ask: Callable[[Meter, Caller, str], Awaitable[ChargeDecision]]
) -> None:
    async def call() -> None:
        await ask(meter, a_caller(), OFFER)

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    await charge(meter, 1, a_caller(2))
    await db.write(lambda _: None)
    assert await states(db) == [(1, 2), (2, 1)]


async def test_a_refused_caller_that_goes_away_changes_nothing(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    refunds: list[object] = []
    monkeypatch.setattr(meter._ledger, "refund", lambda _, event_ids: refunds.append(event_ids))
    await charge(meter, 10)
    asked = asyncio.create_task(meter.charge(a_caller(), OFFER))
    await asyncio.sleep(0)
    asked.cancel()
    await charge(meter, 1, a_caller(2))
    await db.write(lambda _: None)
    assert (len(await states(db)), refunds) == (11, [])


@pytest.mark.parametrize("ask", [Meter.charge, Meter.reserve])
async def test_a_caller_cancelled_when_it_has_just_been_decided_is_not_charged(
    meter: Meter,
    db: Database,
    ask: Callable[[Meter, Caller, str], Coroutine[object, object, ChargeDecision]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = meter._answer

    def answer_and_cancel(*outcome: Any) -> None:
        answer(*outcome)
        asked.cancel()

    monkeypatch.setattr(meter, "_answer", answer_and_cancel)
    asked = asyncio.create_task(ask(meter, a_caller(), OFFER))
    await asyncio.wait([asked])
    assert asked.cancelled()
    await db.write(lambda _: None)
    assert await states(db) == [(1, 2)]


async def test_a_call_that_arrives_while_another_is_committed_is_decided_in_the_next_batch(
    meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = meter._answer
    late: list[asyncio.Future[ChargeDecision]] = []

    def arrive_and_answer(*outcome: Any) -> None:
        if not late:
            late.append(asyncio.get_running_loop().create_future())
            meter.charge_nowait(a_caller(2), OFFER, late[0])
        answer(*outcome)

    monkeypatch.setattr(meter, "_answer", arrive_and_answer)
    assert await charge(meter, 1) == 1
    async with asyncio.timeout(20):
        assert (await late[0]).event_id == 2


async def test_a_caller_cancelled_when_it_has_just_been_failed_is_cancelled(meter: Meter) -> None:
    asked = asyncio.create_task(meter.charge(a_caller(), OFFER))
    await asyncio.sleep(0)
    (future, _), *_ = meter._waiting
    future.set_exception(ServiceError("UNAVAILABLE", "The store is busy."))
    asked.cancel()
    await asyncio.wait([asked])
    assert asked.cancelled()


async def test_a_call_cancelled_while_it_is_committed_is_given_back(meter: Meter, db: Database) -> None:
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    committing = asyncio.create_task(meter.commit(held.event_id))
    await asyncio.sleep(0)
    committing.cancel()
    await asyncio.wait([committing])
    await meter.release(held.event_id)
    assert await states(db) == [(1, 2)]


async def test_a_call_cancelled_while_another_is_given_back_is_given_back_next(meter: Meter, db: Database) -> None:
    held = [await meter.reserve(a_caller(), OFFER) for _ in range(2)]
    committing = [asyncio.create_task(meter.commit(call.event_id)) for call in held if call.event_id is not None]
    await asyncio.sleep(0)
    for commit in committing:
        commit.cancel()
    await asyncio.wait(committing)
    for _ in range(2):  # the first write ends behind the first return, the second one behind the second
        await db.write(lambda _: None)
    assert await states(db) == [(1, 2), (2, 2)]


@pytest.mark.promise("meter.lease")
async def test_a_lease_that_ran_out_is_released_and_cannot_be_committed(
    meter: Meter, clock: FakeClock, db: Database
) -> None:
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    watch = asyncio.create_task(meter.watch())
    await clock.advance(LEASE_MS // SECOND_MS - 30)
    assert await states(db) == [(1, 0)]
    await clock.advance(90)
    async with asyncio.timeout(20):
        while await states(db) != [(1, 2)]:
            await clock.advance(60)
    with pytest.raises(ServiceError, match="Ask again") as refused:
        await meter.commit(held.event_id)
    assert (refused.value.code, refused.value.headers) == ("UNAVAILABLE", {"Retry-After": "1"})
    watch.cancel()


@pytest.mark.promise("meter.counters")
async def test_the_watch_names_a_counter_that_is_wrong_and_goes_on_where_the_store_fails(
    meter: Meter, clock: FakeClock, db: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(connection: Connection) -> None:
        connection.execute("INSERT INTO quota VALUES (7, 3, 1, 1, 0, 3)")

    await db.write(spoil)
    (finding,) = await meter.verify()
    assert finding.startswith("User 7: the counters say 3 in all, 3 of the starter, 0 on day 1, the events 0 in all")

    async def fail(_: object) -> None:
        raise ServiceError("UNAVAILABLE", "The store is busy.")

    with monkeypatch.context() as patched:
        patched.setattr(db, "inspect", fail)
        watch = asyncio.create_task(meter.watch())
        await clock.settle()
    assert "Reservations could not be checked. The next check follows in a minute." in caplog.messages
    assert vars(caplog.records[-1])["reason"] == "The store is busy."
    await clock.advance(3_600)
    await asyncio.sleep(0)
    watch.cancel()
    await db.write(lambda connection: connection.execute("DELETE FROM quota WHERE user_id = 7").rowcount)


async def test_counters_are_verified_at_once_and_then_once_an_hour(
    meter: Meter, clock: FakeClock, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[float] = []

    async def verify() -> list[str]:
        verified.append(clock.elapsed_s)
        return []

    monkeypatch.setattr(meter, "verify", verify)
    watch = asyncio.create_task(meter.watch())
    for _ in range(125):
        for _ in range(4):
            await clock.settle()
            await db.write(lambda _: None)
        await clock.advance(60)
    watch.cancel()
    assert [at - verified[0] for at in verified] == [0, 3_600, 7_200]


async def test_the_standing_uses_nothing(meter: Meter) -> None:
    assert (await meter.quota_status(a_caller())).remaining == 10
    await charge(meter, 3)
    assert (await meter.quota_status(a_caller())).remaining == 7
    assert (await meter.quota_status(a_caller())).remaining == 7


async def test_what_is_reserved_is_not_answered_yet(meter: Meter) -> None:
    assert (await meter.committed_quota_status(a_caller())).remaining == 10
    await charge(meter, 9)
    last = await meter.reserve(a_caller(), "coin.risk")
    assert (await meter.quota_status(a_caller())).remaining == 0
    assert (await meter.committed_quota_status(a_caller())).remaining == 1
    assert last.event_id is not None
    await meter.commit(last.event_id)
    assert (await meter.committed_quota_status(a_caller())).remaining == 0
    assert await meter.committed_quota_status(a_caller()) == await meter.quota_status(a_caller())


async def test_waiting_calls_share_transactions(meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    commits, submit, submitted = db.transactions, db.submit, list[object]()

    def count_submitted(work: Any, answer: Any) -> None:
        submitted.append(work)
        submit(work, answer)

    monkeypatch.setattr(db, "submit", count_submitted)
    await charge(meter, 500, a_caller(1, "pro"))
    assert (db.transactions - commits, len(submitted)) == (1, 1)


async def test_what_another_connection_wrote_is_not_overwritten_from_memory(
    meter: Meter, db: Database, clock: FakeClock
) -> None:
    await charge(meter, 4)
    async with open_database(db.path, clock) as other, open_meter(other, clock) as theirs:
        assert await charge(theirs, 4) == 4
        assert await charge(meter, 10) == 2
        assert await charge(theirs, 1) == 0


@pytest.mark.promise("errors.unavailable")
async def test_a_transaction_that_is_lost_counts_nothing_and_says_so(meter: Meter, db: Database) -> None:
    await charge(meter, 2)

    def fill(connection: Connection) -> int:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return int(pages)

    await db.write(fill)
    failed: ServiceError | None = None
    done = 0
    while failed is None:
        outcomes = await asyncio.gather(
            *(meter.charge(a_caller(2, "pro"), OFFER) for _ in range(64)), return_exceptions=True
        )
        done += sum(isinstance(outcome, ChargeDecision) for outcome in outcomes)
        failed = next((outcome for outcome in outcomes if isinstance(outcome, ServiceError)), None)
    assert (failed.code, failed.headers) == ("UNAVAILABLE", {"Retry-After": "2"})
    assert (await meter.quota_status(a_caller(2, "pro"))).used == done
    await db.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall())
    assert await charge(meter, 1, a_caller(2, "pro")) == 1
    assert (await meter.quota_status(a_caller(2, "pro"))).used == done + 1


async def test_a_writer_that_cannot_begin_fails_everyone_who_waits_and_recovers(meter: Meter, db: Database) -> None:
    await charge(meter, 1)
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    async with foreign_lock(db):
        outcomes = await asyncio.gather(*(meter.charge(a_caller(), OFFER) for _ in range(50)), return_exceptions=True)
        assert {getattr(outcome, "code", None) for outcome in outcomes} == {"UNAVAILABLE"}
        gone = asyncio.create_task(meter.charge(a_caller(), OFFER))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(ServiceError):
            await db.write(lambda _: None)
    assert await charge(meter, 20) == 9


class foreign_lock:  # noqa: N801 -- reads as what it does
    def __init__(self, db: Database) -> None:
        from service.storage.engine import connect  # noqa: PLC0415

        self._connection = connect(db.path)

    async def __aenter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    async def __aexit__(self, *_: object) -> None:
        self._connection.close()


async def test_a_release_the_store_cannot_take_is_left_to_the_lease(
    meter: Meter, db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    held = await meter.reserve(a_caller(), OFFER)
    assert held.event_id is not None
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    async with foreign_lock(db):
        await meter.release(held.event_id)
    assert "A reserved question could not be released. It is released when its lease expires." in caplog.messages
    assert (vars(caplog.records[-1])["event"], "reason" in vars(caplog.records[-1])) == (held.event_id, True)
    assert await states(db) == [(1, 0)]


async def test_questions_of_callers_that_went_away_are_logged_where_the_store_cannot_give_them_back(
    meter: Meter, db: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise ServiceError("UNAVAILABLE", "The service is stopping.")

    asked = asyncio.create_task(meter.charge(a_caller(), OFFER))
    later = asyncio.create_task(meter.charge(a_caller(2), OFFER))
    for _ in range(2):
        await asyncio.sleep(0)
    asked.cancel()
    monkeypatch.setattr(db, "submit", refuse)
    await later
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_after_the_store_is_closed_calls_are_unavailable(
    tmp_path_factory: pytest.TempPathFactory, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    opened = open_database(tmp_path_factory.mktemp("closed") / "verdict.db", clock)
    db = await opened.__aenter__()
    metering = open_meter(db, clock)
    meter = await metering.__aenter__()
    await opened.__aexit__(None, None, None)
    with pytest.raises(ServiceError, match="stopping"):
        await meter.charge(a_caller(), OFFER)
    await metering.__aexit__(None, None, None)
    assert "Reservations could not be released. The next start releases them." in caplog.messages
    assert "stopping" in vars(caplog.records[-1])["reason"]


async def test_what_is_reserved_when_metering_ends_is_released(db: Database, clock: FakeClock) -> None:
    async with open_meter(db, clock) as meter:
        await meter.reserve(a_caller(), OFFER)
    assert await states(db) == [(1, 2)]
    assert (await db.read("SELECT started_ms, ended_ms FROM usage_runs")) == [(START_MS, START_MS)]


async def test_metering_does_not_start_where_the_journal_cannot_be_made(db: Database, clock: FakeClock) -> None:
    db.path.with_name(db.path.name + "-runs").write_text("in the way")
    with pytest.raises(StorageError, match="VERDICT_DATA_DIR"):
        await open_meter(db, clock).__aenter__()


async def test_metering_does_not_start_on_a_locked_store(db: Database, clock: FakeClock) -> None:
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    async with foreign_lock(db):
        with pytest.raises(StorageError, match="busy"):
            await open_meter(db, clock).__aenter__()

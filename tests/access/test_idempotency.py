"""Requests with an Idempotency-Key: one answer each, kept in the transaction that counts it."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from service.access import idempotency as keeping
from service.access.caller import Caller
from service.access.idempotency import MAX_WAIT_S, IdempotencyClaim, IdempotentRequest
from service.access.meter import Meter, open_meter
from service.access.usage_ledger import LEASE_MS
from service.errors import ServiceError
from service.storage import response_store
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.response_store import KEPT_MS, StoredResponse
from tests.access.test_anonymous import a_visitor
from tests.access.test_meter import foreign_lock
from tests.access.test_meter_processes import PATIENCE_S as REAL_S
from tests.access.test_meter_processes import start
from tests.access.test_meter_recovery import dying
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database

CALLER = Caller(1, "api_key", 1)
ANSWER = StoredResponse(200, ((b"content-type", b"text/plain"),), "BTC: 64,000 ½".encode())


def a_request(owner: str = "user 1", key: int = 1, body: int = 1) -> IdempotentRequest:
    return IdempotentRequest(owner, key.to_bytes(32), body.to_bytes(32))


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened


async def claim(meter: Meter, request: IdempotentRequest | None = None) -> IdempotencyClaim:
    taken = await meter.idempotency.claim(request or a_request())
    assert isinstance(taken, IdempotencyClaim)
    return taken


async def answer(meter: Meter, request: IdempotentRequest | None = None, given: StoredResponse = ANSWER) -> int:
    """Answer a request as its gate does; the event it was counted as."""
    taken = await claim(meter, request)
    decision = await meter.reserve(CALLER, "question")
    assert decision.event_id is not None
    await meter.idempotency.store(taken, given, decision.event_id)
    return decision.event_id


async def refusal(meter: Meter, request: IdempotentRequest | None = None) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        await meter.idempotency.claim(request or a_request())
    return refused.value


async def rows(db: Database) -> list[tuple[str, bool, int]]:
    """Owner, whether it was answered, and how much is kept of that."""
    read = await db.read(
        "SELECT owner, answered_ms IS NOT NULL, bytes FROM repeats ORDER BY claimed_ms, answered_ms, owner"
    )
    return [(row[0], bool(row[1]), row[2]) for row in read]


async def states(db: Database) -> list[tuple[int, int]]:
    return [(row[0], row[1]) for row in await db.read("SELECT run_id, state FROM usage_events ORDER BY id")]


# The same answer again.


async def test_the_same_request_gets_the_same_answer_and_is_counted_once(meter: Meter, db: Database) -> None:
    await answer(meter)
    assert [await meter.idempotency.claim(a_request()) for _ in range(3)] == [ANSWER] * 3
    assert await states(db) == [(0, 1)]


async def test_owners_and_keys_are_apart(meter: Meter) -> None:
    await answer(meter)
    await claim(meter, a_request("user 2"))
    await claim(meter, a_request(key=2))
    await claim(meter, a_request("device 1"))


async def test_a_key_that_was_used_for_another_request_is_refused_while_that_runs_and_afterwards(meter: Meter) -> None:
    taken = await claim(meter)
    running = await refusal(meter, a_request(body=2))
    await meter.idempotency.store(taken, ANSWER, None)
    for refused in (running, await refusal(meter, a_request(body=2))):
        assert (refused.code, refused.status) == ("IDEMPOTENCY_CONFLICT", 409)
        assert refused.message == "This Idempotency-Key was used for another request. Use a new key."


async def test_what_came_to_nothing_gives_the_key_and_the_question_back(meter: Meter, db: Database) -> None:
    taken = await claim(meter)
    decision = await meter.reserve(CALLER, "question")
    await meter.idempotency.release(taken, decision.event_id)
    assert await rows(db) == []
    assert (await meter.quota_status(CALLER)).used == 0
    await claim(meter, a_request(body=2))


async def test_what_is_kept_is_not_released(meter: Meter, db: Database) -> None:
    taken = await claim(meter)
    decision = await meter.reserve(CALLER, "question")
    await meter.idempotency.store(taken, ANSWER, decision.event_id)
    await meter.idempotency.release(taken, decision.event_id)
    assert await meter.idempotency.claim(a_request()) == ANSWER
    assert (await meter.quota_status(CALLER)).used == 1


async def test_a_claim_is_kept_once(meter: Meter, db: Database) -> None:
    taken = await claim(meter)
    await meter.idempotency.store(taken, ANSWER, None)
    decision = await meter.reserve(CALLER, "question")
    with pytest.raises(ServiceError, match="was not counted"):
        await meter.idempotency.store(taken, StoredResponse(200, (), b"another"), decision.event_id)
    assert await meter.idempotency.claim(a_request()) == ANSWER
    assert await states(db) == [(1, 0)]


async def test_a_large_answer_is_kept_whole(meter: Meter) -> None:
    large = StoredResponse(200, (), b"[%b]" % b",".join(b"%d" % number for number in range(100_000)))
    await answer(meter, given=large)
    assert await meter.idempotency.claim(a_request()) == large


async def test_an_answer_too_large_to_be_kept_leaves_its_key_used(meter: Meter, db: Database) -> None:
    noise = random.Random(6).randbytes(response_store.MAX_RESPONSE_BYTES + 1_000)  # noqa: S311 - what cannot be packed
    await answer(meter, given=StoredResponse(200, (), noise))
    refused = await refusal(meter)
    assert refused.code == "IDEMPOTENCY_CONFLICT"
    assert "is no longer stored. Use a new key" in refused.message
    assert (await rows(db), await states(db)) == ([("user 1", True, 0)], [(0, 1)])


async def test_a_free_answer_is_kept_as_well(meter: Meter, db: Database) -> None:
    await meter.idempotency.store(await claim(meter), ANSWER, None)
    assert await meter.idempotency.claim(a_request()) == ANSWER
    assert await states(db) == []


# At once.


async def test_whoever_comes_while_it_is_answered_waits_for_the_answer(
    meter: Meter, db: Database, clock: FakeClock
) -> None:
    taken = await claim(meter)
    waiting = [asyncio.create_task(meter.idempotency.claim(a_request())) for _ in range(19)]
    await pass_time(clock, db, 3)
    assert not any(task.done() for task in waiting)
    await meter.idempotency.store(taken, ANSWER, None)
    await until_done(clock, db, *waiting)
    assert [task.result() for task in waiting] == [ANSWER] * 19


async def test_when_it_comes_to_nothing_one_of_those_who_wait_has_its_turn(
    meter: Meter, db: Database, clock: FakeClock
) -> None:
    taken = await claim(meter)
    waiting = [asyncio.create_task(meter.idempotency.claim(a_request())) for _ in range(3)]
    await pass_time(clock, db, 1)
    await meter.idempotency.release(taken, None)
    done: set[asyncio.Task[Any]] = set()
    async with asyncio.timeout(10):
        while not done:
            await pass_time(clock, db, 0.1)
            done = {task for task in waiting if task.done()}
    (first,) = done
    assert isinstance(first.result(), IdempotencyClaim)
    await meter.idempotency.store(first.result(), ANSWER, None)
    await until_done(clock, db, *waiting)
    assert [task.result() for task in waiting if task is not first] == [ANSWER] * 2


async def test_nobody_waits_for_longer_than_ten_seconds(meter: Meter, db: Database, clock: FakeClock) -> None:
    await claim(meter)
    waiting = asyncio.create_task(meter.idempotency.claim(a_request()))
    await pass_time(clock, db, MAX_WAIT_S - 0.1)
    assert not waiting.done()
    await until_done(clock, db, waiting)
    assert 10 <= clock.monotonic() < 11
    with pytest.raises(ServiceError, match="still being answered") as refused:
        waiting.result()
    assert (refused.value.code, refused.value.headers) == ("IDEMPOTENCY_CONFLICT", {"Retry-After": "1"})


async def test_a_key_given_back_just_before_it_is_looked_at_is_taken_at_once(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = await claim(meter)
    read = db.read

    async def release_and_read(*query: Any) -> Any:
        await meter.idempotency.release(taken, None)
        return await read(*query)

    monkeypatch.setattr(db, "read", release_and_read)
    await claim(meter)


@pytest.mark.process
async def test_of_two_processes_one_makes_the_answer_and_both_give_it(db: Database) -> None:
    async with asyncio.timeout(REAL_S):
        processes = [await start("repeat", db.path, "10") for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    said = [out.split() for out, _ in outputs]
    assert sorted(int(made) for made, _, _ in said) == [0, 1]
    assert [answers for _, answers, _ in said] == [b"10", b"10"]
    assert len({who for _, _, who in said}) == 1
    assert await states(db) == [(0, 1)]


# Deaths, and callers that go away.


@pytest.mark.promise("question.idempotency")
async def test_an_answer_outlives_its_process_and_stays_counted(tmp_path: Path, clock: FakeClock) -> None:
    """It was not marked as delivered: for any other call, the next start would conclude that it was not answered."""
    path = tmp_path / "verdict.db"
    async with dying(path, clock) as meter:
        await answer(meter)
        uncounted = await meter.charge(CALLER, "coin.risk")
    assert uncounted.event_id == 2
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        assert await states(db) == [(0, 1), (1, 2)]
        assert await meter.idempotency.claim(a_request()) == ANSWER
        assert (await meter.quota_status(CALLER)).used == 1
        assert await meter.verify() == []


async def test_a_devices_answer_outlives_its_process_too(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "verdict.db"
    async with dying(path, clock) as meter:
        taken = await claim(meter)
        await meter.idempotency.store(taken, ANSWER, await meter.anonymous.reserve(a_visitor(), "question"))
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        assert await states(db) == [(0, 1)]
        assert await meter.idempotency.claim(a_request()) == ANSWER
        assert await meter.verify() == []
        with pytest.raises(ServiceError, match="has been answered"):
            await meter.anonymous.reserve(a_visitor(), "question")


async def test_what_a_dead_process_was_answering_is_anybodys_and_uncounted(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "verdict.db"
    async with dying(path, clock) as meter:
        await claim(meter)
        await meter.reserve(CALLER, "question")
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        await answer(meter, a_request(body=2))
        assert await states(db) == [(1, 2), (0, 1)]
        assert [owner for owner, *_ in await rows(db)] == ["user 1"]


async def test_what_a_living_process_is_answering_is_left_to_it(meter: Meter, db: Database, clock: FakeClock) -> None:
    async with open_database(db.path, clock) as other, open_meter(other, clock) as theirs:
        taken = await claim(theirs)
        assert (await refusal(meter, a_request(body=2))).code == "IDEMPOTENCY_CONFLICT"
        waiting = asyncio.create_task(meter.idempotency.claim(a_request()))
        await theirs.idempotency.store(taken, ANSWER, None)
        await until_done(clock, db, waiting)
        assert waiting.result() == ANSWER


async def test_a_claim_that_outlived_its_lease_is_anybodys_and_cannot_be_acted_on(
    meter: Meter, db: Database, clock: FakeClock
) -> None:
    late = await claim(meter)
    held = await meter.reserve(CALLER, "question")
    clock.set_wall(START_MS + LEASE_MS)
    assert (await refusal(meter, a_request(body=2))).code == "IDEMPOTENCY_CONFLICT"
    clock.set_wall(START_MS + LEASE_MS + 1)
    again = await claim(meter, a_request(body=2))
    with pytest.raises(ServiceError, match="was not counted") as refused:
        await meter.idempotency.store(late, ANSWER, held.event_id)
    assert (refused.value.code, refused.value.headers) == ("UNAVAILABLE", {"Retry-After": "1"})
    await meter.idempotency.release(late, held.event_id)
    await meter.idempotency.store(again, ANSWER, None)
    assert await meter.idempotency.claim(a_request(body=2)) == ANSWER
    assert await states(db) == [(1, 2)]


async def test_an_answer_whose_question_was_lost_is_neither_counted_nor_kept(meter: Meter, db: Database) -> None:
    taken = await claim(meter)
    held = await meter.reserve(CALLER, "question")
    assert held.event_id is not None
    await meter.release(held.event_id)
    with pytest.raises(ServiceError, match="took too long"):
        await meter.idempotency.store(taken, ANSWER, held.event_id)
    assert (await rows(db), await states(db)) == ([("user 1", False, 0)], [(1, 2)])


async def test_a_caller_that_goes_away_while_it_waits_for_a_claim_leaves_none(meter: Meter, db: Database) -> None:
    asked = asyncio.create_task(meter.idempotency.claim(a_request()))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])
    assert asked.cancelled()
    await db.write(lambda _: None)
    assert await rows(db) == []


# Stores that fail.


@pytest.mark.promise("errors.unavailable")
async def test_a_store_that_cannot_be_written_keeps_nothing_and_counts_nothing(
    meter: Meter, db: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    taken = await claim(meter)
    held = await meter.reserve(CALLER, "question")
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    async with foreign_lock(db):
        assert (await refusal(meter, a_request(key=2))).code == "UNAVAILABLE"
        with pytest.raises(ServiceError, match="busy"):
            await meter.idempotency.store(taken, ANSWER, held.event_id)
        await meter.idempotency.release(taken, held.event_id)
    assert "An Idempotency-Key could not be released. It is released when its lease expires." in caplog.messages
    assert "busy" in vars(caplog.records[-1])["reason"]
    assert (await rows(db), await states(db)) == ([("user 1", False, 0)], [(1, 0)])
    clock.set_wall(START_MS + LEASE_MS + 1)
    await meter.idempotency.prune()
    await db.write(meter._ledger.expire)
    assert (await rows(db), await states(db)) == ([], [(1, 2)])


# What is kept, and how much.


async def test_an_answer_is_kept_for_a_day_and_its_key_is_free_then(meter: Meter, clock: FakeClock) -> None:
    await answer(meter)
    clock.set_wall(START_MS + KEPT_MS - 1)
    await meter.idempotency.prune()
    assert await meter.idempotency.claim(a_request()) == ANSWER
    clock.set_wall(START_MS + KEPT_MS)
    await claim(meter, a_request(body=2))


async def test_the_watch_forgets_keys_whose_day_is_over(meter: Meter, db: Database, clock: FakeClock) -> None:
    await answer(meter)
    await claim(meter, a_request(key=2))
    clock.set_wall(START_MS + KEPT_MS)
    await answer(meter, a_request(key=3))
    watch = asyncio.create_task(meter.watch())
    async with asyncio.timeout(10):
        while len(await rows(db)) > 1:
            await db.write(lambda _: None)
    watch.cancel()
    assert await meter.idempotency.claim(a_request(key=3)) == ANSWER


async def test_an_owner_has_so_many_keys_and_is_told_when_one_is_free(meter: Meter, db: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
            "INSERT INTO repeats (owner, key, request_hash, claim, run_id, claimed_ms, answered_ms) "
            "SELECT 'user 1', randomblob(32), randomblob(32), randomblob(16), 0, ?, ? + i * 100 FROM n",
            (START_MS, START_MS - 3_600_000),
        )

    await db.write(fill)
    full = await refusal(meter)
    assert (full.code, full.headers) == ("RATE_LIMITED", {"Retry-After": str(23 * 3600 + 1)})
    await claim(meter, a_request("user 2"))
    await db.write(lambda connection: connection.execute("UPDATE repeats SET answered_ms = NULL").fetchall())
    assert (await refusal(meter)).headers == {"Retry-After": "1"}


@pytest.mark.parametrize("piece", [1, 200])
async def test_where_there_is_no_room_the_oldest_answers_go_and_their_keys_stay_used(
    meter: Meter, db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    for key in range(4):
        clock.set_wall(START_MS + key)
        await answer(meter, a_request(key=key))
    sizes = [size for *_, size in await rows(db)]
    monkeypatch.setattr(response_store, "MAX_TOTAL_BYTES", sum(sizes[2:]))
    monkeypatch.setattr(keeping, "_PIECE", piece)
    async with asyncio.timeout(10):
        await meter.idempotency.prune()
    assert [size for *_, size in await rows(db)] == [0, 0, *sizes[2:]]
    assert (await refusal(meter, a_request(key=1))).code == "IDEMPOTENCY_CONFLICT"
    assert await meter.idempotency.claim(a_request(key=2)) == ANSWER
    monkeypatch.setattr(response_store, "MAX_TOTAL_BYTES", 0)
    await meter.idempotency.prune()
    assert {size for *_, size in await rows(db)} == {0}


def test_one_answer_may_take_half_a_mebibyte_and_all_of_them_a_quarter_of_a_gibibyte() -> None:
    assert (response_store.MAX_RESPONSE_BYTES, response_store.MAX_TOTAL_BYTES, keeping.MAX_KEYS_PER_OWNER) == (
        524_288,
        268_435_456,
        10_000,
    )


async def pass_time(clock: FakeClock, db: Database, seconds: float) -> None:
    """Let so much time pass, in steps in which those who wait look at the store, one after the other."""
    for _ in range(round(seconds * 20)):
        await clock.advance(0.05)
        await db.read("SELECT 1")
        await db.write(lambda _: None)


async def until_done(clock: FakeClock, db: Database, *tasks: asyncio.Task[Any]) -> None:
    async with asyncio.timeout(10):
        while not all(task.done() for task in tasks):
            await pass_time(clock, db, 0.05)

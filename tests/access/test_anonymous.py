"""Devices without a token: one free question each, exactly, whatever dies or comes at once."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.access.anonymous import MAX_DEVICES_PER_DAY, AnonymousCaller, AnonymousHasher, network_of
from service.access.audit import DayUsage, audit_devices, usage_by_day
from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.access.secrets import Secrets
from service.access.usage_ledger import LEASE_MS
from service.clock import DAY_MS, HOUR_MS, SECOND_MS, day_of
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.journal import folder_beside
from tests.access.test_meter import foreign_lock
from tests.access.test_meter_processes import PATIENCE_S, start
from tests.access.test_meter_recovery import dying
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database

OFFER = "question"


def a_visitor(device: int = 1, network: int = 1) -> AnonymousCaller:
    return AnonymousCaller(bytes([device]) * 32, bytes([network]) * 32)


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened


async def states(db: Database) -> list[tuple[int, int, int]]:
    return [(row[0], row[1], row[2]) for row in await db.read("SELECT id, bucket, state FROM usage_events ORDER BY id")]


async def devices(db: Database) -> int:
    ((count,),) = await db.read("SELECT count(*) FROM devices")
    return int(count)


async def refusal(meter: Meter, visitor: AnonymousCaller) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        await meter.anonymous.reserve(visitor, OFFER)
    return refused.value


# What is kept of who asks.


def test_a_visitor_is_two_keyed_hashes_and_nothing_that_was_said(secrets: Secrets, clock: FakeClock) -> None:
    visitor = AnonymousHasher(secrets.anonymous_key, clock).identify("my-own-device", "203.0.113.77")
    assert len(visitor.device) == len(visitor.network) == 32
    assert b"my-own" not in visitor.device + visitor.network
    assert visitor.device != sha256(b"my-own-device").digest()
    assert secrets.anonymous_key not in {secrets.key_pepper, secrets.session_key, secrets.cursor_key}
    assert secrets.anonymous_key == hmac.new(secrets.key_pepper, b"visitors", "sha256").digest()


def test_the_same_device_is_the_same_in_every_process_and_on_every_day_and_another_under_another_secret(
    clock: FakeClock,
) -> None:
    form = AnonymousHasher(b"a secret", clock)
    first = form.identify("device-1", "203.0.113.77")
    assert AnonymousHasher(b"a secret", FakeClock(START_MS)).identify("device-1", "203.0.113.77") == first
    assert AnonymousHasher(b"another", clock).identify("device-1", "203.0.113.77") != first
    assert form.identify("device-2", "203.0.113.78").network == first.network
    clock.set_wall(START_MS + DAY_MS)
    later = form.identify("device-1", "203.0.113.77")
    assert later.device == first.device
    assert later.network != first.network, "nobody is followed from one day to the next"


def test_an_id_that_no_encoding_holds_is_a_device_like_any_other(clock: FakeClock) -> None:
    assert len(AnonymousHasher(b"a secret", clock).identify("\ud800-device", "").device) == 32


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("203.0.113.255", "203.0.113.0/24"),
        ("203.0.114.0", "203.0.114.0/24"),
        ("::ffff:203.0.113.9", "203.0.113.0/24"),
        ("2001:db8:aaaa:1::1", "2001:db8:aaaa::/48"),
        ("2001:db8:aaaa:ffff:ffff::", "2001:db8:aaaa::/48"),
        ("2001:db8:aaab::1", "2001:db8:aaab::/48"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_a_site_is_the_24_of_an_ipv4_address_and_the_48_of_an_ipv6_one(host: str, site: str) -> None:
    assert network_of(host, (24, 48)) == site


# One question.


async def test_of_a_hundred_calls_of_one_device_at_once_exactly_one_is_given_the_question(
    meter: Meter, db: Database
) -> None:
    asked = (meter.anonymous.reserve(a_visitor(), OFFER) for _ in range(100))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
    assert {getattr(outcome, "code", None) for outcome in outcomes} == {None, "AUTH_REQUIRED"}
    assert await states(db) == [(1, 3, 0)]


@pytest.mark.process
@pytest.mark.promise("question.device-once")
async def test_of_two_processes_one_gives_a_device_its_question(db: Database) -> None:
    async with asyncio.timeout(PATIENCE_S):
        processes = [await start("visit", db.path, "20") for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert sorted(int(out) for out, _ in outputs) == [0, 1]
    assert await states(db) == [(1, 3, 1)]
    assert await devices(db) == 1


async def test_a_device_whose_question_is_being_answered_is_told_so_and_one_that_has_had_it_too(meter: Meter) -> None:
    event = await meter.anonymous.reserve(a_visitor(), OFFER)
    assert "is being answered by another call" in (await refusal(meter, a_visitor())).message
    await meter.commit(event)
    spent = await refusal(meter, a_visitor())
    assert (spent.code, spent.status) == ("AUTH_REQUIRED", 403)
    assert "has been answered. Run `verdict login`" in spent.message


async def test_a_device_that_has_had_its_question_is_refused_without_the_writer(meter: Meter, db: Database) -> None:
    await meter.commit(await meter.anonymous.reserve(a_visitor(), OFFER))
    before = db.transactions
    await refusal(meter, a_visitor())
    assert db.transactions == before


async def test_what_another_process_gave_since_is_seen_by_the_writer(
    meter: Meter, db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_database(db.path, clock) as other, open_meter(other, clock) as theirs:
        await theirs.commit(await theirs.anonymous.reserve(a_visitor(), OFFER))
    monkeypatch.setattr(db, "read_now", lambda *_: [])
    assert (await refusal(meter, a_visitor())).code == "AUTH_REQUIRED"


async def test_a_question_given_back_is_there_again_and_for_all_days_once_committed(
    meter: Meter, db: Database, clock: FakeClock
) -> None:
    await meter.release(await meter.anonymous.reserve(a_visitor(), OFFER))
    assert await devices(db) == 0
    event = await meter.anonymous.reserve(a_visitor(), OFFER)
    await meter.commit(event)
    await meter.release(event)
    clock.set_wall(START_MS + 400 * DAY_MS)
    assert (await refusal(meter, a_visitor())).code == "AUTH_REQUIRED"
    assert await states(db) == [(1, 3, 2), (2, 3, 1)]


async def test_no_users_quota_knows_of_a_devices_question(meter: Meter, db: Database) -> None:
    user = Caller(1, "api_key", 1)
    await meter.commit(await meter.anonymous.reserve(a_visitor(), OFFER))
    await meter.release(await meter.anonymous.reserve(a_visitor(2), OFFER))
    assert (await meter.charge(user, OFFER)).quota_status.used == 1
    assert await db.read("SELECT user_id, counted FROM quota") == [(1, 1)]
    assert await meter.verify() == []
    assert await db.inspect(usage_by_day) == [DayUsage(0, day_of(START_MS), 1), DayUsage(1, day_of(START_MS), 1)]


# So many a network and day.


@pytest.mark.promise("question.device-cap")
async def test_a_network_has_so_many_questions_a_day_and_another_network_has_its_own(
    meter: Meter, clock: FakeClock
) -> None:
    clock.set_wall(START_MS + HOUR_MS - 1)
    for device in range(MAX_DEVICES_PER_DAY):
        await meter.commit(await meter.anonymous.reserve(a_visitor(device), OFFER))
    full = await refusal(meter, a_visitor(MAX_DEVICES_PER_DAY))
    assert (full.code, full.status) == ("RATE_LIMITED", 429)
    assert full.headers == {"Retry-After": str(11 * 3600 + 1)}
    assert (await refusal(meter, a_visitor(3))).code == "AUTH_REQUIRED", "to have had one's own is said first"
    await meter.commit(await meter.anonymous.reserve(a_visitor(MAX_DEVICES_PER_DAY, network=2), OFFER))


async def test_of_a_network_with_one_question_left_one_device_of_many_has_it(meter: Meter, db: Database) -> None:
    for device in range(MAX_DEVICES_PER_DAY - 1):
        await meter.commit(await meter.anonymous.reserve(a_visitor(device), OFFER))
    asked = (meter.anonymous.reserve(a_visitor(device), OFFER) for device in range(100, 150))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
    assert await devices(db) == MAX_DEVICES_PER_DAY


async def test_a_question_that_came_to_nothing_does_not_count_for_its_network(meter: Meter) -> None:
    for device in range(2 * MAX_DEVICES_PER_DAY):
        await meter.release(await meter.anonymous.reserve(a_visitor(device), OFFER))
    await meter.anonymous.reserve(a_visitor(), OFFER)


# Deaths, and callers that go away.


async def after_restart(path: Path, clock: FakeClock) -> tuple[list[tuple[int, int, int]], int]:
    async with open_database(path, clock) as db, open_meter(db, clock) as meter:
        assert await meter.verify() == []
        return await states(db), await devices(db)


@pytest.mark.slow
@pytest.mark.promise("question.device-once")
@pytest.mark.parametrize(
    ("steps", "state", "entered"), [("reserve", 2, 0), ("reserve commit", 2, 0), ("reserve commit deliver", 1, 1)]
)
async def test_a_kill_before_the_answer_leaves_gives_the_question_back_and_one_after_it_does_not(
    tmp_path: Path, clock: FakeClock, steps: str, state: int, entered: int
) -> None:
    path = tmp_path / "verdict.db"
    async with dying(path, clock) as meter:
        event = await meter.anonymous.reserve(a_visitor(), OFFER)
        if "commit" in steps:
            await meter.commit(event)
        if "deliver" in steps:
            meter.delivered(event)
    assert await after_restart(path, clock) == ([(1, 3, state)], entered)
    assert list(folder_beside(path).glob("*.marks")) == []


async def test_a_lease_that_ran_out_gives_the_question_back(meter: Meter, db: Database, clock: FakeClock) -> None:
    event = await meter.anonymous.reserve(a_visitor(), OFFER)
    clock.set_wall(START_MS + LEASE_MS + 1)
    assert await db.write(meter._ledger.expire) == 1
    with pytest.raises(ServiceError, match="Ask again"):
        await meter.commit(event)
    assert await devices(db) == 0


async def test_a_caller_that_goes_away_while_it_waits_keeps_its_question(meter: Meter, db: Database) -> None:
    asked = asyncio.create_task(meter.anonymous.reserve(a_visitor(), OFFER))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])
    assert asked.cancelled()
    await db.write(lambda _: None)
    await db.write(lambda _: None)
    assert (await states(db), await devices(db)) == ([(1, 3, 2)], 0)


@pytest.mark.parametrize("taken", [False, True])
async def test_a_caller_that_goes_away_when_it_has_just_been_decided_keeps_its_question(
    meter: Meter, db: Database, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if taken:
        await meter.commit(await meter.anonymous.reserve(a_visitor(), OFFER))
        monkeypatch.setattr(db, "read_now", lambda *_: [])
    submit = db.submit

    def submit_and_cancel(work: Any, answer: Callable[..., None]) -> None:
        def answer_and_cancel(*outcome: Any) -> None:
            answer(*outcome)
            asked.cancel()

        monkeypatch.setattr(db, "submit", submit)
        submit(work, answer_and_cancel)

    monkeypatch.setattr(db, "submit", submit_and_cancel)
    asked = asyncio.create_task(meter.anonymous.reserve(a_visitor(), OFFER))
    await asyncio.wait([asked])
    assert asked.cancelled()
    await db.write(lambda _: None)
    assert await states(db) == ([(1, 3, 1)] if taken else [(1, 3, 2)])
    assert await devices(db) == int(taken)


async def test_a_caller_that_goes_away_when_it_has_just_been_failed_has_nothing_to_give_back(
    meter: Meter, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_and_cancel(_: Any, answer: Callable[..., None]) -> None:
        def later() -> None:
            answer(None, ServiceError("UNAVAILABLE", "The store is busy."))
            asked.cancel()

        asyncio.get_running_loop().call_soon(later)

    monkeypatch.setattr(db, "submit", fail_and_cancel)
    asked = asyncio.create_task(meter.anonymous.reserve(a_visitor(), OFFER))
    await asyncio.wait([asked])
    assert asked.cancelled()
    assert await devices(db) == 0


async def test_what_the_store_cannot_give_back_waits_for_its_lease(
    meter: Meter, db: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = asyncio.Event()

    def refuse(*_: Any) -> None:
        refused.set()
        raise ServiceError("UNAVAILABLE", "The service is stopping.")

    asked = asyncio.create_task(meter.anonymous.reserve(a_visitor(), OFFER))
    await asyncio.sleep(0)
    asked.cancel()
    monkeypatch.setattr(db, "submit", refuse)
    async with asyncio.timeout(PATIENCE_S):
        await refused.wait()
    monkeypatch.undo()
    await db.write(lambda _: None)
    assert await states(db) == [(1, 3, 0)]
    clock.set_wall(START_MS + LEASE_MS + SECOND_MS)
    await db.write(meter._ledger.expire)
    assert await devices(db) == 0


@pytest.mark.promise("errors.unavailable")
async def test_a_store_that_cannot_be_written_gives_no_question(meter: Meter, db: Database) -> None:
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    async with foreign_lock(db):
        assert (await refusal(meter, a_visitor())).code == "UNAVAILABLE"
    assert await devices(db) == 0
    await meter.anonymous.reserve(a_visitor(), OFFER)


# Looking it over.


async def test_a_device_without_its_question_and_a_question_without_its_device_are_found(
    meter: Meter, db: Database
) -> None:
    for device in range(3):
        await meter.commit(await meter.anonymous.reserve(a_visitor(device), OFFER))
    await db.write(lambda connection: connection.execute("DELETE FROM devices WHERE event_id = 1").fetchall())
    await db.write(lambda connection: connection.execute("UPDATE usage_events SET state = 2 WHERE id = 3").fetchall())
    found = await db.inspect(audit_devices)
    assert found == [
        "A device is recorded for usage event 3, which is not a question of a device.",
        "Usage event 1 is a question of a device, and no device is recorded.",
    ]
    assert await meter.verify() == found

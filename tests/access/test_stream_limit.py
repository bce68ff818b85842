"""Three open streams a credential, on whatever process of a store."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from service.access.meter import Meter, open_meter
from service.access.stream_limit import LEASE_MS, RENEW_S, StreamLimit
from service.errors import ServiceError
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database

KEY, OTHER = 1, 2
ADD = "INSERT INTO stream_leases (id, credential_id, run_id, lease_until_ms) VALUES (?, ?, ?, ?)"


@pytest.fixture
async def meters(db: Database, clock: FakeClock) -> AsyncIterator[tuple[Meter, Meter]]:
    """Two processes on one store."""
    async with (
        open_database(db.path, clock) as second,
        open_meter(db, clock) as one,
        open_meter(second, clock) as other,
    ):
        yield one, other


@pytest.fixture
def limits(meters: tuple[Meter, Meter]) -> tuple[StreamLimit, StreamLimit]:
    return meters[0].streams, meters[1].streams


async def leases(db: Database) -> int:
    await db.write(lambda connection: connection.execute("SELECT 1").fetchone())  # behind what was submitted
    ((count,),) = await db.read("SELECT count(*) FROM stream_leases")
    return int(count)


async def opened(limit: StreamLimit, credential_id: int = KEY) -> int:
    lease = await limit.acquire(credential_id)
    assert lease is not None
    return lease


@pytest.mark.promise("watch.limit-everywhere")
async def test_of_many_streams_opened_at_once_on_two_processes_exactly_three_are_granted(
    limits: tuple[StreamLimit, StreamLimit], db: Database
) -> None:
    granted = await asyncio.gather(*(limits[number % 2].acquire(KEY) for number in range(20)))
    held = [(number % 2, lease) for number, lease in enumerate(granted) if lease is not None]
    assert len(held) == await leases(db) == 3
    assert await limits[0].acquire(OTHER) is not None
    place, lease = held[0]
    limits[place].release(lease)
    assert await leases(limits[place]._database) == 3
    again = await asyncio.gather(*(limits[place].acquire(KEY) for _ in range(5)))
    assert sum(lease is not None for lease in again) == 1


@pytest.mark.promise("watch.limit-everywhere")
async def test_streams_of_a_process_that_died_here_count_no_more_at_once(
    limits: tuple[StreamLimit, StreamLimit], db: Database, clock: FakeClock
) -> None:
    until_ms = clock.now_ms() + LEASE_MS
    await db.write(lambda at: at.executemany(ADD, [(n, KEY, 999, until_ms) for n in range(3)]).rowcount)
    assert sum([await limits[0].acquire(KEY) is not None for _ in range(5)]) == 3


@pytest.mark.promise("watch.limit-everywhere")
async def test_leases_run_out_after_a_minute_unless_their_process_renews_them(
    limits: tuple[StreamLimit, StreamLimit], meters: tuple[Meter, Meter], db: Database, clock: FakeClock
) -> None:
    silent = [await opened(limits[1]) for _ in range(2)]
    kept = await opened(limits[0])
    watching = asyncio.create_task(limits[0].watch())
    await clock.settle()
    for _ in range(int(LEASE_MS / 1_000 / RENEW_S)):
        assert await limits[0].acquire(KEY) is None
        await clock.advance(RENEW_S)
        await leases(db)
    assert sum([await limits[0].acquire(KEY) is not None for _ in range(5)]) == 2
    assert await leases(db) == 3
    limits[0].release(kept)
    watching.cancel()
    for lease in silent:
        limits[1].release(lease)


async def test_a_process_that_stood_still_renews_what_it_still_serves(
    limits: tuple[StreamLimit, StreamLimit], db: Database, clock: FakeClock
) -> None:
    for _ in range(3):
        await opened(limits[1])
    clock.at_ms += LEASE_MS
    for _ in range(3):
        await opened(limits[0])
    watching = asyncio.create_task(limits[1].watch())
    await clock.settle()
    await clock.advance(RENEW_S)
    await leases(limits[1]._database)
    assert await leases(db) == 6
    assert await limits[0].acquire(KEY) is None
    watching.cancel()


async def test_without_an_open_stream_nothing_is_written(
    limits: tuple[StreamLimit, StreamLimit], db: Database, clock: FakeClock
) -> None:
    watching = asyncio.create_task(limits[0].watch())
    await clock.settle()
    before = db.transactions
    await clock.advance(3 * RENEW_S)
    await clock.settle()
    assert db.transactions == before
    watching.cancel()


async def test_a_store_that_cannot_be_written_opens_no_stream_and_is_got_over(
    limits: tuple[StreamLimit, StreamLimit],
    db: Database,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fails(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "The disk is full.")

    def refuses(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "The service is stopping.")

    lease = await opened(limits[0])
    watching = asyncio.create_task(limits[0].watch())
    await clock.settle()
    with monkeypatch.context() as failing, caplog.at_level(logging.WARNING):
        failing.setattr(db, "write", fails)
        failing.setattr(db, "submit", refuses)
        with pytest.raises(ServiceError, match="full"):
            await limits[0].acquire(KEY)
        await clock.advance(RENEW_S)
        await clock.settle()
        limits[0].release(lease)
    assert "Leases of streams could not be renewed." in caplog.text
    assert await leases(db) == 1
    watching.cancel()


async def test_an_opening_that_is_cancelled_leaves_no_lease(
    limits: tuple[StreamLimit, StreamLimit], db: Database
) -> None:
    opening = asyncio.create_task(limits[0].acquire(KEY))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert await leases(db) == 0

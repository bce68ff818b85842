"""A database file that is removed or replaced while it is open is noticed: nothing is written into what is lost."""

import asyncio
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.storage.database import open_database
from service.storage.full_disk import state_of
from service.storage.port import PROBE_EVERY_S, Database
from tests.fakes.clock import FakeClock


def aside(path: Path) -> None:
    path.rename(path.with_name("aside"))


def back(path: Path) -> None:
    path.with_name("aside").rename(path)


def copied(path: Path) -> None:
    """A copy of the same content takes its place."""
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").rename(path)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def linked(path: Path) -> None:
    aside(path)
    path.symlink_to(path.with_name("nothing"))


def foldered(path: Path) -> None:
    path.unlink()
    path.mkdir()


def all_gone(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink()


LOSSES: dict[str, tuple[Callable[[Path], object], str]] = {
    "unlinked": (Path.unlink, "verdict.db was removed"),
    "moved": (aside, "verdict.db was removed"),
    "replaced by a copy": (copied, "verdict.db was replaced"),
    "replaced by a folder": (foldered, "verdict.db was replaced"),
    "replaced by a link to nothing": (linked, "verdict.db was removed"),
    "emptied": (emptied, "verdict.db was emptied"),
    "removed with all beside it": (all_gone, "verdict.db was removed"),
    "its log removed": (lambda path: Path(f"{path}-wal").unlink(), "verdict.db-wal was removed"),
    "its shared index removed": (lambda path: Path(f"{path}-shm").unlink(), "verdict.db-shm was removed"),
}


async def write(db: Database) -> None:
    await db.write(lambda connection: connection.execute("INSERT INTO usage_runs (started_ms) VALUES (1)"))


async def failing(db: Database) -> str | None:
    return db.failing


@pytest.mark.promise("store.lost-while-running")
@pytest.mark.parametrize("loss", LOSSES)
async def test_the_next_write_after_a_loss_is_refused_with_the_reason(
    path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture, loss: str
) -> None:
    lose, said = LOSSES[loss]
    async with open_database(path, clock) as db:
        await write(db)
        lose(path)
        with pytest.raises(ServiceError) as refused:
            await write(db)
        assert (refused.value.code, "removed or replaced" in refused.value.message) == ("UNAVAILABLE", True)
        logged = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
        assert any(said in text and "stop the service" in text and "`verdict admin backup`" in text for text in logged)
        state = state_of(db.failing, path.parent)
        assert state["ready"] is False
        assert f"The database file in {path.parent} was removed or replaced." in str(state["reason"])


@pytest.mark.promise("store.lost-while-running")
@pytest.mark.parametrize("loss", LOSSES)
async def test_a_loss_is_noticed_while_nobody_asks(path: Path, clock: FakeClock, loss: str) -> None:
    async with open_database(path, clock) as db:
        await write(db)
        watching = asyncio.ensure_future(db.watch(clock))
        await asyncio.sleep(0)
        await clock.advance(PROBE_EVERY_S)
        assert await failing(db) is None
        LOSSES[loss][0](path)
        await clock.advance(PROBE_EVERY_S)
        async with asyncio.timeout(20):
            while await failing(db) is None:  # noqa: ASYNC110 - until the writer's thread has tried
                await asyncio.sleep(0.001)
        assert await failing(db) == "STORE_LOST"
        watching.cancel()


async def test_each_process_that_has_the_file_open_notices_it(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as one, open_database(path, clock) as other:
        await write(one)
        await write(other)
        LOSSES["unlinked"][0](path)
        for db in (one, other):
            with pytest.raises(ServiceError):
                await write(db)
            assert db.failing == "STORE_LOST"


async def test_the_same_file_put_back_is_used_again(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db:
        aside(path)
        with pytest.raises(ServiceError):
            await write(db)
        back(path)
        await write(db)
        assert db.failing is None


async def test_a_store_that_grows_shrinks_and_is_copied_is_not_lost(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db, open_database(path, clock) as other:
        await write(db)
        await db.write(lambda connection: connection.execute("CREATE TABLE large AS SELECT zeroblob(1000000)"))
        await db.write(lambda connection: connection.execute("DROP TABLE large"))
        await db.inspect(lambda connection: connection.execute("SELECT 1").fetchall())
        shutil.copy(path, path.with_name("copy"))
        async with open_database(path, clock):
            pass
        await write(other)
        await write(db)
        assert (db.failing, other.failing) == (None, None)

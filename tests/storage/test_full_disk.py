"""A full disk is named: at a start in one sentence, on `/readyz` as the reason."""

import asyncio
import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.access.secrets import SecretsError, open_secrets
from service.clock import Clock
from service.errors import ServiceError
from service.storage import opening
from service.storage.database import open_database
from service.storage.engine import DatabaseError, StorageError
from service.storage.full_disk import start_refusal, state_of
from service.storage.port import PROBE_EVERY_S, Database
from tests.fakes.clock import FakeClock

FOLDER = Path("/srv/verdict")
NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(*_: object, **__: object) -> None:
    raise NO_ROOM


@pytest.mark.promise("start.full-disk")
def test_a_start_says_what_failed_where_and_what_to_do() -> None:
    assert start_refusal(FOLDER, NO_ROOM) == (
        "The disk of the data folder /srv/verdict is full (No space left on device). Free space, or name a folder on "
        "another disk in VERDICT_DATA_DIR, and start again."
    )
    assert start_refusal(FOLDER, PermissionError(errno.EACCES, "Permission denied")) is None


@pytest.mark.promise("start.full-disk")
async def test_a_store_that_cannot_be_made_for_lack_of_room_says_so(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_make_files", refuse)
    with pytest.raises(StorageError, match=r"^The disk of the data folder .* is full"):
        await open_database(path, clock).__aenter__()


def test_secrets_that_cannot_be_made_for_lack_of_room_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.access.secrets._create", refuse)
    with pytest.raises(SecretsError, match=r"^The disk of the data folder .* is full"):
        open_secrets(tmp_path)


def test_readiness_names_a_full_disk_and_any_other_failure() -> None:
    assert state_of(None, FOLDER) == {"ready": True}
    for reason in ("SQLITE_FULL", "53100"):
        assert state_of(reason, FOLDER) == {
            "ready": False,
            "reason": f"The disk of the store is full ({reason}). Free space. The service continues without a restart.",
        }
    assert "cannot be written (SQLITE_IOERR_WRITE)" in str(state_of("SQLITE_IOERR_WRITE", FOLDER)["reason"])


async def resize(database: Database, pages: int) -> None:
    await database.write(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())


async def failing(database: Database) -> str | None:
    return database.failing


@pytest.mark.promise("start.full-disk")
async def test_a_store_that_is_full_is_failing_until_a_write_succeeds_without_anybody_asking(
    db: Database, clock: FakeClock
) -> None:
    await db.write(lambda connection: connection.execute("INSERT INTO usage_runs (started_ms) VALUES (1)"))
    assert await failing(db) is None
    await resize(db, 1)  # as many pages as there are
    with pytest.raises(ServiceError):
        await db.write(lambda connection: connection.execute("CREATE TABLE large AS SELECT zeroblob(1000000)"))
    assert await failing(db) == "SQLITE_FULL"
    await db.write(lambda connection: connection.execute("DELETE FROM usage_runs WHERE id = 0"))
    assert await failing(db) == "SQLITE_FULL", "a transaction that changes nothing does not show that there is room"
    watching = asyncio.ensure_future(db.watch(clock))
    await asyncio.sleep(0)
    await clock.advance(PROBE_EVERY_S)
    async with asyncio.timeout(20):
        while await failing(db):  # noqa: ASYNC110 - until a page that is there already has been written
            await asyncio.sleep(0.001)
    watching.cancel()


@pytest.mark.parametrize(("free", "said"), [(opening.LEAST_BYTES - 1, "is full"), (opening.LEAST_BYTES, "cannot use")])
async def test_a_disk_error_without_free_space_is_a_full_disk(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    def fail(*_: object) -> None:
        error = DatabaseError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR"
        raise error

    monkeypatch.setattr(opening, "_check_pages", fail)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    with pytest.raises(StorageError, match=said):
        await open_database(path, clock).__aenter__()

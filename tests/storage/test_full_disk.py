"""A full disk is named: at a start in one sentence, on `/readyz` as the reason."""

import asyncio
import errno
import os
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from service.access.secrets import SecretsError, open_secrets
from service.clock import Clock
from service.errors import ServiceError
from service.settings import Settings
from service.storage import opening
from service.storage.database import open_database
from service.storage.engine import DatabaseError, StorageError
from service.storage.full_disk import LEAST_BYTES, full_disk_named, start_refusal, state_of
from service.storage.port import PROBE_EVERY_S, Database
from service.storage.sqlite_session import SqliteSession
from service.storage.writer import TransactionError
from service.wiring.build import build
from tests.fakes.clock import FakeClock

FOLDER = Path("/srv/verdict")
NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def named(name: str, text: str) -> Exception:
    """SQLite's error of a name."""
    error = DatabaseError(text)
    error.sqlite_errorname = name
    return error


def full(_: SqliteSession) -> None:
    raise TransactionError("The transaction could not be committed.", "SQLITE_FULL")


def refuse(*_: object, **__: object) -> None:
    raise NO_ROOM


@pytest.mark.promise("start.full-disk")
def test_a_start_says_what_failed_where_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=8_192))
    monkeypatch.setattr(Path, "is_mount", lambda self: str(self) == "/")
    assert start_refusal(FOLDER, NO_ROOM) == (
        "The disk of the data folder /srv/verdict is full (No space left on device): 8,192 bytes are free on /. Free "
        "space, or name a folder on another disk in VERDICT_DATA_DIR, and start again."
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
    monkeypatch.setattr("service.access.secrets._write", refuse)
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


@pytest.mark.promise("start.full-disk")
@pytest.mark.parametrize(
    ("error", "failing"),
    [
        (ServiceError("UNAVAILABLE", "try again shortly"), "SQLITE_FULL"),
        (StorageError("Metering cannot start: try again shortly."), "SQLITE_FULL"),
        (StorageError("Metering cannot start: try again shortly."), "SQLITE_IOERR_SHMSIZE"),
        (ServiceError("UNAVAILABLE", "try again shortly"), "SQLITE_IOERR_WRITE"),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), None),
        (NO_ROOM, None),
        (named("SQLITE_FULL", "database or disk is full"), None),
        (named("SQLITE_IOERR_WRITE", "disk I/O error"), None),
    ],
    ids=repr,
)
def test_an_error_of_a_full_disk_names_the_disk_wherever_it_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, failing: str | None
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(StorageError) as refused, full_disk_named(tmp_path, lambda: failing):
        raise error
    assert str(refused.value).startswith(f"The disk of the data folder {tmp_path} is full (")
    assert ": 0 bytes are free on /" in str(refused.value)


def test_a_full_server_is_named_and_other_errors_stay_as_they_are(tmp_path: Path) -> None:
    busy = ServiceError("UNAVAILABLE", "busy")
    with (
        pytest.raises(StorageError, match=r"^The disk of the database server is full \(53100\)"),
        full_disk_named(tmp_path, lambda: "53100"),
    ):
        raise busy
    for failing in (None, "SQLITE_READONLY", "57P01", "STORE_LOST"):
        with pytest.raises(ServiceError) as raised, full_disk_named(tmp_path, iter([failing]).__next__):
            raise busy
        assert raised.value is busy


@pytest.mark.promise("start.full-disk")
async def test_metering_that_cannot_start_for_lack_of_room_names_the_disk(tmp_path: Path, clock: FakeClock) -> None:
    """As after a kill: the store exists and needs no migration, and its first write finds no room."""
    settings = msgspec.structs.replace(Settings.from_environ({}), data_dir=tmp_path, source="fixtures")
    async with open_database(tmp_path / "verdict.db", clock):
        pass
    (tmp_path / "secrets.toml").unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SqliteSession, "commit", full)
        with pytest.raises(StorageError, match=r"^The disk of the data folder .* is full \(SQLITE_FULL\)"):
            await build(settings, clock).__aenter__()


@pytest.mark.parametrize(("free", "said"), [(LEAST_BYTES - 1, "is full"), (LEAST_BYTES, "cannot use")])
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

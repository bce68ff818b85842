"""What stands in the way of a start is said, with what to do about it."""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from service.storage import opening
from service.storage.database import open_database
from service.storage.engine import Connection, IntegrityError, StorageError, connect
from service.storage.migrate import read_migrations
from service.storage.sqlite_session import WriteLock
from tests.fakes.clock import FakeClock

PAGE = 4_096


async def refusal(path: Path, clock: FakeClock) -> str:
    with pytest.raises(StorageError) as refused:
        await open_database(path, clock).__aenter__()
    return str(refused.value)


def overwrite(path: Path, place: int, content: bytes) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(descriptor, content, place)
    os.close(descriptor)


async def make(path: Path, clock: FakeClock, rows: int = 0) -> None:
    def fill(connection: Connection) -> None:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
        for number in range(rows):
            connection.execute("INSERT INTO notes (text) VALUES (?)", (str(number) * 200,))

    async with open_database(path, clock) as db:
        await db.write(fill)


async def test_the_folder_is_made_where_it_is_absent(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "deep" / "data" / "verdict.db"
    await make(path, clock)
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def read_only_folder(common_folder: Path) -> Iterator[Path]:
    common_folder.chmod(0o555)
    yield common_folder
    common_folder.chmod(0o755)


async def test_a_read_only_folder_is_refused(read_only_folder: Path, clock: FakeClock) -> None:
    said = await refusal(read_only_folder / "verdict.db", clock)
    assert said == (
        f"The data folder {read_only_folder} cannot be written (Permission denied). "
        "Make it and the files in it writable, or name another folder in VERDICT_DATA_DIR."
    )


async def test_a_read_only_file_is_refused(common_folder: Path, clock: FakeClock) -> None:
    path = common_folder / "verdict.db"
    await make(path, clock)
    os.chmod(path, 0o400)  # noqa: PTH101 -- pathlib's would be taken for a wait
    assert "VERDICT_DATA_DIR" in await refusal(path, clock)


async def test_a_file_in_the_folders_place_is_refused(path: Path, clock: FakeClock) -> None:
    await make(path, clock)
    assert "VERDICT_DATA_DIR" in await refusal(path / "verdict.db", clock)


async def test_a_file_that_is_no_database_is_refused(path: Path, clock: FakeClock) -> None:
    overwrite(path, 0, b"This is not a database. " * 1_000)
    said = await refusal(path, clock)
    assert "is damaged" in said
    assert "`verdict admin backup`" in said


@pytest.mark.slow
@pytest.mark.parametrize("page", range(1, 12))
async def test_a_corrupt_page_is_refused_wherever_it_is(path: Path, clock: FakeClock, page: int) -> None:
    await make(path, clock, rows=500)
    overwrite(path, page * PAGE, random.Random(page).randbytes(PAGE))  # noqa: S311 - the same each time
    said = await refusal(path, clock)
    assert "is damaged" in said
    assert "\n" not in said


async def test_what_is_written_after_the_pages_were_looked_at_obeys_every_constraint(
    path: Path, clock: FakeClock
) -> None:
    async with open_database(path, clock) as db:
        await db.write(lambda connection: connection.execute("CREATE TABLE ages (age CHECK (age > 3))"))
        with pytest.raises(IntegrityError, match="CHECK constraint failed"):
            await db.write(lambda connection: connection.execute("INSERT INTO ages VALUES (3)"))


async def test_a_file_cut_short_is_refused(path: Path, clock: FakeClock) -> None:
    await make(path, clock, rows=500)
    os.truncate(path, 7 * PAGE)
    assert "is damaged" in await refusal(path, clock)


async def test_a_schema_newer_than_the_code_is_refused(path: Path, clock: FakeClock) -> None:
    await make(path, clock)
    connection = connect(path)
    connection.execute("INSERT INTO migrations VALUES (9999, 'future', 'x', 0)")
    connection.close()
    assert "migration 9999 (future), which this version of the service does not know" in await refusal(path, clock)


async def test_a_foreign_lock_at_the_start_is_refused(
    path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "connect", partial(connect, busy_ms=20))
    await make(path, clock)
    connection = connect(path)
    connection.execute("BEGIN EXCLUSIVE")
    said = await refusal(path, clock)
    connection.close()
    assert "`fuser" in said


async def test_a_process_that_starts_for_ever_is_named_to_the_next(
    path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_PATIENCE_S", 0.01)
    await make(path, clock)
    other = WriteLock(path.with_name("verdict.db-turn"))
    assert other.acquire(0)
    said = await refusal(path, clock)
    other.close()
    assert "does not release it" in said


@pytest.mark.promise("meter.wal-full")
async def test_a_file_system_without_wal_is_refused(
    path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(path, clock)
    monkeypatch.setattr(opening, "connect", lambda _, **__: connect(Path(":memory:")))
    assert "does not support WAL" in await refusal(path, clock)


def test_what_sqlite_cannot_do_is_said_in_words() -> None:
    assert "SQLite cannot use" in opening._remedy(Path("verdict.db"), "SQLITE_IOERR_READ: disk I/O error")


def test_the_schema_of_a_new_store_is_synced_and_later_commits_are_too(tmp_path: Path, clock: FakeClock) -> None:
    opened = opening.prepare(tmp_path / "store.db", clock)
    alone = tmp_path / "alone.db"
    shutil.copy(tmp_path / "store.db", alone)
    with closing(connect(alone)) as copied:
        assert len(copied.execute("SELECT version FROM migrations").fetchall()) == len(read_migrations())
    assert opened.writing.execute("PRAGMA synchronous").fetchone() == (2,)
    for part in (opened.reading_now, opened.reading, opened.writing, opened.write_lock):
        part.close()

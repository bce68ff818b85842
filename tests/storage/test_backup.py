"""A copy of one instant, made while others write, checked before it has its name."""

import asyncio
from pathlib import Path

import pytest

from service.storage import backup
from service.storage.backup import back_up, check_integrity
from service.storage.database import Database, open_database
from service.storage.engine import Connection, StorageError, connect
from tests.fakes.clock import FakeClock


def pair(connection: Connection) -> None:
    connection.execute("INSERT INTO notes (text) VALUES ('left')")
    connection.execute("INSERT INTO notes (text) VALUES ('right')")


async def test_a_copy_made_while_others_write_is_whole_and_can_be_started_on(
    db: Database, tmp_path: Path, clock: FakeClock
) -> None:
    target = tmp_path / "copy.db"
    writing = asyncio.create_task(write_pairs(db))
    size = await asyncio.to_thread(back_up, db.path, target)
    writing.cancel()
    await asyncio.wait([writing])
    assert size == target.stat().st_size
    assert target.stat().st_mode & 0o777 == 0o600
    async with open_database(target, clock) as copy:
        rows = await copy.read("SELECT text, count(*) FROM notes GROUP BY text")
        assert len({count for _, count in rows}) <= 1
        assert await copy.inspect(check_integrity) == []


async def write_pairs(db: Database) -> None:
    while True:
        await db.write(pair)


def test_there_must_be_a_database(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no database"):
        back_up(tmp_path / "verdict.db", tmp_path / "copy.db")


async def test_a_file_that_exists_is_not_overwritten(db: Database) -> None:
    with pytest.raises(StorageError, match="exists already"):
        back_up(db.path, db.path)
    assert await db.read("SELECT 1") == [(1,)]


async def test_a_target_that_cannot_be_written_is_said(db: Database, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="could not be written"):
        back_up(db.path, tmp_path / "absent" / "copy.db")


def test_a_folder_that_may_not_be_looked_into_is_said(common_folder: Path) -> None:
    source = common_folder / "verdict.db"
    source.touch()
    common_folder.joinpath("shut").mkdir(mode=0)
    with pytest.raises(StorageError, match=r"could not be written \(Permission denied\)"):
        back_up(source, common_folder / "shut" / "copy.db")


async def test_a_damaged_database_gives_no_copy(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "check_integrity", lambda _: ["row 1 missing from index"])
    with pytest.raises(StorageError, match="row 1 missing from index"):
        back_up(db.path, tmp_path / "copy.db")
    assert copies(tmp_path) == []


def copies(folder: Path) -> list[Path]:
    return list(folder.glob("copy*"))


def test_a_file_that_is_no_database_gives_no_copy(tmp_path: Path) -> None:
    (tmp_path / "verdict.db").write_bytes(b"This is not a database. " * 1_000)
    with pytest.raises(StorageError, match="SQLITE_NOTADB"):
        back_up(tmp_path / "verdict.db", tmp_path / "copy.db")


def test_integrity_names_damaged_pages_and_rows_without_parents(path: Path) -> None:
    connection = connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents (id), age NOT NULL)")
    assert check_integrity(connection) == []
    connection.execute("INSERT INTO children VALUES (5, 7, 1)")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'age NOT NULL', 'age NOT NULL CHECK (age > 3)')")
    connection.close()
    connection = connect(path)
    assert check_integrity(connection) == [
        "CHECK constraint failed in children",
        "Row 5 of children points to a row of parents that does not exist.",
    ]
    connection.close()

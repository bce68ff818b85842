"""Whole tables are copied from one file into another."""

from pathlib import Path

import pytest

from service.errors import ServiceError
from service.storage import sqlite_session
from service.storage.backup import copy_tables
from service.storage.engine import Connection, SqliteConnection, connect
from service.storage.sqlite_session import write_lock_of

TABLE = "CREATE TABLE points (x INTEGER PRIMARY KEY, y INTEGER NOT NULL CHECK (y >= 0)) STRICT, WITHOUT ROWID"


@pytest.fixture
def target(tmp_path: Path) -> SqliteConnection:
    return made(tmp_path / "target.db", {1: 10})


def made(path: Path, rows: dict[int, int]) -> SqliteConnection:
    connection = connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(TABLE)
    connection.executemany("INSERT INTO points VALUES (?, ?)", rows.items())
    return connection


def rows_of(connection: Connection) -> dict[int, int]:
    return dict(connection.execute("SELECT x, y FROM points").fetchall())


def test_rows_are_copied_and_those_that_are_there_stay(tmp_path: Path, target: SqliteConnection) -> None:
    made(tmp_path / "source.db", {1: 99, 2: 20}).close()
    copy_tables(tmp_path / "target.db", tmp_path / "source.db", ["points"], lambda _: True)
    assert rows_of(target) == {1: 10, 2: 20}
    target.close()


def test_nothing_is_copied_where_the_store_holds_something_else(tmp_path: Path, target: SqliteConnection) -> None:
    made(tmp_path / "source.db", {2: 20}).close()
    copy_tables(tmp_path / "target.db", tmp_path / "source.db", ["points"], lambda store: rows_of(store) != {1: 10})
    assert rows_of(target) == {1: 10}
    target.close()


def test_a_store_that_cannot_be_written_is_unavailable(
    tmp_path: Path, target: SqliteConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "source.db", {2: 20}).close()
    monkeypatch.setattr(sqlite_session, "BUSY_MS", 1)
    other = write_lock_of(tmp_path / "target.db")
    assert other.acquire(1.0)
    with pytest.raises(ServiceError) as refused:
        copy_tables(tmp_path / "target.db", tmp_path / "source.db", ["points"], lambda _: True)
    assert refused.value.code == "UNAVAILABLE"
    assert rows_of(target) == {1: 10}
    other.close()
    target.close()

"""Rows that are read at once, on the calling thread."""

from typing import cast

import pytest

from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection, DatabaseError, connect
from tests.storage.test_faults import Faulty

NEWEST = "SELECT text FROM notes WHERE id = ?"


@pytest.fixture(autouse=True)
async def notes(db: Database) -> None:
    await db.write(lambda connection: connection.execute("INSERT INTO notes VALUES (1, 'ours')"))


async def test_a_read_at_once_sees_what_anybody_has_committed_and_nothing_else(db: Database) -> None:
    other = connect(db.path)
    assert db.read_now(NEWEST, (1,)) == [("ours",)]
    assert db.read_now(NEWEST, (2,)) == []
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE notes SET text = 'theirs'")
    assert db.read_now(NEWEST, (1,)) == [("ours",)]
    other.execute("COMMIT")
    assert db.read_now(NEWEST, (1,)) == [("theirs",)]
    other.close()


async def test_a_read_at_once_cannot_write(db: Database) -> None:
    with pytest.raises(DatabaseError, match="readonly"):
        db.read_now("DELETE FROM notes")
    assert db.read_now(NEWEST, (1,)) == [("ours",)]


async def test_a_store_that_cannot_be_read_at_once_says_so(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "_immediate_reader", cast("Connection", Faulty(db.path, {NEWEST: "SQLITE_BUSY_RECOVERY"})))
    with pytest.raises(ServiceError) as caught:
        db.read_now(NEWEST, (1,))
    assert caught.value.code == "UNAVAILABLE"
    assert db.read_now(NEWEST, (1,)) == [("ours",)]

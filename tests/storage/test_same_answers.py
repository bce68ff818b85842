"""The same closures give the same on both stores: rows, their order, their types, counts and refusals."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.settings import Secret
from service.storage.engine import DatabaseError, IntegrityError, SqliteConnection, connect, is_store_failing
from service.storage.postgres.connection import WRITING, ServerConnection, dial
from service.storage.postgres.schema import say_definition
from service.storage.rows import insert_rows
from tests.fakes.postgres import postgres_dsn

pytestmark = pytest.mark.process

TABLE = """
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    name TEXT UNIQUE,
    at_ms INTEGER,
    price REAL CHECK (price > 0),
    body BLOB
)
"""
UPSERT = """
INSERT INTO notes (name, at_ms, price, body) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE
SET at_ms = max(coalesce(notes.at_ms, 0), coalesce(excluded.at_ms, 0)), price = excluded.price
RETURNING id, at_ms
"""
LISTING = "SELECT id, name, at_ms, price, body FROM notes ORDER BY name NULLS FIRST, id"

names = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
times = st.none() | st.integers(-(2**40), 2**40)
prices = st.none() | st.floats(-1, 1e300) | st.sampled_from([-0.0, float("nan"), float("inf")])
bodies = st.none() | st.binary(max_size=5)
rows = st.tuples(names, times, prices, bodies)
steps = st.one_of(
    st.tuples(st.just("INSERT INTO notes (name, at_ms, price, body) VALUES (?, ?, ?, ?)"), rows),
    st.tuples(st.just(UPSERT), rows),
    st.tuples(st.just("INSERT INTO notes (name) VALUES (?) ON CONFLICT DO NOTHING RETURNING id"), st.tuples(names)),
    st.tuples(st.just("UPDATE notes SET at_ms = at_ms + ?2 WHERE name IS NOT ?1"), st.tuples(names, st.integers(0, 9))),
    st.tuples(st.just("DELETE FROM notes WHERE id = (SELECT max(id) FROM notes)"), st.just(())),
    st.tuples(
        st.just("SELECT name FROM notes WHERE name > ? ORDER BY name DESC"), st.tuples(st.text("aAäZ~", max_size=2))
    ),
    st.tuples(
        st.just("SELECT count(*), sum(at_ms), min(name), max(price) FROM notes WHERE at_ms >= ?"), st.tuples(times)
    ),
    st.tuples(st.just("SELECT id / 2, id % 2, -id / 2 FROM notes ORDER BY id"), st.just(())),
    st.tuples(st.just("SELECT name IS NULL, EXISTS (SELECT 1 FROM notes) FROM notes ORDER BY id"), st.just(())),
    st.tuples(
        st.just("SELECT id FROM notes WHERE at_ms IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY id"),
        st.tuples(st.lists(st.integers(0, 9)).map(str)),
    ),
    st.tuples(st.just("SELECT max(?, ?), min(?, ?)"), st.tuples(*[st.integers(-5, 5)] * 4)),
)


@pytest.fixture(scope="module")
def server() -> Iterator[ServerConnection]:
    with postgres_dsn() as address, asyncio.Runner() as runner:
        connection = ServerConnection(runner.get_loop(), runner.run(dial(Secret(address), "writer", WRITING)))
        for statement in say_definition(TABLE):
            connection.execute(statement)
        yield connection
        connection.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteConnection]:
    with closing(connect(tmp_path_factory.mktemp("same") / "verdict.db")) as connection:
        connection.execute(TABLE)
        yield connection


def taken(connection: Any, sql: str, values: tuple[Any, ...]) -> object:
    """What a statement gave, or which kind of mistake it is; undone if it is one."""
    connection.execute("SAVEPOINT step")
    try:
        cursor = connection.execute(sql, values)
        given = cursor.fetchall()
    except DatabaseError as error:
        connection.execute("ROLLBACK TO step")
        return isinstance(error, IntegrityError)
    changed = None if given or "RETURNING" in sql or sql.startswith("SELECT") else cursor.rowcount
    return given, changed, [list(map(type, row)) for row in given]


@given(st.lists(steps, max_size=12))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_steps_give_the_same_on_both(
    server: ServerConnection, file: SqliteConnection, planned: list[tuple[str, tuple[Any, ...]]]
) -> None:
    server.execute("BEGIN")
    file.execute("BEGIN IMMEDIATE")
    try:
        for sql, values in planned:
            assert taken(server, sql, values) == taken(file, sql, values), (sql, values)
        assert taken(server, LISTING, ()) == taken(file, LISTING, ())
    finally:
        server.execute("ROLLBACK")
        file.execute("ROLLBACK")


def test_many_rows_are_written_and_counted_the_same(server: ServerConnection, file: SqliteConnection) -> None:
    found = []
    for connection in (server, file):
        before = connection.total_changes
        connection.execute("BEGIN")
        insert_rows(connection, "INSERT INTO notes (body, name)", [(f"n{n}",) for n in range(100)], shared=(b"x",))
        connection.executemany("UPDATE notes SET price = ? WHERE name = ?", [(1.5, "n1"), (2, "n2"), (3.0, "no")])
        listed = connection.execute("SELECT id, name, price, body FROM notes ORDER BY id")
        found.append((listed.fetchone(), listed.fetchmany(2), list(listed), connection.total_changes - before))
        connection.execute("ROLLBACK")
    assert found[0] == found[1]
    assert found[0][-1] == 102


@pytest.mark.parametrize(
    "value", ["\ud800", "closed \udfff", 2**63, -(2**63) - 1, 10**30], ids=["half", "other", "over", "under", "far"]
)
@pytest.mark.parametrize("sql", ["INSERT INTO notes (name) VALUES (?)", "SELECT 1 WHERE ? IS NOT NULL"])
def test_what_neither_can_hold_is_the_caller_s_mistake_and_no_failure_of_the_store(
    server: ServerConnection, file: SqliteConnection, sql: str, value: object
) -> None:
    for connection in (server, file):
        connection.execute("BEGIN")
        with pytest.raises((DatabaseError, ValueError, OverflowError)) as caught:
            connection.execute(sql, (value,))
        assert not is_store_failing(caught.value)
        connection.execute("ROLLBACK")


def test_zero_has_no_sign_and_no_number_is_null_on_both(server: ServerConnection, file: SqliteConnection) -> None:
    found = []
    for connection in (server, file):
        connection.execute("BEGIN")
        connection.execute("CREATE TEMPORARY TABLE kept (a DOUBLE PRECISION)")
        insert_rows(connection, "INSERT INTO kept", [(-0.0,), (float("nan"),), (float("-inf"),), (5e-324,)])
        found.append(repr(connection.execute("SELECT a FROM kept").fetchall()))
        connection.execute("ROLLBACK")
    assert found == ["[(0.0,), (None,), (-inf,), (5e-324,)]"] * 2


def test_nul_is_kept_and_found_as_the_sign_for_what_cannot_be_told(server: ServerConnection) -> None:
    server.execute("BEGIN")
    server.execute("INSERT INTO notes (name) VALUES (?)", ("a\0b",))
    assert server.execute("SELECT name FROM notes WHERE name = ?", ("a\0b",)).fetchall() == [("a\ufffdb",)]
    server.execute("ROLLBACK")

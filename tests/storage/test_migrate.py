"""Each step is applied and recorded in one transaction, or not at all."""

import hashlib
from pathlib import Path

import pytest

from service.storage.engine import DatabaseError, SqliteConnection, StorageError, connect
from service.storage.migrate import Migration, migrate, read_migrations
from tests.fakes.clock import START_MS, FakeClock


@pytest.fixture
def connection(path: Path) -> SqliteConnection:
    return connect(path)


def a_step(version: int, sql: str) -> Migration:
    return Migration(version, f"step{version}", sql, hashlib.sha256(sql.encode()).hexdigest())


def tables(connection: SqliteConnection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_steps_are_applied_in_order_once(connection: SqliteConnection, clock: FakeClock) -> None:
    steps = [
        a_step(1, "CREATE TABLE a (x); CREATE TABLE b (x);".replace("; ", ";\n")),
        a_step(2, "ALTER TABLE a ADD y"),
    ]
    assert migrate(connection, steps, clock) == [1, 2]
    assert migrate(connection, steps, clock) == []
    assert connection.execute("SELECT version, name, applied_ms FROM migrations").fetchall() == [
        (1, "step1", START_MS),
        (2, "step2", START_MS),
    ]
    connection.close()


def test_a_step_that_fails_leaves_nothing_of_itself(connection: SqliteConnection, clock: FakeClock) -> None:
    with pytest.raises(DatabaseError):
        migrate(connection, [a_step(1, "CREATE TABLE a (x);"), a_step(2, "CREATE TABLE b (x);\nnonsense;")], clock)
    assert tables(connection) == {"migrations", "a"}
    connection.close()


def test_a_step_that_ends_its_transaction_fails(connection: SqliteConnection, clock: FakeClock) -> None:
    with pytest.raises(DatabaseError):
        migrate(connection, [a_step(1, "COMMIT;")], clock)
    assert tables(connection) == {"migrations"}
    connection.close()


def test_a_trigger_is_one_statement(connection: SqliteConnection, clock: FakeClock) -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM a;\n  DELETE FROM a;\nEND;\n"
    sql = f"CREATE TABLE a (x);\n{trigger}-- no more\n"
    assert migrate(connection, [a_step(1, sql)], clock) == [1]
    connection.close()


def test_a_step_that_was_changed_since_is_refused(connection: SqliteConnection, clock: FakeClock) -> None:
    migrate(connection, [a_step(1, "CREATE TABLE a (x)")], clock)
    with pytest.raises(StorageError, match="Reinstall the service"):
        migrate(connection, [a_step(1, "CREATE TABLE a (x, y)")], clock)
    connection.close()


def test_a_step_the_code_does_not_know_is_refused(connection: SqliteConnection, clock: FakeClock) -> None:
    migrate(connection, [a_step(1, "CREATE TABLE a (x)"), a_step(2, "CREATE TABLE b (x)")], clock)
    with pytest.raises(StorageError, match="newer one"):
        migrate(connection, [a_step(1, "CREATE TABLE a (x)")], clock)
    connection.close()


def test_the_services_own_steps_are_numbered_without_a_gap_and_strict() -> None:
    steps = read_migrations()
    assert [step.version for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert step.sql.count("CREATE TABLE") == step.sql.count("STRICT")


def test_two_steps_of_one_number_are_refused(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("SELECT 1;")
    (tmp_path / "0001_b.sql").write_text("SELECT 1;")
    with pytest.raises(StorageError, match="numbered 0001"):
        read_migrations(tmp_path)

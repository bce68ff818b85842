from pathlib import Path

import pytest

from service.storage.engine import SqliteConnection, connect
from service.storage.rows import insert_rows


@pytest.fixture
def connection() -> SqliteConnection:
    opened = connect(Path(":memory:"))
    opened.execute("CREATE TABLE points (colour, x INTEGER PRIMARY KEY, y)")
    return opened


@pytest.mark.parametrize("number", [0, 1, 2, 63, 64, 65, 200])
def test_any_number_of_rows_is_inserted(connection: SqliteConnection, number: int) -> None:
    rows = [(x, x * x) for x in range(number)]
    insert_rows(connection, "INSERT INTO points (colour, x, y)", rows, shared=("red",))
    assert connection.execute("SELECT * FROM points ORDER BY x").fetchall() == [("red", x, y) for x, y in rows]
    connection.close()


@pytest.mark.parametrize(("number", "statements"), [(1, 1), (7, 1), (8, 1), (59, 2), (64, 1), (100, 3), (128, 2)])
def test_rows_take_few_statements(connection: SqliteConnection, number: int, statements: int) -> None:
    seen: list[str] = []
    connection.set_trace_callback(seen.append)
    insert_rows(connection, "INSERT INTO points (x, y)", [(x, x) for x in range(number)])
    assert len([said for said in seen if said.startswith("INSERT")]) == statements
    connection.close()


def test_rows_that_exist_are_updated_where_the_tail_says_so(connection: SqliteConnection) -> None:
    tail = "ON CONFLICT (x) DO UPDATE SET y = excluded.y"
    insert_rows(connection, "INSERT INTO points (x, y)", [(1, 1), (2, 2)], tail)
    insert_rows(connection, "INSERT INTO points (x, y)", [(2, 5), (3, 3)], tail)
    assert connection.execute("SELECT x, y FROM points").fetchall() == [(1, 1), (2, 5), (3, 3)]
    connection.close()

"""Statements are written once, for SQLite, and said in PostgreSQL's words."""

import pytest

from service.storage.postgres.schema import say_definition
from service.storage.postgres.translate import translate


@pytest.mark.parametrize(
    ("sql", "parameters", "said", "values"),
    [
        ("SELECT 1", (), "SELECT 1", []),
        ("SELECT ? + 1, ?", (2, "a"), "SELECT $1::BIGINT + 1, $2::TEXT", [2, "a"]),
        ("SELECT ?2, ?1, ?2", (1, 0.5), "SELECT $1::DOUBLE PRECISION, $2::BIGINT, $1::DOUBLE PRECISION", [0.5, 1]),
        ("SELECT ?3", (1, 2, b"x"), "SELECT $1::BYTEA", [b"x"]),
        ("SELECT ? FROM t WHERE a = ?", (None, True), "SELECT $1 FROM t WHERE a = $2::BIGINT", [None, True]),
        ("SELECT '?', \"?\" -- ?\n, ?", (1,), "SELECT '?', \"?\" -- ?\n, $1::BIGINT", [1]),
        ("INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", (1, None, 2, "x"), None, [1, None, 2, "x"]),
        (
            "INSERT INTO t (a) VALUES (lower(?)) ON CONFLICT (a) DO UPDATE SET a = (?)",
            ("A", "b"),
            "INSERT INTO t (a) VALUES (lower($1::TEXT)) ON CONFLICT (a) DO UPDATE SET a = ($2::TEXT)",
            ["A", "b"],
        ),
        ("INSERT INTO t VALUES (?) RETURNING (?)", (1, 2), "INSERT INTO t VALUES ($1) RETURNING ($2::BIGINT)", [1, 2]),
        ("SELECT a IS ?", (1,), "SELECT a IS NOT DISTINCT FROM $1::BIGINT", [1]),
        (
            "SELECT a IS NOT b, a IS NOT NULL, a IS NULL",
            (),
            "SELECT a IS DISTINCT FROM b, a IS NOT NULL, a IS NULL",
            [],
        ),
        ("SELECT 'a IS b'", (), "SELECT 'a IS b'", []),
        ("SELECT CAST(a AS INTEGER), CAST(a AS REAL)", (), "SELECT CAST(a AS BIGINT), CAST(a AS DOUBLE PRECISION)", []),
        ("SELECT CAST(a AS BLOB) FROM t INDEXED BY i WHERE a", (), "SELECT CAST(a AS BYTEA) FROM t  WHERE a", []),
    ],
)
def test_a_statement_is_said_in_the_words_of_the_other(
    sql: str, parameters: tuple[object, ...], said: str | None, values: list[object]
) -> None:
    assert translate(sql, parameters) == (said or "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)", values)


def test_too_few_values_are_the_callers_mistake() -> None:
    with pytest.raises(IndexError):
        translate("SELECT ?, ?", (1,))


def test_a_table_is_made_with_the_other_s_types_and_numbers_its_rows_the_same() -> None:
    made, function, default = say_definition(
        "CREATE TABLE t ( -- a TEXT\n id INTEGER PRIMARY KEY, a TEXT, b REAL, c BLOB) STRICT, WITHOUT ROWID;\n"
    )
    said = 'CREATE TABLE t ( id BIGINT PRIMARY KEY, a TEXT COLLATE "C", b DOUBLE PRECISION, c BYTEA);'
    assert " ".join(made.split()) == said
    assert "max(id), 0) + 1 FROM t" in function
    assert default == "ALTER TABLE t ALTER COLUMN id SET DEFAULT next_of_t()"


@pytest.mark.parametrize(
    ("event", "condition", "row"), [("INSERT", "WHEN NEW.a IS NOT 1", "NEW"), ("DELETE", "", "OLD")]
)
def test_a_trigger_that_refuses_becomes_a_function_that_does(event: str, condition: str, row: str) -> None:
    function, trigger = say_definition(
        f"CREATE TRIGGER g BEFORE {event} ON t\n{condition}\nBEGIN\n    SELECT RAISE(ABORT, 'no');\nEND;\n"
    )
    assert ("IF NEW.a IS DISTINCT FROM 1 THEN" if condition else "IF TRUE THEN") in function
    assert "'no'" in function
    assert f"RETURN {row};" in function
    assert trigger == f"CREATE TRIGGER g BEFORE {event} ON t FOR EACH ROW EXECUTE FUNCTION g()"


def test_a_trigger_that_ignores_a_row_leaves_it_out() -> None:
    function, _ = say_definition("CREATE TRIGGER g BEFORE INSERT ON t BEGIN SELECT RAISE(IGNORE); END;")
    assert "RETURN NULL;" in function

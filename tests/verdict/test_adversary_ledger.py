"""Somebody with the file, SQLite's own means and no wish to be found out, against the ledger; triggers left on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from service.storage.database import Database
from service.verdict.ledger import COLUMNS, Ledger
from tests.fakes.clock import START_MS
from tests.verdict.issuing import ORIGIN, judged

HEAD = "(SELECT hash FROM verdict_ledger ORDER BY seq DESC LIMIT 1)"
OTHERS = ", ".join(COLUMNS[1:])
AGAIN = f"""
    INSERT OR REPLACE INTO verdict_ledger ({", ".join(COLUMNS)}, previous, hash)
    SELECT 4, {OTHERS}, {HEAD}, hash FROM verdict_ledger WHERE seq = ?
"""  # noqa: S608 - of constants alone
SCORED = "INTO verdict_outcomes (seq, days, price_ms, price, move_pct, scored_ms) VALUES (1, 1, 1, ?, 0.0, 1)"


@pytest.fixture
async def issued(database: Database) -> Database:
    """An abstention, which nothing refers to, and a day of two verdicts."""
    ledger = Ledger(database)
    await ledger.issue(ORIGIN, judged("BTC", None), START_MS)
    await ledger.issue_day(ORIGIN, 5, [judged("BTC", None), judged("ETH")], START_MS)
    return database


@pytest.fixture(params=[False, True], ids=["as opened", "recursive triggers"])
def opened(issued: Database, request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(issued.path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {request.param}")
        yield connection


def rows(connection: sqlite3.Connection, table: str) -> list[object]:
    return connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - one of ours


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_an_entry_at_the_head_that_repeats_an_earlier_one_does_not_take_its_place(
    opened: sqlite3.Connection, seq: int
) -> None:
    before = rows(opened, "verdict_ledger")
    with pytest.raises(sqlite3.IntegrityError):
        opened.execute(AGAIN, (seq,))
    assert rows(opened, "verdict_ledger") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM verdict_ledger",
        "DELETE FROM verdict_ledger WHERE seq = 3",
        "UPDATE verdict_ledger SET score = score",
        "UPDATE OR REPLACE verdict_ledger SET seq = 1 WHERE seq = 2",
        "UPDATE verdict_ledger SET rowid = 9 WHERE seq = 3",
        "INSERT OR REPLACE INTO verdict_ledger SELECT * FROM verdict_ledger WHERE seq = 2",
        "DELETE FROM verdict_outcomes",
        "UPDATE OR REPLACE verdict_outcomes SET price = 9",
    ],
)
def test_no_statement_takes_away_or_changes_what_was_written(opened: sqlite3.Connection, statement: str) -> None:
    opened.execute(f"INSERT {SCORED}", (2.0,))
    before = rows(opened, "verdict_ledger"), rows(opened, "verdict_outcomes")
    with pytest.raises(sqlite3.IntegrityError):
        opened.execute(statement)
    assert (rows(opened, "verdict_ledger"), rows(opened, "verdict_outcomes")) == before


@pytest.mark.parametrize(
    "statement", [f"INSERT OR REPLACE {SCORED}", f"INSERT {SCORED} ON CONFLICT DO UPDATE SET price = 9"]
)
def test_a_second_outcome_leaves_the_first(opened: sqlite3.Connection, statement: str) -> None:
    opened.execute(f"INSERT {SCORED}", (2.0,))
    before = rows(opened, "verdict_outcomes")
    opened.execute(statement, (3.0,))
    assert rows(opened, "verdict_outcomes") == before


def test_vacuum_leaves_the_chain_as_it_was(opened: sqlite3.Connection) -> None:
    before = rows(opened, "verdict_ledger")
    opened.execute("VACUUM")
    assert rows(opened, "verdict_ledger") == before

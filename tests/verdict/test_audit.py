"""Whoever rewrites the past, with all the rights on the file, is found out."""

import hashlib
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.storage.database import Database
from service.storage.engine import Connection, connect
from service.verdict.audit import LedgerAudit, audit_ledger
from service.verdict.ledger import COLUMNS, Ledger, LedgerHead
from tests.fakes.clock import START_MS
from tests.verdict.issuing import ORIGIN, cheating, judged
from tests.verdict.jcs import write

Cheat = Callable[[sqlite3.Connection], object]


@pytest.fixture
async def honest(database: Database) -> LedgerHead:
    """Five entries, one of them an abstention, with some outcomes of the first."""
    ledger = Ledger(database)
    await ledger.issue(ORIGIN, judged("BTC", 100.0), START_MS)
    day = [judged("BTC", 100.0), judged("ETH", None), judged("SOL", 7.5, "bear"), judged("XRP", 3.0, "neutral")]
    await ledger.issue_day(ORIGIN, START_MS // DAY_MS - 1, day, START_MS)

    def score(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO verdict_outcomes VALUES (1, 1, ?, 102.0, 2.0, 9, NULL), (1, 3, NULL, NULL, NULL, 9, 'none')",
            (START_MS + DAY_MS + HOUR_MS,),
        )
        connection.execute("DELETE FROM verdict_due WHERE seq = 1 AND days < 7")

    await database.write(score)
    return await ledger.head()


def cheat_and_look(database: Database, cheat: Cheat) -> LedgerAudit:
    with cheating(database.path) as connection:
        cheat(connection)
    connection = connect(database.path, query_only=True)
    try:
        return audit_ledger(connection)
    finally:
        connection.close()


def rehash(connection: sqlite3.Connection, first: int = 1) -> None:
    """Make the chain whole again from an entry on, as one would who knows how it is made."""
    names = ", ".join(COLUMNS)
    rows = connection.execute(f"SELECT {names} FROM verdict_ledger WHERE seq >= ? ORDER BY seq", (first,)).fetchall()  # noqa: S608 - constants
    found = connection.execute("SELECT hash FROM verdict_ledger WHERE seq = ?", (first - 1,)).fetchone()
    previous = found[0] if found else "0" * 64
    for row in rows:
        columns = dict(zip(COLUMNS, row, strict=True))
        columns["body"] = hashlib.sha256(zlib.decompress(row[-1])).hexdigest()
        hashed = hashlib.sha256(previous.encode() + write(columns)).hexdigest()
        connection.execute("UPDATE verdict_ledger SET previous = ?, hash = ? WHERE seq = ?", (previous, hashed, row[0]))
        previous = hashed


def sql(*statements: str) -> Cheat:
    def cheat(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return cheat


async def test_an_honest_ledger_has_no_findings_and_its_head(database: Database, honest: LedgerHead) -> None:
    assert cheat_and_look(database, sql()) == LedgerAudit(honest, [])
    assert honest.entries == 5


async def test_an_empty_ledger_has_no_findings(database: Database) -> None:
    assert await database.inspect(audit_ledger) == LedgerAudit(LedgerHead(), [])


def test_a_store_from_before_the_ledger_has_none(tmp_path: Path) -> None:
    connection = connect(tmp_path / "old.db")
    connection.execute("CREATE TABLE migrations (name TEXT)")
    connection.execute("INSERT INTO migrations VALUES ('access')")
    try:
        assert audit_ledger(connection) == LedgerAudit(LedgerHead(), [])
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "kind = 'asked', day = NULL",
        "day = day + 1",
        "origin = 'other'",
        "symbol = 'DOGE'",
        "issued_ms = issued_ms - 86400000",
        f"verdict_id = '{'a' * 64}'",
        "verdict = 'strong-bear'",
        "score = -2.75",
        "confidence = 'low'",
        "probability_up = 0.3",
        "price = 8.5",
    ],
)
async def test_every_column_is_part_of_the_hash(database: Database, honest: LedgerHead, change: str) -> None:
    found = cheat_and_look(
        database,
        sql(f"UPDATE verdict_ledger SET {change} WHERE seq = 4", "DELETE FROM verdict_due"),  # noqa: S608 - constants
    )
    assert found.findings[0] == "Entry 4 was changed: its hash does not match."
    assert "entry 5" not in found.findings[1]


async def test_another_verdict_in_an_entry_is_found_however_it_is_packed(
    database: Database, honest: LedgerHead
) -> None:
    def swap(connection: sqlite3.Connection) -> None:
        ((body,),) = connection.execute("SELECT body FROM verdict_ledger WHERE seq = 2").fetchall()
        changed = zlib.decompress(body).replace(b'"price":100', b'"price":101')
        connection.execute("UPDATE verdict_ledger SET body = ? WHERE seq = 2", (zlib.compress(changed),))

    assert cheat_and_look(database, swap).findings == ["Entry 2 was changed: its hash does not match."]


async def test_the_same_verdict_packed_otherwise_is_the_same(database: Database, honest: LedgerHead) -> None:
    def repack(connection: sqlite3.Connection) -> None:
        ((body,),) = connection.execute("SELECT body FROM verdict_ledger WHERE seq = 2").fetchall()
        connection.execute(
            "UPDATE verdict_ledger SET body = ? WHERE seq = 2", (zlib.compress(zlib.decompress(body), 1),)
        )

    assert cheat_and_look(database, repack) == LedgerAudit(honest, [])


@pytest.mark.parametrize("body", [b"no deflate", zlib.compress(b"no json"), zlib.compress(b'{"symbol":"BTC"}')])
async def test_a_verdict_that_cannot_be_read_is_found(database: Database, honest: LedgerHead, body: bytes) -> None:
    def spoil(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE verdict_ledger SET body = ? WHERE seq = 2", (body,))

    (finding,) = cheat_and_look(database, spoil).findings
    assert finding.startswith("The verdict of entry 2 cannot be read: ")


async def test_one_entry_rewritten_with_its_hash_breaks_the_link_behind_it(
    database: Database, honest: LedgerHead
) -> None:
    def rewrite(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE verdict_ledger SET issued_ms = issued_ms - 5 WHERE seq = 2")
        behind = connection.execute("SELECT previous, hash FROM verdict_ledger WHERE seq = 3").fetchone()
        rehash(connection, 2)
        connection.execute("UPDATE verdict_ledger SET previous = ?, hash = ? WHERE seq = 3", behind)
        connection.execute("UPDATE verdict_due SET due_ms = due_ms - 5 WHERE seq = 2")

    assert cheat_and_look(database, rewrite).findings[0] == "Entry 3 is not chained to entry 2."


async def test_a_whole_chain_made_anew_has_another_head_than_the_one_that_was_kept(
    database: Database, honest: LedgerHead
) -> None:
    def forge(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE verdict_ledger SET issued_ms = issued_ms - 5 WHERE seq = 3")
        rehash(connection)

    found = cheat_and_look(database, forge)
    assert found.findings == []
    assert found.head.entries == honest.entries
    assert found.head.hash != honest.hash


async def test_a_chain_made_anew_around_another_claim_still_contradicts_its_verdict(
    database: Database, honest: LedgerHead
) -> None:
    def forge(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE verdict_ledger SET verdict = 'bull', score = 1.0 WHERE seq = 4")
        rehash(connection)

    assert cheat_and_look(database, forge).findings == ["Entry 4 does not match the verdict in it."]


async def test_entries_taken_out_are_found(database: Database, honest: LedgerHead) -> None:
    found = cheat_and_look(
        database,
        sql("DELETE FROM verdict_due WHERE seq IN (3, 4)", "DELETE FROM verdict_ledger WHERE seq IN (3, 4)"),
    )
    assert found.findings == ["2 entries are missing between 2 and 5."]


async def test_entries_that_changed_places_are_found(database: Database, honest: LedgerHead) -> None:
    found = cheat_and_look(
        database,
        sql(
            "UPDATE verdict_ledger SET seq = 100 WHERE seq = 2",
            "UPDATE verdict_ledger SET seq = 2 WHERE seq = 3",
            "UPDATE verdict_ledger SET seq = 3 WHERE seq = 100",
        ),
    )
    assert "Entry 2 is not chained to entry 1." in found.findings
    assert "Entry 3 was changed: its hash does not match." in found.findings


async def test_a_beginning_that_was_cut_off_is_found(database: Database, honest: LedgerHead) -> None:
    begun = sql(
        "DELETE FROM verdict_outcomes",
        "DELETE FROM verdict_due WHERE seq = 1",
        "DELETE FROM verdict_ledger WHERE seq = 1",
    )
    assert cheat_and_look(database, begun).findings == ["1 entries are missing between 0 and 2."]

    def renumber(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE verdict_ledger SET seq = 1 WHERE seq = 2")

    assert "Entry 1 is chained to another entry." in cheat_and_look(database, renumber).findings


async def test_an_end_that_was_cut_off_shows_beside_the_head_that_was_kept(
    database: Database, honest: LedgerHead
) -> None:
    cut = sql("DELETE FROM verdict_due WHERE seq = 5", "DELETE FROM verdict_ledger WHERE seq = 5")
    found = cheat_and_look(database, cut)
    assert found.findings == []
    assert found.head.entries == honest.entries - 1


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE verdict_outcomes SET price = 103.0 WHERE days = 1", "does not match its prices."),
        ("UPDATE verdict_outcomes SET move_pct = -2.0 WHERE days = 1", "does not match its prices."),
        ("UPDATE verdict_outcomes SET price_ms = price_ms + 21600000 WHERE days = 1", "is outside its time window."),
        ("UPDATE verdict_outcomes SET price_ms = price_ms - 7200000 WHERE days = 1", "is outside its time window."),
        ("UPDATE verdict_outcomes SET seq = 3 WHERE days = 1", "belongs to no verdict that can be scored."),
        ("UPDATE verdict_outcomes SET seq = 99 WHERE days = 1", "belongs to no verdict that can be scored."),
    ],
)
async def test_an_outcome_that_was_changed_is_found(
    database: Database, honest: LedgerHead, statement: str, finding: str
) -> None:
    assert cheat_and_look(database, sql(statement)).findings[0].endswith(finding)


@pytest.mark.parametrize(
    "statement", ["DELETE FROM verdict_outcomes WHERE days = 3", "UPDATE verdict_outcomes SET seq = 2 WHERE days = 3"]
)
async def test_a_bad_outcome_that_was_taken_away_is_found(
    database: Database, honest: LedgerHead, statement: str
) -> None:
    found = cheat_and_look(database, sql(statement))
    assert found.findings == ["The outcome of entry 1 after 3 days is not scheduled."]


async def test_findings_of_a_kind_end_at_twenty(database: Database, honest: LedgerHead) -> None:
    ledger = Ledger(database)
    for place in range(30):
        await ledger.issue(ORIGIN, judged(f"C{place}"), START_MS)
    found = cheat_and_look(database, sql("UPDATE verdict_ledger SET confidence = 'low'", "DELETE FROM verdict_due"))
    assert len(found.findings) == 40

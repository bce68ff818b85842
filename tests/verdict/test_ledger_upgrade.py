"""A ledger that was written before version 2 of the rules: it stays what it was, and new entries continue it."""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from service.storage.database import Database
from service.storage.engine import Connection, IntegrityError
from service.storage.rows import insert_rows
from service.verdict.audit import audit_ledger
from service.verdict.ledger import COLUMNS, Ledger, LedgerHead
from service.verdict.ledger_statistics import count_ledger
from service.verdict.replay import replay
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.postgres import STORES
from tests.fakes.upgrade import Upgrade, upgrade_of
from tests.verdict.issuing import ORIGIN, judged

RECORDED: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "version_1" / "ledger.json").read_bytes())
"""Rows as the service wrote them when version 1 was in force; see the README beside it."""

HEAD: Final = LedgerHead(RECORDED["head"]["entries"], RECORDED["head"]["hash"])
TABLES: Final = ("verdict_ledger", "verdict_outcomes", "verdict_due")
FIRST_NEW: Final = 28


def row_of(recorded: dict[str, Any]) -> tuple[object, ...]:
    return tuple(base64.b64decode(value) if name == "body" else value for name, value in recorded.items())


@pytest.fixture(params=STORES)
def upgrade(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Upgrade]:
    with upgrade_of(request.param, tmp_path / "verdict.db", clock, monkeypatch, FIRST_NEW) as made:
        yield made


def fill(connection: Connection) -> None:
    for table in TABLES:
        names = ", ".join(RECORDED[table][0])
        insert_rows(connection, f"INSERT INTO {table} ({names})", [row_of(row) for row in RECORDED[table]])


async def contents(database: Database) -> dict[str, list[tuple[object, ...]]]:
    found = {}
    for table in TABLES:
        order = "seq" if table == "verdict_ledger" else "seq, days"
        names = ", ".join(RECORDED[table][0])
        rows = await database.read(f"SELECT {names} FROM {table} ORDER BY {order}")  # noqa: S608 - constants
        found[table] = [
            tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in rows
        ]
    return found


async def guards(database: Database) -> list[tuple[object, ...]]:
    """Names of the triggers and indexes of the ledger's tables, and what SQLite's are made by."""
    if not database.shared:
        return await database.read(
            "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name LIKE 'verdict%' AND type IN ('trigger', 'index') "
            "ORDER BY name"
        )
    return await database.read(
        "SELECT tgname::TEXT, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal "
        "AND tgrelid::regclass::TEXT LIKE 'verdict%' "
        "UNION SELECT indexname::TEXT, indexdef FROM pg_indexes WHERE tablename LIKE 'verdict%' ORDER BY 1"
    )


@pytest.mark.promise("ledger.upgrade")
async def test_a_ledger_of_version_1_stays_what_it_was(upgrade: Upgrade) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
        before, guarded = await contents(database), await guards(database)
        assert (await database.inspect(audit_ledger)).head == HEAD
    async with upgrade.now() as database:
        assert await contents(database) == before
        assert before == {table: [row_of(row) for row in RECORDED[table]] for table in TABLES}
        assert await guards(database) == guarded
        audit = await database.inspect(audit_ledger)
        assert (audit.head, audit.findings) == (HEAD, [])


@pytest.mark.promise("ledger.upgrade", "rules.no-claim")
async def test_new_entries_continue_the_chain_and_claim_no_probability(upgrade: Upgrade) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        ledger = Ledger(database)
        await ledger.issue(ORIGIN, judged("BTC", 1.5), START_MS + 5)
        await ledger.issue_day(ORIGIN, 9, [judged("BTC"), judged("ETH", None)], START_MS + 6)
        rows = await database.read(
            "SELECT seq, previous, probability_up FROM verdict_ledger WHERE seq > ? ORDER BY seq", (HEAD.entries,)
        )
        assert [(seq, claimed) for seq, _, claimed in rows] == [(HEAD.entries + place, None) for place in (1, 2, 3)]
        assert rows[0][1] == HEAD.hash
        audit = await database.inspect(audit_ledger)
        assert (audit.head.entries, audit.findings) == (HEAD.entries + 3, [])


REFUSED = {
    "UPDATE verdict_ledger SET probability_up = NULL": "never changed",
    "UPDATE verdict_ledger SET probability_up = 0.6 WHERE seq = 1": "never changed",
    "DELETE FROM verdict_ledger WHERE seq = 2": "never deleted",
    "UPDATE verdict_outcomes SET price = 1": "never changed",
    "DELETE FROM verdict_outcomes": "never deleted",
    "INSERT INTO verdict_due (origin, due_ms, seq, days) VALUES ('test', 1, 99, 1)": "(?i)foreign key",
}


@pytest.mark.parametrize("statement", REFUSED)
async def test_an_upgraded_ledger_is_as_strict_as_before(upgrade: Upgrade, statement: str) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        with pytest.raises(IntegrityError, match=REFUSED[statement]):
            await database.write(lambda connection: connection.execute(statement).rowcount)
        assert (await database.inspect(audit_ledger)).findings == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seq": HEAD.entries + 2}, "follows its head"),
        ({"previous": "0" * 64}, "follows its head"),
        ({"verdict_id": RECORDED["verdict_ledger"][0]["verdict_id"], "origin": ORIGIN}, "written once"),
        ({"probability_up": 1.5}, "(?i)check constraint"),
        ({"probability_up": -0.1}, "(?i)check constraint"),
    ],
)
async def test_what_does_not_belong_at_the_head_is_refused(
    upgrade: Upgrade, changed: dict[str, object], said: str
) -> None:
    names = [*COLUMNS, "previous", "hash"]
    entry = dict(zip(names, row_of(RECORDED["verdict_ledger"][0]), strict=True))
    entry |= {"seq": HEAD.entries + 1, "previous": HEAD.hash, "hash": "1" * 64, "verdict_id": "2" * 64} | changed
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        into, row = f"INSERT INTO verdict_ledger ({', '.join(entry)})", tuple(entry.values())
        with pytest.raises(IntegrityError, match=said):
            await database.write(lambda connection: insert_rows(connection, into, [row]))


async def test_outcomes_of_before_the_upgrade_stand_and_are_not_counted_as_those_of_the_new_rules(
    upgrade: Upgrade,
) -> None:
    async with upgrade.before() as database:
        await database.write(fill)
    async with upgrade.now() as database:
        found = await database.inspect(lambda connection: count_ledger(connection, ORIGIN))
        ((kept,),) = await database.read("SELECT count(*) FROM verdict_outcomes WHERE price IS NOT NULL")
    assert (found.cells, found.spreads, kept) == ([], [], 6)


def test_every_recorded_entry_is_recomputed_from_its_own_inputs() -> None:
    verdicts = [json.loads(zlib.decompress(base64.b64decode(entry["body"]))) for entry in RECORDED["verdict_ledger"]]
    assert {verdict["ruleset"]["version"] for verdict in verdicts} == {1}
    for verdict, entry in zip(verdicts, RECORDED["verdict_ledger"], strict=True):
        found = replay(verdict)
        assert found.differences == []
        assert found.verdict.verdict_id == entry["verdict_id"]
        assert entry["probability_up"] == round(0.5 + found.verdict.score / 20, 4)

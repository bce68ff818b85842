"""Locks, full disks, failing syncs, torn files and sudden deaths, made for real where the machine lets us."""

import asyncio
import errno
import shutil
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from service.errors import ServiceError
from service.storage.database import Database, SqliteDatabase, open_database
from service.storage.engine import BUSY_MS, Connection, DatabaseError, SqliteConnection, connect
from service.storage.sqlite_session import SqliteSession, WriteLock
from service.storage.writer import Writer
from tests.fakes.clock import FakeClock

ROOT = Path(__file__).parents[2]


def insert(connection: Connection) -> None:
    connection.execute("INSERT INTO notes (text) VALUES ('a')")


async def numbers(path: Path, clock: FakeClock) -> list[int]:
    async with open_database(path, clock) as db:
        return [row[0] for row in await db.read("SELECT n FROM notes ORDER BY n")]


async def run_writer(path: Path, *arguments: str, before: tuple[str, ...] = ()) -> list[str]:
    async with asyncio.timeout(60):
        process = await asyncio.create_subprocess_exec(
            *before,
            sys.executable,
            "-m",
            "tests.storage.writing_process",
            str(path),
            *arguments,
            cwd=ROOT,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        out, _ = await process.communicate()
        return out.decode().split()


@pytest.mark.promise("errors.unavailable")
async def test_a_foreign_lock_is_a_503_and_then_all_is_well(db: Database) -> None:
    assert 2 * BUSY_MS < 5_000, "a writer waits at most once for its turn and once for the lock"
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    other = connect(db.path)
    other.execute("BEGIN IMMEDIATE")
    outcomes = await asyncio.gather(*(db.write(insert) for _ in range(20)), return_exceptions=True)
    assert {getattr(outcome, "code", None) for outcome in outcomes} == {"UNAVAILABLE"}
    assert await db.read("SELECT count(*) FROM notes") == [(0,)]
    other.close()
    await db.write(insert)
    assert await db.read("SELECT count(*) FROM notes") == [(1,)]


async def test_who_waits_behind_a_refused_group_is_refused_with_it(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
    begun, go = await stop_at_begin(db)
    other = connect(db.path)
    other.execute("BEGIN IMMEDIATE")
    waiting = [asyncio.ensure_future(db.write(insert))]
    await asyncio.to_thread(begun.wait, 20)
    waiting += [asyncio.ensure_future(db.write(insert)) for _ in range(5)]
    await asyncio.sleep(0)  # each is queued
    go.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert {getattr(outcome, "code", None) for outcome in outcomes} == {"UNAVAILABLE"}
    assert caplog.records[-1].__dict__["calls"] == 6
    other.close()


async def stop_at_begin(db: Database) -> tuple[threading.Event, threading.Event]:
    """Stop the writer where it next asks for the lock: set then, and to be set for it to go on."""
    begun, go = threading.Event(), threading.Event()

    def see(statement: str) -> None:
        if statement == "BEGIN IMMEDIATE":
            begun.set()
            go.wait(20)

    await db.write(lambda connection: cast("SqliteConnection", connection).set_trace_callback(see))
    return begun, go


async def test_a_turn_that_is_kept_is_a_503(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.storage.sqlite_session.BUSY_MS", 20)
    other = WriteLock(db.path.with_name("verdict.db-turn"))
    assert other.acquire(0)
    with pytest.raises(ServiceError, match="is busy"):
        await db.write(insert)
    other.release()
    await db.write(insert)
    other.close()


async def test_a_failure_that_nobody_thought_of_is_a_503_and_the_writer_goes_on(
    db: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    for place in "sqlite_session.WriteLock.acquire", "sqlite_session.SqliteSession.commit":
        with monkeypatch.context() as patched:
            patched.setattr(f"service.storage.{place}", refuse)
            outcomes = await asyncio.gather(*(db.write(insert) for _ in range(3)), return_exceptions=True)
        assert {getattr(outcome, "code", None) for outcome in outcomes} == {"UNAVAILABLE"}
    await db.write(insert)
    assert await db.read("SELECT count(*) FROM notes") == [(1,)]
    assert "no locks available" in caplog.text


async def test_a_full_database_is_a_503_keeps_what_was_committed_and_recovers(db: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute("INSERT INTO notes (text) VALUES (?)", ("x" * 3_000,))

    await db.write(lambda connection: connection.execute("PRAGMA max_page_count = 60").fetchall())
    committed = 0
    refused: list[object] = []
    while not refused:
        outcomes = await asyncio.gather(db.write(fill), return_exceptions=True)
        refused = [outcome for outcome in outcomes if outcome is not None]
        committed += not refused
    assert getattr(refused[0], "code", None) == "UNAVAILABLE"
    assert await db.read("SELECT count(*) FROM notes") == [(committed,)]
    await db.write(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchall())
    await db.write(fill)
    assert await db.read("SELECT count(*) FROM notes") == [(committed + 1,)]


@pytest.mark.process
async def test_a_disk_without_room_loses_only_what_it_refused(path: Path, clock: FakeClock) -> None:
    said = await run_writer(path, "1000", "1000000")
    refused = said.index("UNAVAILABLE")
    assert said.count("UNAVAILABLE") >= 1
    assert refused > 10
    assert int(said[-1]) == 999
    assert await numbers(path, clock) == [int(word) for word in said if word != "UNAVAILABLE"]


async def test_a_corrupt_page_met_while_running_is_a_503(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock):
        pass
    async with open_database(path, clock) as db:
        spoil(path)
        with pytest.raises(ServiceError, match="cannot be used"):
            await db.inspect(lambda look: look.execute("SELECT * FROM credentials").fetchall())
        with pytest.raises(ServiceError, match="cannot be used"):
            await db.read("SELECT * FROM credentials")


def spoil(path: Path) -> None:
    """Overwrite every page but the first, under the nose of those who have the file open."""
    with path.open("r+b") as file:
        content = file.read()
        file.seek(4_096)
        file.write(b"\xff" * (len(content) - 4_096))


@pytest.mark.parametrize("torn", [1, 100, 4_000, 9_000])
async def test_a_torn_end_of_the_log_loses_only_what_it_tore(
    path: Path, clock: FakeClock, tmp_path: Path, torn: int
) -> None:
    copy = tmp_path / "copy" / "verdict.db"
    async with open_database(path, clock) as db:
        await db.write(lambda connection: connection.execute("CREATE TABLE notes (n)").rowcount)
        for number in range(30):
            await db.write(partial(insert_number, number))
        tear(path, copy, torn)
    left = await numbers(copy, clock)
    assert left == list(range(len(left)))
    assert len(left) >= 30 - 1 - torn // 4_096


def insert_number(number: int, connection: Connection) -> None:
    connection.execute("INSERT INTO notes VALUES (?)", (number,))


def tear(path: Path, copy: Path, torn: int) -> None:
    copy.parent.mkdir()
    shutil.copy(path, copy)
    log = path.with_name("verdict.db-wal").read_bytes()
    copy.with_name("verdict.db-wal").write_bytes(log[:-torn])


can_inject = pytest.mark.machine
"""It needs strace."""


def injecting(*faults: str) -> tuple[str, ...]:
    return ("strace", "-f", "-qq", "-o", "/dev/null", *(f"--inject={fault}" for fault in faults))


@can_inject
async def test_a_sync_that_fails_is_a_503_and_nothing_of_it_is_answered(path: Path, clock: FakeClock) -> None:
    await run_writer(path, "0")  # makes the tables: what fails is a row, however many steps the schema has
    said = await run_writer(path, "60", before=injecting("fsync,fdatasync:error=EIO:when=20+25"))
    assert said.count("UNAVAILABLE") >= 1
    acknowledged = [int(word) for word in said if word != "UNAVAILABLE"]
    assert acknowledged[-1] == 59
    assert await numbers(path, clock) == acknowledged


@can_inject
async def test_a_write_without_room_is_a_503_and_nothing_of_it_is_answered(path: Path, clock: FakeClock) -> None:
    await run_writer(path, "0")
    said = await run_writer(path, "60", before=injecting("pwrite64:error=ENOSPC:when=20+50"))
    acknowledged = [int(word) for word in said if word != "UNAVAILABLE"]
    assert len(acknowledged) < 60
    assert await numbers(path, clock) == acknowledged


@pytest.mark.promise("meter.durable")
@can_inject
@pytest.mark.parametrize("write", [3, 17, 42, 61, 77, 98, 131, 150])
async def test_a_kill_at_any_write_keeps_every_acknowledged_row(path: Path, clock: FakeClock, write: int) -> None:
    said = await run_writer(path, "200", before=injecting(f"pwrite64:signal=SIGKILL:when={write}"))
    assert len(said) < 200
    async with open_database(path, clock) as db:
        await db.write(lambda connection: connection.execute("CREATE TABLE IF NOT EXISTS notes (n, filling)").rowcount)
    assert (await numbers(path, clock))[: len(said)] == [int(word) for word in said]
    assert len(await numbers(path, clock)) <= len(said) + 1


class Faulty:
    """A connection that fails at a statement, as SQLite would."""

    def __init__(self, path: Path, failing: dict[str, str]) -> None:
        self._real = connect(path)
        self._failing = failing

    def execute(self, statement: str, *parameters: Any) -> Any:
        if name := self._failing.pop(statement, None):
            error = DatabaseError("injected")
            error.sqlite_errorname = name
            raise error
        return self._real.execute(statement, *parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def fail(connection: Connection) -> None:
    insert(connection)
    raise LookupError("mine")


@pytest.mark.parametrize(
    "failing",
    [
        {"BEGIN IMMEDIATE": "SQLITE_IOERR_READ"},
        {"PRAGMA data_version": "SQLITE_IOERR_READ"},
        {"SAVEPOINT closure": "SQLITE_NOMEM"},
        {"ROLLBACK TO closure": "SQLITE_NOMEM"},
        {"COMMIT": "SQLITE_IOERR_FSYNC"},
        {"COMMIT": "SQLITE_FULL", "ROLLBACK": "SQLITE_IOERR_WRITE"},
    ],
    ids=str,
)
async def test_wherever_a_transaction_fails_its_callers_are_told_and_the_next_one_works(
    db: SqliteDatabase, failing: dict[str, str]
) -> None:
    path = db.path
    connection = Faulty(path, failing)
    session = SqliteSession(cast("SqliteConnection", connection), WriteLock(path.with_name("verdict.db-turn")))
    writer = Writer(session, asyncio.get_running_loop())
    database = SqliteDatabase(path, writer, db._reader, db._immediate_reader, db._files)
    refused = await asyncio.gather(database.write(insert), database.write(fail), return_exceptions=True)
    assert "UNAVAILABLE" in {getattr(outcome, "code", None) for outcome in refused}
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    kept = await db.read("SELECT count(*) FROM notes")
    assert kept == [(sum(outcome is None for outcome in refused),)]
    await database.write(insert)
    assert await db.read("SELECT count(*) FROM notes") == [(kept[0][0] + 1,)]
    await writer.close()

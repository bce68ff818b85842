"""One writer, whole transactions, group commit."""

import asyncio
import threading
from pathlib import Path
from typing import cast

import pytest

from service.errors import ServiceError
from service.storage.database import Database, open_database
from service.storage.engine import Connection, DatabaseError, IntegrityError, SqliteConnection, StorageError, connect
from tests.fakes.clock import FakeClock
from tests.storage.conftest import on_both


def note(text: str) -> "Note":
    return Note(text)


class Note:
    """A closure that inserts a row and says which thread it was on."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, connection: Connection) -> str:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (self.text,))
        return threading.current_thread().name


async def notes(db: Database) -> list[str]:
    return [row[0] for row in await db.read("SELECT text FROM notes ORDER BY id")]


async def trace(db: Database) -> list[str]:
    statements: list[str] = []
    await db.write(lambda connection: cast("SqliteConnection", connection).set_trace_callback(statements.append))
    return statements


@on_both
async def test_a_write_returns_what_its_closure_returns_from_the_writer_thread(db: Database) -> None:
    assert await db.write(note("a")) == "verdict-writer"
    assert await notes(db) == ["a"]


async def test_closures_that_wait_together_share_a_transaction_in_order(db: Database) -> None:
    statements = await trace(db)
    blocked = threading.Event()
    first = asyncio.ensure_future(db.write(lambda _: blocked.wait(20)))
    await asyncio.sleep(0)
    rest = asyncio.gather(*(db.write(note(str(number))) for number in range(40)))
    await asyncio.sleep(0)
    blocked.set()
    await asyncio.gather(first, rest)
    assert await notes(db) == [str(number) for number in range(40)]
    assert statements.count("COMMIT") <= 3
    assert (db.transactions, db.closures) == (statements.count("COMMIT") + 1, 43)


@on_both
async def test_an_exception_undoes_its_own_closure_only_and_is_raised_to_its_caller(db: Database) -> None:
    def fail(connection: Connection) -> None:
        note("lost")(connection)
        raise LookupError("mine")

    outcomes = await asyncio.gather(db.write(note("a")), db.write(fail), db.write(note("b")), return_exceptions=True)
    assert isinstance(outcomes[1], LookupError)
    assert await notes(db) == ["a", "b"]


@on_both
async def test_a_broken_constraint_is_its_callers(db: Database) -> None:
    def twice(connection: Connection) -> None:
        connection.execute("INSERT INTO notes (id) VALUES (1)")
        connection.execute("INSERT INTO notes (id) VALUES (1)")

    with pytest.raises(IntegrityError):
        await db.write(twice)
    assert await notes(db) == []


@on_both
async def test_a_wrong_statement_is_its_callers(db: Database) -> None:
    with pytest.raises(DatabaseError, match=r"no such table|does not exist"):
        await db.write(lambda connection: connection.execute("SELECT * FROM absent").fetchall())
    with pytest.raises(DatabaseError, match=r"no such table|does not exist"):
        await db.read("SELECT * FROM absent")


@on_both
async def test_an_exhausted_iterator_in_a_closure_reaches_its_caller(db: Database) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await db.write(lambda _: next(iter(())))


@on_both
async def test_a_cancelled_caller_does_not_undo_its_own_or_a_strangers_rows(db: Database) -> None:
    blocked = threading.Event()
    first = asyncio.ensure_future(db.write(lambda _: blocked.wait(20)))
    cancelled = asyncio.ensure_future(db.write(note("cancelled")))
    failing = asyncio.ensure_future(db.write(lambda _: next(iter(()))))
    stranger = asyncio.ensure_future(db.write(note("stranger")))
    await asyncio.sleep(0)
    cancelled.cancel()
    failing.cancel()
    blocked.set()
    await asyncio.wait([first, cancelled, failing, stranger])
    assert cancelled.cancelled()
    assert await notes(db) == ["cancelled", "stranger"]


@on_both
async def test_a_closure_that_ends_the_transaction_fails_the_group(db: Database) -> None:
    def meddle(connection: Connection) -> None:
        connection.execute("ROLLBACK")

    with pytest.raises(ServiceError) as refused:
        await db.write(meddle)
    assert refused.value.code == "UNAVAILABLE"
    await db.write(note("a"))
    assert await notes(db) == ["a"]


@on_both
async def test_an_answer_can_be_called_in_place_of_a_coroutine(db: Database) -> None:
    answered: asyncio.Future[tuple[object, object]] = asyncio.get_running_loop().create_future()
    db.submit(note("a"), lambda value, error: answered.set_result((value, error)))
    assert await answered == ("verdict-writer", None)


async def test_memory_is_doubtful_after_a_foreign_commit_and_after_an_undone_closure(db: Database) -> None:
    async def known() -> int:
        return await db.write(lambda _: db.foreign_commits)

    before = await known()
    await db.write(note("ours"))
    assert await known() == before
    other = connect(db.path)
    other.execute("INSERT INTO notes (text) VALUES ('theirs')")
    other.close()
    after_theirs = await known()
    assert after_theirs > before
    with pytest.raises(RuntimeError):
        await db.write(lambda _: next(iter(())))
    assert await known() > after_theirs


@on_both
async def test_the_reader_refuses_writes(db: Database) -> None:
    with pytest.raises(DatabaseError, match=r"readonly|read-only"):
        await db.read("INSERT INTO notes (text) VALUES ('no')")


@on_both
async def test_a_look_is_one_snapshot_and_cannot_write(db: Database) -> None:
    loop = asyncio.get_running_loop()

    def look(connection: Connection) -> list[int]:
        counts = [connection.execute("SELECT count(*) FROM notes").fetchone()[0]]
        asyncio.run_coroutine_threadsafe(db.write(note("meanwhile")), loop).result(20)
        counts.append(connection.execute("SELECT count(*) FROM notes").fetchone()[0])
        return counts

    assert await db.inspect(look) == [0, 0]
    with pytest.raises(DatabaseError):
        await db.inspect(note("no"))


async def test_what_is_queued_when_the_database_is_left_is_written_first(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db:
        await db.write(
            lambda connection: connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)").rowcount
        )
        started, pause = threading.Event(), threading.Event()

        def wait_for_the_end(_: Connection) -> bool:
            started.set()
            while not db._writer._closed:
                pause.wait(0.001)
            return pause.wait(0.01)

        queued = [asyncio.ensure_future(db.write(wait_for_the_end))]
        await asyncio.to_thread(started.wait, 20)
        queued += [asyncio.ensure_future(db.write(note(str(number)))) for number in range(20)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
    await asyncio.wait(queued)
    async with open_database(path, clock) as db:
        assert len(await notes(db)) == 20


async def test_leaving_ends_the_threads_and_folds_the_log_into_the_file(path: Path, clock: FakeClock) -> None:
    others = set(threading.enumerate())
    async with open_database(path, clock) as db:
        await db.write(
            lambda connection: connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)").rowcount
        )
        await db.write(note("a"))
    assert names(path.parent) == {"verdict.db", "verdict.db-turn"}
    assert not {thread.name for thread in threading.enumerate() if thread not in others} & {"verdict-writer"}


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


async def test_after_leaving_writes_are_refused(path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as db:
        pass
    with pytest.raises(ServiceError, match="stopping") as refused:
        await db.write(lambda _: None)
    assert refused.value.headers == {"Retry-After": "10"}


@pytest.mark.promise("meter.wal-full")
async def test_every_commit_is_synced(db: Database) -> None:
    assert await db.write(lambda connection: connection.execute("PRAGMA synchronous").fetchone()) == (2,)
    assert await db.write(lambda connection: connection.execute("PRAGMA journal_mode").fetchone()) == ("wal",)
    assert await db.write(lambda connection: connection.execute("PRAGMA foreign_keys").fetchone()) == (1,)


@pytest.mark.promise("run.data-dir")
async def test_the_files_are_their_owners_alone(db: Database) -> None:
    await db.write(note("a"))
    assert modes_of_files(db.path.parent) == {0o600}


def modes_of_files(folder: Path) -> set[int]:
    return {file.stat().st_mode & 0o777 for file in folder.iterdir()}


async def test_an_engine_that_can_corrupt_the_file_is_refused(
    path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.storage import engine  # noqa: PLC0415

    with pytest.raises(StorageError, match=r"3\.40\.1 .*pysqlite3"):
        engine.check_version((3, 40, 1))
    engine.check_version((3, 51, 3))
    monkeypatch.setattr("service.storage.database.check_version", lambda: engine.check_version((3, 51, 2)))
    with pytest.raises(StorageError):
        await open_database(path, clock).__aenter__()
    assert names(path.parent) == set()


def test_without_pysqlite3_the_standard_library_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3  # noqa: PLC0415

    from service.storage import engine  # noqa: PLC0415

    assert engine.VERSION >= engine.OLDEST_SAFE
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert engine._newest() is sqlite3


def test_an_error_without_a_name_of_sqlites_is_called_by_its_class() -> None:
    from service.storage.engine import error_name  # noqa: PLC0415

    assert error_name(ValueError()) == "ValueError"


async def test_one_of_two_that_use_a_file_holds_a_claim(db: Database, path: Path, clock: FakeClock) -> None:
    async with open_database(path, clock) as second, db.claim("leader") as first:
        async with second.claim("leader") as other, second.claim("else") as different:
            assert (first.held(), other.held(), different.held()) == (True, False, True)
            assert await first.contend()
            assert not await other.contend()
        with second.listening(lambda: pytest.fail("a file tells nobody")):
            await db.write(note("a"))

"""A server that is lost, stopped, frozen, full or kept: a 503, and nothing told that is not kept."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from service.errors import ServiceError
from service.settings import Secret
from service.storage.database import Database
from service.storage.engine import Connection, DatabaseError, IntegrityError, error_name, is_store_failing
from service.storage.postgres import claim, connection, database, session
from service.storage.postgres.connection import ServerConnection, dial
from service.storage.postgres.database import open_postgres
from service.storage.postgres.errors import as_database_errors
from service.storage.postgres.session import ServerSession
from service.storage.writer import TransactionError
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import Server, own_server, postgres_dsn, postgres_server
from tests.storage.conftest import busy, make_notes

pytestmark = pytest.mark.process

NOWHERE: Final = Secret("postgres://nobody@127.0.0.1:1/verdict")
DIE: Final = "SELECT pg_terminate_backend(pg_backend_pid())"
FULL: Final = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$"


@pytest.fixture
async def db(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    with postgres_dsn() as address:
        async with open_postgres(Secret(address), tmp_path / "verdict.db", clock) as opened:
            await make_notes(opened)
            yield opened


def insert(connection: Connection) -> None:
    connection.execute("INSERT INTO notes (text) VALUES ('a')")


def doing(*statements: str) -> Callable[[Connection], None]:
    """A closure that writes, runs statements, and writes again."""

    def work(connection: Connection) -> None:
        insert(connection)
        for statement in statements:
            connection.execute(statement)
        insert(connection)

    return work


def going_on(connection: Connection) -> None:
    """What no closure may do: it goes on after a statement has failed."""
    insert(connection)
    try:
        connection.execute("SELECT * FROM absent")
    except DatabaseError:
        return


def ending(connection: Connection) -> None:
    """What no closure may do either."""
    insert(connection)
    connection.execute("ROLLBACK")


async def kept(db: Database) -> int:
    ((count,),) = await db.read("SELECT count(*) FROM notes")
    return int(count)


async def known(db: Database) -> int:
    return await db.write(lambda _: db.foreign_commits)


def codes(outcomes: list[Any]) -> set[str | None]:
    return {getattr(outcome, "code", None) for outcome in outcomes}


@pytest.mark.parametrize("work", [doing(DIE), doing(FULL), going_on, ending], ids=["died", "full", "on", "ended"])
@pytest.mark.parametrize("shared", [False, True])
async def test_a_transaction_that_is_lost_is_a_503_for_all_of_it_and_the_next_one_works(
    db: Database, work: Callable[[Connection], None], *, shared: bool
) -> None:
    before = await known(db)
    first, blocked = await busy(db)
    works = [insert, work, insert] if shared else [work]
    group = asyncio.gather(*(db.write(one) for one in works), return_exceptions=True)
    await asyncio.sleep(0)
    blocked.set()
    await first
    assert codes(await group) == {"UNAVAILABLE"}
    assert await kept(db) == 0
    await db.write(insert)
    assert await kept(db) == 1
    assert await known(db) > before


async def test_a_connection_that_died_while_nobody_used_it_is_opened_anew_and_nobody_is_told(db: Database) -> None:
    before = await known(db)
    await db.read(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'verdict writer'"
    )
    await db.write(insert)
    assert await kept(db) == 1
    assert await known(db) > before


@pytest.mark.parametrize(
    ("word", "alone"),
    [("SAVEPOINT", False), ("RELEASE", False), ("ROLLBACK TO", False), ("COMMIT", True), ("COMMIT", False)],
)
async def test_wherever_the_answer_is_lost_nothing_is_told_that_may_not_be_kept(
    db: Database, monkeypatch: pytest.MonkeyPatch, word: str, *, alone: bool
) -> None:
    before, real = await known(db), ServerConnection.command
    lost: list[str] = []

    def lose(self: ServerConnection, text: str, *patience: float) -> str:
        done = real(self, text, *patience)
        if text.startswith(word) and not lost:
            lost.append(text)
            raise_lost()
        return done

    first, blocked = await busy(db)
    works = (insert,) if alone else (insert, doing("SELECT * FROM absent"), insert)
    group = asyncio.gather(*(db.write(work) for work in works), return_exceptions=True)
    await asyncio.sleep(0)
    monkeypatch.setattr(ServerConnection, "command", lose)
    blocked.set()
    await first
    assert codes(await group) == {"UNAVAILABLE"}
    assert lost
    assert await kept(db) == (0 if word != "COMMIT" else 1 if alone else 2), "kept, though nobody may be told so"
    assert await known(db) > before


def raise_lost() -> None:
    error = DatabaseError("lost")
    error.sqlite_errorname = "08006"
    raise error


async def test_a_turn_that_is_kept_is_a_503_and_then_all_is_well(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.WRITING, "lock_timeout", "100")
    async with two_nodes(tmp_path, clock) as (one, other):
        holding, done = threading.Event(), threading.Event()

        def hold(_: Connection) -> None:
            holding.set()
            done.wait(60)

        held = asyncio.ensure_future(one.write(hold))
        await asyncio.to_thread(holding.wait, 60)
        outcomes = await asyncio.gather(*(other.write(insert) for _ in range(5)), return_exceptions=True)
        assert codes(outcomes) == {"UNAVAILABLE"}
        assert "busy" in str(outcomes[0].message)  # type: ignore[union-attr]
        done.set()
        await held
        await other.write(insert)
        assert await kept(one) == 1


async def test_a_machine_that_stands_still_with_the_turn_loses_it(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.WRITING, "lock_timeout", "60000")
    monkeypatch.setitem(connection.WRITING, "statement_timeout", "60000")
    async with two_nodes(tmp_path, clock) as (one, other):
        holding, done = threading.Event(), threading.Event()

        def hold(connection: Connection) -> None:
            insert(connection)
            limit = "idle_in_transaction_session_timeout"
            assert connection.execute(f"SHOW {limit}").fetchone() == ("3s",)
            connection.execute(f"SET {limit} = 100")
            holding.set()
            done.wait(60)

        held = asyncio.ensure_future(one.write(hold))
        await asyncio.to_thread(holding.wait, 60)
        await other.write(insert)
        done.set()
        with pytest.raises(ServiceError):
            await held
        assert await kept(one) == 1


@asynccontextmanager
async def two_nodes(tmp_path: Path, clock: FakeClock) -> AsyncIterator[tuple[Database, Database]]:
    with postgres_dsn() as address:
        async with (
            open_postgres(Secret(address), tmp_path / "one" / "verdict.db", clock) as one,
            open_postgres(Secret(address), tmp_path / "other" / "verdict.db", clock) as other,
        ):
            await make_notes(one)
            yield one, other


@pytest.mark.soak
async def test_a_server_that_is_stopped_frozen_and_started_is_a_503_and_then_all_is_well(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room, name, seconds in (
        (session, "_BEGIN_S", 0.3),
        (session, "_MAX_PAUSE_S", 0.1),
        (database, "_MAX_PAUSE_S", 0.1),
        (claim, "_BEAT_S", 0.3),
    ):
        monkeypatch.setattr(room, name, seconds)
    with own_server() as server:
        path = tmp_path / "verdict.db"
        async with open_postgres(Secret(server.address(server.make_database())), path, clock) as db:
            await make_notes(db)
            await through_a_stop(server, db)
            await through_a_freeze(server, db)


async def through_a_stop(server: Server, db: Database) -> None:
    told = asyncio.Event()
    await db.write(insert)
    before = await known(db)
    async with db.claim("leader") as held:
        with db.listening(told.set):
            await asyncio.to_thread(server.stop)
            async with asyncio.timeout(60):
                await told.wait()
        assert not held.held()
        for works in ([db.write(insert) for _ in range(20)], [db.read("SELECT 1"), db.inspect(insert)]):
            assert codes(await asyncio.gather(*works, return_exceptions=True)) == {"UNAVAILABLE"}
        assert not await held.contend()
        await asyncio.to_thread(server.start)
        await well_again(db)
        assert await held.contend()
    assert await kept(db) == 2
    assert await known(db) > before


async def through_a_freeze(server: Server, db: Database) -> None:
    server.freeze()
    try:
        outcomes = await asyncio.gather(db.write(insert), db.read("SELECT 1"), return_exceptions=True)
        assert codes(outcomes) == {"UNAVAILABLE"}
    finally:
        server.freeze(frozen=False)
    await well_again(db)
    assert await kept(db) == 3


async def well_again(db: Database) -> None:
    """Write once, as soon as it can be."""
    async with asyncio.timeout(60):
        while True:
            with suppress(ServiceError):
                return await db.write(insert)
            await asyncio.sleep(0.02)


async def test_a_store_without_a_turn_takes_nothing(db: Database) -> None:
    server, name = postgres_server(), db.address.rpartition("/")[2]
    ((turn,),) = server.ask("DELETE FROM store_turn RETURNING commits", database=name)
    try:
        with pytest.raises(ServiceError, match="cannot be used"):
            await db.write(insert)
    finally:
        server.ask("INSERT INTO store_turn VALUES (1, $1)", turn, database=name)
    await db.write(insert)
    assert await kept(db) == 1


async def test_a_server_that_is_not_there_is_not_asked_at_once_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def ask(*given: Any) -> Any:
        asked.append(given)
        return dial(*given)

    monkeypatch.setattr(session, "dial", ask)
    for name in ("_FIRST_PAUSE_S", "_MAX_PAUSE_S"):
        monkeypatch.setattr(session, name, 3_600)

    def begin_twice() -> None:
        tried = ServerSession(NOWHERE)
        for _ in range(2):
            with pytest.raises(TransactionError):
                tried.begin()
        tried.close()

    await asyncio.to_thread(begin_twice)
    assert len(asked) == 1


async def test_a_claim_on_a_server_that_is_not_there_is_not_held() -> None:
    async with claim.claim_on(NOWHERE, "leader") as held:
        assert not held.held()
        assert not await held.contend()


async def test_a_connection_that_cannot_be_set_up_is_closed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_: object) -> None:
        raise LookupError

    monkeypatch.setattr(connection, "teach", refuse)
    with pytest.raises(LookupError):
        await dial(Secret(db.address), "test", {})
    assert (
        await db.read("SELECT 1 FROM pg_stat_activity WHERE application_name = 'verdict test' AND state = 'active'")
        == []
    )


async def test_a_listener_that_loses_its_connection_tells_and_listens_again(db: Database) -> None:
    told = asyncio.Event()
    with db.listening(told.set):
        for _ in range(2):
            told.clear()
            await end(db, "listener")
            async with asyncio.timeout(60):
                await told.wait()


async def test_a_listener_tries_again_until_it_hears(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    told = asyncio.Event()

    def ask(*given: Any) -> Any:
        asked.append(given)
        return dial(NOWHERE if len(asked) < 3 else Secret(db.address), *given[1:])

    monkeypatch.setattr(database, "dial", ask)
    ear = database.Listener(NOWHERE)
    following = asyncio.ensure_future(ear.follow())
    async with asyncio.timeout(60):
        while len(asked) < 3:
            ear.add(told.set)
            await told.wait()
            told.clear()
            ear.remove(told.set)
    following.cancel()
    await asyncio.wait([following])


@pytest.mark.parametrize(
    ("raised", "name", "kind"),
    [
        (ConnectionResetError(), "08006", DatabaseError),
        (TimeoutError(), "08006", DatabaseError),
        (asyncpg.InterfaceError("connection is closed"), "08006", DatabaseError),
        (asyncpg.InterfaceError("pool is closing"), "08006", DatabaseError),
        (asyncpg.InterfaceError("the server expects 1 argument"), "22000", DatabaseError),
        (asyncpg.CharacterNotInRepertoireError("\\0"), "22021", DatabaseError),
        (asyncpg.UniqueViolationError("twice"), "23505", IntegrityError),
    ],
)
def test_what_the_driver_raises_is_told_as_the_store_s(
    raised: Exception,
    name: str,
    kind: type[DatabaseError],  # type: ignore[valid-type]
) -> None:
    with pytest.raises(kind) as told, as_database_errors():
        raise raised
    assert error_name(told.value) == name
    assert is_store_failing(told.value) == (name == "08006")


async def test_a_claim_whose_connection_is_lost_is_lost_with_it(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PROOF_S", "_BEAT_S"):
        monkeypatch.setattr(claim, name, 3_600)
    async with db.claim("leader") as held:
        assert held.held()
        await end(db, "claim")
        async with asyncio.timeout(60):
            while held.held():  # noqa: ASYNC110 - no event is set for it
                await asyncio.sleep(0.01)
        assert await held.contend()
        assert held.held()


async def end(db: Database, whose: str) -> None:
    """End the sessions of one kind; a session is listed once it can be ended."""
    kill = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = ?"
    async with asyncio.timeout(60):
        while not await db.read(kill, (f"verdict {whose}",)):  # noqa: ASYNC110 - no event is set for it
            await asyncio.sleep(0.01)


async def test_no_more_statements_stay_prepared_than_are_used_again(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_PREPARED", 2)

    def ask(connection: Connection) -> list[int]:
        return [connection.execute(f"SELECT {number}").fetchone()[0] for number in (1, 2, 3, 1)]

    assert await db.write(ask) == [1, 2, 3, 1]


async def test_a_claim_is_not_held_for_longer_than_it_was_proven(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "_PROOF_S", 3_600)
    async with db.claim("leader") as held:
        assert held.held()
        monkeypatch.setattr(claim, "_PROOF_S", 0.0)
        assert not held.held()

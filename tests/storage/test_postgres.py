"""A server that several machines use: one writer at a time, and each knows when another has written."""

import asyncio
import random
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.settings import Secret, Settings
from service.storage.database import Database, open_database
from service.storage.engine import Connection, StorageError
from service.storage.migrate import Migration
from service.storage.postgres import opening
from service.storage.postgres.database import open_postgres
from service.storage.postgres.errors import place_of
from service.storage.postgres.opening import prepare
from service.storage.postgres.schema import read_all
from service.storage.rows import insert_rows
from service.storage.store import open_snapshot, open_store
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import Server, apart, postgres_dsn, postgres_server
from tests.storage.conftest import busy, make_notes

pytestmark = pytest.mark.process


@pytest.fixture
def address() -> Iterator[str]:
    with postgres_dsn() as dsn:
        yield dsn


@pytest.fixture
async def nodes(address: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[tuple[Database, Database]]:
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(open_postgres(Secret(address), tmp_path / name / "verdict.db", clock))
            for name in ("one", "other")
        ]
        await make_notes(one)
        yield one, other


def add(connection: Connection) -> int:
    """Read and then write what was read: exact only where nobody writes in between."""
    ((found,),) = connection.execute("SELECT coalesce(max(CAST(text AS INTEGER)), 0) FROM notes").fetchall()
    connection.execute("INSERT INTO notes (text) VALUES (?)", (str(found + 1),))
    return int(found) + 1


async def test_what_a_closure_concludes_holds_on_however_many_machines(nodes: tuple[Database, Database]) -> None:
    given = await asyncio.gather(*(node.write(add) for _ in range(30) for node in nodes))
    assert sorted(given) == list(range(1, 61))


async def test_a_node_knows_exactly_when_another_has_written(nodes: tuple[Database, Database]) -> None:
    """A seeded walk: what each remembers is doubtful after another's write or its own failure, and never else."""
    walk = random.Random(7)  # noqa: S311 - a walk to be repeated, no secret
    doubtful = [True, True]
    known = [-1, -1]
    for _ in range(60):
        who, what = walk.randrange(2), walk.choice(("write", "look", "fail", "both"))
        node = nodes[who]

        def see(_: Connection, who: int = who, node: Database = node) -> None:
            assert (node.foreign_commits != known[who]) == doubtful[who]
            known[who] = node.foreign_commits

        if what == "both":
            await asyncio.gather(node.write(see), node.write(add))
        elif what == "fail":
            await node.write(see)
            with pytest.raises(LookupError):
                await node.write(fail)
        else:
            await node.write(see)
            await node.write(add if what == "write" else see_nothing)
        doubtful[who] = what == "fail"
        doubtful[1 - who] |= what in {"write", "both"}


def fail(connection: Connection) -> None:
    add(connection)
    raise LookupError("mine")


def see_nothing(connection: Connection) -> None:
    connection.execute("SELECT 1 FROM notes").fetchall()


async def test_closures_of_one_node_share_a_transaction_and_undo_only_themselves(
    nodes: tuple[Database, Database],
) -> None:
    node = nodes[0]
    first, blocked = await busy(node)
    before = node.transactions
    rest = asyncio.gather(*(node.write(work) for work in (add, fail, add, fail, add)), return_exceptions=True)
    await asyncio.sleep(0)
    blocked.set()
    await first
    given = await rest
    assert [value for value in given if isinstance(value, int)] == [1, 2, 3]
    assert node.transactions - before <= 2
    assert await nodes[1].read("SELECT text FROM notes ORDER BY id") == [("1",), ("2",), ("3",)]


async def test_a_transaction_that_changes_nothing_takes_no_turn(nodes: tuple[Database, Database]) -> None:
    await nodes[0].write(add)
    ((before,),) = await nodes[0].read("SELECT commits FROM store_turn")
    await nodes[0].write(see_nothing)
    assert await nodes[0].read("SELECT commits FROM store_turn") == [(before,)]


async def test_a_change_to_who_may_call_is_told_to_other_machines_at_once(nodes: tuple[Database, Database]) -> None:
    one, other = nodes
    told = asyncio.Event()
    with other.listening(told.set):
        await one.write(lambda connection: connection.execute("INSERT INTO users (created_ms) VALUES (1)").rowcount)
        told.clear()
        await one.write(
            lambda connection: connection.execute("INSERT INTO access_changes (user_id, at_ms) VALUES (1, 1)").rowcount
        )
        async with asyncio.timeout(60):
            await told.wait()
    assert other.shared


async def test_sums_come_back_as_whole_numbers_where_they_are_and_means_as_fractions(
    nodes: tuple[Database, Database],
) -> None:
    numbers = "(VALUES (9007199254740993), (-2)) AS numbers (number)"
    ((total, mean, larger),) = await nodes[0].read(f"SELECT sum(number), avg(number / 2), 2 > 1 FROM {numbers}")  # noqa: S608 - no one's words
    assert (total, type(total)) == (9_007_199_254_740_991, int)
    assert (mean, type(mean)) == (2_251_799_813_685_247.5, float)
    assert (larger, type(larger)) == (1, int)


async def test_nothing_can_be_read_at_once(nodes: tuple[Database, Database]) -> None:
    with pytest.raises(ServiceError) as refused:
        nodes[0].read_now("SELECT 1")
    assert refused.value.code == "UNAVAILABLE"


async def test_one_of_several_nodes_holds_a_claim_and_another_has_it_after(nodes: tuple[Database, Database]) -> None:
    async with nodes[1].claim("leader") as second:
        assert second.held()
        async with nodes[0].claim("leader") as first, nodes[0].claim("other") as other:
            assert other.held()
            assert not first.held()
            assert await second.contend()
            assert not await first.contend()
        async with nodes[0].claim("leader") as first:
            second.let_go()  # type: ignore[attr-defined]
            assert not second.held()
            assert any([await first.contend() for _ in range(200)]), "the server ends a session as soon as it is let go"


async def test_another_process_looks_at_the_same_store(nodes: tuple[Database, Database], tmp_path: Path) -> None:
    many = [(str(number),) for number in range(2_500)]
    await nodes[0].write(lambda connection: insert_rows(connection, "INSERT INTO notes (text)", many))
    assert await asyncio.to_thread(count, nodes[0].address, "notes") == 2_500
    async with open_database(tmp_path / "file.db", FakeClock()) as file:
        assert await asyncio.to_thread(count, file.address, "users") == 0


def count(address: str, table: str) -> int:
    with open_snapshot(address) as connection:
        return len(list(connection.execute(f"SELECT id FROM {table} ORDER BY id")))  # noqa: S608 - a constant


async def test_the_store_that_is_set_is_the_one_that_is_opened(address: str, tmp_path: Path, clock: FakeClock) -> None:
    settings = Settings(data_dir=tmp_path / "data", store=Secret(address))
    async with open_store(settings, clock) as server:
        assert server.shared
        assert server.path == tmp_path / "data" / "verdict.db"
        assert address not in repr(server)
    async with open_store(Settings(data_dir=tmp_path / "data"), clock) as file:
        assert not file.shared


def refused(server: Server, database: str, user: str = "verdict", clock: FakeClock | None = None) -> str:
    async def open_it() -> None:
        await asyncio.to_thread(prepare, Secret(server.address(database, user)), clock or FakeClock())

    with pytest.raises(StorageError) as told:
        apart(open_it())
    assert "wrong" not in str(told.value)
    return str(told.value)


def test_what_cannot_be_used_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    server = postgres_server()
    server.ask("CREATE USER locked PASSWORD 'right'")
    assert "CREATE DATABASE" in refused(server, "absent")
    assert "Authentication failed" in refused(server, "postgres", "locked:wrong")
    assert "database's owner" in refused(server, server.make_database(), "locked:right")
    assert "UTF8" in refused(server, server.make_database("ENCODING 'SQL_ASCII'"))
    unsafe, standby, spoilt = (server.make_database() for _ in range(3))
    server.ask(f"ALTER DATABASE {unsafe} SET synchronous_commit = off")
    assert "synchronous_commit off" in refused(server, unsafe)
    server.ask(f"ALTER DATABASE {standby} SET default_transaction_read_only = on")
    assert "standby" in refused(server, standby)
    server.ask("CREATE TABLE store_turn (x INTEGER)", database=spoilt)
    assert "42P07" in refused(server, spoilt)
    monkeypatch.setattr(opening, "_OLDEST", 99)
    assert "version" in refused(server, "postgres")
    with pytest.raises(StorageError, match="does not answer"):
        apart(asyncio.to_thread(prepare, Secret("postgres://nobody:wrong@127.0.0.1:1/verdict"), FakeClock()))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("postgres://verdict:pass@db.example.org/verdict", "db.example.org:5432/verdict"),
        ("postgresql://u:p%40ss@[::1]:6000/v?sslmode=require&password=pass", "::1:6000/v"),
        ("postgres:///v?host=/run/postgresql", "on this machine:5432/v"),
        ("postgres://u:pass/word@db/v", "of VERDICT_STORE"),
        ("postgres://u:1/pass@db/v", "of VERDICT_STORE"),
        ("postgres://u:1/pass?@db/v", "of VERDICT_STORE"),
        ("postgres://u:1/pass#@db/v", "of VERDICT_STORE"),
        ("postgres://u:pass@db", "of VERDICT_STORE"),
    ],
)
def test_a_server_is_named_without_its_password(text: str, place: str) -> None:
    assert place_of(Secret(text)) == place


@pytest.mark.parametrize(
    "said",
    ["u:wrong?@db/v", "u:a#wrong@db/v", "u:a/wrong@db/v", "u:[wrong@db/v", "u@db:wrong/v", "u:\u2100wrong@db/v"],
)
def test_an_address_that_cannot_be_read_is_refused_with_what_to_do_and_not_repeated(said: str) -> None:
    with pytest.raises(StorageError, match=r"as %40 .* \(F0000\)") as told:
        apart(asyncio.to_thread(prepare, Secret(f"postgres://{said}"), FakeClock()))
    assert "wrong" not in "".join(traceback.format_exception(told.value))


def test_a_schema_is_brought_up_to_date_once_and_a_newer_one_is_refused(clock: FakeClock) -> None:
    with postgres_dsn(fresh=True) as address:
        server, name = postgres_server(), address.rpartition("/")[2]

        async def prepare_twice() -> None:
            await asyncio.gather(*(asyncio.to_thread(prepare, Secret(address), clock) for _ in range(2)))

        apart(prepare_twice())
        applied = server.ask("SELECT version, applied_ms FROM migrations", database=name)
        assert len(applied) == len({version for version, _ in applied}) > 20
        clock.set_wall(clock.now_ms() + 1)
        apart(asyncio.to_thread(prepare, Secret(address), clock))
        assert server.ask("SELECT version, applied_ms FROM migrations", database=name) == applied
        server.ask("UPDATE migrations SET sha256 = 'x' WHERE version = 1", database=name)
        assert "0001 (access) is not the one" in refused(server, name)
        server.ask("UPDATE migrations SET version = 9999 WHERE version = 1", database=name)
        assert "9999" in refused(server, name)


async def test_a_migration_takes_the_turn_and_machines_that_run_know_of_it(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, dialect = read_all()
    newer = [*steps, Migration(9_001, "newer", "UPDATE quota SET counted = counted;", "")]
    with postgres_dsn(fresh=True) as address:
        async with open_postgres(Secret(address), tmp_path / "verdict.db", clock) as node:

            async def known() -> int:
                return await node.write(lambda _: node.foreign_commits)

            before = await known()
            first, blocked = await busy(node)
            with monkeypatch.context() as patched:
                patched.setattr(opening, "read_all", lambda: (newer, dialect))
                migrating = asyncio.create_task(asyncio.to_thread(prepare, Secret(address), clock))
                await asyncio.wait([migrating], timeout=0.5)
                waited = not migrating.done()
                blocked.set()
                await asyncio.gather(first, migrating)
            assert waited, "somebody else is writing"
            assert await known() == before + 1


async def test_writers_take_turns_whatever_isolation_the_server_has_by_default(
    tmp_path: Path, clock: FakeClock
) -> None:
    with postgres_dsn(fresh=True) as address:
        server, name = postgres_server(), address.rpartition("/")[2]
        server.ask(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
        async with AsyncExitStack() as stack:
            nodes = [
                await stack.enter_async_context(open_postgres(Secret(address), tmp_path / who / "verdict.db", clock))
                for who in ("one", "other")
            ]
            await make_notes(nodes[0])
            given = await asyncio.gather(*(node.write(add) for _ in range(30) for node in nodes))
            assert sorted(given) == list(range(1, 61))


async def test_the_schema_is_the_same_as_the_files(address: str, database: Database) -> None:
    on_server = postgres_server().ask(
        "SELECT table_name::TEXT, column_name::TEXT, data_type::TEXT, is_nullable::TEXT "
        "FROM information_schema.columns WHERE table_schema = 'public' "
        "AND table_name NOT IN ('migrations', 'store_turn')",
        database=address.rpartition("/")[2],
    )
    words = {"bigint": "INTEGER", "double precision": "REAL", "bytea": "BLOB", "text": "TEXT"}
    found = {(table, column, words[kind], nullable == "NO") for table, column, kind, nullable in on_server}
    in_file = await database.read(
        'SELECT s.name, c.name, c.type, c."notnull" OR c.pk > 0 FROM sqlite_schema s, pragma_table_info(s.name) c '
        "WHERE s.type = 'table' AND s.name <> 'migrations'"
    )
    assert found == {(table, column, kind, bool(needed)) for table, column, kind, needed in in_file}

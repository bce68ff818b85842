"""`verdict admin migrate`: from one store to another and back, all of it or nothing."""

import asyncio
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.access.factory import open_admin
from service.access.meter import open_meter
from service.access.secrets import FILE_NAME, open_secrets
from service.admin import store as migrate
from service.clock import SystemClock
from service.settings import Secret, Settings
from service.storage import transfer
from service.storage.database import DATABASE, Database, file_snapshot, open_database
from service.storage.engine import Connection
from service.storage.port import LEADER
from service.storage.postgres import claim
from service.storage.postgres.claim import claim_on
from service.storage.rows import insert_rows
from service.storage.store import open_snapshot
from tests.admin.conftest import Admin
from tests.fakes.postgres import postgres_dsn

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("real_threads")]  # a thread waits for the loop

CALLS = 3
EPISODE = (
    "INSERT INTO transcript_episodes (episode, origin, source, key, title, url, published_ms, links, told_by) VALUES "
)
ANSWERED = "INSERT INTO documents (name, origin, revision, body) VALUES (?, 'live', 1, ?)"
DOCUMENTS = 70
SAID = "UPDATE documents SET failed_ms = 1, failed_status = 500, failed_body = ? WHERE name = 'd001'"


@pytest.fixture
def server() -> Iterator[str]:
    with postgres_dsn() as address:
        yield address


@pytest.fixture(scope="module")
def _filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled") / "used"

    def fill(connection: Connection) -> None:
        connection.execute(EPISODE + "(1, 'live', 's', 'a', 't', 'u', 0, '[]', NULL)")
        connection.execute(EPISODE + "(2, 'live', 's', 'b', 't', 'u', 0, '[]', 1)")
        connection.execute("UPDATE transcript_episodes SET told_by = 2 WHERE episode = 1")
        connection.executemany(ANSWERED, [(f"d{place:03}", bytes([place])) for place in range(DOCUMENTS)])

    async def use() -> None:
        clock = SystemClock()
        async with open_database(folder / DATABASE, clock) as database, open_meter(database, clock) as meter:
            made = await open_admin(Settings(), open_secrets(folder), database, clock).create_key("mine")
            for _ in range(CALLS):
                await meter.charge(Caller(made.user_id, "api_key", 1, "free"), "coin.risk")
            await database.write(fill)

    asyncio.run(use())
    return folder


@pytest.fixture
def used(tmp_path: Path, _filled: Path) -> Path:
    """A data folder in which somebody asked, something was fetched, and rows name rows that come after them."""
    return shutil.copytree(_filled, tmp_path / "used")


TABLES = ("users", "credentials", "usage_events", "quota", "usage_runs", "transcript_episodes", "documents")

Held = dict[str, list[tuple[object, ...]]]


def held(place: str | Path) -> Held:
    """What a store holds."""
    address = place if isinstance(place, str) else str(place / DATABASE)
    with open_snapshot(address) as connection:
        return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}  # noqa: S608 -- names


def is_empty(server: str) -> bool:
    return not any(held(server).values())


def test_everything_is_taken_to_a_server_and_back_and_is_what_it_was(
    admin: Admin, used: Path, server: str, tmp_path: Path
) -> None:
    there = admin("migrate", str(used), server)
    assert (there.code, "rows were copied and compared. FROM is unchanged." in there.err) == (0, True)
    assert held(server) == held(used)
    back = admin("migrate", server, str(tmp_path / "back"))
    assert back.code == 0
    assert held(tmp_path / "back") == held(used)
    assert [path.name for path in (tmp_path / "back").iterdir()] == [DATABASE]
    counts = dict(line.split()[:2] for line in there.out.splitlines()[1:])
    assert (counts["usage_events"], counts["documents"]) == (str(CALLS), str(DOCUMENTS))
    assert there.out == back.out, "digests are of the rows, whichever store they are in"
    again = admin("migrate", str(used), server)
    assert (again.code, "TO is not empty" in again.err) == (1, True)
    assert "exists already" in admin("migrate", server, str(used)).err
    assert held(server) == held(used)


def test_an_argument_that_names_no_store_is_named_itself_and_leaves_nothing_behind(
    admin: Admin, used: Path, tmp_path: Path
) -> None:
    nobody = "postgres://nobody@127.0.0.1:1/none"
    for source, target, said in (
        (nobody, str(tmp_path / "new"), "correct host and port in FROM"),
        (str(used), nobody, "correct host and port in TO"),
        ("postgres://", str(tmp_path / "new"), "FROM takes an address such as postgres://"),
        (str(used), "postgres://", "TO takes an address such as postgres://"),
        (str(used), str(tmp_path / "postgres//verdict"), "The parent folder of TO, "),
        (str(tmp_path / "none"), str(tmp_path / "new"), "There is no database in FROM"),
        (str(used), str(used), "FROM and TO are the same store"),
    ):
        told = admin("migrate", source, target)
        assert (told.code, said in told.err, "VERDICT_" in told.err) == (1, True, False), told.err
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "postgres").exists()


def test_while_a_service_runs_nothing_is_copied(admin: Admin, used: Path, server: str) -> None:
    told = []

    async def run_beside() -> None:
        async with open_database(used / DATABASE, SystemClock()) as database, database.claim(LEADER):
            told.append(await asyncio.to_thread(admin, "migrate", str(used), server))

    asyncio.run(run_beside())
    assert told[0].code == 1
    assert "A service runs on FROM. Stop it on every machine, then run this command again." in told[0].err
    assert is_empty(server)


def test_who_writes_to_the_old_store_meanwhile_ends_it(
    admin: Admin, used: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_all = transfer.copy_all

    def copy_slowly(ask: transfer.Read, connection: Connection) -> dict[str, transfer.TableDigest]:
        copied = copy_all(ask, connection)
        asyncio.run(write(used))
        return copied

    monkeypatch.setattr(transfer, "copy_all", copy_slowly)
    ended = admin("migrate", str(used), server)
    assert ended.code == 1
    assert "Another process wrote to FROM meanwhile" in ended.err
    assert is_empty(server)


def test_the_lead_of_a_server_is_held_however_long_copying_takes(
    admin: Admin, used: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_all, led = transfer.copy_all, list[bool]()

    async def lead() -> bool:
        async with claim_on(Secret(server), LEADER) as tried:
            return tried.held()

    def copy_slowly(ask: transfer.Read, connection: Connection) -> dict[str, transfer.TableDigest]:
        for _ in range(3):  # longer than a server waits for a proof, and never silent for so long itself
            connection.execute("SELECT pg_sleep(0.7)").fetchall()
        led.append(asyncio.run(lead()))
        return copy_all(ask, connection)

    monkeypatch.setitem(claim._SILENT, "idle_session_timeout", "1500")
    monkeypatch.setattr(transfer, "copy_all", copy_slowly)
    assert admin("migrate", str(used), server).code == 0
    assert led == [False], "nobody else has it"


def test_keys_stay_valid_in_the_copy_of_a_folder(admin: Admin, used: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    before = os.umask(0)
    try:
        told = admin("migrate", str(used), str(new))
    finally:
        os.umask(before)
    assert (told.code, told.err.splitlines()[-1]) == (0, f"{new / FILE_NAME} is the one of FROM: all keys stay valid.")
    assert (new / FILE_NAME).read_bytes() == (used / FILE_NAME).read_bytes()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (new, new / FILE_NAME)] == [0o700, 0o600]
    assert sorted(path.name for path in new.iterdir()) == [FILE_NAME, DATABASE]
    (new / DATABASE).unlink()
    assert admin("migrate", str(used), str(new)).err.splitlines()[-1] == told.err.splitlines()[-1]


def test_other_secrets_in_the_new_folder_are_refused_before_anything_is_copied(
    admin: Admin, used: Path, tmp_path: Path
) -> None:
    kept = open_secrets(tmp_path / "new")
    told = admin("migrate", str(used), str(tmp_path / "new"))
    assert (told.code, f"{tmp_path / 'new' / FILE_NAME} is not the secrets.toml of FROM" in told.err) == (1, True)
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE_NAME]
    assert open_secrets(tmp_path / "new") == kept
    shutil.copy(used / DATABASE, tmp_path / "new")
    told = admin("migrate", str(used), str(tmp_path / "new"))
    assert (told.code, "exists already" in told.err, FILE_NAME in told.err) == (1, True, False), "it is in use"
    (used / FILE_NAME).chmod(0o644)
    told = admin("migrate", str(used), str(tmp_path / "other"))
    assert (told.code, "chmod 600" in told.err, (tmp_path / "other").exists()) == (1, True, False)


def test_the_last_line_says_which_secrets_are_needed_where(
    admin: Admin, used: Path, server: str, tmp_path: Path
) -> None:
    bare, kept, taken = tmp_path / "bare", tmp_path / "kept", tmp_path / "taken"
    open_secrets(kept)
    theirs = "the secrets.toml of the service that used FROM"
    for source, target, said in (
        (str(used), server, f"Each service on TO needs {used / FILE_NAME} in its data folder (VERDICT_DATA_DIR), "),
        (server, str(bare), f"Copy {theirs} to {bare / FILE_NAME}, with mode 0600, before"),
        (server, str(kept), f"{kept / FILE_NAME} was kept. It must be {theirs}."),
        (str(bare), str(taken), f"Copy {theirs} to {taken / FILE_NAME}, with mode 0600, before"),
    ):
        told = admin("migrate", source, target)
        assert (told.code, said in told.err.splitlines()[-1]) == (0, True), told.err
        assert "With another one, no key of FROM is accepted." in told.err


async def write(folder: Path) -> None:
    async with open_database(folder / DATABASE, SystemClock()) as database:
        await database.write(
            lambda connection: connection.execute("INSERT INTO users (created_ms) VALUES (0)").rowcount
        )


@pytest.mark.parametrize("to_server", [True, False])
def test_what_cannot_be_read_back_as_it_was_written_is_taken_back(
    admin: Admin, used: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, to_server: bool
) -> None:
    def lose(connection: Connection, head: str, rows: list[transfer.Row]) -> None:
        insert_rows(connection, head, rows[1:] if "documents" in head else rows)

    monkeypatch.setattr(transfer, "insert_rows", lose)
    target = server if to_server else str(tmp_path / "new")
    lost = admin("migrate", str(used), target)
    assert lost.code == 1
    assert "documents could not be read back as it was written" in lost.err
    assert is_empty(server)
    assert to_server or not (tmp_path / "new").exists()


def test_a_file_gets_its_name_only_when_all_of_it_is_in_it_and_nobody_has_begun_another(
    admin: Admin, used: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "new"
    copying, beside = transfer.transfer, ExitStack()

    async def look_beside(source: Database, target: Database) -> dict[str, transfer.TableDigest]:
        beside.enter_context(file_snapshot(target.path)).execute("SELECT 1 FROM users").fetchall()
        return await copying(source, target)

    async def begin_beside(source: Database, target: Database) -> dict[str, transfer.TableDigest]:
        (new / DATABASE).write_bytes(b"another")
        return await copying(source, target)

    monkeypatch.setattr(migrate, "transfer", look_beside)
    with beside:  # the log cannot be folded into the file, as on a disk that is full by then
        unfolded = admin("migrate", str(used), str(new))
    assert (unfolded.code, "Free twice the size of FROM" in unfolded.err) == (1, True)
    assert not new.exists()
    monkeypatch.setattr(migrate, "transfer", begin_beside)
    begun = admin("migrate", str(used), str(new))
    assert (begun.code, "exists already" in begun.err) == (1, True)
    assert [path.read_bytes() for path in new.iterdir()] == [b"another"]


def test_a_sign_that_a_server_cannot_hold_keeps_nobody_from_moving(admin: Admin, used: Path, server: str) -> None:
    async def spoil() -> None:
        async with open_database(used / DATABASE, SystemClock()) as database:
            await database.write(lambda connection: connection.execute(SAID, ("no\0pe",)).rowcount)

    asyncio.run(spoil())
    assert admin("migrate", str(used), server).code == 0
    with open_snapshot(server) as connection:
        assert connection.execute("SELECT failed_body FROM documents WHERE name = 'd001'").fetchone() == ("no\ufffdpe",)

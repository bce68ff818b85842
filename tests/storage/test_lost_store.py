"""A database that is missing or empty in a folder that was used before is refused, never replaced silently."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from service.settings import Secret
from service.storage import opening
from service.storage.database import open_database
from service.storage.engine import StorageError, connect
from service.storage.journal import folder_beside
from service.storage.lost_store import LostStoreError, holds_store
from service.storage.migrate import read_migrations
from service.storage.postgres.database import open_postgres
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import postgres_dsn

SECRETS = "secrets.toml"


def opened(path: Path, clock: FakeClock, *, new: bool = False) -> None:
    async def run() -> None:
        async with open_database(path, clock, new=new):
            pass

    asyncio.run(run())


@pytest.fixture(params=[SECRETS, "verdict.db-runs"])
def used(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The database file of a folder that was used before, by what is left in it."""
    path = tmp_path / "verdict.db"
    if request.param == SECRETS:
        (tmp_path / SECRETS).touch()
    else:
        folder_beside(path).mkdir()
    return path


@pytest.mark.promise("start.lost-store")
def test_a_missing_database_in_a_used_folder_is_refused_with_the_remedy(used: Path, clock: FakeClock) -> None:
    with pytest.raises(LostStoreError) as refused:
        opened(used, clock)
    said = str(refused.value)
    assert said.startswith(f"{used} is missing, but {used.parent} was used before")
    assert "`verdict admin backup`" in said
    assert "`verdict admin init --new-store`" in said
    assert not used.exists()


@pytest.mark.promise("start.lost-store")
def test_an_empty_database_in_a_used_folder_is_refused_and_stays_empty(used: Path, clock: FakeClock) -> None:
    used.touch()
    with pytest.raises(LostStoreError, match="is empty, but"):
        opened(used, clock)
    assert used.stat().st_size == 0


def test_a_new_store_is_made_in_a_used_folder_where_that_is_asked_for(used: Path, clock: FakeClock) -> None:
    opened(used, clock, new=True)
    opened(used, clock)


def without_tables(path: Path) -> None:
    """A valid file of SQLite without any table."""
    with closing(connect(path)) as made:
        made.execute("PRAGMA user_version=1")


def foreign(path: Path) -> None:
    with closing(connect(path)) as made:
        made.execute("CREATE TABLE bookmarks (id INTEGER PRIMARY KEY)")


def alike(path: Path) -> None:
    """A table of the same name as one of the service, and no record of migrations."""
    with closing(connect(path)) as made:
        made.execute("CREATE TABLE users (id INTEGER PRIMARY KEY)")


def version_zero(path: Path) -> None:
    """No migration is recorded, although the tables of all of them exist."""
    opened(path, FakeClock(), new=True)
    with closing(connect(path)) as made:
        made.execute("DELETE FROM migrations")


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("unmounted"))


def lacks(*tables: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        opened(path, FakeClock(), new=True)
        with closing(connect(path)) as made:
            made.execute("PRAGMA foreign_keys=OFF")
            for table in tables:
                made.execute(f"DROP TABLE {table}")

    return make


OTHERS = "is not a store of this service: it contains"
SHAPES: dict[str, tuple[Callable[[Path], None], str]] = {
    "without tables": (without_tables, "is a database without tables, but"),
    "only foreign tables": (foreign, OTHERS + " bookmarks, and"),
    "a table of the same name": (alike, OTHERS + " users, and"),
    "schema version 0": (version_zero, OTHERS),
    "without users": (lacks("users"), r"lacks tables of the service \(users\)"),
    "without credentials": (lacks("credentials"), r"lacks tables of the service \(credentials\)"),
    "without a ledger of usage": (lacks("usage_events", "usage_runs"), r"\(usage_events, usage_runs\)"),
    "without most tables": (lacks("users", "grants", "payments", "quota"), r"\(grants, payments, quota, …\)"),
    "a folder": (Path.mkdir, "is a folder, but"),
    "a link to nothing": (dangling, "is a link to a missing file, but"),
    "a pipe": (os.mkfifo, "is not a file, but"),
}


@pytest.mark.promise("start.lost-store")
@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_else_stands_in_the_place_of_the_store_is_refused_and_left_as_it_is(
    used: Path, clock: FakeClock, shape: str
) -> None:
    make, said = SHAPES[shape]
    make(used)
    before = used.read_bytes() if used.is_file() else None
    with pytest.raises(LostStoreError, match=said) as refused:
        opened(used, clock)
    assert str(used) in str(refused.value)
    assert "`verdict admin backup`" in str(refused.value)
    assert before is None or used.read_bytes() == before


@pytest.mark.parametrize("shape", ["only foreign tables", "schema version 0", "without users", "without most tables"])
def test_another_database_is_not_made_a_store_in_a_new_folder_either(path: Path, clock: FakeClock, shape: str) -> None:
    make, said = SHAPES[shape]
    make(path)
    for new in (False, True):
        with pytest.raises(LostStoreError, match=said):
            opened(path, clock, new=new)


@pytest.mark.parametrize(("make", "state"), [(Path.mkdir, "a folder"), (os.mkfifo, "not a file")])
def test_what_is_no_file_is_named_in_a_new_folder(
    path: Path, clock: FakeClock, make: Callable[[Path], None], state: str
) -> None:
    make(path)
    with pytest.raises(StorageError, match=f"is {state}. Move it aside and start again"):
        opened(path, clock)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 100, 4_000])
def test_a_log_of_writes_that_is_cut_off_does_not_hide_the_store(used: Path, clock: FakeClock, size: int) -> None:
    """SQLite reads the log up to its first incomplete page, as after a power failure."""
    opened(used, clock, new=True)
    used.with_name(used.name + "-wal").write_bytes(bytes(size))
    opened(used, clock)


def test_a_store_of_an_older_version_is_brought_up_to_date(
    used: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "read_migrations", lambda: read_migrations()[:12])
    opened(used, clock, new=True)
    monkeypatch.undo()
    opened(used, clock)


def test_a_database_without_tables_in_a_new_folder_is_a_first_start(path: Path, clock: FakeClock) -> None:
    without_tables(path)
    opened(path, clock)


@pytest.mark.parametrize("shape", ["without tables", "only foreign tables", "a folder", "a link to nothing"])
def test_what_is_no_store_may_be_given_up(path: Path, shape: str) -> None:
    SHAPES[shape][0](path)
    assert not holds_store(path)


@pytest.mark.parametrize("make", [lacks(), lacks("users"), lambda path: path.write_bytes(b"damaged" * 1_000)])
def test_what_may_be_a_store_is_not_given_up(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    assert holds_store(path)


def test_an_empty_file_in_a_folder_without_traces_of_use_is_a_first_start(path: Path, clock: FakeClock) -> None:
    path.touch()
    opened(path, clock)
    assert path.stat().st_size


@pytest.mark.process
@pytest.mark.promise("start.lost-store")
async def test_an_empty_server_is_refused_for_a_folder_with_runs_of_the_service(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "verdict.db"
    folder_beside(path).mkdir()
    with postgres_dsn(fresh=True) as address:
        with pytest.raises(LostStoreError) as refused:
            await open_postgres(Secret(address), path, clock).__aenter__()
        assert "is empty, but" in str(refused.value)
        assert "`verdict admin init --new-store`" in str(refused.value)
        assert address not in str(refused.value)
        async with open_postgres(Secret(address), path, clock, new=True):
            pass
        async with open_postgres(Secret(address), path, clock):
            pass


@pytest.mark.process
async def test_an_empty_server_is_used_by_a_folder_that_only_has_secrets(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / SECRETS).touch()
    with postgres_dsn(fresh=True) as address:
        async with open_postgres(Secret(address), tmp_path / "verdict.db", clock):
            pass

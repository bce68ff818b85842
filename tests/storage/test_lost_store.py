"""A database that is missing or empty in a folder that was used before is refused, never replaced silently."""

import asyncio
from pathlib import Path

import pytest

from service.settings import Secret
from service.storage.database import open_database
from service.storage.journal import folder_beside
from service.storage.lost_store import LostStoreError
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
    assert "`verdict backup`" in said
    assert "`verdict init --new-store`" in said
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
        assert "`verdict init --new-store`" in str(refused.value)
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

"""The data folder, opened for one command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from service.access.pepper import check_pepper
from service.access.registrar import Registrar
from service.access.room import open_registrar
from service.access.secrets import Secrets, SecretsError, open_secrets
from service.clients.cli.refusal import MISUSED, RefusalError
from service.clock import Clock
from service.errors import ServiceError
from service.settings import Settings, SettingsError
from service.storage.database import DATABASE, Database
from service.storage.engine import StorageError
from service.storage.lost_store import check_file
from service.storage.store import open_store
from service.upstream.fixture_set import FixtureError
from service.wiring.clocks import choose_clock

T = TypeVar("T")


class Folder(Struct, frozen=True):
    """An open data folder: how it is set up, the store, the operator's front of it, the time, and what stays secret."""

    settings: Settings
    database: Database
    registrar: Registrar
    clock: Clock
    secrets: Secrets


class NoServiceError(RefusalError):
    """No service has lived in the data folder yet."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what rooms refuse into the one line that a command says.

    Raises:
        RefusalError: For a bad setting, and for everything a room refuses with a remedy.
    """
    try:
        yield
    except SettingsError as error:
        raise RefusalError(str(error), MISUSED) from error
    except (StorageError, SecretsError, FixtureError) as error:
        raise RefusalError(str(error)) from error
    except ServiceError as error:
        raise RefusalError(error.message) from error


def database_of(settings: Settings) -> Path:
    """The path of an existing database.

    Raises:
        NoServiceError: If there is none, and never was.
        LostStoreError: If there was one.
        RefusalError: If the store is a server.
    """
    if settings.store is not None:
        raise RefusalError(
            "VERDICT_STORE names a PostgreSQL server, which its own tools copy: run pg_dump on that address, and keep "
            "secrets.toml with the copy"
        )
    path = settings.data_dir / DATABASE
    check_file(path)
    if not path.is_file():
        raise NoServiceError(
            f"there is no database in {settings.data_dir}; set VERDICT_DATA_DIR to the service's folder "
            "(`make run` keeps it in ./.data)"
        )
    return path


def address_of(settings: Settings) -> str:
    """What an existing store is looked at by (`service.storage.store.looking`). It may hold a password.

    Raises:
        NoServiceError: If the store is a file, and there is none.
    """
    return str(database_of(settings)) if settings.store is None else settings.store.text


def run_in_folder(environment: Mapping[str, str], work: Callable[[Folder], Awaitable[T]], *, make: bool = False) -> T:
    """Open the data folder, do one thing in it, close it.

    Args:
        environment: Where the settings are read from.
        work: What to do.
        make: Whether a missing folder is made; without, it is refused.

    Returns:
        What `work` returned.

    Raises:
        RefusalError: If the folder cannot be used, or `work` was refused.
    """
    with refusing():
        settings = Settings.from_environ(environment)
        if not make and settings.store is None:
            database_of(settings)
        return asyncio.run(_run(settings, work))


async def _run(settings: Settings, work: Callable[[Folder], Awaitable[T]]) -> T:
    async with _open(settings) as folder:
        return await work(folder)


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Folder]:
    clock = choose_clock(settings)
    async with open_store(settings, clock) as database:
        secrets = open_secrets(settings.data_dir)
        await check_pepper(database, secrets, clock)
        yield Folder(settings, database, open_registrar(settings, secrets, database, clock), clock, secrets)

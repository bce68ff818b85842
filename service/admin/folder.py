"""Opens the data folder for one command, and the options and output that commands share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec import Struct

from service.access.admin import AccessAdmin
from service.access.factory import open_admin
from service.access.secrets import Secrets, SecretsError, check_key_secret, open_secrets
from service.cli.environment import Environment
from service.cli.layout import table
from service.cli.output_format import put_document, put_lines
from service.client.errors import DONE, MISUSED, RefusalError
from service.clock import Clock
from service.errors import ServiceError
from service.settings import Settings, SettingsError
from service.storage.database import DATABASE, Database
from service.storage.engine import StorageError
from service.storage.full_disk import full_disk_named
from service.storage.lost_store import check_file, marks_of
from service.storage.store import open_store
from service.upstream.fixture_set import FixtureError
from service.wiring.clocks import choose_clock

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


def json_option(function: Function) -> Function:
    """Add `--json`, as the parameter `json`: without it an operator's command prints text, in pipes too."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(function)


def say(*lines: str) -> int:
    """Print lines; returns the exit code of success."""
    put_lines(lines)
    return DONE


def show(
    environment: Environment,
    document: object,
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    sides: str = "",
    *,
    json: bool,
    nothing: str,
    after: Sequence[str] = (),
) -> int:
    """Print a document as JSON, or its rows as `print_table` does and the lines after them if there are any rows.

    Returns:
        The exit code of success.
    """
    if json:
        put_document(document)
    else:
        print_table(environment, headers, rows, sides, nothing=nothing)
        put_lines(after if rows else ())
    return DONE


def print_table(
    environment: Environment, headers: Sequence[str], rows: Sequence[Sequence[object]], sides: str = "", *, nothing: str
) -> None:
    """Print a table, or `nothing` if there are no rows.

    Args:
        environment: Where it is read.
        headers: One per column.
        rows: Cells, shown by `str`.
        sides: One letter per column: `l` may shrink, `w` stays whole, because it is typed again.
        nothing: A sentence.
    """
    put_lines(table(environment.screen, headers, rows, right=sides) if rows else [nothing])


class Folder(Struct, frozen=True):
    """An open data folder: settings, store, access administration, clock and secrets."""

    settings: Settings
    database: Database
    admin: AccessAdmin
    clock: Clock
    secrets: Secrets


class NoServiceError(RefusalError):
    """No service has used the data folder yet."""


@contextmanager
def refusing() -> Iterator[None]:
    """Convert errors of settings, store and services to the one-line message of a command.

    Raises:
        RefusalError: For an invalid setting, and for an error with a remedy.
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
    check_file(path, marks_of(path))
    if not path.is_file():
        raise NoServiceError(
            f"there is no database in {settings.data_dir}; set VERDICT_DATA_DIR to the service's folder "
            "(`make run` keeps it in ./.data)"
        )
    return path


def address_of(settings: Settings) -> str:
    """Address of an existing store for `service.storage.store.open_snapshot`. It may hold a password.

    Raises:
        NoServiceError: If the store is a file, and there is none.
    """
    return str(database_of(settings)) if settings.store is None else settings.store.text


def run_in_folder(environment: Mapping[str, str], work: Callable[[Folder], Awaitable[T]], *, make: bool = False) -> T:
    """Open the data folder, run a function with it, close it.

    Args:
        environment: Source of the settings.
        work: The function.
        make: Whether to create a missing folder; otherwise it is refused.

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
        with full_disk_named(settings.data_dir, lambda: database.failing):
            secrets = open_secrets(settings.data_dir)
            await check_key_secret(database, secrets, clock)
            yield Folder(settings, database, open_admin(settings, secrets, database, clock), clock, secrets)

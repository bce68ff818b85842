"""Opens the data folder for one command, and the output that commands share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from msgspec import Struct
from msgspec.structs import replace

from service.access.admin import AccessAdmin
from service.access.factory import open_admin
from service.access.secrets import Secrets, SecretsError, check_key_secret, open_secrets
from service.cli.environment import Environment
from service.cli.layout import table
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import safe
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
json_option: Final = click.option("--json", "json", is_flag=True, help="Print JSON.")
"""Only this option selects JSON: other than `service.cli`, the operator's commands print text in pipes too."""

Column = str | Callable[[Any], object]

ORIGIN: Final = "SELECT origin FROM market_state"
_RECORDED: Final = "fixtures:"
"""How the origin of recorded data begins."""


def say(*lines: str) -> int:
    """Print lines; returns the exit code of success."""
    put_lines(lines)
    return DONE


def show(
    environment: Environment,
    document: Mapping[str, Sequence[Mapping[str, object]]],
    columns: Mapping[str, Column],
    sides: str = "",
    *,
    json: bool,
    nothing: str,
    after: Sequence[str] = (),
) -> int:
    """Print a document of one list as JSON, or as a table and the lines after it.

    Args:
        environment: The screen that the table fits.
        document: The name of the list, and its rows.
        columns: By header, the field of a row, or what makes a cell of a row.
        sides: One letter per column: `l` may shrink, `w` stays whole, because it is typed again.
        json: Whether to print JSON.
        nothing: What is printed if there are no rows, before a line that says where the store is.
        after: Lines below the table, if there are rows.

    Returns:
        The exit code of success.
    """
    (rows,) = document.values()
    if json:
        put_document(document)
    elif rows:
        cells = [[row[of] if isinstance(of, str) else of(row) for of in columns.values()] for row in rows]
        put_lines([*table(environment.screen, list(columns), cells, right=sides), *after])
    else:
        put_lines([nothing, f"The store is {place_of(Settings.from_environ(environment.variables))}."])
    return DONE


def place_of(settings: Settings) -> str:
    """Where the store is: in which folder, or on which server, without its address."""
    return f"in {safe(settings.data_dir)}" if settings.store is None else "on the server that VERDICT_STORE names"


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
            "VERDICT_STORE names a PostgreSQL server. Copy it with pg_dump, and keep secrets.toml with the copy."
        )
    path = settings.data_dir / DATABASE
    check_file(path, marks_of(path))
    if not path.is_file():
        raise NoServiceError(
            f"There is no database in {settings.data_dir}. Set VERDICT_DATA_DIR to the service's folder "
            "(`make run` keeps it in ./.data)."
        )
    return path


def address_of(settings: Settings) -> str:
    """Address of an existing store for `service.storage.store.open_snapshot`. It may hold a password.

    Raises:
        NoServiceError: If the store is a file, and there is none.
    """
    return str(database_of(settings)) if settings.store is None else settings.store.text


def adopt_source(settings: Settings, environment: Mapping[str, str], origins: Sequence[tuple[Any, ...]]) -> Settings:
    """The settings; where VERDICT_SOURCE is not set, with the source that the store was filled from.

    Args:
        settings: Of the environment.
        environment: Source of the settings.
        origins: What `ORIGIN` reads from the store.
    """
    recorded = any(origin.startswith(_RECORDED) for (origin,) in origins)
    return replace(settings, source="fixtures") if recorded and not environment.get("VERDICT_SOURCE") else settings


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

    async def run() -> T:
        clock = choose_clock(settings)
        async with open_store(settings, clock) as database:
            with full_disk_named(settings.data_dir, lambda: database.failing):
                secrets = open_secrets(settings.data_dir)
                await check_key_secret(database, secrets, clock)
                admin = open_admin(settings, secrets, database, clock)
                adopted = adopt_source(settings, environment, await database.read(ORIGIN))
                return await work(Folder(adopted, database, admin, clock, secrets))

    with refusing():
        settings = Settings.from_environ(environment)
        if not make and settings.store is None:
            database_of(settings)
        return asyncio.run(run())

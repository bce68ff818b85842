"""Which store there is: SQLite's file, or a PostgreSQL server that several machines share."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from service.clock import Clock
from service.settings import Secret, Settings
from service.storage.database import DATABASE, looking_at_file, open_database
from service.storage.engine import Connection
from service.storage.port import Database


@asynccontextmanager
async def open_store(settings: Settings, clock: Clock, *, new: bool = False) -> AsyncIterator[Database]:
    """Open the store that is set, made or migrated as needed.

    Args:
        settings: Of which `store` and `data_dir` are used.
        clock: Stamps migrations.
        new: Make a new store in a folder that was used before; refused without it.

    Yields:
        The store.

    Raises:
        StorageError: If it cannot be used; the message says what to do.
    """
    path = settings.data_dir / DATABASE
    if settings.store is None:
        async with open_database(path, clock, new=new) as database:
            yield database
        return
    from service.storage.postgres.database import open_postgres  # noqa: PLC0415 - asyncpg, where it is used

    async with open_postgres(settings.store, path, clock, new=new) as database:
        yield database


@contextmanager
def looking(address: str) -> Iterator[Connection]:
    """A connection that only reads, at one snapshot, for a process beside the service. Not where an event loop runs.

    Args:
        address: A `Database.address`.

    Raises:
        DatabaseError: If the store cannot be read.
    """
    if not address.startswith("postgres"):
        with looking_at_file(Path(address)) as file:
            yield file
        return
    from service.storage.postgres import looking as server  # noqa: PLC0415 - asyncpg, where it is used

    with server.looking(Secret(address)) as connection:
        yield connection

"""Opens the configured store: a SQLite file, or a PostgreSQL server that several machines share."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from service.clock import Clock
from service.settings import Secret, Settings
from service.storage.database import DATABASE, file_snapshot, open_database
from service.storage.engine import Connection
from service.storage.port import Database


@asynccontextmanager
async def open_store(settings: Settings, clock: Clock, *, new: bool = False) -> AsyncIterator[Database]:
    """Open the configured store; create or migrate it as needed.

    Args:
        settings: `store` and `data_dir` are used.
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
def open_snapshot(address: str) -> Iterator[Connection]:
    """Open a read-only connection at one snapshot, for a process other than the service.

    Do not call it on a thread whose event loop runs.

    Args:
        address: A `Database.address`.

    Raises:
        DatabaseError: If the store cannot be read.
    """
    if not address.startswith("postgres"):
        with file_snapshot(Path(address)) as file:
            yield file
        return
    from service.storage.postgres import connection as server  # noqa: PLC0415 - asyncpg, where it is used

    with server.open_snapshot(Secret(address)) as connection:
        yield connection

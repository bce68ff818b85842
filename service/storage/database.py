"""The room's front on SQLite: one file with one writer thread, a reader, and a way to look at all of it at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import aiosqlite

from service.clock import Clock
from service.storage.engine import (
    DATABASE,
    DatabaseError,
    Parameters,
    SqliteConnection,
    check_version,
    connect,
    error_name,
    is_store_failing,
    unavailable,
)
from service.storage.file_claim import FileClaim, claim_in
from service.storage.file_session import FileSession
from service.storage.opening import prepare
from service.storage.port import Database, resolve
from service.storage.writer import Work, Writer

__all__ = ("DATABASE", "Database", "SqliteDatabase", "looking_at_file", "open_database", "resolve", "told_when_failing")

T = TypeVar("T")

_NO_READ: Final = ("SQLITE_READONLY", "25006")

_log = logging.getLogger("verdict.storage")


class SqliteDatabase(Database):
    """One open file."""

    shared = False

    def __init__(self, path: Path, writer: Writer, reader: aiosqlite.Connection, glancer: SqliteConnection) -> None:
        super().__init__(path, str(path), writer)
        self._reader = reader
        self._glancer = glancer

    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed."""
        with told_when_failing():
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]

    def glance(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """Read one row of what is committed, now."""
        with told_when_failing():
            row: tuple[Any, ...] | None = self._glancer.execute(sql, parameters).fetchone()
            return row

    async def inspect(self, look: Work[T]) -> T:
        """Take a long look."""
        with told_when_failing():
            return await asyncio.to_thread(self._look, look)

    @asynccontextmanager
    async def claim(self, name: str) -> AsyncIterator[FileClaim]:
        """Stand for what one process on the file's folder holds."""
        with claim_in(self.path.parent, name) as claim:
            yield claim

    def _look(self, look: Work[T]) -> T:
        with looking_at_file(self.path) as connection:
            return look(connection)


@asynccontextmanager
async def open_database(path: Path, clock: Clock, *, new: bool = False) -> AsyncIterator[Database]:
    """Open a database, made or migrated as needed; several processes may open one file.

    Args:
        path: The file. Its folder is made when absent.
        clock: Stamps migrations.
        new: Make a new store in a folder that was used before.

    Yields:
        The database. On leaving, queued writes are finished, threads have ended and, where this was the last process,
        the WAL has been folded into the file.

    Raises:
        StorageError: If the database cannot be used; the message says what to do.
    """
    check_version()
    connections = await asyncio.to_thread(prepare, path, clock, new=new)
    writer = Writer(FileSession(connections.writing, connections.turnstile), asyncio.get_running_loop())
    try:
        async with aiosqlite.Connection(lambda: connections.reading, iter_chunk_size=64) as reader:
            yield SqliteDatabase(path, writer, reader, connections.glancing)
    finally:
        connections.glancing.close()
        await asyncio.shield(asyncio.ensure_future(writer.close()))


@contextmanager
def looking_at_file(path: Path) -> Iterator[SqliteConnection]:
    """A connection that only reads, at one snapshot.

    Raises:
        DatabaseError: If the file cannot be read.
    """
    connection = connect(path, query_only=True)
    try:
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


@contextmanager
def told_when_failing() -> Iterator[None]:
    """Turn a store that cannot be read into what callers are told.

    Raises:
        ServiceError: `UNAVAILABLE`.
        DatabaseError: If it is the statement that is wrong.
    """
    try:
        yield
    except DatabaseError as error:
        if not is_store_failing(error) or error_name(error) in _NO_READ:
            raise
        _log.error("a read failed", extra={"reason": error_name(error)})
        raise unavailable(error_name(error)) from error

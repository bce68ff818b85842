"""The store on SQLite: one file with a writer thread and connections that read."""

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
from service.storage.file_lock import FileLock, file_lock_in
from service.storage.lost_store import FileIdentity
from service.storage.opening import prepare
from service.storage.port import Database, resolve
from service.storage.sqlite_session import SqliteSession
from service.storage.writer import Work, Writer

__all__ = (
    "DATABASE",
    "Database",
    "SqliteDatabase",
    "file_snapshot",
    "open_database",
    "resolve",
    "unavailable_when_failing",
)

T = TypeVar("T")

_NO_READ: Final = ("SQLITE_READONLY", "25006")

_log = logging.getLogger("verdict.storage")


class SqliteDatabase(Database):
    """One open file."""

    shared = False

    def __init__(
        self,
        path: Path,
        writer: Writer,
        reader: aiosqlite.Connection,
        immediate_reader: SqliteConnection,
        files: FileIdentity,
    ) -> None:
        super().__init__(path, str(path), writer)
        self._files = files
        self._reader = reader
        self._immediate_reader = immediate_reader

    def needs_probe(self) -> bool:
        """Whether writes fail, or the file was removed or replaced."""
        return super().needs_probe() or self._files.change() is not None

    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed."""
        with unavailable_when_failing():
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]

    def read_now(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed, on the event loop."""
        try:
            return self._immediate_reader.execute(sql, parameters).fetchall()
        except DatabaseError as error:
            raise _read_error(error) from error

    async def inspect(self, look: Work[T]) -> T:
        """Run a function on a snapshot, on a thread."""
        with unavailable_when_failing():
            return await asyncio.to_thread(self._look, look)

    @asynccontextmanager
    async def claim(self, name: str) -> AsyncIterator[FileLock]:
        """Try to hold a claim that one process of the folder may hold."""
        with file_lock_in(self.path.parent, name) as claim:
            yield claim

    def _look(self, look: Work[T]) -> T:
        with file_snapshot(self.path) as connection:
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
    files = FileIdentity(path)
    writer = Writer(SqliteSession(connections.writing, connections.write_lock, files), asyncio.get_running_loop())
    try:
        async with aiosqlite.Connection(lambda: connections.reading, iter_chunk_size=64) as reader:
            yield SqliteDatabase(path, writer, reader, connections.reading_now, files)
    finally:
        connections.reading_now.close()
        await asyncio.shield(asyncio.ensure_future(writer.close()))


@contextmanager
def file_snapshot(path: Path) -> Iterator[SqliteConnection]:
    """Open a read-only connection to a file, at one snapshot.

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
def unavailable_when_failing() -> Iterator[None]:
    """Convert a failing read to `UNAVAILABLE`.

    Raises:
        ServiceError: `UNAVAILABLE`.
        DatabaseError: If the statement is wrong.
    """
    try:
        yield
    except DatabaseError as error:
        raise _read_error(error) from error


def _read_error(error: Exception) -> Exception:
    """The exception for a read that failed: `UNAVAILABLE` if the store failed, the same one if the statement did."""
    if not is_store_failing(error) or error_name(error) in _NO_READ:
        return error
    _log.error("Read failed.", extra={"reason": error_name(error)})
    return unavailable(error_name(error))

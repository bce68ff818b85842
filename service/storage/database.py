"""The room's front: one SQLite file with one writer thread, a reader, and a way to look at all of it at once."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from service.clock import Clock
from service.storage.engine import (
    Connection,
    DatabaseError,
    Parameters,
    StorageError,
    check_version,
    connect,
    error_name,
    is_store_failing,
    unavailable,
)
from service.storage.migrate import migrate, read_migrations
from service.storage.turnstile import Turnstile
from service.storage.writer import Answer, Work, Writer

T = TypeVar("T")

_log = logging.getLogger("verdict.storage")

_PATIENCE_AT_START_S = 10.0


class Database:
    """One open database.

    Attributes:
        path: Its file.
    """

    def __init__(self, path: Path, writer: Writer, reader: aiosqlite.Connection) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader

    @property
    def foreign_commits(self) -> int:
        """Grows whenever what a closure remembered of the database may no longer hold.

        That is when another connection has committed, or when something of ours was rolled back. To be compared inside
        closures only.
        """
        return self._writer.foreign_commits

    async def write(self, work: Work[T]) -> T:
        """Run a closure whole on the writer thread, in a transaction shared with the closures that wait beside it.

        The closure must not keep the connection, begin, commit or roll back, and should take milliseconds: everybody
        else's writes wait for it. Cancelling the caller does not cancel the closure.

        Args:
            work: Takes the connection; may be run while the event loop runs, so it must not touch what the loop owns.

        Returns:
            What the closure returned, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not take the transaction; nothing of it remains.
            BaseException: What the closure raised; only its own changes are undone.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._writer.submit(work, partial(_resolve, future))
        return await future

    def submit(self, work: Work[T], answer: Answer) -> None:
        """As `write`, for callers that are no coroutines: `answer` is called on the loop with value or failure."""
        self._writer.submit(work, answer)

    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed.

        Args:
            sql: One statement; writes are refused by the connection.
            parameters: What its placeholders stand for.

        Returns:
            The rows.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]
        except DatabaseError as error:
            if is_store_failing(error):
                _log.error("a read failed", extra={"reason": error_name(error)})
                raise unavailable(error) from error
            raise

    async def inspect(self, look: Work[T]) -> T:
        """Take a long look on a connection and a thread of its own, at one snapshot, holding nobody up.

        Args:
            look: Takes a `query_only` connection inside a transaction.

        Returns:
            What `look` returned.
        """
        return await asyncio.to_thread(_look, self.path, look)


@asynccontextmanager
async def open_database(path: Path, clock: Clock) -> AsyncIterator[Database]:
    """Open a database, made or migrated as needed; several processes may open one file.

    Args:
        path: The file. Its folder is made when absent.
        clock: Stamps migrations.

    Yields:
        The database. On leaving, queued writes are finished, threads have ended and, where this was the last process,
        the WAL has been folded into the file.

    Raises:
        StorageError: If the database cannot be used; the message says what to do.
    """
    check_version()
    connection, turnstile = await asyncio.to_thread(_prepare, path, clock)
    writer = Writer(connection, turnstile, asyncio.get_running_loop())
    try:
        async with aiosqlite.Connection(lambda: connect(path, query_only=True), iter_chunk_size=64) as reader:
            yield Database(path, writer, reader)
    finally:
        await asyncio.shield(asyncio.ensure_future(writer.close()))


def _resolve(future: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


def _look(path: Path, look: Work[T]) -> T:
    connection = connect(path, query_only=True)
    try:
        connection.execute("BEGIN")
        return look(connection)
    finally:
        connection.close()


def _prepare(path: Path, clock: Clock) -> tuple[Connection, Turnstile]:
    _make_file(path)
    turnstile = Turnstile(path.with_name(path.name + "-turn"))
    try:
        connection = connect(path)
        try:
            _set_up(connection, turnstile, clock)
        except BaseException:
            connection.close()
            raise
    except DatabaseError as error:
        turnstile.close()
        raise StorageError(f"{path}: {_remedy(error)}") from error
    except BaseException:
        turnstile.close()
        raise
    return connection, turnstile


def _make_file(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.close(os.open(path.with_name(path.name + "-turn"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StorageError(
            f"The data folder {path.parent} cannot be written ({error.strerror}). "
            "Make it writable, or name another one in VERDICT_DATA_DIR."
        ) from error


def _set_up(connection: Connection, turnstile: Turnstile, clock: Clock) -> None:
    if not turnstile.take(_PATIENCE_AT_START_S):
        raise StorageError("Another process has been starting on this database for too long; stop it and try again.")
    try:
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise StorageError("The data folder's file system cannot do WAL; name a local one in VERDICT_DATA_DIR.")
        migrate(connection, read_migrations(), clock)
    finally:
        turnstile.give()


def _remedy(error: Exception) -> str:
    name = error_name(error)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return (
            "the file is damaged, and starting on it could lose more. Stop the service, move this file and those "
            "beginning with its name aside, and put the newest copy made with `verdict backup` in its place."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return "it cannot be written. Make it and its folder writable, or name another folder in VERDICT_DATA_DIR."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another program holds the write lock. Stop it (`fuser` names it) and start again."
    if name.startswith("SQLITE_FULL"):
        return "the disk is full. Make room and start again."
    return f"SQLite cannot use the file ({name}: {error})."

"""The room's front: one SQLite file with one writer thread, a reader, and a way to look at all of it at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import aiosqlite

from service.clock import Clock
from service.storage.engine import (
    Connection,
    DatabaseError,
    Parameters,
    check_version,
    connect,
    error_name,
    is_store_failing,
    unavailable,
)
from service.storage.opening import prepare
from service.storage.writer import Answer, Work, Writer

T = TypeVar("T")

DATABASE: Final = "verdict.db"
"""The database's file in the data folder."""

_log = logging.getLogger("verdict.storage")


class Database:
    """One open database.

    Attributes:
        path: Its file.
    """

    def __init__(self, path: Path, writer: Writer, reader: aiosqlite.Connection, glancer: Connection) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader
        self._glancer = glancer

    @property
    def foreign_commits(self) -> int:
        """Grows whenever what a closure remembered of the database may no longer hold.

        That is when another connection has committed, or when something of ours was rolled back. To be compared inside
        closures only.
        """
        return self._writer.foreign_commits

    @property
    def transactions(self) -> int:
        """Transactions committed by this process."""
        return self._writer.transactions

    @property
    def closures(self) -> int:
        """Closures that those transactions held."""
        return self._writer.closures

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
        self._writer.submit(work, partial(resolve, future))
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
        with _told_when_failing():
            return [tuple(row) for row in await self._reader.execute_fetchall(sql, parameters)]

    def glance(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """Read one row of what is committed, now, on the thread that asks: two microseconds where its page is at hand.

        For a row found by its key that is looked at again and again: a loop that waits for a disk serves nobody. It
        waits for no lock.

        Args:
            sql: One statement.
            parameters: What its placeholders stand for.

        Returns:
            The first row, None where there is none.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read at once.
        """
        with _told_when_failing():
            row: tuple[Any, ...] | None = self._glancer.execute(sql, parameters).fetchone()
            return row

    async def inspect(self, look: Work[T]) -> T:
        """Take a long look on a connection and a thread of its own, at one snapshot, holding nobody up.

        Args:
            look: Takes a `query_only` connection inside a transaction.

        Returns:
            What `look` returned.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        with _told_when_failing():
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
    connections = await asyncio.to_thread(prepare, path, clock)
    writer = Writer(connections.writing, connections.turnstile, asyncio.get_running_loop())
    try:
        async with aiosqlite.Connection(lambda: connections.reading, iter_chunk_size=64) as reader:
            yield Database(path, writer, reader, connections.glancing)
    finally:
        connections.glancing.close()
        await asyncio.shield(asyncio.ensure_future(writer.close()))


@contextmanager
def _told_when_failing() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        if not is_store_failing(error) or error_name(error) == "SQLITE_READONLY":  # the latter: it was no read
            raise
        _log.error("a read failed", extra={"reason": error_name(error)})
        raise unavailable(error_name(error)) from error


def resolve(future: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    """Give a future what a closure gave, unless nobody waits for it any more."""
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

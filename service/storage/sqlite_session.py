"""The writer's transactions on a SQLite file, and the lock by which processes take turns.

SQLite lets waiters sleep for up to 100 ms and gives the lock to the first process that asks afterwards, so one of two
busy processes starves (measured: p99 up to 4 s). A writer therefore holds `WriteLock` while it waits for SQLite's lock,
and releases it once it has SQLite's. A process that has just committed then waits behind the others.
"""

import fcntl
import logging
import os
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

from service.storage.engine import BUSY_MS, LOST, DatabaseError, SqliteConnection, error_name, is_store_failing
from service.storage.lost_store import LOST_WHILE_RUNNING, FileIdentity
from service.storage.writer import TransactionError, Work

T = TypeVar("T")

_log = logging.getLogger("verdict.storage")

_FIRST_WAIT_S: Final = 0.0002
_LONGEST_WAIT_S: Final = 0.005


def write_lock_of(path: Path) -> "WriteLock":
    """The write lock of a database file."""
    return WriteLock(path.with_name(path.name + "-turn"))


class WriteLock:
    """One process's handle of the lock: an `flock`, so the kernel releases it when the process dies.

    Args:
        path: The lock file; made when absent.

    Raises:
        OSError: If the lock file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._never = Event()

    def acquire(self, timeout_s: float) -> bool:
        """Wait for the lock.

        Args:
            timeout_s: Approximate maximum wait in real seconds.

        Returns:
            Whether the lock is held now.
        """
        pause_s, waited_s = _FIRST_WAIT_S, 0.0
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waited_s >= timeout_s:
                    return False
                self._never.wait(pause_s)
                waited_s += pause_s
                pause_s = min(pause_s * 1.5, _LONGEST_WAIT_S)
            else:
                return True

    def release(self) -> None:
        """Release the lock."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock file; it stays for other processes."""
        os.close(self._descriptor)


class SqliteSession:
    """Transactions on one connection, each closure in a savepoint.

    Args:
        connection: The connection, in autocommit mode. The session closes it.
        write_lock: Taken while waiting for SQLite's lock. The session closes it.
        files: Compared before each transaction; null for a database that no one can remove.

    Attributes:
        foreign_commits: Grows whenever cached contents of the database may be outdated.
    """

    def __init__(self, connection: SqliteConnection, write_lock: WriteLock, files: FileIdentity | None = None) -> None:
        self.foreign_commits = 0
        self._connection = connection
        self._write_lock = write_lock
        self._files = files
        self._version: int | None = None

    @property
    def changes(self) -> int:
        """Rows that the connection has changed so far."""
        return self._connection.total_changes

    def begin(self) -> None:
        """Begin a transaction when it is this process's turn, in the file that is still there."""
        if self._files is not None and (change := self._files.change()):
            raise TransactionError(LOST_WHILE_RUNNING.format(path=self._files.path, change=change), LOST)
        if not self._write_lock.acquire(BUSY_MS / 1_000):
            raise TransactionError("Another process holds the write lock.", "SQLITE_BUSY")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except DatabaseError as error:
            raise TransactionError("No transaction could be started.", error_name(error)) from error
        finally:
            self._write_lock.release()
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except DatabaseError as error:
            self.roll_back()
            raise TransactionError("No transaction could be started.", error_name(error)) from error
        if version != self._version:
            self._version = version
            self.foreign_commits += 1

    def attempt(self, work: Work[T], *, alone: bool) -> T:  # noqa: ARG002 -- a savepoint is cheap here
        """Run one closure in a savepoint."""
        try:
            self._connection.execute("SAVEPOINT closure")
            value = work(self._connection)
            self._connection.execute("RELEASE closure")
        except BaseException as error:
            self._undo(error)
            raise
        return value

    def commit(self) -> None:
        """Make the transaction durable."""
        try:
            self._connection.execute("COMMIT")
        except DatabaseError as error:
            raise TransactionError("The transaction could not be committed.", error_name(error)) from error

    def roll_back(self) -> None:
        """Give up what is left of a transaction."""
        self.foreign_commits += 1
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except DatabaseError as error:
                _log.error("A transaction could not be rolled back.", extra={"reason": error_name(error)})

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._write_lock.close()

    def _undo(self, error: BaseException) -> None:
        if is_store_failing(error) or not self._connection.in_transaction:
            raise TransactionError("A closure lost the transaction.", error_name(error)) from error
        try:
            self._connection.execute("ROLLBACK TO closure")
            self._connection.execute("RELEASE closure")
        except DatabaseError as failed:
            raise TransactionError("A closure could not be rolled back.", error_name(failed)) from failed
        self.foreign_commits += 1

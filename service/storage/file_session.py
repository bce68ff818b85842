"""A writer's way to a SQLite file."""

import logging
from typing import TypeVar

from service.storage.engine import (
    BUSY_MS,
    DatabaseError,
    SqliteConnection,
    error_name,
    is_store_failing,
)
from service.storage.turnstile import Turnstile
from service.storage.writer import LostError, Work

T = TypeVar("T")

_log = logging.getLogger("verdict.storage")


class FileSession:
    """Transactions on one connection, each closure in a savepoint.

    Args:
        connection: The connection, in autocommit mode. The session closes it.
        turnstile: What processes take turns by. The session closes it.

    Attributes:
        foreign_commits: Grows whenever what was remembered of the database may no longer hold.
    """

    def __init__(self, connection: SqliteConnection, turnstile: Turnstile) -> None:
        self.foreign_commits = 0
        self._connection = connection
        self._turnstile = turnstile
        self._version: int | None = None

    @property
    def changes(self) -> int:
        """Rows that the connection has changed so far."""
        return self._connection.total_changes

    def begin(self) -> None:
        """Begin a transaction when it is this process's turn."""
        if not self._turnstile.take(BUSY_MS / 1_000):
            raise LostError("another process keeps the turn to write", "SQLITE_BUSY")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except DatabaseError as error:
            raise LostError("no transaction could be begun", error_name(error)) from error
        finally:
            self._turnstile.give()
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except DatabaseError as error:
            self.roll_back()
            raise LostError("no transaction could be begun", error_name(error)) from error
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
            raise LostError("the transaction could not be committed", error_name(error)) from error

    def roll_back(self) -> None:
        """Give up what is left of a transaction."""
        self.foreign_commits += 1
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except DatabaseError as error:
                _log.error("a transaction could not be rolled back", extra={"reason": error_name(error)})

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._turnstile.close()

    def _undo(self, error: BaseException) -> None:
        if is_store_failing(error) or not self._connection.in_transaction:
            raise LostError("a closure lost the transaction", error_name(error)) from error
        try:
            self._connection.execute("ROLLBACK TO closure")
            self._connection.execute("RELEASE closure")
        except DatabaseError as failed:
            raise LostError("a closure could not be undone", error_name(failed)) from failed
        self.foreign_commits += 1

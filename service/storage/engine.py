"""Selects the SQLite library and opens connections to it."""

import importlib.util
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, cast

from service.errors import ServiceError

OLDEST_SAFE: Final = (3, 51, 3)
"""Before it, resetting the WAL can corrupt the file. Source: sqlite.org/wal.html, "The WAL-reset bug"."""

DATABASE: Final = "verdict.db"
"""The database's file in the data folder."""

BUSY_MS: Final = 2_200
"""How long one statement waits for a lock. Waiting as long for the write lock too stays under five seconds."""

RETRY_AFTER_S: Final = 2

_WAL_KEPT_BYTES: Final = 64 * 2**20
_STATEMENTS_CACHED: Final = 4_096
"""More than the service has distinct statements. With 256 the statements of a paid call were compiled again each time:
batches of rows have a statement for each number of rows. Measured: `docs/decisions/0008-speed-of-paid-calls.md`."""

SqliteConnection = sqlite3.Connection
Parameters = Sequence[Any]


class Cursor(Protocol):
    """The result of a statement, on either store: rows are tuples."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""

    def __iter__(self) -> Iterator[Any]:
        """The rows, one after the other."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchmany(self, size: int = ..., /) -> list[Any]:
        """The next rows."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""


class Connection(Protocol):
    """The connection that a closure gets, on either store. Statements use SQLite's SQL."""

    @property
    def total_changes(self) -> int:
        """Rows inserted, updated or deleted since it was opened."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def execute(self, sql: str, parameters: Parameters = ..., /) -> Cursor:
        """Run one statement; its placeholders are `?` or `?N`."""

    def executemany(self, sql: str, rows: Iterable[Parameters], /) -> Cursor:
        """Run one statement for each row of values."""


class StorageError(Exception):
    """The store cannot be used; the message says what to do."""


def _newest() -> Any:
    if importlib.util.find_spec("pysqlite3") is None:
        return sqlite3
    import pysqlite3  # noqa: PLC0415 -- it is bundled only where wheels of it exist

    return max(sqlite3, pysqlite3.dbapi2, key=lambda module: module.sqlite_version_info)


_driver: Final = _newest()

DatabaseError: type[sqlite3.DatabaseError] = _driver.DatabaseError
IntegrityError: type[sqlite3.IntegrityError] = _driver.IntegrityError
VERSION: tuple[int, int, int] = _driver.sqlite_version_info
complete_statement: Callable[[str], bool] = _driver.complete_statement

BUSY: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL", "40", "55P03", "57014")
"""Names of failures: SQLite's, and SQLSTATEs of PostgreSQL's (a deadlock, a lock that is kept, an answer too late)."""

DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
FULL: Final = ("SQLITE_FULL",)
LOST: Final = "STORE_LOST"
"""Name of our own for a file that was removed or replaced while it is open."""

SHUT: Final = ("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_READONLY")

_SERVER_FAILING: Final = ("08", "25006", "25P0", "28", "3D", "53", "57", "58", "XX")
"""SQLSTATEs: no connection, standby, aborted transaction, wrong password, missing database, no resources, stopped by an
operator, disk failure, damage."""

_STORE_FAILURES: Final = (*BUSY, *DAMAGED, *FULL, *SHUT, *_SERVER_FAILING, "SQLITE_IOERR", "SQLITE_NOMEM")


def check_version(version: tuple[int, int, int] = VERSION) -> None:
    """Refuse an engine that can corrupt the file.

    Raises:
        StorageError: Naming the version and the remedy.
    """
    if version < OLDEST_SAFE:
        raise StorageError(
            f"SQLite {'.'.join(map(str, version))} can corrupt a database in WAL mode. This service needs "
            f"{'.'.join(map(str, OLDEST_SAFE))} or newer. Install the package pysqlite3, which brings its own."
        )


def connect(path: Path, *, query_only: bool = False, busy_ms: int = BUSY_MS) -> SqliteConnection:
    """Open a connection in autocommit mode; transactions need explicit `BEGIN` and `COMMIT`.

    Args:
        path: The database file.
        query_only: Whether every write is refused.
        busy_ms: How long one statement waits for a lock.

    Returns:
        A connection usable from any one thread at a time, in WAL mode with `synchronous=FULL`, foreign keys enforced.
    """
    connection = cast(
        "SqliteConnection",
        _driver.connect(
            str(path),
            timeout=busy_ms / 1_000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS_CACHED,
        ),
    )
    try:
        for pragma in (
            "synchronous=FULL",
            "foreign_keys=ON",
            "cell_size_check=ON",
            f"journal_size_limit={_WAL_KEPT_BYTES}",
            f"query_only={'ON' if query_only else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def error_name(error: BaseException) -> str:
    """SQLite's name of an error (`SQLITE_FULL`), PostgreSQL's SQLSTATE, or the exception's class name."""
    return str(getattr(error, "sqlite_errorname", None) or type(error).__name__)


def is_store_failing(error: BaseException) -> bool:
    """Whether the store failed (disk, lock, file), not the statement."""
    return isinstance(error, DatabaseError) and error_name(error).startswith(_STORE_FAILURES)


def unavailable(reason: str) -> ServiceError:
    """Make the error for callers while the store cannot be read or written.

    Args:
        reason: The store's name of the failure.
    """
    if reason == LOST:
        message = "The service's store was removed or replaced. Its operator must restore it."
    else:
        why = "is busy" if reason.startswith(BUSY) else "cannot be used"
        message = f"The service's store {why} at the moment. Try again shortly."
    return ServiceError(
        "UNAVAILABLE",
        message,
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )

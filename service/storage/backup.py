"""Copies of SQLite files: checked backups, integrity checks, and tables copied from another file."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.storage.engine import Connection, DatabaseError, StorageError, connect, error_name, unavailable
from service.storage.sqlite_session import SqliteSession, write_lock_of
from service.storage.writer import TransactionError

_PAGES_A_STEP: Final = 2_048


def back_up(source: Path, target: Path) -> int:
    """Copy a database at one instant while it is in use; the copy is checked before it gets its name.

    Blocking: run it on a thread where an event loop is.

    Args:
        source: The database's file.
        target: Where the copy goes; must not exist.

    Returns:
        The copy's size in bytes.

    Raises:
        StorageError: If the copy cannot be made or is not whole; then there is no file at `target`.
    """
    if not source.is_file():
        raise StorageError(f"There is no database at {source}. Check VERDICT_DATA_DIR.")
    partial = target.with_name(target.name + ".partial")
    try:
        if target.exists():
            raise StorageError(f"{target} exists already. Name a new file.")
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        _copy(source, partial)
        sync(partial)
        partial.rename(target)
        sync(target.parent)
    except DatabaseError as error:
        raise StorageError(f"{source} could not be copied to {target}: {error} ({error_name(error)}).") from error
    except OSError as error:
        raise StorageError(
            f"{target} could not be written ({error.strerror}). Name a file in a folder that exists and is writable."
        ) from error
    finally:
        with suppress(OSError):  # e.g. the folder cannot be read: there is nothing to delete
            partial.unlink()
    return target.stat().st_size


def _copy(source: Path, partial: Path) -> None:
    origin = connect(source, query_only=True)
    try:
        copy = connect(partial)
        try:
            origin.execute("BEGIN")
            origin.execute("SELECT 1 FROM sqlite_schema").fetchone()
            origin.backup(copy, pages=_PAGES_A_STEP)
            copy.execute("PRAGMA journal_mode=DELETE")
            if found := check_integrity(copy):
                raise StorageError(f"The copy of {source} is damaged, so the database is: {found[0].rstrip('.')}.")
        finally:
            copy.close()
    finally:
        origin.close()


def sync(path: Path) -> None:
    """Sync a file or a folder to disk. Blocking."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_MOST_FINDINGS = 20


def check_integrity(connection: Connection) -> list[str]:
    """Check every page, index and foreign key. Use it with `Database.inspect`: it reads the whole file.

    Returns:
        One sentence per finding, at most 20 of each kind; empty if there is none.
    """
    pages = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST_FINDINGS})")]
    orphans = connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST_FINDINGS)
    return [
        *(finding for finding in pages if finding != "ok"),
        *(
            f"Row {row} of {table} points to a row of {parent} that does not exist."
            for table, row, parent, _ in orphans
        ),
    ]


def copy_tables(path: Path, source: Path, tables: Iterable[str], may: Callable[[Connection], bool]) -> None:
    """Copy all rows of some tables in one transaction; rows whose primary key exists are skipped. Blocking.

    Where the target is empty SQLite copies the stored entries as they are, if both tables are declared alike: half a
    million rows take 0.15 s, a fifth of inserting them. Python's interpreter lock is released meanwhile.

    Args:
        path: The database that is written.
        source: The database that is read; nothing else may use it meanwhile.
        tables: Names of tables that both have.
        may: Called inside the transaction; nothing is copied if it returns False.

    Raises:
        ServiceError: `UNAVAILABLE` if the database cannot be written.
    """
    connection = connect(path)
    session = SqliteSession(connection, write_lock_of(path))

    def work(connection: Connection) -> None:
        if may(connection):
            for table in tables:
                connection.execute(f"INSERT OR IGNORE INTO main.{table} SELECT * FROM source.{table}")  # noqa: S608 - names of tables

    try:
        connection.execute("PRAGMA ignore_check_constraints=ON")  # the rows obey those of the source
        connection.execute("ATTACH ? AS source", (str(source),))
        session.begin()
        session.attempt(work, alone=True)
        session.commit()
    except TransactionError as lost:
        raise unavailable(lost.reason) from lost
    finally:
        session.close()

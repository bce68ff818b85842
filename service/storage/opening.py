"""Prepares a SQLite file for use: creates, checks and migrates it."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.storage.engine import (
    BUSY,
    DAMAGED,
    SHUT,
    DatabaseError,
    SqliteConnection,
    StorageError,
    connect,
    error_name,
)
from service.storage.full_disk import start_refusal
from service.storage.lost_store import check_content, check_file, marks_of
from service.storage.migrate import migrate, read_migrations
from service.storage.sqlite_session import WriteLock, write_lock_of

_PATIENCE_S: Final = 10.0
"""How long a start waits for another process's migration."""

_DAMAGED: Final = (
    "The database {path} is damaged ({error}), and starting on it could lose more. Stop the service, move this file "
    "and those whose names begin with its name aside, and put the newest copy made with `verdict admin backup` in its "
    "place."
)
_SHUT: Final = (
    "The data folder {folder} cannot be written ({error}). Make it and the files in it writable, or name another "
    "folder in VERDICT_DATA_DIR."
)
_BUSY: Final = (
    "Another program holds the write lock of {path} ({error}). `fuser {path}` names it. Stop it and start again."
)
_OTHER: Final = "SQLite cannot use {path} ({error})."


class Connections(Struct, frozen=True):
    """The open connections of a process to one database file, and its write lock."""

    writing: SqliteConnection
    reading: SqliteConnection
    reading_now: SqliteConnection
    write_lock: WriteLock


def prepare(path: Path, clock: Clock, *, new: bool = False) -> Connections:
    """Make or check a database's file and bring its schema up to date. Blocking.

    Args:
        path: The file.
        clock: Stamps migrations.
        new: Make a new store in a folder that was used before.

    Returns:
        What to use it with.

    Raises:
        StorageError: If it cannot be used, or was lost (`LostStoreError`); the message says what to do.
    """
    with ExitStack() as opened:
        try:
            marks = () if new else marks_of(path)
            check_file(path, marks)
            write_lock = _make_files(path)
            opened.callback(write_lock.close)
            writing = connect(path)
            opened.callback(writing.close)
            _check_pages(path, writing)
            _bring_up_to_date(path, writing, write_lock, clock, marks)
            reading = connect(path, query_only=True)
            opened.callback(reading.close)
            reading_now = connect(path, query_only=True, busy_ms=0)
        except DatabaseError as error:
            if full := start_refusal(path.parent, error):
                raise StorageError(full) from error
            raise StorageError(_remedy(path, f"{error_name(error)}: {error}")) from error
        except OSError as error:
            if full := start_refusal(path.parent, error):
                raise StorageError(full) from error
            raise StorageError(_SHUT.format(folder=path.parent, error=error.strerror)) from error
        opened.pop_all()
    return Connections(writing, reading, reading_now, write_lock)


def _make_files(path: Path) -> WriteLock:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return write_lock_of(path)


def _check_pages(path: Path, connection: SqliteConnection) -> None:
    connection.execute("PRAGMA ignore_check_constraints=ON")  # what is written obeys them, and they double the time
    (finding,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    connection.execute("PRAGMA ignore_check_constraints=OFF")
    if finding != "ok":
        raise StorageError(_DAMAGED.format(path=path, error=" ".join(str(finding).split())))


def _bring_up_to_date(
    path: Path, connection: SqliteConnection, write_lock: WriteLock, clock: Clock, marks: Sequence[str]
) -> None:
    if not write_lock.acquire(_PATIENCE_S):
        raise StorageError(_BUSY.format(path=path, error="it does not release it"))
    try:
        check_content(path, connection, marks)
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise StorageError(_SHUT.format(folder=path.parent, error="its file system does not support WAL"))
        # Sync once instead of after each of thirty steps: after a power failure the steps that are lost run again.
        connection.execute("PRAGMA synchronous=NORMAL")
        if migrate(connection, read_migrations(), clock):
            connection.execute("PRAGMA wal_checkpoint")
        connection.execute("PRAGMA synchronous=FULL")
    finally:
        write_lock.release()


def _remedy(path: Path, error: str) -> str:
    for names, remedy in ((DAMAGED, _DAMAGED), (SHUT, _SHUT), (BUSY, _BUSY)):
        if error.startswith(names):
            return remedy.format(path=path, folder=path.parent, error=error)
    return _OTHER.format(path=path, error=error)

"""Copying a database while it is in use."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.storage.engine import DatabaseError, StorageError, connect, error_name
from service.storage.integrity import check_integrity

_PAGES_A_STEP: Final = 2_048


def back_up(source: Path, target: Path) -> int:
    """Copy a database, as of one instant, while others write to it; the copy is checked before it gets its name.

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
        raise StorageError(f"There is no database at {source}; is VERDICT_DATA_DIR right?")
    partial = target.with_name(target.name + ".partial")
    try:
        if target.exists():
            raise StorageError(f"{target} exists already; name a file that does not.")
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        _copy(source, partial)
        sync(partial)
        partial.rename(target)
        sync(target.parent)
    except DatabaseError as error:
        raise StorageError(f"{source} could not be copied to {target}: {error} ({error_name(error)})") from error
    except OSError as error:
        raise StorageError(
            f"{target} could not be written ({error.strerror}); name a file in a folder that is there and takes files"
        ) from error
    finally:
        with suppress(OSError):  # of a folder that cannot be looked into, say: then there is nothing
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
                raise StorageError(f"The copy of {source} is damaged, so the database is: {found[0]}")
        finally:
            copy.close()
    finally:
        origin.close()


def sync(path: Path) -> None:
    """Have the disk keep a file's content, or a folder's names. Blocking."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

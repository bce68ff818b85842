"""Messages for a disk that is full."""

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.errors import ServiceError
from service.storage.engine import FULL, LOST, DatabaseError, StorageError, error_name

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system."""

LEAST_BYTES: Final = 1_048_576
"""With less free space a failing file is a full disk: SQLite then fails with `SQLITE_IOERR` on its shared index."""

_SERVER: Final = "53100"
"""PostgreSQL's SQLSTATE of a full disk."""


def start_refusal(folder: Path, error: BaseException) -> str | None:
    """Message for a start that failed because the disk is full; None for another reason.

    Args:
        folder: The data folder.
        error: Of the operating system or of SQLite.
    """
    if isinstance(error, OSError):
        return _message(folder, error.strerror or error_name(error)) if error.errno in NO_ROOM else None
    name = error_name(error)
    return _message(folder, f"{name}: {error}") if isinstance(error, DatabaseError) and _is_full(name, folder) else None


@contextmanager
def full_disk_named(folder: Path, failing: Callable[[], str | None] = lambda: None) -> Iterator[None]:
    """Name a full disk in place of any error that it causes.

    Args:
        folder: The data folder.
        failing: Name of the failure of the store's last write; None if it succeeded.

    Raises:
        StorageError: If the disk is full; the message says which, and what to do.
    """
    try:
        yield
    except (OSError, DatabaseError, ServiceError, StorageError) as error:
        full, name = start_refusal(folder, error), failing()
        if name is not None:
            if name.startswith(_SERVER):
                full = f"The disk of the database server is full ({name}). Free space there and start again."
            elif _is_full(name, folder):
                full = _message(folder, name)
        if full is None:
            raise
        raise StorageError(full) from error


def state_of(failing: str | None, folder: Path) -> dict[str, object]:
    """The store's part of `/readyz`: whether it can be written, and the reason if not.

    Args:
        failing: Name of the last write's failure; None if it succeeded.
        folder: The data folder.
    """
    if failing is None:
        return {"ready": True}
    if failing.startswith(_SERVER) or _is_full(failing, folder):
        why = f"The disk of the store is full ({failing}). Free space. The service continues without a restart."
    elif failing == LOST:
        why = (
            f"The database file in {folder} was removed or replaced. Put it back, and the service continues. Otherwise "
            "stop the service, restore the newest copy made with `verdict admin backup`, and start again."
        )
    else:
        why = f"The store of {folder} cannot be written ({failing}). The service continues once it can."
    return {"ready": False, "reason": why}


def _is_full(name: str, folder: Path) -> bool:
    """Whether SQLite's failure of a name means that the disk is full."""
    return name.startswith(FULL) or (name.startswith("SQLITE_IOERR") and _free_bytes(_existing(folder)) < LEAST_BYTES)


def _message(folder: Path, reason: str) -> str:
    there = _existing(folder)
    mount = next((each for each in (there, *there.parents) if each.is_mount()), there)
    return (
        f"The disk of the data folder {folder} is full ({reason}): {_free_bytes(there):,} bytes are free on {mount}. "
        "Free space, or name a folder on another disk in VERDICT_DATA_DIR, and start again."
    )


def _existing(folder: Path) -> Path:
    """A folder, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free

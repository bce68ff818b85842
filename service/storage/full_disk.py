"""What is said where a disk has no room left."""

import errno
from pathlib import Path
from typing import Final

from service.storage.engine import FULL

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system."""

_REASONS: Final = (*FULL, "53100")
"""Names of SQLite's failures, and PostgreSQL's SQLSTATEs."""


def start_refusal(folder: Path, error: OSError) -> str | None:
    """What a start says where a file could not be made for lack of room; null where the reason is another.

    Args:
        folder: The data folder.
        error: What the operating system said.
    """
    if error.errno not in NO_ROOM:
        return None
    return (
        f"The disk of the data folder {folder} is full ({error.strerror}). Make room, or name a folder on another disk "
        "in VERDICT_DATA_DIR, and start again."
    )


def state_of(failing: str | None, folder: Path) -> dict[str, object]:
    """The store's part of `/readyz`: whether it can be written, and why not.

    Args:
        failing: The name of the failure that the last write ended with; null where it did not fail.
        folder: The data folder.
    """
    if failing is None:
        return {"ready": True}
    if failing.startswith(_REASONS):
        why = f"The disk of the store is full ({failing}). Make room; the service continues by itself."
    else:
        why = f"The store of {folder} cannot be written ({failing}). The service continues once it can."
    return {"ready": False, "reason": why}

"""Messages for a disk that is full."""

import errno
from pathlib import Path
from typing import Final

from service.storage.engine import FULL

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the operating system."""

_REASONS: Final = (*FULL, "53100")
"""Names of SQLite's failures, and PostgreSQL's SQLSTATEs."""


def start_refusal(folder: Path, error: OSError) -> str | None:
    """Message for a start that failed because the disk is full; None for another reason.

    Args:
        folder: The data folder.
        error: The operating system's error.
    """
    if error.errno not in NO_ROOM:
        return None
    return (
        f"The disk of the data folder {folder} is full ({error.strerror}). Free space, or name a folder on another "
        "disk in VERDICT_DATA_DIR, and start again."
    )


def state_of(failing: str | None, folder: Path) -> dict[str, object]:
    """The store's part of `/readyz`: whether it can be written, and the reason if not.

    Args:
        failing: Name of the last write's failure; None if it succeeded.
        folder: The data folder.
    """
    if failing is None:
        return {"ready": True}
    if failing.startswith(_REASONS):
        why = f"The disk of the store is full ({failing}). Free space. The service continues without a restart."
    else:
        why = f"The store of {folder} cannot be written ({failing}). The service continues once it can."
    return {"ready": False, "reason": why}

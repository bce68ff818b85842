"""Whether a data folder has lost its store: it was used before, and the store in it is missing or empty.

An empty store made in its place would look like a first start, while users, receipts and spent payments are gone.
"""

from pathlib import Path
from typing import Final

from service.storage.engine import StorageError
from service.storage.journal import folder_beside

SECRETS: Final = "secrets.toml"
"""File of the data folder. It is made after the store, so a folder that has it has had a store."""

_LOST_FILE: Final = (
    "{path} is {state}, but {folder} was used before: it contains {marks}. A new store would have no users, keys, "
    "receipts or spent payments. Put the newest copy made with `verdict backup` at {path}. To start with an empty "
    "store, run `verdict init --new-store`."
)
_LOST_SERVER: Final = (
    "The database at {place} is empty, but {folder} was used before: it contains {marks}. A new store would have no "
    "users, keys, receipts or spent payments. Name the database used before in VERDICT_STORE, or restore it with "
    "pg_restore. To move a store there, run `verdict migrate-store`. To start with an empty store, run "
    "`verdict init --new-store`."
)


class LostStoreError(StorageError):
    """The store of a folder that was used before is missing or empty; the message says what to do."""


def check_file(path: Path) -> None:
    """Refuse a missing or empty database file in a folder that was used before.

    Args:
        path: The database file.

    Raises:
        LostStoreError: If the file is missing or has no content, and the folder contains secrets or run journals.
    """
    # Look for marks first: another process that starts now makes its database before them.
    marks = [name for name in (SECRETS, folder_beside(path).name) if (path.parent / name).exists()]
    if not marks or (path.exists() and path.stat().st_size):
        return
    state = "empty" if path.exists() else "missing"
    raise LostStoreError(_LOST_FILE.format(path=path, state=state, folder=path.parent, marks=" and ".join(marks)))


def check_server(path: Path, place: str) -> None:
    """Refuse an empty database on a server for a folder in which the service has run.

    `secrets.toml` alone does not count: it is copied to each machine before the first start.

    Args:
        path: Files of this process are named after it.
        place: The server and database, without user and password.

    Raises:
        LostStoreError: If the folder contains run journals.
    """
    runs = folder_beside(path)
    if runs.exists():
        raise LostStoreError(_LOST_SERVER.format(place=place, folder=path.parent, marks=runs.name))

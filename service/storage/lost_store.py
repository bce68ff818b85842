"""Whether a data folder has lost its store: it was used before, and the store in it is missing, empty or another one.

An empty store made in its place would look like a first start, while users, receipts and spent payments are gone.
"""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from service.storage.engine import Connection, DatabaseError, StorageError, connect
from service.storage.journal import folder_beside
from service.storage.migrate import tables_after

SECRETS: Final = "secrets.toml"
"""File of the data folder. It is made after the store, so a folder that has it has had a store."""

_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
_APPLIED: Final = "SELECT version FROM migrations"

_LOST_FILE: Final = (
    "{path} is {state}, but {folder} was used before: it contains {marks}. A new store would have no users, keys, "
    "receipts or spent payments. Move all files whose names begin with {path} aside, and put the newest copy made with "
    "`verdict admin backup` in its place. To start with an empty store, run `verdict admin init --new-store`."
)
_LOST_SERVER: Final = (
    "The database at {place} is empty, but {folder} was used before: it contains {marks}. A new store would have no "
    "users, keys, receipts or spent payments. Name the database used before in VERDICT_STORE, or restore it with "
    "pg_restore. To move a store there, run `verdict admin migrate`. To start with an empty store, run "
    "`verdict admin init --new-store`."
)


_NO_FILE: Final = "{path} is {state}. Move it aside and start again."
_FOREIGN: Final = (
    "{path} is not a store of this service: it contains {tables}, and no record of a migration. Move all files whose "
    "names begin with {path} aside, and put the newest copy made with `verdict admin backup` in its place. For a first "
    "start, leave the place empty."
)
_INCOMPLETE: Final = (
    "{path} lacks tables of the service ({tables}): another program has removed them. Move all files whose names begin "
    "with {path} aside, and put the newest copy made with `verdict admin backup` in its place."
)
_MOST_NAMED: Final = 3

LOST_WHILE_RUNNING: Final = (
    "{path} was lost while the service runs: {change}. The service answers no metered call, because nothing that it "
    "writes would remain. Put the same file back, and the service continues. Otherwise stop the service, move all "
    "files whose names begin with {path} aside, put the newest copy made with `verdict admin backup` in its place, and "
    "start again."
)


class LostStoreError(StorageError):
    """The store of a folder that was used before is missing or empty; the message says what to do."""


def marks_of(path: Path) -> Sequence[str]:
    """Names of files which show that the folder of a database was used before."""
    return [name for name in (SECRETS, folder_beside(path).name) if (path.parent / name).exists()]


def check_file(path: Path, marks: Sequence[str]) -> None:
    """Refuse a missing or empty database file in a folder that was used before, and what is no file.

    Args:
        path: The database file.
        marks: `marks_of` the path, read before: another process that starts now makes its database before them.

    Raises:
        LostStoreError: If there is no file with content, and the folder was used before.
        StorageError: If there is something else than a file.
    """
    if path.is_file():
        state = None if path.stat().st_size else "empty"
    elif path.is_dir():
        state = "a folder"
    elif path.exists():
        state = "not a file"
    else:
        state = "a link to a missing file" if path.is_symlink() else "missing"
    if marks and state:
        raise _lost(path, state, marks)
    if state in {"a folder", "not a file"}:
        raise StorageError(_NO_FILE.format(path=path, state=state))


def check_content(path: Path, connection: Connection, marks: Sequence[str]) -> None:
    """Refuse a database that is not the store of this folder, before it is changed.

    Args:
        path: The database file.
        connection: To it, while no other process migrates it.
        marks: `marks_of` the path; none where a new store is wanted.

    Raises:
        LostStoreError: If it has no tables, and the folder was used before.
        StorageError: If it has tables of another program, or lacks some of the service.
    """
    tables = {name for (name,) in connection.execute(_TABLES)}
    steps = {version for (version,) in connection.execute(_APPLIED)} if "migrations" in tables else set()
    if steps:
        if missing := sorted(tables_after(frozenset(steps)) - tables):
            raise LostStoreError(_INCOMPLETE.format(path=path, tables=_some(missing)))
    elif others := sorted(tables - {"migrations"}):
        raise LostStoreError(_FOREIGN.format(path=path, tables=_some(others)))
    elif marks:
        raise _lost(path, "a database without tables", marks)


def holds_store(path: Path) -> bool:
    """Whether a file has content that is, or may be, a store of the service: a damaged one may."""
    if not path.is_file() or not path.stat().st_size:
        return False
    try:
        with closing(connect(path, query_only=True)) as connection:
            tables = {name for (name,) in connection.execute(_TABLES)}
            return "migrations" in tables and connection.execute(_APPLIED).fetchone() is not None
    except DatabaseError:
        return True


def _lost(path: Path, state: str, marks: Sequence[str]) -> LostStoreError:
    return LostStoreError(_LOST_FILE.format(path=path, state=state, folder=path.parent, marks=" and ".join(marks)))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


class FileIdentity:
    """Notices that the files of an open database were removed or replaced.

    SQLite goes on writing into a removed file, and all of that is lost with the process. Other content in the same file
    (`cp` onto it) is not noticed: SQLite reads its cache and its log, not the file, and another descriptor of the file
    would end SQLite's locks once it is closed (fcntl(2)).

    Args:
        path: The database file. It and the files beside it that SQLite has open now are compared.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        beside = (f"{path}{ending}" for ending in ("", "-wal", "-shm"))
        self._files = {name: found[:2] for name in beside if (found := _identity(name))}

    def change(self) -> str | None:
        """What has happened to the files; null while they are the same ones."""
        for name, known in self._files.items():
            found = _identity(name)
            if found is None or found[:2] != known:
                return f"{name} was {'replaced' if found else 'removed'}"
            if not found[2] and name == str(self.path):
                return f"{name} was emptied"
        return None


def _identity(name: str) -> tuple[int, int, int] | None:
    """Device, inode and size of a file; null if there is none."""
    try:
        found = os.stat(name)  # noqa: PTH116 -- before each transaction: a path object takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size


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

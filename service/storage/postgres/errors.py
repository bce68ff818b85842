"""Converts asyncpg's exceptions to those of the store."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from service.settings import Secret
from service.storage.engine import DatabaseError, IntegrityError, StorageError

LOST: Final = "08006"
"""SQLSTATE connection_failure: also for what has none, where nothing came back."""

UNREADABLE: Final = "F0000"
"""SQLSTATE config_file_error: an address that makes no sense."""

_BROKEN_CONSTRAINT: Final = "23"
_OWN_CODES: Final[dict[str, str]] = {
    "28": "Authentication failed. Check user and password in VERDICT_STORE, or the server's pg_hba.conf",
    "3D": "The database does not exist. Create it (CREATE DATABASE …) and start again",
    "42501": "The user may not create tables. Make that user the database's owner",
    "25006": "It is a read-only standby. Set VERDICT_STORE to the primary server",
    "53": "Its disk is full or it has no connection left. Free disk space, or raise max_connections",
    UNREADABLE: "The address is not valid. Use parameters of libpq in VERDICT_STORE, and write @ : / ? # [ ] % "
    "of user and password as %40 %3A %2F %3F %23 %5B %5D %25",
    "55P03": "Another process has been migrating the schema for ten seconds. Start again when it has finished",
}
_NAME: Final = re.compile(r"/[\w-]+\Z")


@contextmanager
def as_database_errors() -> Iterator[None]:
    """Convert asyncpg's exceptions to those of SQLite's driver.

    Raises:
        IntegrityError: For a broken constraint.
        DatabaseError: For the rest; `error_name` gives its SQLSTATE.
    """
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _ours(str(error), str(error.sqlstate or LOST)) from error
    except (OSError, TimeoutError, asyncpg.InternalClientError) as error:
        raise _ours(f"the server did not answer ({type(error).__name__})", LOST) from error
    except asyncpg.InterfaceError as error:
        said = str(error)
        raise _ours(said, LOST if "closed" in said or "closing" in said else "22000") from error


def lost(said: str) -> Exception:
    """A `DatabaseError` for a server that does not answer."""
    return _ours(said, LOST)


def unreadable() -> Exception:
    """A `DatabaseError` for an invalid address, without the address: it may hold a password."""
    return _ours("the address cannot be read", UNREADABLE)


def _ours(said: str, sqlstate: str) -> Exception:
    error = (IntegrityError if sqlstate.startswith(_BROKEN_CONSTRAINT) else DatabaseError)(said)
    error.sqlite_errorname = sqlstate
    return error


def refusal(address: Secret, error: BaseException, sqlstate: str) -> StorageError:
    """The error for a server that cannot be used, with a remedy and without user and password."""
    place = place_of(address)
    for code, remedy in _OWN_CODES.items():
        if sqlstate.startswith(code):
            return StorageError(f"The PostgreSQL server {place} cannot be used: {remedy} ({sqlstate}).")
    if sqlstate.startswith("08"):
        return StorageError(
            f"The PostgreSQL server {place} does not answer. Start it, or correct host and port in VERDICT_STORE."
        )
    return StorageError(f"The PostgreSQL server {place} cannot be used ({sqlstate}: {error}).")


def place_of(address: Secret) -> str:
    """Host, port and database of an address; nothing of an invalid one, which may hold the password."""
    try:
        parts = urlsplit(address.text)
        port = parts.port or 5432
    except ValueError:
        return "of VERDICT_STORE"
    if "@" in parts.path + parts.query + parts.fragment or not _NAME.match(parts.path):
        return "of VERDICT_STORE"
    return f"{parts.hostname or 'on this machine'}:{port}{parts.path}"

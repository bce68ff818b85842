"""Prepares a PostgreSQL database for use: checks the server and migrates the schema."""

import asyncio
from pathlib import Path
from typing import Final, cast

from service.clock import Clock
from service.settings import Secret
from service.storage.engine import Connection, DatabaseError, StorageError, error_name
from service.storage.lost_store import check_server
from service.storage.migrate import migrate
from service.storage.postgres.connection import ServerConnection, dial
from service.storage.postgres.errors import as_database_errors, place_of, refusal
from service.storage.postgres.schema import read_all

_PATIENCE_S: Final = 5.0
_MIGRATING: Final = {"lock_timeout": "10000"}
_OLDEST: Final = 14
_LOOK: Final = """
SELECT CAST(current_setting('server_version_num') AS INTEGER), current_setting('server_encoding'),
    current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
"""


def prepare(address: Secret, clock: Clock, path: Path | None = None) -> None:
    """Check a server and bring its schema up to date. Blocking; not on a thread whose event loop runs.

    Args:
        address: The server's address.
        clock: Stamps migrations.
        path: What the files of this process are named after; an empty database is refused where such files show that
            the folder was used before. Null: any database is accepted.

    Raises:
        StorageError: If it cannot be used; the message says what to do.
    """
    with asyncio.Runner() as runner:
        try:
            with as_database_errors():
                dialled = runner.run(dial(address, "migration", _MIGRATING, _PATIENCE_S))
            connection = ServerConnection(runner.get_loop(), dialled)
            try:
                _check(address, connection)
                _bring_up_to_date(address, path, connection, clock)
            finally:
                connection.close()
        except DatabaseError as error:
            raise refusal(address, error, error_name(error)) from error


def _bring_up_to_date(address: Secret, path: Path | None, connection: ServerConnection, clock: Clock) -> None:
    """Migrate, unless one look says that nothing is to be done: a server is asked some hundred times for that."""
    steps, dialect = read_all()
    (begun,) = connection.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone() or (0,)
    if begun:
        found = connection.execute("SELECT version, sha256 FROM migrations ORDER BY version").fetchall()
        if found == [(step.version, step.sha256) for step in steps]:
            return
    elif path is not None:
        check_server(path, place_of(address))
    migrate(cast("Connection", connection), steps, clock, dialect)


def _check(address: Secret, connection: ServerConnection) -> None:
    version, encoding, *keeps, standby = connection.execute(_LOOK).fetchone() or ()
    if version < _OLDEST * 10_000:
        raise StorageError(
            f"The PostgreSQL server {place_of(address)} is version {version // 10_000}. This service needs "
            f"{_OLDEST} or newer. Upgrade it."
        )
    if standby:
        raise refusal(address, DatabaseError(), "25006")
    if encoding != "UTF8":
        raise StorageError(
            f"The database at {place_of(address)} is encoded as {encoding}. Create it again with ENCODING 'UTF8'."
        )
    if keeps[0] not in {"on", "remote_apply"} or keeps[1:] != ["on", "on"]:
        raise StorageError(
            f"The PostgreSQL server {place_of(address)} may forget what it has acknowledged (synchronous_commit "
            f"{keeps[0]}, fsync {keeps[1]}, full_page_writes {keeps[2]}). Set all three to on."
        )

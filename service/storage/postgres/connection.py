"""Synchronous connections to PostgreSQL for closures and for snapshots, each on its own event loop."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from typing import Any, Final, cast

import asyncpg

from service.settings import Secret
from service.storage.engine import BUSY_MS, Connection
from service.storage.postgres.errors import as_database_errors, unreadable
from service.storage.postgres.translate import translate

ANSWER_S: Final = 4.4
"""How long one answer is waited for."""

_GIVES_ROWS: Final = re.compile(r"\s*(?:SELECT|WITH|VALUES|SHOW)\b|.*\bRETURNING\b", re.DOTALL)
_PREPARED: Final = 512
_AT_ONCE: Final = 2_000
_SETTINGS: Final = {
    "default_transaction_isolation": "read committed",
    "jit": "off",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "8000",
}
WRITING: Final = {
    "lock_timeout": str(BUSY_MS),
    "statement_timeout": "4000",
    "idle_in_transaction_session_timeout": "3000",
}
READING: Final = {"default_transaction_read_only": "on"}


async def dial(address: Secret, whose: str, settings: dict[str, str], timeout_s: float = BUSY_MS / 1_000) -> Any:
    """Open a connection of asyncpg's.

    Args:
        address: The server's address.
        whose: Its purpose, in the server's list of sessions.
        settings: Its session's own settings.
        timeout_s: Seconds to wait for it.

    Raises:
        DatabaseError: If the address cannot be read.
        Exception: What asyncpg raises; within `as_database_errors`, what SQLite's driver would.
    """
    try:
        connection = await asyncpg.connect(
            address.text,
            timeout=timeout_s,
            statement_cache_size=0,
            server_settings=settings_of(whose, settings),
        )
    except ValueError:  # it repeats what it cannot read
        raise unreadable() from None
    try:
        await teach(connection)
    except BaseException:
        connection.terminate()
        raise
    return connection


def settings_of(whose: str, settings: dict[str, str]) -> dict[str, str]:
    """A session's settings, with its purpose as the application name."""
    return {"application_name": f"verdict {whose}", **_SETTINGS, **settings}


async def teach(connection: Any) -> None:
    """Return numbers and booleans as SQLite does."""
    await connection.set_type_codec("numeric", schema="pg_catalog", encoder=str, decoder=_read_number, format="text")
    await connection.set_type_codec("bool", schema="pg_catalog", encoder=str, decoder=_read_bool, format="text")


def _read_number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _read_bool(text: str) -> int:
    return int(text == "t")


class ServerCursor:
    """The result of a statement.

    Args:
        rows: Its rows.
        rowcount: How many rows it changed; -1 for one that changes none.
    """

    def __init__(self, rows: Iterable[Sequence[Any]], rowcount: int) -> None:
        self._rows: Iterator[tuple[Any, ...]] = map(tuple, rows)
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return next(self._rows, None)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        """The next rows."""
        return list(islice(self._rows, size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._rows)


class ServerConnection:
    """The connection that closures get. One thread at a time uses it.

    Args:
        loop: An event loop that this connection alone runs.
        connection: asyncpg's connection, opened on it.

    Attributes:
        total_changes: Rows that its statements have inserted, updated or deleted.
        has_written: Whether a statement may have changed something; for others to set back.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Any) -> None:
        self.total_changes = 0
        self.has_written = False
        self._loop = loop
        self._connection = connection
        self._prepared: dict[str, Any] = {}

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; also one that has failed and can only be rolled back."""
        return bool(self._connection.is_in_transaction())

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> ServerCursor:
        """Run one statement.

        Raises:
            DatabaseError: As SQLite's driver would.
        """
        text, values = translate(sql, parameters)
        if not values and not _GIVES_ROWS.match(text):
            return ServerCursor((), self._count(self.command(text)))
        with as_database_errors():
            rows, status = self._loop.run_until_complete(self._fetch(text, values))
        return ServerCursor(rows, self._count(status))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> ServerCursor:
        """Run one statement for each row of values."""
        return ServerCursor((), sum(self.execute(sql, row).rowcount for row in rows))

    def command(self, text: str, timeout_s: float = ANSWER_S) -> str:
        """Run a command without translation and without rows.

        Returns:
            PostgreSQL's command tag (`UPDATE 3`).

        Raises:
            DatabaseError: As SQLite's driver would.
        """
        with as_database_errors():
            return str(self._loop.run_until_complete(self._connection.execute(text, timeout=timeout_s)))

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._loop.run_until_complete(self._connection.close(timeout=1))

    def terminate(self) -> None:
        """Close the connection at once, without waiting for the server."""
        self._connection.terminate()
        self._loop.run_until_complete(asyncio.sleep(0))  # in which the socket is closed

    async def _fetch(self, text: str, values: Sequence[Any]) -> tuple[Iterable[Any], str]:
        statement: Any = self._prepared.get(text)
        if statement is None:
            statement = await asyncio.wait_for(self._connection.prepare(text), ANSWER_S)
            if len(self._prepared) >= _PREPARED:
                del self._prepared[next(iter(self._prepared))]
            self._prepared[text] = statement
        rows = await statement.fetch(*values, timeout=ANSWER_S)
        return rows, statement.get_statusmsg()

    def _count(self, status: str) -> int:
        verb, *_, count = status.split() if " " in status else (status, "-1")
        if verb == "SELECT":
            return -1
        self.has_written = True
        if not count.isdecimal():
            return -1
        self.total_changes += int(count)
        return int(count)


class SnapshotConnection(ServerConnection):
    """A connection for snapshots: rows are fetched as they are read."""

    async def _fetch(self, text: str, values: Sequence[Any]) -> tuple[Iterable[Any], str]:
        statement = await self._connection.prepare(text)
        cursor = await statement.cursor(*values)
        first = await cursor.fetch(_AT_ONCE)
        return chain(first, chain.from_iterable(iter(partial(self._pull, cursor), []))), "SELECT"

    def _pull(self, cursor: Any) -> list[Any]:
        with as_database_errors():
            return list(self._loop.run_until_complete(cursor.fetch(_AT_ONCE)))


@contextmanager
def open_snapshot(address: Secret) -> Iterator[Connection]:
    """Open a read-only connection at one snapshot. Do not call it on a thread whose event loop runs.

    Args:
        address: The server's address.

    Raises:
        DatabaseError: If the server cannot be read.
    """
    with asyncio.Runner() as runner:
        with as_database_errors():
            dialled = runner.run(dial(address, "look", READING))
        connection = SnapshotConnection(runner.get_loop(), dialled)
        try:
            connection.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield cast("Connection", connection)
        finally:
            connection.close()

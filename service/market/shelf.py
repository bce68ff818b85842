"""Documents: what was fetched or concluded as one whole, kept in the store, read from memory by every process."""

import logging
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

from service.market.observed import Failure
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.envelope import encode

T = TypeVar("T")

_REVISIONS: Final = "SELECT name, revision FROM documents"
_READ: Final = """
    SELECT name, origin, revision, observed_ms, body, failed_ms, failed_status, failed_body FROM documents
    WHERE name IN (SELECT value FROM json_each(?))
"""
_PUT: Final = """
    INSERT INTO documents (name, origin, revision, observed_ms, body) VALUES (?1, ?2, 1, ?3, ?4)
    ON CONFLICT (name) DO UPDATE SET
        origin = ?2, revision = documents.revision + 1, observed_ms = ?3, body = ?4,
        failed_ms = NULL, failed_status = NULL, failed_body = NULL
    WHERE documents.revision = coalesce(?5, documents.revision)
    RETURNING revision
"""
_FAIL: Final = """
    INSERT INTO documents (name, origin, revision, failed_ms, failed_status, failed_body) VALUES (?1, '', 1, ?2, ?3, ?4)
    ON CONFLICT (name) DO UPDATE SET
        revision = documents.revision + 1, failed_ms = ?2, failed_status = ?3, failed_body = ?4
    RETURNING revision
"""

_log: Final = logging.getLogger("verdict.market")


class OvertakenError(Exception):
    """Another process has written what this one was about to replace."""


class Kept(msgspec.Struct, Generic[T], frozen=True):
    """What is known of a document: its newest value and when that was observed, and how the last attempt failed, if so.

    `origin` names the history the value belongs to; a value of another one than the present stands until replaced.
    """

    value: T | None = None
    observed_ms: int | None = None
    origin: str = ""
    failure: Failure | None = None
    revision: int = 0


class Drawer(Generic[T]):
    """One document; made by `Shelf.drawer`.

    Attributes:
        now: What this process knows of it.
    """

    def __init__(self, database: Database, name: str, kind: type[T]) -> None:
        self.now: Kept[T] = Kept()
        self._database = database
        self._name = name
        self._decoder = msgspec.json.Decoder(kind)
        self._listeners: list[Callable[[Kept[T]], None]] = []

    def on_change(self, heard: Callable[[Kept[T]], None]) -> None:
        """Have something called with every new revision from now on, and at once if there is one."""
        self._listeners.append(heard)
        if self.now.revision:
            heard(self.now)

    async def put(self, origin: str, value: T, observed_ms: int | None, *, over: int | None = None) -> None:
        """Replace the value; it is durable, and known here, when this returns.

        Args:
            origin: The history it belongs to.
            value: The new whole.
            observed_ms: When its oldest load-bearing input was observed, epoch milliseconds UTC.
            over: The one revision that it may replace, for what goes on from there; null: any.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
            OvertakenError: If another process has put another revision meanwhile; that stands.
        """
        revision = await self._write(_PUT, (self._name, origin, observed_ms, encode(value), over))
        self._turn(Kept(value, observed_ms, origin, None, revision))

    async def fail(self, failure: Failure) -> None:
        """Note that it could not be refreshed. The value, and its age, stay as they are.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        revision = await self._write(_FAIL, (self._name, failure.at_ms, failure.status, failure.body))
        self._turn(msgspec.structs.replace(self.now, failure=failure, revision=revision))

    def read(self, row: tuple[Any, ...]) -> None:
        """Take over a row of the store. One that an earlier version wrote differently is left to be replaced."""
        origin, revision, observed_ms, body, failed_ms, status, said = row
        failure = None if failed_ms is None else Failure(failed_ms, status, said)
        try:
            value = None if body is None else self._decoder.decode(body)
        except msgspec.MsgspecError:
            _log.warning("a document of another version is not read", extra={"document": self._name})
            value = observed_ms = None
            origin = ""
        self._turn(Kept(value, observed_ms, origin, failure, revision))

    async def _write(self, statement: str, values: tuple[object, ...]) -> int:
        def work(connection: Connection) -> int:
            for (revision,) in connection.execute(statement, values).fetchall():
                return int(revision)
            raise OvertakenError

        return await self._database.write(work)

    def _turn(self, kept: Kept[T]) -> None:
        if kept.revision <= self.now.revision:
            return
        self.now = kept
        for heard in self._listeners:
            heard(kept)


class Shelf:
    """All documents of this process.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._drawers: dict[str, Drawer[Any]] = {}

    def drawer(self, name: str, kind: type[T]) -> Drawer[T]:
        """Open a document; `follow` reads it.

        Args:
            name: Its name, room first (`market.conclusions`).
            kind: The struct it holds.

        Raises:
            ValueError: If it is open already: the first to open it would be followed no more.
        """
        if name in self._drawers:
            raise ValueError(f"{name} is open already")
        drawer = Drawer(self._database, name, kind)
        self._drawers[name] = drawer
        return drawer

    async def follow(self) -> None:
        """Read what others have changed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_REVISIONS)
        moved = [
            name for name, revision in rows if name in self._drawers and revision > self._drawers[name].now.revision
        ]
        if moved:
            for name, *row in await self._database.read(_READ, (encode(moved).decode(),)):
                self._drawers[name].read(tuple(row))

"""Documents: JSON values that are stored as a whole, cached in every process and replaced by revision."""

import logging
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

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

_log: Final = logging.getLogger("verdict.storage")


class RevisionConflictError(Exception):
    """Another process has replaced the document since this process read it."""


class FetchFailure(msgspec.Struct, frozen=True):
    """A failed attempt to fetch data: when, the HTTP status (null: no answer), and the answer's text."""

    at_ms: int
    status: int | None
    body: str


class DocumentState(msgspec.Struct, Generic[T], frozen=True):
    """A document's newest value, when it was observed, and how the last refresh failed, if it did.

    `origin` names the dataset of the value. A value of another dataset stays until it is replaced.
    """

    value: T | None = None
    observed_ms: int | None = None
    origin: str = ""
    failure: FetchFailure | None = None
    revision: int = 0


class Document(Generic[T]):
    """One document; made by `DocumentStore.document`.

    Attributes:
        current: The newest state that this process has read or written.
    """

    def __init__(self, database: Database, name: str, kind: type[T]) -> None:
        self.current: DocumentState[T] = DocumentState()
        self._database = database
        self._name = name
        self._decoder = msgspec.json.Decoder(kind)
        self._listeners: list[Callable[[DocumentState[T]], None]] = []

    def on_change(self, listener: Callable[[DocumentState[T]], None]) -> None:
        """Call a listener with the current state, if there is one, and with every new revision."""
        self._listeners.append(listener)
        if self.current.revision:
            listener(self.current)

    async def put(self, origin: str, value: T, observed_ms: int | None, *, over: int | None = None) -> None:
        """Replace the value. It is durable and current when this returns.

        Args:
            origin: Dataset of the value.
            value: The new value.
            observed_ms: When its oldest necessary input was observed, epoch milliseconds UTC.
            over: The only revision that may be replaced; None replaces any.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
            RevisionConflictError: If the stored revision is not `over`; the stored value is unchanged.
        """
        revision = await self._write(_PUT, (self._name, origin, observed_ms, encode(value), over))
        self._set(DocumentState(value, observed_ms, origin, None, revision))

    async def fail(self, failure: FetchFailure) -> None:
        """Record a failed refresh. The value and its age do not change.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        revision = await self._write(_FAIL, (self._name, failure.at_ms, failure.status, failure.body))
        self._set(msgspec.structs.replace(self.current, failure=failure, revision=revision))

    def load(self, row: tuple[Any, ...]) -> None:
        """Take a row of the store. A value that cannot be decoded (an earlier version wrote it) counts as missing."""
        origin, revision, observed_ms, body, failed_ms, status, text = row
        failure = None if failed_ms is None else FetchFailure(failed_ms, status, text)
        try:
            value = None if body is None else self._decoder.decode(body)
        except msgspec.MsgspecError:
            _log.warning("Ignored a stored document of another version.", extra={"document": self._name})
            value = observed_ms = None
            origin = ""
        self._set(DocumentState(value, observed_ms, origin, failure, revision))

    async def _write(self, statement: str, values: tuple[object, ...]) -> int:
        def work(connection: Connection) -> int:
            for (revision,) in connection.execute(statement, values).fetchall():
                return int(revision)
            raise RevisionConflictError

        return await self._database.write(work)

    def _set(self, state: DocumentState[T]) -> None:
        if state.revision <= self.current.revision:
            return
        self.current = state
        for listener in self._listeners:
            listener(state)


class DocumentStore:
    """All documents of this process.

    Args:
        database: The store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._documents: dict[str, Document[Any]] = {}

    def document(self, name: str, kind: type[T]) -> Document[T]:
        """Register a document; `refresh` loads it.

        Args:
            name: Its name, package first (`market.conclusions`).
            kind: The struct it holds.

        Raises:
            ValueError: If the name is registered already: `refresh` would update only one of the two.
        """
        if name in self._documents:
            raise ValueError(f"{name} is registered already")
        document = Document(self._database, name, kind)
        self._documents[name] = document
        return document

    async def refresh(self) -> None:
        """Load the documents that other processes have changed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_REVISIONS)
        changed = [
            name
            for name, revision in rows
            if name in self._documents and revision > self._documents[name].current.revision
        ]
        if changed:
            for name, *row in await self._database.read(_READ, (encode(changed).decode(),)):
                self._documents[name].load(tuple(row))

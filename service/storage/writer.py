"""The one thread that writes, and group commit."""

import asyncio
import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from service.errors import ServiceError
from service.storage.engine import BUSY_MS, Connection, DatabaseError, error_name, is_store_failing, unavailable
from service.storage.turnstile import Turnstile

T = TypeVar("T")
Work = Callable[[Connection], T]
Answer = Callable[[Any, BaseException | None], None]
"""Takes a closure's value, or what it failed with. Called on the event loop's thread."""

Job = tuple[Work[Any], Answer]
Outcome = tuple[Answer, Any, BaseException | None]

_LARGEST_GROUP: Final = 1_024

_log = logging.getLogger("verdict.storage")


class _Lost(Exception):  # noqa: N818 -- a turn of events inside this file, never raised out of it
    """The whole group's transaction cannot be kept.

    Args:
        what: What went wrong.
        reason: SQLite's name of it.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what)
        self.reason = reason


class Writer:
    """Runs closures on a connection it alone uses, as many as wait in one transaction.

    Args:
        connection: The connection, in autocommit mode. The writer closes it.
        turnstile: What processes take turns by. The writer closes it.
        loop: Where the callers wait.

    Attributes:
        foreign_commits: Grows whenever what was remembered of the database may no longer hold: another connection has
            committed, or something of ours was rolled back. Only closures may rely on it.
        transactions: Committed since the start.
        closures: What they held.
    """

    def __init__(self, connection: Connection, turnstile: Turnstile, loop: asyncio.AbstractEventLoop) -> None:
        self.foreign_commits = 0
        self.transactions = self.closures = 0
        self._connection = connection
        self._turnstile = turnstile
        self._loop = loop
        self._version: int | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._run, name="verdict-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[Any], answer: Answer) -> None:
        """Queue a closure.

        Args:
            work: The closure.
            answer: Called with its value once it is durable, or with its exception, or with `UNAVAILABLE`.

        Raises:
            ServiceError: `UNAVAILABLE` if the writer has been closed.
        """
        if self._closed:
            raise ServiceError("UNAVAILABLE", "The service is stopping.", headers={"Retry-After": "10"})
        self._jobs.put((work, answer))

    async def close(self) -> None:
        """Finish what is queued, then let go of the file."""
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            group = [job, *self._waiting(_LARGEST_GROUP - 1)]
            self._loop.call_soon_threadsafe(_answer, self._settle(group))
        self._connection.close()
        self._turnstile.close()

    def _waiting(self, most: int) -> list[Job]:
        found: list[Job] = []
        while len(found) < most and not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                self._jobs.put(None)
                break
            found.append(job)
        return found

    def _settle(self, group: list[Job]) -> list[Outcome]:
        try:
            self._begin()
        except _Lost as lost:
            late = self._waiting(self._jobs.qsize())  # waited behind this group; a second wait would be too long
            return self._refuse([*group, *late], lost)
        try:
            outcomes = [self._attempt(work, answer) for work, answer in group]
            self._commit()
        except _Lost as lost:
            self._roll_back()
            return self._refuse(group, lost)
        self.transactions += 1
        self.closures += len(group)
        return outcomes

    def _begin(self) -> None:
        if not self._turnstile.take(BUSY_MS / 1_000):
            raise _Lost("another process keeps the turn to write", "SQLITE_BUSY")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except DatabaseError as error:
            raise _Lost("no transaction could be begun", error_name(error)) from error
        finally:
            self._turnstile.give()
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except DatabaseError as error:
            self._roll_back()
            raise _Lost("no transaction could be begun", error_name(error)) from error
        if version != self._version:
            self._version = version
            self.foreign_commits += 1

    def _attempt(self, work: Work[Any], answer: Answer) -> Outcome:
        try:
            self._connection.execute("SAVEPOINT closure")
            value = work(self._connection)
            self._connection.execute("RELEASE closure")
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised to the caller
            self._undo(error)
            return answer, None, RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
        return answer, value, None

    def _undo(self, error: BaseException) -> None:
        if is_store_failing(error) or not self._connection.in_transaction:
            raise _Lost("a closure lost the transaction", error_name(error)) from error
        try:
            self._connection.execute("ROLLBACK TO closure")
            self._connection.execute("RELEASE closure")
        except DatabaseError as failed:
            raise _Lost("a closure could not be undone", error_name(failed)) from failed
        self.foreign_commits += 1

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except DatabaseError as error:
            raise _Lost("the transaction could not be committed", error_name(error)) from error

    def _roll_back(self) -> None:
        self.foreign_commits += 1
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except DatabaseError as error:
                _log.error("a transaction could not be rolled back", extra={"reason": error_name(error)})

    def _refuse(self, group: list[Job], lost: _Lost) -> list[Outcome]:
        _log.error("%s", lost, extra={"reason": lost.reason, "calls": len(group)})
        return [(answer, None, unavailable(lost.reason)) for _, answer in group]


def _answer(outcomes: list[Outcome]) -> None:
    for answer, value, error in outcomes:
        answer(value, error)

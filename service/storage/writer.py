"""The writer thread and group commit."""

import asyncio
import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol, TypeVar

from service.errors import ServiceError
from service.storage.engine import BUSY, Connection, unavailable

T = TypeVar("T")
Work = Callable[[Connection], T]
Answer = Callable[[Any, BaseException | None], None]
"""Takes a closure's value, or what it failed with. Called on the event loop's thread."""

Job = tuple[Work[Any], Answer]
Outcome = tuple[Answer, Any, BaseException | None]

_LARGEST_GROUP: Final = 1_024

_log = logging.getLogger("verdict.storage")


class TransactionError(Exception):
    """A group's transaction cannot be committed.

    Args:
        what: What went wrong.
        reason: The store's name of it.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what)
        self.reason = reason


class TransactionSession(Protocol):
    """Transactions on one kind of store. Only the writer thread uses it."""

    foreign_commits: int

    @property
    def changes(self) -> int:
        """Rows that the connection of the open transaction has changed so far."""

    def begin(self) -> None:
        """Begin a transaction as the only writer.

        Raises:
            TransactionError: If there is none.
        """

    def attempt(self, work: Work[Any], *, alone: bool) -> Any:
        """Run one closure; if it fails, undo what it changed and nothing else.

        Args:
            work: The closure.
            alone: Whether it is the only one of its transaction.

        Raises:
            TransactionError: If the transaction is lost with it.
            BaseException: What the closure raised.
        """

    def commit(self) -> None:
        """Make the transaction durable.

        Raises:
            TransactionError: If it is not, or may not be.
        """

    def roll_back(self) -> None:
        """Discard a lost transaction."""

    def close(self) -> None:
        """Close the store."""


class Writer:
    """Runs closures on its own thread, all waiting ones in one transaction.

    Args:
        session: The session. The writer closes it.
        loop: Where the callers wait.

    Attributes:
        session: The session, for closures only.
        transactions: Committed since the start.
        closures: What they held.
        failing: Name of the failure that the last transaction ended with; null where it was committed, or where the
            store was only busy. A transaction that changes nothing needs no disk, so its commit ends no failure.
    """

    def __init__(self, session: TransactionSession, loop: asyncio.AbstractEventLoop) -> None:
        self.transactions = self.closures = 0
        self.failing: str | None = None
        self.session = session
        self._loop = loop
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
        """Finish queued closures, then close the store."""
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            group = [job, *self._waiting(_LARGEST_GROUP - 1)]
            self._loop.call_soon_threadsafe(_answer, self._answers(group))
        self.session.close()

    def _waiting(self, most: int) -> list[Job]:
        found: list[Job] = []
        while len(found) < most and not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                self._jobs.put(None)
                break
            found.append(job)
        return found

    def _answers(self, group: list[Job]) -> list[Outcome]:
        try:
            return self._settle(group)
        except Exception as error:  # noqa: BLE001 -- e.g. of a driver: if this thread ended, all callers would wait forever
            _log.exception("Unexpected exception in the writer thread.")
            self.session.roll_back()
            return self._refuse(group, TransactionError("A transaction failed.", type(error).__name__))

    def _settle(self, group: list[Job]) -> list[Outcome]:
        try:
            self.session.begin()
        except TransactionError as lost:
            late = self._waiting(self._jobs.qsize())  # waited behind this group; a second wait would be too long
            return self._refuse([*group, *late], lost)
        alone, before = len(group) == 1, self.session.changes
        try:
            outcomes = [self._attempt(work, answer, alone=alone) for work, answer in group]
            changed = self.session.changes != before
            self.session.commit()
        except TransactionError as lost:
            self.session.roll_back()
            return self._refuse(group, lost)
        if changed:
            self.failing = None
        self.transactions += 1
        self.closures += len(group)
        return outcomes

    def _attempt(self, work: Work[Any], answer: Answer, *, alone: bool) -> Outcome:
        try:
            return answer, self.session.attempt(work, alone=alone), None
        except TransactionError:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised to the caller
            return answer, None, RuntimeError(repr(error)) if isinstance(error, StopIteration) else error

    def _refuse(self, group: list[Job], lost: TransactionError) -> list[Outcome]:
        self.failing = None if lost.reason.startswith(BUSY) else lost.reason
        _log.error("%s", lost, extra={"reason": lost.reason, "calls": len(group)})
        return [(answer, None, unavailable(lost.reason)) for _, answer in group]


def _answer(outcomes: list[Outcome]) -> None:
    for answer, value, error in outcomes:
        answer(value, error)

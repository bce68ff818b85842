"""The one thread that writes, and group commit."""

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


class LostError(Exception):
    """A whole group's transaction cannot be kept.

    Args:
        what: What went wrong.
        reason: The store's name of it.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what)
        self.reason = reason


class Session(Protocol):
    """A writer's way to one kind of store. Used by the writer's thread alone."""

    foreign_commits: int

    @property
    def changes(self) -> int:
        """Rows that the connection of the open transaction has changed so far."""

    def begin(self) -> None:
        """Begin a transaction that nobody else writes beside.

        Raises:
            LostError: If there is none.
        """

    def attempt(self, work: Work[Any], *, alone: bool) -> Any:
        """Run one closure; if it fails, undo what it changed and nothing else.

        Args:
            work: The closure.
            alone: Whether it is the only one of its transaction.

        Raises:
            LostError: If the transaction is lost with it.
            BaseException: What the closure raised.
        """

    def commit(self) -> None:
        """Make the transaction durable.

        Raises:
            LostError: If it is not, or may not be.
        """

    def roll_back(self) -> None:
        """Give up what is left of a transaction that was lost."""

    def close(self) -> None:
        """Let go of the store."""


class Writer:
    """Runs closures in a session it alone uses, as many as wait in one transaction.

    Args:
        session: The session. The writer closes it.
        loop: Where the callers wait.

    Attributes:
        transactions: Committed since the start.
        closures: What they held.
        failing: Name of the failure that the last transaction ended with; null where it was committed, or where the
            store was only busy. A transaction that changes nothing needs no disk, so its commit ends no failure.
    """

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        self.transactions = self.closures = 0
        self.failing: str | None = None
        self._session = session
        self._loop = loop
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._run, name="verdict-writer", daemon=True)
        self._thread.start()

    @property
    def foreign_commits(self) -> int:
        """Grows whenever what was remembered of the database may no longer hold.

        That is when another connection has committed, or something of ours was rolled back. Only closures may rely on
        it.
        """
        return self._session.foreign_commits

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
            self._loop.call_soon_threadsafe(_answer, self._answers(group))
        self._session.close()

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
        except Exception as error:  # noqa: BLE001 -- of a driver, say: if this thread ended, all would wait for ever
            _log.exception("the writer is defective")
            self._session.roll_back()
            return self._refuse(group, LostError("a transaction broke", type(error).__name__))

    def _settle(self, group: list[Job]) -> list[Outcome]:
        try:
            self._session.begin()
        except LostError as lost:
            late = self._waiting(self._jobs.qsize())  # waited behind this group; a second wait would be too long
            return self._refuse([*group, *late], lost)
        alone, before = len(group) == 1, self._session.changes
        try:
            outcomes = [self._attempt(work, answer, alone=alone) for work, answer in group]
            changed = self._session.changes != before
            self._session.commit()
        except LostError as lost:
            self._session.roll_back()
            return self._refuse(group, lost)
        if changed:
            self.failing = None
        self.transactions += 1
        self.closures += len(group)
        return outcomes

    def _attempt(self, work: Work[Any], answer: Answer, *, alone: bool) -> Outcome:
        try:
            return answer, self._session.attempt(work, alone=alone), None
        except LostError:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised to the caller
            return answer, None, RuntimeError(repr(error)) if isinstance(error, StopIteration) else error

    def _refuse(self, group: list[Job], lost: LostError) -> list[Outcome]:
        self.failing = None if lost.reason.startswith(BUSY) else lost.reason
        _log.error("%s", lost, extra={"reason": lost.reason, "calls": len(group)})
        return [(answer, None, unavailable(lost.reason)) for _, answer in group]


def _answer(outcomes: list[Outcome]) -> None:
    for answer, value, error in outcomes:
        answer(value, error)

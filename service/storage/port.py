"""What rooms know of the store, whichever it is."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar

from service.clock import Clock
from service.errors import ServiceError
from service.storage.engine import Parameters
from service.storage.writer import Answer, Work, Writer

T = TypeVar("T")

PROBE_EVERY_S: Final = 1.0
_PROBE: Final = """
    UPDATE usage_runs SET started_ms = started_ms WHERE id = (SELECT max(id) FROM usage_runs)
"""
"""Changes nothing, and writes a page."""

LEADER: Final = "leader"
"""What the process claims that fetches from upstreams: one of all that use a store."""


class Claim(Protocol):
    """What one process at a time holds."""

    def held(self) -> bool:
        """Whether this process holds it."""

    async def contend(self) -> bool:
        """Try to take it, or prove that it is held; to be called once a second. It never raises for a failing store.

        Returns:
            Whether it is held.
        """


class Database(ABC):
    """One open store.

    Args:
        path: Where it is; see below.
        address: What another process opens it by; see below.
        writer: Its one writer in this process.

    Attributes:
        path: SQLite's file. On PostgreSQL no such file is made: it is what this process's own files stand beside.
        address: What another process of this machine opens the store by (`store.looking`). It may hold a password.
        shared: Whether processes of other machines may use it too.
    """

    shared: ClassVar[bool]

    def __init__(self, path: Path, address: str, writer: Writer) -> None:
        self.path = path
        self.address = address
        self._writer = writer

    @property
    def foreign_commits(self) -> int:
        """Grows whenever what a closure remembered of the database may no longer hold.

        That is when another connection has committed, or when something of ours was rolled back, or when nobody knows
        whether it was kept. To be compared inside closures only.
        """
        return self._writer.foreign_commits

    @property
    def failing(self) -> str | None:
        """Name of the failure that the last write ended with; null where it did not fail."""
        return self._writer.failing

    async def watch(self, clock: Clock) -> None:
        """Write now and then while writing fails, so that it is noticed when it succeeds again. Until cancelled."""
        while True:
            await clock.sleep(PROBE_EVERY_S)
            if self.failing is not None:
                with suppress(ServiceError):
                    await self.write(lambda connection: connection.execute(_PROBE))

    @property
    def transactions(self) -> int:
        """Transactions committed by this process."""
        return self._writer.transactions

    @property
    def closures(self) -> int:
        """Closures that those transactions held."""
        return self._writer.closures

    async def write(self, work: Work[T]) -> T:
        """Run a closure whole on the writer thread, in a transaction shared with the closures that wait beside it.

        The closure must not keep the connection, begin, commit or roll back, nor go on after a statement has failed,
        and should take milliseconds: everybody else's writes wait for it. Cancelling the caller does not cancel the
        closure.

        Args:
            work: Takes the connection; may be run while the event loop runs, so it must not touch what the loop owns.

        Returns:
            What the closure returned, once it is durable.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not take the transaction: nothing of it remains, unless a
                server was lost in the middle of its `COMMIT`.
            BaseException: What the closure raised; only its own changes are undone.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._writer.submit(work, partial(resolve, future))
        return await future

    def submit(self, work: Work[T], answer: Answer) -> None:
        """As `write`, for callers that are no coroutines: `answer` is called on the loop with value or failure."""
        self._writer.submit(work, answer)

    @abstractmethod
    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed.

        Args:
            sql: One statement; writes are refused by the connection.
            parameters: What its placeholders stand for.

        Returns:
            The rows.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

    @abstractmethod
    def glance(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """Read one row of what is committed, now, on the thread that asks: two microseconds where its page is at hand.

        For a row found by its key that is looked at again and again: a loop that waits for a disk serves nobody. It
        waits for no lock. A store on another machine cannot be read at once; whoever is told so asks the writer.

        Args:
            sql: One statement.
            parameters: What its placeholders stand for.

        Returns:
            The first row, None where there is none.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read at once.
        """

    @abstractmethod
    async def inspect(self, look: Work[T]) -> T:
        """Take a long look on a connection and a thread of its own, at one snapshot, holding nobody up.

        Args:
            look: Takes a connection that only reads, inside a transaction.

        Returns:
            What `look` returned.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

    @contextmanager
    def listening(self, told: Callable[[], None]) -> Iterator[None]:  # noqa: ARG002 -- of use to a store that tells
        """Be told at once of changes to who may call, where the store can tell; it is no promise that it does.

        Args:
            told: Called on the loop when other machines may have changed something, or something may have been missed.
        """
        yield

    @abstractmethod
    def claim(self, name: str) -> AbstractAsyncContextManager[Claim]:
        """Stand for what one process at a time holds, among all that use the store, until leaving.

        Args:
            name: What is claimed: a word.
        """


def resolve(future: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    """Give a future what a closure gave, unless nobody waits for it any more."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)

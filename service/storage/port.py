"""The interface of the store, for SQLite and PostgreSQL."""

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
"""Claim of the process that fetches from upstreams: one of all that use a store."""


class ProcessClaim(Protocol):
    """A claim that one process at a time holds."""

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
        path: SQLite's file. On PostgreSQL it does not exist; files of this process are named after it.
        address: Address for another process of this machine (`store.open_snapshot`). It may hold a password.
        submit: Like `write`, without a coroutine: the second argument is called on the event loop with the value or the
            exception.
        shared: Whether processes of other machines may use it too.
    """

    shared: ClassVar[bool]

    def __init__(self, path: Path, address: str, writer: Writer) -> None:
        self.path = path
        self.address = address
        self._writer = writer
        self.submit: Callable[[Work[Any], Answer], None] = writer.submit

    @property
    def foreign_commits(self) -> int:
        """Grows whenever what a closure remembered of the database may no longer hold.

        That is when another connection has committed, a closure of this process was rolled back, or the outcome of a
        commit is unknown. Compare it inside closures only.
        """
        return self._writer.session.foreign_commits

    @property
    def failing(self) -> str | None:
        """Name of the failure that the last write ended with; null where it did not fail."""
        return self._writer.failing

    async def watch(self, clock: Clock) -> None:
        """While writes fail, try one every second: a recovery is noticed, or a lost store. Runs until cancelled."""
        while True:
            await clock.sleep(PROBE_EVERY_S)
            if self.needs_probe():
                with suppress(ServiceError):
                    await self.write(lambda connection: connection.execute(_PROBE))

    def needs_probe(self) -> bool:
        """Whether only a write can show that the store can be used."""
        return self.failing is not None

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
        and should take milliseconds: all other writes wait for it. Cancelling the caller does not cancel the closure.

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
    def read_now(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read a few committed rows on the calling thread: two microseconds if their pages are cached.

        For rows that are read by their key: a disk access blocks the event loop. It waits for no lock. A store on
        another machine cannot be read at once; use `read` or the writer then.

        Args:
            sql: One statement.
            parameters: What its placeholders stand for.

        Returns:
            The rows.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read at once.
        """

    @abstractmethod
    async def inspect(self, look: Work[T]) -> T:
        """Run a long read at one snapshot, on its own connection and thread.

        Args:
            look: Takes a read-only connection inside a transaction.

        Returns:
            The value of `look`.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

    @contextmanager
    def listening(self, callback: Callable[[], None]) -> Iterator[None]:  # noqa: ARG002 -- used by PostgreSQL
        """Call back at once on changes of keys and grants by other machines, if the store supports it.

        Args:
            callback: Called on the event loop after a change, or when a change may have been missed.
        """
        yield

    @abstractmethod
    def claim(self, name: str) -> AbstractAsyncContextManager[ProcessClaim]:
        """Try to hold a claim, among all processes that use the store, until the block ends.

        Args:
            name: The claim's name, one word.
        """


def resolve(future: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    """Set a future to a closure's outcome, unless it is done (cancelled) already."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)

"""What the service hands to threads, run on the event loop: tests with a clock moved by hand then have one order.

A hand-moved clock waits for nobody. If a thread of the store, or one that computes, is late on a busy machine, minutes
of the test's time pass meanwhile. On the loop everything has run before the clock moves on. `real_threads` is for tests
of the threads themselves.
"""

import asyncio
import sys
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final, cast
from unittest.mock import patch

import uvloop

from service.clock import Clock, SystemClock
from service.storage import database, opening
from service.storage.database import SqliteDatabase, unavailable_when_failing
from service.storage.engine import Connection, Parameters, connect
from service.storage.migrate import Migration, migrate, read_migrations
from service.storage.writer import Answer, Work, Writer, _answer

_THREADED: Final = (
    "service.client",
    "service.http",
    "service.admin",
    "service.storage.postgres",
    "service.wiring",
)
"""Packages whose threads wait for something outside: a server, a process, a person."""


class InlineWriter(Writer):
    """Runs closures on the event loop, all that were queued since its last turn in one transaction."""

    def submit(self, work: Work[Any], answer: Answer) -> None:
        """Queue a closure."""
        super().submit(work, answer)
        self._loop.call_soon(self._turn)

    async def close(self) -> None:
        """Run what is queued, then close the store."""
        self._closed = True
        self._turn()
        self.session.close()

    def _run(self) -> None:
        """Leave the thread at once."""

    def _turn(self) -> None:
        while group := self._waiting(1_024):
            inline.begun += 1
            _answer(self._answers(group))


class InlineDatabase(SqliteDatabase):
    """Reads on the event loop."""

    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed."""
        await asyncio.sleep(0)
        inline.begun += 1
        with unavailable_when_failing():
            return [tuple(row) for row in self._reader._conn.execute(sql, parameters).fetchall()]


class _Inline:
    """Whether things run inline, and how many have.

    Attributes:
        active: False while a test has asked for real threads.
        begun: Calls so far.
    """

    active = True
    begun = 0


inline: Final = _Inline()


@cache
def _new_store() -> tuple[list[Migration], Connection]:
    """All migrations, and a store without rows that they made."""
    connection, migrations = connect(Path(":memory:")), read_migrations()
    migrate(connection, migrations, SystemClock())
    return migrations, connection


def _migrate(connection: Connection, migrations: list[Migration], clock: Clock) -> list[int]:
    """Copy the schema into an empty store, and apply migrations to any other.

    Building it takes 400 statements, each of which reads the schema again; thousands of tests open a store.
    """
    every, store = _new_store()
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() or migrations != every:
        return migrate(connection, migrations, clock)
    cast("Any", store).backup(connection)
    connection.execute("UPDATE migrations SET applied_ms = ?", (clock.now_ms(),))
    return [step.version for step in migrations]


def run_inline() -> None:
    """Begin, for this process."""
    patch.object(opening, "migrate", _migrate).start()
    patch.object(database, "Writer", InlineWriter).start()
    patch.object(database, "SqliteDatabase", InlineDatabase).start()
    kinds: tuple[Any, ...] = (BaseEventLoop, uvloop.Loop)
    for loops in kinds:
        loops.run_in_executor = _inlined(loops.run_in_executor)


@contextmanager
def real_threads() -> Iterator[None]:
    """Use threads as the service does."""
    with (
        patch.object(inline, "active", new=False),
        patch.object(database, "Writer", Writer),
        patch.object(database, "SqliteDatabase", SqliteDatabase),
    ):
        yield


def _inlined(run_in_executor: Callable[..., asyncio.Future[Any]]) -> Callable[..., asyncio.Future[Any]]:
    @wraps(run_in_executor)
    def run(self: asyncio.AbstractEventLoop, executor: Any, work: Callable[..., Any], *arguments: Any) -> Any:
        caller = str(sys._getframe(2).f_globals.get("__name__"))  # of `asyncio.to_thread`
        if (
            executor is not None
            or not inline.active
            or not caller.startswith("service.")
            or caller.startswith(_THREADED)
        ):
            return run_in_executor(self, executor, work, *arguments)
        inline.begun += 1
        future: asyncio.Future[Any] = self.create_future()
        self.call_soon(_resolve, future, work, *arguments)
        return future

    return run


def _resolve(future: asyncio.Future[Any], work: Callable[..., Any], *arguments: Any) -> None:
    if future.cancelled():
        return
    try:
        future.set_result(work(*arguments))
    except Exception as error:  # noqa: BLE001 - it is raised where the result is awaited
        future.set_exception(error)

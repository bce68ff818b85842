"""Connections and threads that calls share: each call has a connection of its own while it runs."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Final, TypeVar

from service.client.connection import TIMEOUT_S, ApiConnection

MOST_CALLS: Final = 16
"""Concurrent calls; more of them wait."""

T = TypeVar("T")


class CallThreads:
    """Runs blocking calls in daemon threads, not in the event loop's pool, of which standard input takes one thread."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST_CALLS)

    async def run(self, work: Callable[[], T]) -> T:
        """Run a function and return its result or raise its error. A cancelled wait does not stop it."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            self._free.release()
            if not done.done():
                settle()

        def begin() -> None:
            settle: Callable[[], None]
            try:
                settle = partial(done.set_result, work())
            except Exception as error:  # noqa: BLE001 - raised again by the waiting call
                settle = partial(done.set_exception, error)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(finish, settle)

        try:
            Thread(target=begin, daemon=True).start()
        except BaseException:
            self._free.release()
            raise
        return await done


class ConnectionPool:
    """Idle connections to one service, with a timeout for the next bytes. Safe for several threads."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self.url = url
        self._timeout_s = timeout_s
        self._idle: deque[ApiConnection] = deque()

    @contextmanager
    def connection(self, token: str | None) -> Iterator[ApiConnection]:
        """A connection with a caller's token, which is removed afterwards."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = ApiConnection(self.url, timeout_s=self._timeout_s)
        connection.token = token
        try:
            yield connection
        finally:
            connection.token = None
            self._idle.append(connection)

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

"""The store on PostgreSQL: a writer, readers, snapshots, and notifications of changes by other machines."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import asyncpg

from service.clock import Clock
from service.settings import Secret
from service.storage.database import unavailable_when_failing
from service.storage.engine import BUSY_MS, DatabaseError, Parameters, error_name, unavailable
from service.storage.port import Database, ProcessClaim
from service.storage.postgres.claim import claim_on
from service.storage.postgres.connection import READING, dial, open_snapshot, settings_of, teach
from service.storage.postgres.errors import LOST, as_database_errors
from service.storage.postgres.opening import prepare
from service.storage.postgres.session import ServerSession
from service.storage.postgres.translate import translate
from service.storage.writer import Work, Writer

T = TypeVar("T")

_READERS: Final = 4
_PATIENCE_S: Final = BUSY_MS / 1_000


CHANNEL: Final = "verdict_access"
_MAX_PAUSE_S: Final = 1.0
_FIRST_PAUSE_S: Final = 0.05

_log = logging.getLogger("verdict.storage")


class Listener:
    """Listens on a channel over its own connection and reconnects when that is lost.

    Args:
        address: The server's address.
    """

    def __init__(self, address: Secret) -> None:
        self._address = address
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> None:
        """Call a function on every change, and whenever one may have been missed."""
        self._callbacks.append(callback)

    def remove(self, callback: Callable[[], None]) -> None:
        """Stop calling a function."""
        self._callbacks.remove(callback)

    async def follow(self) -> None:
        """Listen until cancelled."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                with as_database_errors():
                    await self._listen()
                pause_s = _FIRST_PAUSE_S
            except DatabaseError as error:
                _log.warning("Lost notifications of other machines; reconnecting.", extra={"reason": error_name(error)})
                pause_s = min(2 * pause_s, _MAX_PAUSE_S)
            self._tell()
            await asyncio.sleep(pause_s)

    async def _listen(self) -> None:
        """Listen until the connection is lost."""
        gone = asyncio.Event()
        connection = await dial(self._address, "listener", {})
        try:
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(CHANNEL, self._hear)
            self._tell()
            await gone.wait()
        finally:
            connection.terminate()

    def _hear(self, *_: Any) -> None:
        self._tell()

    def _tell(self) -> None:
        for callback in tuple(self._callbacks):
            callback()


class PostgresDatabase(Database):
    """One open database on a server.

    Args:
        path: Files of this process are named after it.
        address: The server's address.
        writer: The writer.
        readers: Connections that only read.
        listener: Receives notifications of changed keys and grants.
    """

    shared = True

    def __init__(self, path: Path, address: Secret, writer: Writer, readers: Any, listener: Listener) -> None:
        super().__init__(path, address.text, writer)
        self._secret = address
        self._readers = readers
        self._listener = listener

    async def read(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Read what is committed."""
        text, values = translate(sql, parameters)
        with unavailable_when_failing(), as_database_errors():
            async with self._readers.acquire(timeout=_PATIENCE_S) as connection:
                return [tuple(row) for row in await connection.fetch(text, *values, timeout=_PATIENCE_S)]

    def read_now(self, sql: str, parameters: Parameters = ()) -> NoReturn:  # noqa: ARG002 - part of the interface
        """Always raise: a server cannot be read at once."""
        raise unavailable(LOST)

    async def inspect(self, look: Work[T]) -> T:
        """Run a function on a snapshot, on a thread."""
        with unavailable_when_failing():
            return await asyncio.to_thread(self._look, look)

    @contextmanager
    def listening(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call back at once on changes of keys and grants by any machine."""
        self._listener.add(callback)
        try:
            yield
        finally:
            self._listener.remove(callback)

    def claim(self, name: str) -> AbstractAsyncContextManager[ProcessClaim]:
        """Try to hold a claim that one process of all machines may hold."""
        return claim_on(self._secret, name)

    def _look(self, look: Work[T]) -> T:
        with open_snapshot(self._secret) as connection:
            return look(connection)


@asynccontextmanager
async def open_postgres(
    address: Secret, path: Path, clock: Clock, *, new: bool = False
) -> AsyncIterator[PostgresDatabase]:
    """Open a database on a server, made or migrated as needed; several machines may open one.

    Args:
        address: The server's address.
        path: Files of this process are named after it. Its folder is made when absent.
        clock: Stamps migrations.
        new: Make a new store for a folder that was used before.

    Yields:
        The database. On leaving, queued writes are finished and connections are closed.

    Raises:
        StorageError: If the server cannot be used; the message says what to do.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await asyncio.to_thread(prepare, address, clock, None if new else path)
    listener = Listener(address)
    writer = Writer(ServerSession(address), asyncio.get_running_loop())
    following = asyncio.ensure_future(listener.follow())
    readers = asyncpg.create_pool(
        address.text,
        min_size=0,
        max_size=_READERS,
        timeout=_PATIENCE_S,
        max_inactive_connection_lifetime=0,
        server_settings=settings_of("reader", READING),
        init=teach,
        reset=_keep,
    )
    try:
        async with readers:
            yield PostgresDatabase(path, address, writer, readers, listener)
    finally:
        following.cancel()
        await asyncio.wait([following])
        await asyncio.shield(asyncio.ensure_future(writer.close()))


async def _keep(_: Any) -> None:
    """Do nothing: one read leaves no state behind, and a reset would cost another round trip."""

"""The room's front on PostgreSQL: a writer, readers, long looks, and an ear for what other machines change."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import asyncpg

from service.clock import Clock
from service.settings import Secret
from service.storage.database import told_when_failing
from service.storage.engine import BUSY_MS, Parameters, unavailable
from service.storage.port import Claim, Database
from service.storage.postgres.claim import claim_on
from service.storage.postgres.connection import READING, settings_of, teach
from service.storage.postgres.failures import LOST, told_as_ours
from service.storage.postgres.listener import Listener
from service.storage.postgres.looking import looking
from service.storage.postgres.opening import prepare
from service.storage.postgres.session import ServerSession
from service.storage.postgres.translate import translate
from service.storage.writer import Work, Writer

T = TypeVar("T")

_READERS: Final = 4
_PATIENCE_S: Final = BUSY_MS / 1_000


class PostgresDatabase(Database):
    """One open database on a server.

    Args:
        path: What this process's own files stand beside.
        address: The server's address.
        writer: The writer.
        readers: Connections that only read.
        listener: Told by the server of changes to who may call.
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
        with told_when_failing(), told_as_ours():
            async with self._readers.acquire(timeout=_PATIENCE_S) as connection:
                return [tuple(row) for row in await connection.fetch(text, *values, timeout=_PATIENCE_S)]

    def glance(self, sql: str, parameters: Parameters = ()) -> NoReturn:  # noqa: ARG002 -- nothing is near enough
        """Say that nothing can be read at once."""
        raise unavailable(LOST)

    async def inspect(self, look: Work[T]) -> T:
        """Take a long look."""
        with told_when_failing():
            return await asyncio.to_thread(self._look, look)

    @contextmanager
    def listening(self, told: Callable[[], None]) -> Iterator[None]:
        """Be told at once of changes to who may call, on whatever machine."""
        self._listener.add(told)
        try:
            yield
        finally:
            self._listener.remove(told)

    def claim(self, name: str) -> AbstractAsyncContextManager[Claim]:
        """Stand for what one process on all machines holds."""
        return claim_on(self._secret, name)

    def _look(self, look: Work[T]) -> T:
        with looking(self._secret) as connection:
            return look(connection)


@asynccontextmanager
async def open_postgres(
    address: Secret, path: Path, clock: Clock, *, new: bool = False
) -> AsyncIterator[PostgresDatabase]:
    """Open a database on a server, made or migrated as needed; several machines may open one.

    Args:
        address: The server's address.
        path: What this process's own files stand beside. Its folder is made when absent.
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
    """Nothing is left behind by one statement: a reader need not be set back, which is an answer more to wait for."""

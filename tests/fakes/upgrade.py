"""A store that is opened by the code before a migration, and by today's."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from service.settings import Secret
from service.storage import opening as file_opening
from service.storage.database import Database, open_database
from service.storage.migrate import Migration, read_migrations
from service.storage.postgres import opening as server_opening
from service.storage.postgres.database import open_postgres
from service.storage.postgres.schema import read_all
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import Kind, postgres_dsn

_LAST: int = 9_000


class Upgrade:
    """One store, opened by the code before the migration and by today's.

    Args:
        address: A PostgreSQL database; a file where there is none.
        first_new: The number of the migration.
    """

    def __init__(
        self, path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, address: str | None, first_new: int
    ) -> None:
        self._path, self._clock, self._monkeypatch, self._address = path, clock, monkeypatch, address
        self._first_new = first_new

    @asynccontextmanager
    async def before(self) -> AsyncIterator[Database]:
        with self._monkeypatch.context() as patch:
            steps, dialect = read_all()
            patch.setattr(file_opening, "read_migrations", lambda: list(filter(self._is_old, read_migrations())))
            patch.setattr(server_opening, "read_all", lambda: (list(filter(self._is_old, steps)), dialect))
            async with self.now() as database:
                yield database

    @asynccontextmanager
    async def now(self) -> AsyncIterator[Database]:
        if self._address is None:
            async with open_database(self._path, self._clock) as file:
                yield file
        else:
            async with open_postgres(Secret(self._address), self._path, self._clock) as server:
                yield server

    def _is_old(self, step: Migration) -> bool:
        return step.version < self._first_new or step.version >= _LAST


@contextmanager
def upgrade_of(
    kind: Kind, path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, first_new: int
) -> Iterator[Upgrade]:
    """A store of a kind that the code before a migration has not opened yet."""
    if kind == "sqlite":
        yield Upgrade(path, clock, monkeypatch, None, first_new)
        return
    with postgres_dsn(fresh=True) as address:
        yield Upgrade(path, clock, monkeypatch, address, first_new)

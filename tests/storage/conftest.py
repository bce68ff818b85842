import asyncio
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.postgres.schema import say_definition
from tests.fakes.clock import FakeClock
from tests.fakes.postgres import STORES, open_either

NOBODY = 65_534


@pytest.fixture(autouse=True)
def _threads(real_threads: None) -> None:
    """Use the writer's thread: these tests are about it."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdict.db"


NOTES: Final = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"

on_both = pytest.mark.parametrize("db", STORES, indirect=True)
"""Run a test on SQLite and on PostgreSQL."""


@pytest.fixture
async def db(request: pytest.FixtureRequest, path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_either(getattr(request, "param", "sqlite"), path, clock) as opened:
        await make_notes(opened)
        yield opened


async def make_notes(db: Database) -> None:
    """Make the table that tests of the store write to."""

    def make(connection: Connection) -> None:
        for statement in say_definition(NOTES) if db.shared else [NOTES]:
            connection.execute(statement)

    await db.write(make)


async def busy(db: Database) -> tuple[asyncio.Future[None], threading.Event]:
    """Keep the writer at work until the event is set, so that who comes meanwhile shares the next transaction."""
    started, blocked = threading.Event(), threading.Event()

    def work(_: Connection) -> None:
        started.set()
        blocked.wait(60)

    first = asyncio.ensure_future(db.write(work))
    await asyncio.to_thread(started.wait, 60)
    return first, blocked


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder where the tests are nobody in particular: root may write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(0)

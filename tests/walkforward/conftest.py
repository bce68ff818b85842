from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.storage.database import Database, open_database
from service.walkforward.store import RunStore
from tests.fakes.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
def runs(database: Database) -> RunStore:
    return RunStore(database)

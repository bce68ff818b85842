"""A store, a clock moved by hand, and rooms that know what a test tells them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.storage.database import Database, open_database
from tests.fakes.clock import FakeClock
from tests.verdict.knowing import World


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
async def world(database: Database, clock: FakeClock) -> World:
    made = World(database, clock)
    await made.know()
    return made

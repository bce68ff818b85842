"""A filled market."""

import pytest

from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.table.world import World


@pytest.fixture
async def world(database: Database, clock: FakeClock) -> World:
    made = World(database, clock)
    await made.fill()
    return made

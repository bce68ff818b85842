"""A store, a clock moved by hand, and rooms that know what a test tells them."""

import pytest

from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.verdict.knowing import World


@pytest.fixture
async def world(database: Database, clock: FakeClock) -> World:
    made = World(database, clock)
    await made.know()
    return made

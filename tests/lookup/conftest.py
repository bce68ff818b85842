"""A market that lookups can be made in."""

import pytest

from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.lookup.world import LookupWorld


@pytest.fixture
async def empty(database: Database, clock: FakeClock) -> LookupWorld:
    return LookupWorld(database, clock)


@pytest.fixture
async def world(empty: LookupWorld) -> LookupWorld:
    await empty.learn()
    return empty

"""A process that leads."""

import pytest

from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.watch.streaming import Process


@pytest.fixture
async def leader(database: Database, clock: FakeClock) -> Process:
    """It knows two coins and has looked once."""
    process = Process(database, clock)
    await process.series.claim(process.origin)
    await process.quote({"BTC": 100.0, "ETH": 10.0})
    await process.sampler.round()
    return process

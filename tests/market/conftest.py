"""A venue, and the market's parts over a real session and a real store, moved by hand one round at a time."""

from collections.abc import AsyncIterator

import pytest

from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.session import UpstreamSession, open_session
from tests.fakes.clock import FakeClock
from tests.market.parts import Parts
from tests.market.venue import Venue, open_venue

AMPLE = 10_000_000


@pytest.fixture
async def venue(clock: FakeClock) -> AsyncIterator[Venue]:
    async with open_venue(clock) as opened:
        yield opened


@pytest.fixture
async def session(venue: Venue, clock: FakeClock) -> AsyncIterator[UpstreamSession]:
    async with open_session("hyperliquid", venue.url, clock, weight_per_minute=AMPLE, deadline_s=20) as opened:
        yield opened


@pytest.fixture
def store(database: Database) -> MarketStore:
    return MarketStore(database)


@pytest.fixture
async def parts(venue: Venue, session: UpstreamSession, database: Database, clock: FakeClock) -> Parts:
    made = Parts(venue, session, database, clock)
    await made.document_store.refresh()
    await made.store.claim(made.origin)
    await made.load()
    return made

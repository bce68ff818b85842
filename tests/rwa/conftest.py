"""A dex, a Binance, and the room's parts over real sessions and a real store, moved by hand one round at a time."""

from collections.abc import AsyncIterator

import pytest

from service.storage.database import Database
from service.upstream.session import open_session
from tests.fakes.clock import FakeClock
from tests.market.binance_venue import BinanceVenue, open_binance
from tests.rwa.parts import DexVenue, Parts, open_dex

AMPLE = 10_000_000


@pytest.fixture
async def dex(clock: FakeClock) -> AsyncIterator[DexVenue]:
    async with open_dex(clock) as opened:
        yield opened


@pytest.fixture
async def binance(clock: FakeClock) -> AsyncIterator[BinanceVenue]:
    async with open_binance(clock) as opened:
        yield opened


@pytest.fixture
async def parts(dex: DexVenue, binance: BinanceVenue, database: Database, clock: FakeClock) -> AsyncIterator[Parts]:
    async with (
        open_session("hyperliquid", dex.url, clock, weight_per_minute=AMPLE, deadline_s=20) as first,
        open_session("binance", binance.url, clock, weight_per_minute=AMPLE, deadline_s=20) as second,
    ):
        made = Parts(dex, binance, (first, second), database, clock)
        await made.store.claim(made.origin)
        yield made

"""The room, opened over the bundled fixtures: who asks, what is told, and what it is called."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.market.categories.desk import CategoryDesk
from service.market.categories.gecko import GeckoCategories, GeckoCoins, GeckoDrawers
from service.market.desk import MarketDesk
from service.market.observed import Chart, Quote, Snapshot, State
from service.market.schedule import Lead
from service.market.shelf import Shelf
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.settings import Settings
from service.storage.database import Database, open_database
from service.transcripts.desk import TranscriptDesk
from service.transcripts.room import open_transcripts
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
from service.upstream.visitor import open_visitor
from service.wire.cursor import Cursors
from service.wire.envelope import encode
from service.wire.transcripts import Highlights, TranscriptSources, TranscriptsQuery
from tests.fakes.clock import FakeClock
from tests.fakes.loading import calls_wait_s
from tests.fakes.market import market_of
from tests.upstream.conftest import FIXTURES

UNUSED: Any = None
COINS = {"BTC": "Bitcoin", "ETH": "Ethereum", "SOL": "Solana"}


class Office:
    """One process: its own view of the market, the same database and replay as the others."""

    def __init__(self, folder: Path, database: Database, replay: Replay, clock: FakeClock) -> None:
        self.settings = Settings(data_dir=folder, fixtures_dir=FIXTURES, source="fixtures")
        self.database, self.replay, self.clock = database, replay, clock
        self.leads = True
        self.gecko = GeckoDrawers.on(Shelf(database))
        coins = MarketDesk(clock)
        quotes = [
            (Quote(symbol, symbol, 1e8, 1.0, clock.now_ms(), 0.0000125, clock.now_ms()), Chart()) for symbol in COINS
        ]
        coins.show(Snapshot(State("test", 1, quotes_ms=clock.now_ms()), quotes))
        self.market = market_of(coins=coins, categories=CategoryDesk(clock, self.gecko, coins.view, calls_wait_s))

    async def learn(self) -> None:
        now_ms = self.clock.now_ms()
        rows = {
            symbol: GeckoCoin(title.lower(), symbol, title, 1.0, 1e9, 1e8, now_ms) for symbol, title in COINS.items()
        }
        await self.gecko.coins.put("test", GeckoCoins(rows), now_ms)
        meme = GeckoCategory("meme-token", "Meme", None, 1e9, 1.0, 1e8, now_ms)
        await self.gecko.categories.put("test", GeckoCategories((meme,)), now_ms)
        self.market.known.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TranscriptDesk]:
        async with (
            open_visitor(self.clock, f"{self.replay.url}/podcasts") as visitor,
            open_transcripts(
                self.settings, self.database, Cursors(bytes(32)), self.market, visitor, self.clock,
                lambda: self.replay.origin, Lead(lambda: self.leads),
            ) as desk,
        ):  # fmt: skip
            yield desk


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(frozen_at(FIXTURES))


@pytest.fixture
async def office(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Office]:
    async with replay_server(FIXTURES, clock, "frozen") as replay, open_database(tmp_path / "verdict.db", clock) as db:
        yield Office(tmp_path, db, replay, clock)


async def told_by(desk: TranscriptDesk, least: int) -> Highlights:
    """Wait until that many episodes were read."""
    async with asyncio.timeout(20):
        while True:
            listed = (await desk.transcripts(TranscriptsQuery(action="sources"))).data
            assert isinstance(listed, TranscriptSources)
            if sum(source.episodes for source in listed.sources) >= least:
                break
            await asyncio.sleep(0.005)
    told = (await desk.transcripts(TranscriptsQuery(limit=200))).data
    assert isinstance(told, Highlights)
    return told


async def test_the_bundled_feeds_are_read_told_once_and_harmless(office: Office) -> None:
    await office.learn()
    async with office.open() as desk:
        told = await told_by(desk, 13)
    body = encode(told).decode()
    assert set(told.meta.by_source) == {"chain-reaction", "macro-hour", "onchain-desk"}
    assert not set(body) & set("<>\x1b\u202e")
    quotes = [one.quote for one in told.highlights]
    assert len(quotes) == len(set(quotes))
    assert {coin for one in told.highlights for coin in one.coins} == set(COINS)
    assert all(one.coins or one.sectors or one.macro for one in told.highlights)


async def test_nobody_is_asked_before_there_are_coins_nor_by_who_does_not_lead(
    office: Office, clock: FakeClock
) -> None:
    async with office.open():
        await clock.advance(60)
    office.leads = False
    await office.learn()
    async with office.open():
        await clock.advance(60)
    assert await office.database.read("SELECT * FROM transcript_sources") == []


async def test_who_does_not_lead_tells_what_the_leader_has_read(
    office: Office, tmp_path: Path, clock: FakeClock
) -> None:
    other = Office(tmp_path, office.database, office.replay, clock)
    other.leads = False
    await office.learn()
    async with other.open() as follower, office.open() as leader:
        assert await told_by(leader, 13) == await told_by(follower, 13)


async def test_opened_again_it_tells_at_once_and_asks_nobody(office: Office) -> None:
    await office.learn()
    async with office.open() as desk:
        before = await told_by(desk, 13)
    office.replay.interceptor = UNUSED
    async with office.open() as desk:
        assert (await desk.transcripts(TranscriptsQuery(limit=200))).data == before


async def test_live_without_a_list_of_feeds_nothing_is_read(office: Office, tmp_path: Path, clock: FakeClock) -> None:
    office.settings = Settings(data_dir=tmp_path, fixtures_dir=FIXTURES, source="live", youtube_captions="on")
    await office.learn()
    async with office.open() as desk:
        await clock.advance(60)
        answer = await desk.transcripts(TranscriptsQuery())
    assert (answer.counted, answer.data) == (False, Highlights([], answer.data.meta))  # type: ignore[attr-defined]
    assert await office.database.read("SELECT * FROM transcript_sources") == []

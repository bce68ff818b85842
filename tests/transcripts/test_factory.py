"""The room, opened over the bundled fixtures: who asks, what is told, and what it is called."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.market.categories.documents import GeckoCategories, GeckoCoins, GeckoDocuments
from service.market.categories.service import CategoryService
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.market.symbols import canonical
from service.scheduler import Leadership
from service.sentiment.matcher import Known
from service.settings import Settings
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.transcripts import factory
from service.transcripts.factory import open_transcripts
from service.transcripts.refresh import KnownMarket, TranscriptRefresh
from service.transcripts.service import TranscriptService
from service.upstream.feed_fetcher import open_feed_fetcher
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
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
        self.gecko = GeckoDocuments.on(DocumentStore(database))
        coins = MarketService(clock)
        quotes = [
            (Quote(symbol, symbol, 1e8, 1.0, clock.now_ms(), 0.0000125, clock.now_ms()), CoinChart())
            for symbol in COINS
        ]
        coins.show(MarketSnapshot(MarketState("test", 1, quotes_ms=clock.now_ms()), quotes))
        self.market = market_of(coins=coins, categories=CategoryService(clock, self.gecko, coins.view, calls_wait_s))

    async def learn(self) -> None:
        now_ms = self.clock.now_ms()
        rows = {
            symbol: GeckoCoin(title.lower(), symbol, title, 1.0, 1e9, 1e8, now_ms) for symbol, title in COINS.items()
        }
        await self.gecko.coins.put("test", GeckoCoins(rows), now_ms)
        meme = GeckoCategory("meme-token", "Meme", None, 1e9, 1.0, 1e8, now_ms)
        await self.gecko.categories.put("test", GeckoCategories((meme,)), now_ms)
        self.market.prices_known.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TranscriptService]:
        async with (
            open_feed_fetcher(self.clock, f"{self.replay.url}/podcasts") as fetcher,
            open_transcripts(
                self.settings, self.database, Cursors(bytes(32)), self.market, fetcher, self.clock,
                lambda: self.replay.origin, Leadership(lambda: self.leads),
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


async def told_by(desk: TranscriptService, least: int) -> Highlights:
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


async def test_coins_are_known_by_their_title_and_by_how_many_the_venue_trades_as_one(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[KnownMarket] = []

    class WatchedRefresh(TranscriptRefresh):
        def __init__(self, *parts: Any) -> None:
            seen.append(parts[-1])
            super().__init__(*parts)

    monkeypatch.setattr(factory, "TranscriptRefresh", WatchedRefresh)
    await office.learn()
    quotes = [(Quote(name, canonical(name), 1e8, 1.0, 1, 0.0, 1), CoinChart()) for name in ("BTC", "kPEPE")]
    office.market.coins.show(MarketSnapshot(MarketState("test", 2, quotes_ms=1), quotes))
    async with office.open():
        assert seen[0].coins() == [Known("BTC", "Bitcoin"), Known("PEPE", "", 1_000)]


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

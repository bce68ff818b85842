"""The room, opened over a venue, two publishers and an index: who asks, when, and what the others then know."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from service.clock import HOUR_MS
from service.errors import ServiceError
from service.market.categories.documents import GeckoCategories, GeckoCoins, GeckoDocuments, GeckoMembers, Membership
from service.market.categories.service import CategoryService
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.market.store import MarketStore
from service.scheduler import Leadership
from service.sentiment.factory import open_sentiment
from service.sentiment.refresh import EVERY_S
from service.sentiment.service import SentimentService
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.upstream.session import open_session
from service.wire.sentiment import NO_MOOD, CategorySentiment
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import calls_wait_s
from tests.fakes.market import market_of
from tests.sentiment.press import AMPLE, FEEDS, Press, open_press

QUOTE = Quote("SOL", "SOL", 2e8, 44.0, START_MS, 0.0000125, START_MS, prev_price=40.0)


class Office:
    """One process: its own shelf, its own view of the market, the same database and publishers as the others."""

    def __init__(self, url: str, database: Database, clock: FakeClock) -> None:
        self.leads = True
        self.database, self.clock, self._url = database, clock, url
        self.shelf = DocumentStore(database)
        self.gecko = GeckoDocuments.on(self.shelf)
        coins = MarketService(clock)
        coins.show(MarketSnapshot(MarketState("test", 1, quotes_ms=START_MS), [(QUOTE, CoinChart())]))
        self.market = market_of(
            coins=coins,
            categories=CategoryService(clock, self.gecko, coins.view, calls_wait_s),
            store=MarketStore(database),
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SentimentService]:
        async with AsyncExitStack() as stack:
            sessions = {
                name: await stack.enter_async_context(
                    open_session(name, f"{self._url}/{name}", self.clock, weight_per_minute=AMPLE, deadline_s=20)
                )
                for name in (*FEEDS, "alternative")
            }
            yield await stack.enter_async_context(
                open_sentiment(
                    self.database,
                    self.shelf,
                    self.market,
                    self.clock,
                    sessions,
                    lambda: "test",
                    Leadership(lambda: self.leads),
                )
            )

    async def read_categories(self) -> None:
        """Have CoinGecko's categories known, as the market's loop does."""
        await self.gecko.coins.put(
            "test", GeckoCoins({"SOL": GeckoCoin("solana", "SOL", "Solana", 44.0, 2e10, 1e9, START_MS)}), START_MS
        )
        listed = GeckoCategory("layer-1", "Layer 1 (L1)", None, 2e10, 1.0, 1e9, START_MS)
        await self.gecko.categories.put("test", GeckoCategories((listed,)), START_MS)
        members = GeckoMembers({"layer-1": Membership(frozenset({"solana"}), START_MS)})
        await self.gecko.members.put("test", members, START_MS)


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "verdict.db", clock) as opened:
        yield opened


@pytest.fixture
async def press(clock: FakeClock) -> AsyncIterator[Press]:
    async with open_press(clock) as opened:
        opened.publish("coindesk", "Solana soars")
        yield opened


@pytest.fixture
def office(press: Press, database: Database, clock: FakeClock) -> Office:
    return Office(press.url, database, clock)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for is of many kinds
            await asyncio.sleep(0.001)


def answers(desk: SentimentService, name: str) -> bool:
    try:
        desk.category(name)
    except ServiceError:
        return False
    return True


async def test_nothing_is_asked_before_there_are_coins_and_then_everything_at_once(
    office: Office, press: Press, clock: FakeClock
) -> None:
    async with office.open() as desk:
        await clock.advance(60)
        assert press.asked() == (0, 0, 0)
        assert desk.mood("SOL") is NO_MOOD
        office.market.prices_known.set()
        await until(lambda: desk.mood("SOL") is not NO_MOOD)
        assert press.asked() == (1, 1, 1)
        assert desk.readiness()["ready"] is True


@pytest.mark.promise("category.sentiment-payload")
async def test_a_category_answers_as_soon_as_its_coins_are_known(office: Office, clock: FakeClock) -> None:
    office.market.prices_known.set()
    async with office.open() as desk:
        await until(lambda: desk.mood("SOL") is not NO_MOOD)
        with pytest.raises(ServiceError, match="Categories") as early:
            desk.category("Layer 1 (L1)")
        assert early.value.code == "UNAVAILABLE"
        await office.read_categories()
        await clock.advance(EVERY_S)
        await until(lambda: answers(desk, "Layer 1 (L1)"))
        raw = desk.category("Layer 1 (L1)").data
        assert isinstance(raw, msgspec.Raw)
        said = msgspec.json.decode(bytes(raw), type=CategorySentiment)
        assert [(coin.symbol, coin.score is not None) for coin in said.coins] == [("SOL", True)]
        assert said.mentions == 1


@pytest.mark.promise("errors.unknown-category", "category.exact-name")
@pytest.mark.parametrize("name", ["layer 1 (l1)", "Layer 1", " Layer 1 (L1)"])
async def test_an_unknown_category_is_told_with_those_that_there_are(office: Office, name: str) -> None:
    office.market.prices_known.set()
    async with office.open() as desk:
        await office.read_categories()
        await until(lambda: desk.mood("SOL") is not NO_MOOD)
        with pytest.raises(ServiceError) as refused:
            desk.category(name)
    assert (refused.value.code, refused.value.details) == ("UNKNOWN_CATEGORY", {"candidates": ["Layer 1 (L1)"]})


async def test_who_does_not_lead_asks_nobody_and_answers_what_the_leader_has_concluded(
    office: Office, press: Press, database: Database, clock: FakeClock
) -> None:
    other = Office(press.url, database, clock)
    other.leads = False
    office.market.prices_known.set()
    other.market.prices_known.set()
    async with other.open() as follower, office.open() as leader:
        await office.read_categories()
        await until(lambda: leader.mood("SOL") is not NO_MOOD)
        await clock.settle()  # the loop has begun to wait
        await clock.advance(EVERY_S)
        await until(lambda: answers(leader, "Layer 1 (L1)"))
        assert follower.mood("SOL") is NO_MOOD
        await other.shelf.refresh()
        assert follower.mood("SOL") == leader.mood("SOL")
        assert follower.category("Layer 1 (L1)") == leader.category("Layer 1 (L1)")
    assert press.asked() == (1, 1, 1)


async def test_opened_again_it_answers_at_once(
    office: Office, press: Press, database: Database, clock: FakeClock
) -> None:
    office.market.prices_known.set()
    async with office.open() as desk:
        await until(lambda: desk.mood("SOL") is not NO_MOOD)
        mood = desk.mood("SOL")
    async with Office(press.url, database, clock).open() as again:
        assert again.mood("SOL") == mood


async def test_no_round_goes_on_after_it_was_closed(office: Office, press: Press, clock: FakeClock) -> None:
    office.market.prices_known.set()
    async with office.open() as desk:
        await until(lambda: desk.mood("SOL") is not NO_MOOD)
    await clock.advance(HOUR_MS / 1000)
    assert press.asked() == (1, 1, 1)

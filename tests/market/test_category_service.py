"""What is said of a category."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from service.errors import ServiceError
from service.market.categories.documents import GeckoCategories, GeckoCoins, GeckoDocuments, GeckoMembers, Membership
from service.market.categories.service import MOST_CANDIDATES, CategoryService, closest_names
from service.market.models import CoinView
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.storage.database import Database
from service.storage.documents import DocumentStore, FetchFailure
from service.wire.market import CategoryInfo, TrendCounts
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import calls_wait_s
from tests.market.gecko import Gecko, coin, open_gecko, raw, said

TODAY_MS = START_MS // DAY_MS * DAY_MS


def category(name: str, cap: float | None = 1e9) -> GeckoCategory:
    return GeckoCategory(name.lower(), name, f"All about {name}.", cap, 1.23456, 5e8, START_MS)


def known(symbol: str, cap: float | None, seen_ms: int = START_MS) -> GeckoCoin:
    return GeckoCoin(symbol.lower(), symbol, f"The {symbol}", 1.0, cap, 7.0, seen_ms)


class Stage:
    """A desk over documents that a test writes.

    Attributes:
        view: What the venue's coins are said to be.
    """

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.view: dict[str, CoinView] = {}
        self.coins: dict[str, GeckoCoin] = {}
        self.documents = GeckoDocuments.on(DocumentStore(database))
        self.desk = CategoryService(clock, self.documents, lambda: self.view, calls_wait_s)

    def list_coin(self, symbol: str, cap: float | None, change: float | None = 0.0, **told: Any) -> None:
        usual = {
            "price": 2.0, "price_ms": START_MS - 5_000, "change_24h": change, "through_ms": TODAY_MS,
            "trend_daily": "UP", "trend_daily_since_ms": TODAY_MS - 2 * DAY_MS,
            "changes_from": {"1h": 1, "24h": TODAY_MS - DAY_MS},
        }  # fmt: skip
        self.view = self.view | {symbol: coin(symbol, **(usual | told))}
        self.coins[symbol] = known(symbol, cap)

    async def tell(self, *categories: GeckoCategory, **members: tuple[str, ...]) -> None:
        await self.documents.coins.put("test", GeckoCoins(dict(self.coins)), START_MS)
        await self.documents.categories.put("test", GeckoCategories(categories), START_MS)
        read = {name: Membership(frozenset(ids), START_MS) for name, ids in members.items()}
        await self.documents.members.put("test", GeckoMembers(read), START_MS)

    def info(self, name: str) -> CategoryInfo:
        return said(self.desk.info(name))


@pytest.fixture
def stage(database: Database, clock: FakeClock) -> Stage:
    return Stage(database, clock)


def refused(stage: Stage, name: str) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        stage.desk.info(name)
    return caught.value


@pytest.mark.promise("category.info-payload")
async def test_a_category_holds_its_coins_the_largest_first_and_what_they_do(stage: Stage) -> None:
    stage.list_coin("SMALL", 1e6, -1.5, trend_daily="DOWN", trend_daily_since_ms=TODAY_MS)
    stage.list_coin("LARGE", 9e9, 4.25)
    stage.list_coin(
        "UNSIZED", None, None, changes_from={}, trend_daily="HODL", trend_daily_since_ms=TODAY_MS - 30 * DAY_MS
    )
    stage.list_coin("OTHER", 5e9)
    await stage.tell(category("Dogs"), dogs=("large", "small", "unsized", "nobody"))
    assert msgspec.to_builtins(stage.info("Dogs")) == {
        "name": "Dogs",
        "description": "All about Dogs.",
        "coins": [
            {"symbol": "LARGE", "name": "The LARGE", "price": 2.0, "change_24h": 4.25, "market_cap": 9e9,
             "trend_daily": "UP", "streak_days": 3, "changes_from": {"24h": iso(TODAY_MS - DAY_MS)}},
            {"symbol": "SMALL", "name": "The SMALL", "price": 2.0, "change_24h": -1.5, "market_cap": 1e6,
             "trend_daily": "DOWN", "streak_days": 1, "changes_from": {"24h": iso(TODAY_MS - DAY_MS)}},
            {"symbol": "UNSIZED", "name": "The UNSIZED", "price": 2.0, "change_24h": None, "market_cap": None,
             "trend_daily": "HODL", "streak_days": 31, "changes_from": {}},
        ],
        "trends": {"UP": 1, "HODL": 1, "DOWN": 1},
        "market_cap": 1e9,
        "change_24h": 1.2346,
        "volume_24h": 5e8,
        "leaders": ["LARGE"],
        "laggards": ["SMALL"],
    }  # fmt: skip
    assert list(CategoryInfo.__struct_fields__) == [
        "name", "description", "coins", "trends", "market_cap", "change_24h", "volume_24h", "leaders", "laggards"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "leaders", "laggards"),
    [
        (0, [], []),
        (1, ["C0"], []),
        (2, ["C0"], ["C1"]),
        (5, ["C0", "C1", "C2"], ["C4", "C3"]),
        (6, ["C0", "C1", "C2"], ["C5", "C4", "C3"]),
        (9, ["C0", "C1", "C2"], ["C8", "C7", "C6"]),
    ],
)
async def test_leaders_and_laggards_never_overlap(
    stage: Stage, count: int, leaders: list[str], laggards: list[str]
) -> None:
    for place in range(count):
        stage.list_coin(f"C{place}", 1.0, -float(place))
    stage.list_coin("UNKNOWN", 1.0, None)
    await stage.tell(category("Dogs"), dogs=tuple(row.id for row in stage.coins.values()))
    info = stage.info("Dogs")
    assert (info.leaders, info.laggards) == (leaders, laggards)


@pytest.mark.slow
@pytest.mark.promise("category.exact-name", "errors.unknown-category")
@pytest.mark.parametrize("name", ["dogs", "Dog", " Dogs", "Dogs ", "DOGS", "", "x" * 300, "\x00", "🐕"])
async def test_a_name_that_is_not_exact_is_unknown_with_the_closest_names(stage: Stage, name: str) -> None:
    await stage.tell(category("Dogs"), category("Cats"), dogs=())
    error = refused(stage, name)
    assert (error.code, error.status) == ("UNKNOWN_CATEGORY", 404)
    assert error.details is not None
    assert error.details["candidates"] == (["Dogs"] if "dog" in name.lower() else [])


async def test_the_right_name_in_another_case_is_the_first_candidate(stage: Stage) -> None:
    await stage.tell(*map(category, ("Big Memes", "Memes", "MEME", "Meme", "Metaverse", "Oracle")))
    error = refused(stage, "mEmE")
    assert error.details == {"candidates": ["MEME", "Meme", "Memes", "Big Memes"]}
    assert error.message.startswith("No category is called 'mEmE'. Names are exact, including capitals. The closest: ")


def test_names_with_a_word_that_begins_so_come_before_those_that_hold_the_letters() -> None:
    known = ["Modular Blockchain", "Artificial Intelligence (AI)", "AI Agents", "Airdropped Tokens by NFT Marketplaces"]
    assert closest_names("AI", known) == ["AI Agents", *known[3:], "Artificial Intelligence (AI)", "Modular Blockchain"]


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=12))
def test_any_name_gives_at_most_five_known_candidates(name: str, names: list[str]) -> None:
    found = closest_names(name, names)
    assert len(found) <= MOST_CANDIDATES
    assert set(found) <= set(names)


@pytest.mark.promise("category.info-as-of")
async def test_it_is_as_old_as_its_oldest_price(stage: Stage) -> None:
    stage.list_coin("A", 1.0)
    stage.list_coin("B", 1.0, price_ms=START_MS - 40_000)
    stage.list_coin("C", 1.0, price=None, price_ms=None, change_24h=None)
    await stage.tell(category("Dogs"), category("Cats"), dogs=("a", "b", "c"), cats=("a",))
    assert stage.desk.info("Dogs").as_of_ms == START_MS - 40_000
    assert stage.desk.info("Cats").as_of_ms == START_MS - 5_000
    gone = stage.info("Dogs").coins[-1]
    assert (gone.symbol, gone.price, gone.change_24h) == ("C", None, None)


async def test_without_any_price_it_is_as_old_as_what_is_left(stage: Stage, clock: FakeClock) -> None:
    stage.list_coin("A", 1.0, price=None, price_ms=None, change_24h=None)
    await stage.tell(category("Dogs"), category("Bare"), dogs=("a",), bare=())
    assert stage.desk.info("Dogs").as_of_ms == START_MS
    assert stage.info("Bare").coins == []
    await clock.advance(2 * 86_400 + 1)
    assert stage.desk.info("Dogs").as_of_ms == TODAY_MS
    info = stage.info("Dogs")
    assert (info.market_cap, info.change_24h, info.volume_24h) == (None, None, None)
    assert (info.coins[0].market_cap, info.coins[0].trend_daily) == (None, "UP")
    assert refused(stage, "Bare").code == "UNAVAILABLE"


async def test_coingeckos_figures_turn_null_after_48_hours_and_the_venues_do_not(
    stage: Stage, clock: FakeClock
) -> None:
    stage.list_coin("A", 1.0)
    await stage.tell(category("Dogs"), dogs=("a",))
    await clock.advance(2 * 86_400)
    assert stage.info("Dogs").market_cap == 1e9
    await clock.advance(0.001)
    info = stage.info("Dogs")
    assert (info.market_cap, info.change_24h, info.volume_24h, info.coins[0].market_cap) == (None, None, None, None)
    assert (info.description, info.coins[0].price) == ("All about Dogs.", 2.0)


async def test_a_coin_the_venue_does_not_list_now_is_left_out(stage: Stage) -> None:
    stage.list_coin("A", 1.0)
    stage.coins["GONE"] = known("GONE", 5.0)
    await stage.tell(category("Dogs"), dogs=("gone", "a"))
    assert [row.symbol for row in stage.info("Dogs").coins] == ["A"]
    assert stage.desk.memberships() == {"Dogs": ["A"]}


async def test_unknown_trends_and_figures_are_null_and_not_counted(stage: Stage) -> None:
    stage.list_coin("A", 1.0, None, trend_daily=None, trend_daily_since_ms=None, through_ms=None)
    stage.list_coin("B", 0.5, -0.00001, trend_daily_since_ms=None)
    await stage.tell(
        replace(category("Dogs", None), change_24h=None, volume_24h=None, description=None), dogs=("a", "b")
    )
    info = stage.info("Dogs")
    assert [(row.trend_daily, row.streak_days) for row in info.coins] == [(None, None), ("UP", None)]
    assert info.trends == TrendCounts(1, 0, 0)
    assert (info.description, info.market_cap, info.change_24h, info.volume_24h) == (None, None, None, None)


async def test_a_change_is_never_a_negative_zero(stage: Stage) -> None:
    await stage.tell(replace(category("Dogs"), change_24h=-0.00001), dogs=())
    assert b'"change_24h":0.0' in raw(stage.desk.info("Dogs"))


async def test_an_answer_is_made_once_for_as_long_as_it_holds(stage: Stage, clock: FakeClock) -> None:
    stage.list_coin("A", 1.0)
    await stage.tell(category("Dogs"), dogs=("a",))
    first = stage.desk.info("Dogs")
    await clock.advance(60)
    assert stage.desk.info("Dogs") is first
    stage.view = dict(stage.view)
    second = stage.desk.info("Dogs")
    assert second is not first
    await stage.tell(category("Dogs", 2e9), dogs=("a",))
    assert stage.desk.info("Dogs") is not second
    assert stage.info("Dogs").market_cap == 2e9


async def test_before_coingecko_was_asked_there_is_nothing_to_say_yet(stage: Stage) -> None:
    error = refused(stage, "Dogs")
    assert (error.code, error.headers["Retry-After"]) == ("UNAVAILABLE", "45")
    assert stage.desk.category_names() == []
    assert stage.desk.titles() == {}
    assert stage.desk.memberships() == {}


@pytest.mark.promise("errors.upstream-details")
async def test_where_coingecko_failed_before_it_told_anything_its_failure_is_passed_on(stage: Stage) -> None:
    await stage.documents.categories.fail(FetchFailure(START_MS, 429, "slow down"))
    error = refused(stage, "Dogs")
    assert (error.code, error.status) == ("UPSTREAM_4XX", 502)
    assert error.details == {"upstream": "coingecko", "upstreamStatus": 429, "upstreamBody": "slow down"}
    await stage.tell(category("Dogs"))
    await stage.documents.members.fail(FetchFailure(START_MS, None, "no answer within 10 s"))
    assert refused(stage, "Dogs").code == "UPSTREAM_UNREACHABLE"


async def test_a_category_whose_coins_were_not_read_yet_is_worth_another_try(stage: Stage) -> None:
    await stage.tell(category("Dogs"), category("Cats"), cats=())
    error = refused(stage, "Dogs")
    assert error.code == "UNAVAILABLE"
    assert "Coins of the category 'Dogs' are not available yet" in error.message


async def test_others_are_told_of_every_category_that_has_been_read(stage: Stage) -> None:
    stage.list_coin("A", 1.0)
    stage.list_coin("B", 3.0)
    stage.list_coin("C", None)
    await stage.tell(category("Dogs"), category("Cats"), category("Owls"), dogs=("a", "b", "c", "z"), owls=())
    desk = stage.desk
    assert desk.category_names() == ["Dogs", "Cats", "Owls"]
    assert desk.memberships() == {"Dogs": ["B", "A", "C"], "Owls": []}
    assert desk.titles() == {"A": "The A", "B": "The B", "C": "The C"}
    assert desk.readiness() == {"categories": 3, "read": 2, "coins": 3, "failing": False}


async def test_readiness_tells_of_failures(stage: Stage) -> None:
    await stage.documents.coins.fail(FetchFailure(START_MS, 500, "down"))
    assert stage.desk.readiness() == {"categories": 0, "read": 0, "coins": 0, "failing": True}


@pytest.fixture
async def gecko(clock: FakeClock, database: Database) -> AsyncIterator[Gecko]:
    async with open_gecko(clock, database) as opened:
        opened.broken["market_chart"] = web.Response(status=404)  # pasts are not what these tests are about
        await opened.refresh.round()
        yield opened


async def test_over_the_recorded_market_every_category_answers_with_its_own_coins(gecko: Gecko) -> None:
    names = gecko.desk.category_names()
    assert len(names) == 37
    for name in names:
        info = gecko.info(name)
        assert info.name == name
        assert [row.symbol for row in info.coins] == gecko.desk.memberships()[name]
        caps = [row.market_cap or 0 for row in info.coins]
        assert caps == sorted(caps, reverse=True)
        assert sum(msgspec.structs.astuple(info.trends)) == len(info.coins)
        assert not set(info.leaders) & set(info.laggards)
        assert gecko.desk.info(name).as_of_ms in {START_MS, START_MS // MINUTE_MS * MINUTE_MS}
        assert info.market_cap is None or info.market_cap >= sum(caps) * 0.999
    meme = gecko.info("Meme")
    pepe = next(row for row in meme.coins if row.symbol == "PEPE")
    assert pepe.price == gecko.view["PEPE"].price
    assert pepe.name == "Pepe"
    assert next(row.name for row in meme.coins if row.symbol == "DOGE") == "Dogecoin"
    assert (pepe.market_cap or 0) / (pepe.price or 1) == pytest.approx(420_690_000e6, rel=0.01)
    assert gecko.info("Stablecoins").coins == []


async def test_when_coingecko_is_down_the_last_copy_is_served_with_the_venues_new_prices(gecko: Gecko) -> None:
    before = gecko.info("Oracle")
    gecko.broken["/coins"] = web.Response(status=503, body=b"maintenance")
    await gecko.clock.advance(HOUR_MS / 1_000)
    gecko.look()
    with pytest.raises(ServiceError):
        await gecko.refresh.round()
    after = gecko.info("Oracle")
    assert after.market_cap == before.market_cap
    assert [row.symbol for row in after.coins] == [row.symbol for row in before.coins]
    assert [row.price for row in after.coins] != [row.price for row in before.coins]
    assert gecko.desk.info("Oracle").as_of_ms == START_MS + HOUR_MS


async def test_another_process_answers_the_same_from_the_store(gecko: Gecko) -> None:
    before = raw(gecko.desk.info("Oracle"))
    gecko.restart()
    await gecko.document_store.refresh()
    assert raw(gecko.desk.info("Oracle")) == before

"""News items in the database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.clock import DAY_MS
from service.sentiment.aggregation import ScoredItem
from service.sentiment.store import NewsStore
from service.storage.database import Database, open_database
from tests.fakes.clock import START_MS, FakeClock


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[NewsStore]:
    async with open_database(tmp_path / "verdict.db", FakeClock()) as database:
        yield NewsStore(database)


def item(key: str, at_ms: int = START_MS, coins: tuple[str, ...] = ("BTC",)) -> ScoredItem:
    return ScoredItem(
        key, "coindesk", "A 'title'; DROP TABLE news_items", "", at_ms, 0.5, coins, ("Layer 1",), START_MS
    )


async def test_what_is_put_is_read_oldest_first(store: NewsStore) -> None:
    items = [item("b", START_MS - 1), item("a")]
    await store.put("live", items, START_MS)
    assert await store.read("live", 0) == items
    assert await store.read("live", START_MS - 1) == items[1:]


async def test_an_item_known_keeps_its_time_and_takes_over_whom_it_is_about_and_its_score(store: NewsStore) -> None:
    await store.put("live", [item("a")], START_MS)
    later = ScoredItem("a", "other", "x", "y", 1, -1.0, ("ETH",), (), 2)
    await store.put("live", [later], START_MS)
    (kept,) = await store.read("live", 0)
    assert (kept.score, kept.published_ms, kept.source, kept.coins, kept.categories) == (
        -1.0, START_MS, "coindesk", ("ETH",), ()
    )  # fmt: skip


async def test_items_are_kept_for_thirty_days(store: NewsStore) -> None:
    await store.put("live", [item("old", START_MS - 30 * DAY_MS), item("older", START_MS - 30 * DAY_MS - 1)], 0)
    await store.put("live", [], START_MS)
    assert [each.id for each in await store.read("live", 0)] == ["old"]


async def test_items_of_another_origin_are_neither_read_nor_kept(store: NewsStore) -> None:
    await store.put("live", [item("a")], START_MS)
    assert await store.read("fixtures", 0) == []
    await store.put("fixtures", [item("b")], START_MS)
    assert await store.read("live", 0) == []
    assert [each.id for each in await store.read("fixtures", 0)] == ["b"]


async def test_the_table_refuses_what_cannot_be(store: NewsStore, tmp_path: Path) -> None:
    assert isinstance(store._database, Database)
    with pytest.raises(Exception, match="CHECK constraint"):
        await store.put("live", [item("future", START_MS + 1)], START_MS)

"""The replayed news feeds and index: each in its own form, nothing of tomorrow, moved with the recording."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import pytest

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.feeds.dates import parse_http_date
from service.sentiment.sources.alternative import FEAR_GREED
from service.sentiment.sources.rss import RssDecoder, Story
from service.upstream.fixture_set import pack, read_set, write_set
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
from service.upstream.session import open_session
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES

FEEDS = {"coindesk": "/arc/outboundfeeds/rss", "cointelegraph": "/rss"}
each_feed = pytest.mark.parametrize("feed", FEEDS)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(frozen_at(FIXTURES))


@pytest.fixture
async def replay(clock: FakeClock) -> AsyncIterator[Replay]:
    async with replay_server(FIXTURES, clock, "shifted") as opened:
        yield opened


async def fetch(url: str) -> tuple[bytes, Any]:
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        assert response.status == 200
        return await response.read(), response.headers


async def stories(replay: Replay, feed: str) -> tuple[Story, ...]:
    return RssDecoder(feed).decode((await fetch(replay.base(feed) + FEEDS[feed]))[0]).stories


def dates(found: tuple[Story, ...]) -> list[int]:
    return [story.published_ms for story in found if story.published_ms is not None]


@each_feed
async def test_a_feed_holds_the_newest_fifty_items_of_what_was_published_until_now(
    replay: Replay, clock: FakeClock, feed: str
) -> None:
    found = dates(await stories(replay, feed))
    assert len(found) == 50
    assert found == sorted(found, reverse=True)
    assert clock.now_ms() - DAY_MS < found[0] <= clock.now_ms()


@each_feed
async def test_an_earlier_instant_shows_an_earlier_feed(replay: Replay, clock: FakeClock, feed: str) -> None:
    late = await stories(replay, feed)
    clock.set_wall(clock.now_ms() - 12 * HOUR_MS)
    early = await stories(replay, feed)
    assert dates(early)[0] <= clock.now_ms()
    assert {story.id for story in early} & {story.id for story in late}
    assert early[0].id in [story.id for story in late][1:]


@each_feed
async def test_dates_move_with_the_recording(replay: Replay, clock: FakeClock, feed: str) -> None:
    before = await stories(replay, feed)
    clock.set_wall(clock.now_ms() + 100 * DAY_MS)
    after = await stories(replay, feed)
    assert [story.title for story in after] == [story.title for story in before]
    assert dates(after) == [at_ms + 100 * DAY_MS for at_ms in dates(before)]


@each_feed
async def test_a_feed_is_what_its_publisher_serves(replay: Replay, clock: FakeClock, feed: str) -> None:
    body, headers = await fetch(replay.base(feed) + FEEDS[feed])
    assert headers["Content-Type"].startswith("application/rss+xml")
    assert parse_http_date(headers["Date"]) == clock.now_ms() // SECOND_MS * SECOND_MS
    assert b"<lastBuildDate>" in body
    assert b"+0000</pubDate>" in body
    assert body == (await fetch(replay.base(feed) + FEEDS[feed]))[0]


async def test_the_index_is_told_newest_first_and_as_many_as_asked_for(replay: Replay, clock: FakeClock) -> None:
    url = replay.base("alternative") + "/fng/"
    for query, count in (("", 1), ("?limit=3", 3), ("?limit=x", 1), ("?limit=%C2%B2", 1)):
        assert len(FEAR_GREED.decode((await fetch(url + query))[0]).data) == count
    rows = FEAR_GREED.decode((await fetch(url + "?limit=0"))[0]).data
    assert len(rows) > 300
    assert rows[0].timestamp == clock.now_ms() // DAY_MS * DAY_MS // SECOND_MS
    assert [row.timestamp for row in rows] == sorted((row.timestamp for row in rows), reverse=True)


async def test_the_index_of_tomorrow_is_not_told_and_days_move(replay: Replay, clock: FakeClock) -> None:
    url = replay.base("alternative") + "/fng/?limit=1"
    said = msgspec.json.decode((await fetch(url))[0])
    assert said["metadata"] == {"error": None}
    assert said["data"][0]["time_until_update"] == "1"
    clock.set_wall(clock.now_ms() + 7 * DAY_MS)
    moved = msgspec.json.decode((await fetch(url))[0])
    assert int(moved["data"][0]["timestamp"]) == int(said["data"][0]["timestamp"]) + 7 * DAY_MS // SECOND_MS
    assert moved["data"][0]["value"] == said["data"][0]["value"]


@pytest.mark.slow
async def test_an_item_without_a_date_keeps_none_and_comes_with_the_one_before_it(
    clock: FakeClock, tmp_path: Any
) -> None:
    metadata, files = read_set(FIXTURES)
    items = "<item><title>a</title><pubDate>Fri, 25 Jul 2025 12:00:00 GMT</pubDate></item><item><title>b</title></item>"
    files["coindesk/rss.xml.gz"] = pack(msgspec.Raw(f"<rss><channel><title>t</title>{items}</channel></rss>".encode()))
    write_set(tmp_path, files, metadata)
    async with replay_server(tmp_path, clock, "frozen") as replay:
        assert [(story.title, story.published_ms is None) for story in await stories(replay, "coindesk")] == [
            ("b", True), ("a", False)
        ]  # fmt: skip


async def test_a_set_without_press_has_empty_feeds(clock: FakeClock, tmp_path: Any) -> None:
    metadata, files = read_set(FIXTURES)
    kept = {name: content for name, content in files.items() if name.startswith("hyperliquid/")}
    write_set(tmp_path, kept, metadata)
    async with replay_server(tmp_path, clock, "frozen") as replay:
        assert await stories(replay, "coindesk") == ()
        assert FEAR_GREED.decode((await fetch(replay.base("alternative") + "/fng/"))[0]).data == ()


@pytest.mark.promise("feeds.redirects")
async def test_the_form_with_a_final_slash_redirects_and_is_followed(replay: Replay, clock: FakeClock) -> None:
    base = replay.base("coindesk")
    async with open_session("coindesk", base, clock, weight_per_minute=1_000, follows=True) as session:
        fetched = await session.get(FEEDS["coindesk"] + "/", weight=1, decoder=RssDecoder("coindesk"))
    assert len(fetched.value.stories) == 50

"""The replayed podcast feeds: hosts below one roof, nothing of tomorrow, dates that move, nothing fetched twice."""

import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import aiohttp
import pytest

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.feeds.dates import parse_http_date
from service.upstream.fixture_set import read_set, write_set
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES

FEEDS = ("feeds.chainreaction.example/rss.xml", "macrohour.example/feed.xml", "video.onchaindesk.example/rss.xml")
TYPES = {
    "cdn.chainreaction.example/transcripts/41.vtt": "text/vtt; charset=utf-8",
    "cdn.chainreaction.example/transcripts/40.srt": "application/x-subrip",
    "cdn.chainreaction.example/transcripts/37.words.json": "application/json",
    "macrohour.example/transcripts/212.html": "text/html; charset=utf-8",
    "macrohour.example/transcripts/210.md": "text/markdown; charset=utf-8",
    "macrohour.example/robots.txt": "text/plain; charset=utf-8",
    "macrohour.example/feed.xml": "application/rss+xml; charset=utf-8",
}
each_feed = pytest.mark.parametrize("feed", FEEDS)


class Told(NamedTuple):
    status: int
    body: bytes
    headers: Mapping[str, str]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(frozen_at(FIXTURES))


@pytest.fixture
async def replay(clock: FakeClock) -> AsyncIterator[Replay]:
    async with replay_server(FIXTURES, clock, "shifted") as opened:
        yield opened


async def fetch(replay: Replay, place: str, **headers: str) -> Told:
    url = f"{replay.base('podcasts')}/{place}"
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as response:
        return Told(response.status, await response.read(), response.headers)


def dates(feed: bytes) -> list[int]:
    return [parse_http_date(date.decode()) or 0 for date in re.findall(rb"<pubDate>(.*?)</pubDate>", feed)]


@each_feed
async def test_at_the_recordings_end_a_feed_is_served_as_its_publisher_wrote_it(replay: Replay, feed: str) -> None:
    assert (await fetch(replay, feed)).body == (FIXTURES / "podcasts" / feed).read_bytes()


@each_feed
async def test_an_episode_is_in_its_feed_once_it_is_published_and_not_before(clock: FakeClock, feed: str) -> None:
    async with replay_server(FIXTURES, clock, "frozen") as replay:
        whole = dates((await fetch(replay, feed)).body)
        assert whole == sorted(whole, reverse=True)
        clock.set_wall(whole[0] - 1)
        assert dates((await fetch(replay, feed)).body) == whole[1:]
        clock.set_wall(whole[0])
        assert dates((await fetch(replay, feed)).body) == whole


@each_feed
async def test_dates_move_with_the_recording_and_nothing_else_does(replay: Replay, clock: FakeClock, feed: str) -> None:
    before = (await fetch(replay, feed)).body
    clock.set_wall(clock.now_ms() + 100 * DAY_MS)
    after = (await fetch(replay, feed)).body
    assert dates(after) == [at_ms + 100 * DAY_MS for at_ms in dates(before)]
    undated = re.compile(rb"<pubDate>.*?</pubDate>")
    assert undated.sub(b"", after) == undated.sub(b"", before)


@pytest.mark.parametrize("place", TYPES)
async def test_a_file_is_of_the_type_its_ending_says_and_is_dated_by_the_replay(
    replay: Replay, clock: FakeClock, place: str
) -> None:
    told = await fetch(replay, place + "?v=1")
    assert (told.status, told.headers["Content-Type"]) == (200, TYPES[place])
    assert parse_http_date(told.headers["Date"]) == clock.now_ms() // SECOND_MS * SECOND_MS
    assert told.body == (FIXTURES / "podcasts" / place).read_bytes()


async def test_who_has_it_already_is_told_so_until_it_changes(replay: Replay, clock: FakeClock) -> None:
    first = await fetch(replay, FEEDS[2])
    tag = first.headers["ETag"]
    for known in (tag, f'"other", {tag}', "*"):
        again = await fetch(replay, FEEDS[2], **{"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    assert (await fetch(replay, FEEDS[2], **{"If-None-Match": '"other"'})).body == first.body
    clock.set_wall(clock.now_ms() - 15 * HOUR_MS)
    earlier = await fetch(replay, FEEDS[2], **{"If-None-Match": tag})
    assert earlier.status == 200
    assert earlier.headers["ETag"] != tag


@pytest.mark.parametrize(
    "place",
    [
        "feeds.chainreaction.example/robots.txt",
        "video.onchaindesk.example/transcripts/82.vtt",
        "nobody.example/rss.xml",
        "macrohour.example/..%2ffeeds.toml",
        "macrohour.example/%2fetc%2fpasswd",
    ],
)
async def test_what_a_host_has_not_is_not_found(replay: Replay, place: str) -> None:
    assert (await fetch(replay, place)).status == 404


async def test_an_item_without_a_date_stays_as_it_is_and_an_unknown_ending_is_just_bytes(
    clock: FakeClock, tmp_path: Path
) -> None:
    metadata, files = read_set(FIXTURES)
    feed = b"<rss><item><title>a</title></item><item><pubDate>one day</pubDate></item></rss>"
    write_set(tmp_path, files | {"podcasts/a/rss.xml": feed, "podcasts/a/b.bin": b"\0"}, metadata)
    async with replay_server(tmp_path, clock, "frozen") as replay:
        assert (await fetch(replay, "a/rss.xml")).body == feed
        assert (await fetch(replay, "a/b.bin")).headers["Content-Type"] == "application/octet-stream"

"""Captions of videos, for who opts in: what is asked for, which are chosen, and what their form comes to."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.transcripts.segment import Segment, UnreadableError
from service.transcripts.sources import FeedSource
from service.transcripts.youtube import Captions
from service.upstream.failures import UpstreamError
from service.wire.transcripts import TranscriptsQuery
from tests.fakes.clock import FakeClock
from tests.transcripts.broadcast import Room, open_room
from tests.upstream import faults

PAGE = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
PLAYER = "www.youtube.com/youtubei/v1/player"
TEXT = "www.youtube.com/api/timedtext"
CHANNEL = FeedSource("tube", "Tube", "video", "https://www.youtube.com/feeds/videos.xml?channel_id=UC1", "en")
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015"><entry>
<yt:videoId>dQw4w9WgXcQ</yt:videoId><title>Live</title><published>2025-07-25T11:00:00+00:00</published></entry></feed>"""
SHOWN = {
    "events": [
        {"tStartMs": 0, "dDurationMs": 9000, "id": 1},
        {
            "tStartMs": 1200,
            "dDurationMs": 2000,
            "segs": [{"utf8": "Solana soars"}, {"utf8": " again.", "tOffsetMs": 400}],
        },
        {"tStartMs": 3000, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 3200, "segs": [{"utf8": "\u202eIt is \x1b[31mred"}]},
    ]
}


def track(language: str, kind: str = "", query: str = "") -> dict[str, str]:
    url = f"https://{TEXT}?v=1&lang={language}{query}"
    return {"baseUrl": url, "languageCode": language, "kind": kind, "name": "x"}


def player(*tracks: dict[str, str]) -> str:
    return json.dumps({"captions": {"playerCaptionsTracklistRenderer": {"captionTracks": tracks}}, "videoDetails": {}})


@pytest.fixture
async def room(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Room]:
    async with open_room(tmp_path, clock, captions=True) as opened:
        opened.web.put(
            PLAYER, player(track("de"), track("en", "asr", "&by=machine"), track("en-GB", query="&by=people"))
        )
        opened.web.put(TEXT, json.dumps(SHOWN))
        yield opened


async def test_captions_that_people_wrote_are_read_in_the_language_that_is_wanted(room: Room) -> None:
    segments = await Captions(room.web.fetcher).read(PAGE, None)
    assert segments == [
        Segment(1200, 3200, None, "Solana soars again."),
        Segment(3200, 3200, None, "It is red"),
    ]
    assert json.loads(room.web.bodies[0])["videoId"] == "dQw4w9WgXcQ"
    assert room.web.requests[1] == f"{TEXT}?v=1&lang=en-GB&by=people&fmt=json3"


async def test_captions_of_a_machine_are_better_than_none(room: Room) -> None:
    room.web.put(PLAYER, player(track("de"), track("en", "asr")))
    assert len(await Captions(room.web.fetcher).read(PAGE, "en-US")) == 2


NO_CAPTIONS = (
    "{}",
    '{"captions":{}}',
    "[]",
    "<html>",
    "",
    "[" * 100_000,
    player(track("fr")),
    player(track("en") | {"baseUrl": "https://evil.example/api/timedtext?"}),
    player(track("en") | {"baseUrl": "http://www.youtube.com.evil.example/"}),
)


async def test_a_player_that_tells_of_no_captions_is_a_video_that_cannot_be_read(room: Room) -> None:
    for told in NO_CAPTIONS:
        room.web.put(PLAYER, told)
        with pytest.raises(UnreadableError):
            await Captions(room.web.fetcher).read(PAGE, "en")
    assert len(room.web.requests) == len(NO_CAPTIONS)


@pytest.mark.parametrize(
    "bad",
    [
        {"tStartMs": -1},
        {"tStartMs": 0.5, "segs": [{"utf8": "x"}]},
        {"tStartMs": 1, "segs": [{"utf8": 1}]},
        {"tStartMs": 1, "segs": None},
        {"tStartMs": "1"},
        None,
        "x",
    ],
)
async def test_a_bad_line_of_captions_costs_itself_alone(room: Room, bad: object) -> None:
    whole = await Captions(room.web.fetcher).read(PAGE, None)
    room.web.put(TEXT, json.dumps({"events": [bad, *SHOWN["events"], bad]}))
    assert await Captions(room.web.fetcher).read(PAGE, None) == whole
    tracks = json.loads(player(track("en-GB", query="&by=people")))
    tracks["captions"]["playerCaptionsTracklistRenderer"]["captionTracks"].insert(0, bad)
    room.web.put(PLAYER, json.dumps(tracks))
    assert await Captions(room.web.fetcher).read(PAGE, None) == whole


async def test_captions_in_another_form_are_not_guessed_at(room: Room) -> None:
    other = ("", "{}", "<transcript/>", '{"events":[{"tStartMs":-1}]}', b'{"events":[{"segs":[{"utf8":"\xff"}]}]}')
    for shown in other:
        room.web.put(TEXT, shown)
        with pytest.raises(UnreadableError):
            await Captions(room.web.fetcher).read(PAGE, "en")


async def test_a_host_that_fails_is_an_upstream_that_failed(room: Room) -> None:
    room.web.pages[PLAYER] = faults.answer(429, b"")
    with pytest.raises(UpstreamError):
        await Captions(room.web.fetcher).read(PAGE, "en")


async def test_who_opts_in_hears_what_is_said_on_a_channel(room: Room) -> None:
    room.sources = [CHANNEL]
    room.web.put("www.youtube.com/feeds/videos.xml", ATOM)
    room.web.put("www.youtube.com/robots.txt", "User-agent: *\nDisallow: /")
    shown = {
        "events": [{"tStartMs": 61_000, "segs": [{"utf8": "Solana soars today and everybody is very happy about it."}]}]
    }
    room.web.put(TEXT, json.dumps(shown))
    room.refresh = room.another_refresh()
    await room.refresh.round()
    (one,) = (await room.highlights(TranscriptsQuery(source="tube"))).highlights
    assert (one.coins, one.start_seconds, one.url) == (["SOL"], 61, PAGE)


async def test_without_the_word_of_the_operator_robots_txt_is_heeded_and_nothing_is_read(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with open_room(tmp_path / "off", clock) as room:
        room.sources = [CHANNEL]
        room.web.put("www.youtube.com/feeds/videos.xml", ATOM)
        room.web.put("www.youtube.com/robots.txt", "User-agent: *\nDisallow: /feeds/videos.xml")
        room.refresh = room.another_refresh()
        await room.refresh.round()
        assert (await room.listed())["tube"].status == "blocked"
        assert room.web.requests == ["www.youtube.com/robots.txt"]


async def test_without_the_word_of_the_operator_videos_of_a_feed_are_left_out(tmp_path: Path, clock: FakeClock) -> None:
    async with open_room(tmp_path / "off", clock) as room:
        room.sources = [CHANNEL]
        room.web.put("www.youtube.com/feeds/videos.xml", ATOM)
        room.refresh = room.another_refresh()
        await room.refresh.round()
        assert await room.database.read("SELECT 1 FROM transcript_episodes") == []
        assert (await room.listed())["tube"].status == "ok"


async def test_a_video_in_which_nothing_is_said_is_tried_again_later(room: Room) -> None:
    room.sources = [CHANNEL]
    room.web.put("www.youtube.com/feeds/videos.xml", ATOM)
    room.web.put(TEXT, '{"events":[{"segs":[{"utf8":"\\n"}]}]}')
    room.refresh = room.another_refresh()
    await room.refresh.round()
    assert await room.database.read("SELECT read_ms, attempts FROM transcript_episodes") == [(None, 1)]

"""Reading feeds: which episodes there are, and where their transcripts stand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import HOUR_MS, SECOND_MS
from service.feeds.entries import FeedError
from service.settings import Settings, SettingsError
from service.transcripts.feed import CAPTIONS, LONGEST_TITLE, MOST_ITEMS, MOST_MARKUP, Link, read_feed
from service.transcripts.sources import FIXTURE, FeedSource, read_sources, sources_of
from tests.fakes.clock import START_MS
from tests.transcripts.broadcast import Episode, rss

VTT = ("https://a.example/1.vtt", "text/vtt")
SRT = ("https://a.example/1.srt", "application/x-subrip")
JSON = ("https://a.example/1.json", "application/json")
HTML = ("https://a.example/1.html", "text/html")
TEXT = ("https://a.example/1.txt", "text/plain")


def read(text: str, source: str = "alpha", language: str | None = None) -> list[object]:
    return list(read_feed(text.encode(), source, language).items)


def test_an_episode_is_read_with_its_title_page_date_and_transcript() -> None:
    (item,) = read_feed(
        rss(
            Episode(
                "guid-of-an-episode",
                "A &amp; B \u202e\x07",
                START_MS,
                [VTT],
                "https://a.example/1.mp3?x=1",
                "https://a.example/1",
            )
        )
        .replace("\x07", "")
        .encode(),
        "alpha",
    ).items
    assert (item.title, item.url, item.published_ms) == ("A &amp; B", "https://a.example/1", START_MS)
    assert item.links == (Link(*VTT),)
    assert item.enclosure is not None


def test_episodes_without_a_transcript_are_left_out() -> None:
    text = rss(
        Episode("one", transcripts=[VTT]), Episode("two"), Episode("three", transcripts=[("ftp://a/b", "text/vtt")])
    )
    assert len(read(text)) == 1


def test_the_older_name_of_the_namespace_is_known_and_others_are_not() -> None:
    older = "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md"
    assert len(read(rss(Episode("one", transcripts=[VTT]), namespace=older))) == 1
    assert read(rss(Episode("one", transcripts=[VTT]), namespace="urn:other")) == []


def test_transcripts_come_by_how_surely_they_tell_who_speaks_three_at_the_most() -> None:
    (item,) = read_feed(rss(Episode("one", transcripts=[TEXT, HTML, SRT, JSON, VTT])).encode(), "alpha").items
    assert [link.url for link in item.links] == [JSON[0], VTT[0], SRT[0]]
    (item,) = read_feed(rss(Episode("one", transcripts=[("https://a.example/x", ""), HTML])).encode(), "alpha").items
    assert item.links == (Link(*HTML), Link("https://a.example/x", None))


def test_a_transcript_in_the_language_of_the_feed_comes_before_the_others() -> None:
    listed = [(*JSON, "es"), (*VTT, "en-GB"), SRT]
    (item,) = read_feed(rss(Episode("one", transcripts=listed)).encode(), "alpha", "en").items
    assert [link.url for link in item.links] == [VTT[0], SRT[0], JSON[0]]


def test_a_short_guid_is_only_one_of_its_feed_and_a_long_one_is_of_everybody() -> None:
    for guid, same in (("42", False), ("https://guid.example/42", True)):
        text = rss(Episode(guid, transcripts=[VTT])).encode()
        assert (read_feed(text, "alpha").items[0].key == read_feed(text, "beta").items[0].key) is same


def test_without_a_guid_the_file_and_then_the_page_and_then_the_title_say_which_it_is() -> None:
    full = Episode("", "Title", START_MS, [VTT], "https://a.example/1.mp3", "https://a.example/1")
    keys = [
        read_feed(rss(each).encode(), "alpha").items[0].key
        for each in (full, full._replace(enclosure=""), full._replace(enclosure="", link=""))
    ]
    assert len(set(keys)) == 3
    assert keys[0] == read_feed(rss(full._replace(title="Other")).encode(), "alpha").items[0].key


def test_a_file_is_the_same_whatever_is_counted_on_its_way() -> None:
    one, two = (
        read_feed(rss(Episode("g", transcripts=[VTT], enclosure=url)).encode(), "alpha").items[0].enclosure
        for url in ("https://a.example/1.mp3?from=alpha", "http://a.example/1.mp3#t=1")
    )
    assert one == two


@pytest.mark.parametrize(
    "link",
    [
        "https://a.example/\u202egpj.exe",
        "https://a.example/\x9b2J",
        "javascript:alert(1)",
        'https://a.example/" onclick',
        "x" * 600,
        "",
    ],
)
def test_a_page_that_is_no_link_is_replaced_by_the_file(link: str) -> None:
    listened = Episode("g", transcripts=[VTT], enclosure="https://a.example/1.mp3", link=link)
    assert read_feed(rss(listened).encode(), "alpha").items[0].url == "https://a.example/1.mp3"
    assert read_feed(rss(listened._replace(enclosure="")).encode(), "alpha").items[0].url is None


@pytest.mark.parametrize(
    ("date", "at_ms"),
    [("2025-07-25T12:00:00Z", START_MS), ("Fri, 25 Jul 2025 14:00:00 +0200", START_MS), ("soon", None), ("", None)],
)
def test_dates_are_read_in_both_ways_of_writing_them(date: str, at_ms: int | None) -> None:
    text = rss(Episode("g", at_ms=0, transcripts=[VTT])).replace("Thu, 01 Jan 1970 00:00:00 GMT", date)
    assert read_feed(text.encode(), "alpha").items[0].published_ms == at_ms


ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015">
<entry><yt:videoId>dQw4w9WgXcQ</yt:videoId><title>Live</title><published>2025-07-25T11:00:00+00:00</published></entry>
<entry><yt:videoId>../../etc</yt:videoId><title>Bad</title></entry><entry><title>None</title></entry></feed>"""


def test_the_feed_of_a_channel_gives_its_videos_as_captions_to_be_asked_for() -> None:
    (video,) = read_feed(ATOM.encode(), "alpha").items
    page = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    assert (video.title, video.url, video.published_ms) == ("Live", page, START_MS - HOUR_MS)
    assert video.links == (Link(page, CAPTIONS),)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        b"<rss/>",
        b"<channel/>",
        b"not xml",
        b'<?xml version="1.0" encoding="utf-8"?><rss>\xff</rss>',
        b'<?xml version="1.0" encoding="nonesuch"?><rss/>',
        b'<!DOCTYPE b [<!ENTITY a "ha">]><rss><channel><title>&a;</title></channel></rss>',
        b"<rss><channel>" + b"<a/>" * MOST_MARKUP + b"</channel></rss>",
    ],
    ids=["empty", "html", "no channel", "no rss", "text", "not UTF-8", "encoding", "entities", "markup"],
)
def test_what_is_no_feed_is_refused(body: bytes) -> None:
    with pytest.raises(FeedError):
        read_feed(body, "alpha")


def test_of_an_endless_feed_the_newest_items_are_read_wherever_they_stand() -> None:
    undated = Episode("undated", at_ms=None, transcripts=[VTT])
    dated = [Episode(str(at), at_ms=START_MS + at * SECOND_MS, transcripts=[VTT]) for at in range(MOST_ITEMS + 5)]
    items = read_feed(rss(undated, *dated).encode(), "alpha").items
    assert [item.published_ms for item in items] == [one.at_ms for one in reversed(dated[5:])]


@pytest.mark.parametrize(
    "inside",
    [
        "<title>" + "<b>" * 20_000 + "deep" + "</b>" * 20_000 + "</title>",
        "<b>" * 20_000 + "<title>no</title>" + "</b>" * 20_000 + "<title>deep</title>",
        "<title>" + "<title>" * 20_000 + "deep" + "</title>" * 20_001,
        "<title>deep" + " and wide" * 20_000 + "</title>",
    ],
    ids=["in a title", "beside it", "of titles", "long"],
)
def test_depth_and_length_are_read_past_and_of_other_elements_nothing_is_kept(inside: str) -> None:
    text = rss(Episode("one", transcripts=[VTT])).replace("<title>An episode</title>", inside)
    (item,) = read_feed(text.encode(), "alpha").items
    assert item.title.startswith("deep")
    assert len(item.title) <= LONGEST_TITLE


@pytest.mark.parametrize(
    "tag",
    ["<x " + " ".join(f'a{at}=""' for at in range(60_000)) + "/>", "<!--" + "x" * 400_000 + "-->"],
    ids=["attributes", "comment"],
)
def test_a_tag_of_any_length_is_read_past(tag: str) -> None:
    text = rss(Episode("one", transcripts=[VTT]))
    assert read(text.replace("<title>", f"{tag}<title>")) == read(text)


def test_a_query_is_part_of_a_files_name_where_no_file_is_named_before_it() -> None:
    one, two, other = (
        read_feed(rss(Episode("g", transcripts=[VTT], enclosure=url)).encode(), "alpha").items[0].enclosure
        for url in ("https://a.example/get.php?id=1", "http://a.example/get.php?id=1", "https://a.example/get.php?id=2")
    )
    assert one == two != other


@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=50))
def test_whatever_stands_in_an_item_it_is_read_or_refused(title: str, guid: str, link: str) -> None:
    text = rss(Episode(guid, title, None, [VTT], link, link)).encode("utf-8", "replace")
    try:
        items = read_feed(text, "alpha").items
    except FeedError:
        return
    assert all(len(item.title) <= 300 and len(item.key) == 24 for item in items)


LISTED = """
[[feed]]
id = "alpha"
name = "Alpha \\u202e<b>"
kind = "podcast"
url = "https://alpha.example/rss"
language = "en-GB"

[[feed]]
id = "tube"
name = "Tube"
kind = "video"
url = "https://www.youtube.com/feeds/videos.xml?channel_id=UC1"
"""


def test_the_operators_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "feeds.toml"
    path.write_text(LISTED)
    assert read_sources(path) == (
        FeedSource("alpha", "Alpha <b>", "podcast", "https://alpha.example/rss", "en-GB"),
        FeedSource("tube", "Tube", "video", "https://www.youtube.com/feeds/videos.xml?channel_id=UC1"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LISTED.replace("tube", "alpha"), "lists the id 'alpha' twice"),
        (
            LISTED.replace("https://www.youtube.com/feeds/videos.xml?channel_id=UC1", "https://alpha.example/rss"),
            "the url",
        ),
        (LISTED.replace("video", "film"), "is not a list of feeds"),
        (LISTED.replace("https://alpha", "file://alpha"), "is not a list of feeds"),
        (LISTED.replace("https://alpha", "https://u:p@alpha"), "is not a list of feeds"),
        (LISTED + "\nmore = 1", "is not a list of feeds"),
        ("[[feed", "is not a list of feeds"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused_with_its_setting(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "feeds.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=said) as refused:
        read_sources(path)
    assert str(refused.value).startswith("VERDICT_TRANSCRIPT_FEEDS")


def test_a_list_that_is_not_there_or_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_sources(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not a list of feeds"):
        read_sources(tmp_path / "bytes.toml")


def test_feeds_are_the_operators_else_the_fixture_sets_else_none(tmp_path: Path) -> None:
    bundled = tmp_path / FIXTURE
    bundled.parent.mkdir()
    settings = Settings(data_dir=tmp_path, fixtures_dir=tmp_path, source="fixtures")
    assert sources_of(settings) == ()
    bundled.write_text(LISTED)
    assert [source.id for source in sources_of(settings)] == ["alpha", "tube"]
    assert sources_of(Settings(data_dir=tmp_path, fixtures_dir=tmp_path, source="live")) == ()
    own = tmp_path / "own.toml"
    own.write_text(LISTED.replace("alpha", "gamma"))
    listed = sources_of(Settings(data_dir=tmp_path, fixtures_dir=tmp_path, source="live", transcript_feeds=own))
    assert [source.id for source in listed] == ["gamma", "tube"]

"""Feeds, and what hosts say of visits: XML, robots.txt, dates."""

from collections.abc import Iterable
from contextlib import suppress

from multidict import CIMultiDict, CIMultiDictProxy

from service.clock import parse_iso
from service.feeds.dates import parse_feed_date, parse_http_date
from service.feeds.entries import FeedError
from service.sentiment.sources.rss import RssDecoder
from service.transcripts import feed
from service.upstream.responses import asked_pause
from service.upstream.robots import read_robots
from tests.fakes.clock import FakeClock
from tests.fuzz.target import Target, check_sound

_NEWS = RssDecoder("coindesk")
_CLOCK = FakeClock()


def read_news(data: bytes) -> None:
    """A feed of headlines."""
    with suppress(FeedError):
        for story in _NEWS.decode(data).stories:
            check_sound(story)
            assert story.title.isprintable(), story


def read_podcast(data: bytes) -> None:
    """A feed of episodes."""
    with suppress(FeedError):
        for item in feed.read_feed(data, "alpha", "en").items:
            check_sound(item)
            assert not item.title or item.title.isprintable(), item


def read_rules(data: bytes) -> None:
    """A robots.txt, and a path held against it."""
    rules = read_robots(data.decode("utf-8", "replace"))
    path = "/" + data[-40:].decode("latin-1")
    rules.allow(path)


def read_date(data: bytes) -> None:
    """A date, as HTTP, RSS and ISO 8601 write it, and what a server says of when to come again."""
    text = data.decode("latin-1")
    check_sound(parse_http_date(text))
    check_sound(parse_feed_date(text))
    with suppress(ValueError):
        check_sound(parse_iso(text))
    headers = CIMultiDictProxy(CIMultiDict({"Retry-After": text, "Date": text}))
    pause_s = asked_pause(_Answer(429, headers), _CLOCK)  # type: ignore[arg-type]
    assert pause_s is not None
    assert 0 <= pause_s <= 86_400


class _Answer:
    """As much of an answer as is looked at."""

    def __init__(self, status: int, headers: CIMultiDictProxy[str]) -> None:
        self.status = status
        self.headers = headers


def _news() -> Iterable[bytes]:
    item = (
        "<item><title>Bitcoin &amp;lt;b&amp;gt; soars</title><link>https://a.example/1</link>"
        '<guid isPermaLink="true">https://a.example/1</guid><pubDate>Fri, 25 Jul 2025 23:33:00 -0000</pubDate></item>'
    )
    yield f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>{item}</channel></rss>'.encode()
    yield f'<?xml version="1.0"?><rss version="2.0"><channel>{item}</channel></rss>'.encode("utf-16")
    yield f'<?xml version="1.0" encoding="cp1252"?><rss><channel>{item}</channel></rss>'.encode()


def _podcasts() -> Iterable[bytes]:
    yield (
        b'<?xml version="1.0"?><rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item><title>One'
        b"</title><guid>one</guid><pubDate>Fri, 25 Jul 2025 23:33:00 GMT</pubDate><enclosure url='https://a/1.mp3?b'/>"
        b'<podcast:transcript url="https://a/1.vtt" type="text/vtt" language="en-GB"/></item></channel></rss>'
    )
    yield (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015"><entry>'
        b"<yt:videoId>abcdefghijk</yt:videoId><title>One</title><published>2025-07-25T23:33:00+00:00</published>"
        b"</entry></feed>"
    )


_TAGS = (
    b"<item>",
    b"</item>",
    b"<![CDATA[",
    b"]]>",
    b"<!DOCTYPE a>",
    b"&#x0;",
    b"xmlns:",
    b'encoding="utf-7"',
    b"<!--",
)
_DATES = (b"Fri, 25 Jul 2025 23:33:00 GMT", b"2025-07-25T23:33:00.5+14:00", b"99999999", b"1e9")

TARGETS = (
    Target("feeds.news", read_news, _news, _TAGS),
    Target("feeds.podcast", read_podcast, _podcasts, _TAGS),
    Target(
        "feeds.rules",
        read_rules,
        lambda: [b"\xef\xbb\xbfUser-agent: verdict\nUser-agent: *\nDisallow: /a*b$ # c\nAllow: /%e2%82\n"],
        (b"Disallow: ", b"Allow: ", b"User-agent: ", b"*", b"$"),
    ),
    Target("feeds.date", read_date, lambda: _DATES, most=128),
)

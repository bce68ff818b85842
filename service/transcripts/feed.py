"""Feeds, read: which episodes there are, and where their transcripts stand.

Sources: RSS 2.0 (Winer 2003); the podcast namespace, `podcast:transcript` (podcastindex.org/namespace/1.0); Atom (RFC
4287) with `yt:videoId`, as YouTube writes the feeds of its channels.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from heapq import nlargest
from typing import Final

from msgspec import Struct

from service.feeds.dates import parse_feed_date
from service.feeds.entries import FeedEntry, read_entries
from service.transcripts.cleaning import plain

LARGEST: Final = 8 * 1024 * 1024
MOST_MARKUP: Final = 400_000
"""Tags of a whole feed: those of two thousand episodes with long notes are half as many."""

MOST_ITEMS: Final = 2_000
"""Of more the newest are read."""

MOST_LINKS: Final = 3
"""Transcripts of an episode that are tried."""

LONGEST_TITLE: Final = 300
LONGEST_URL: Final = 500
LONGEST_TRANSCRIPT_URL: Final = 2_000
CAPTIONS: Final = "video/x-youtube"
"""The type of a link that is a video's page: its captions are asked for."""

_UNIQUE: Final = 16
_LONGEST_WORDS: Final = 10_000
_TRANSCRIPT: Final = "podcast:transcript"
_VIDEO: Final = "yt:videoId"
_ELEMENTS: Final = frozenset(
    {"title", "link", "guid", "pubDate", "dc:date", "enclosure", "published", _TRANSCRIPT, _VIDEO}
)
_NAMESPACES: Final = {
    "https://podcastindex.org/namespace/1.0": "podcast",
    "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast",
    "http://www.youtube.com/xml/schemas/2015": "yt",
    "http://purl.org/dc/elements/1.1/": "dc",
}
_VIDEO_ID: Final = re.compile(r"[A-Za-z0-9_-]{11}\Z")
_LINK: Final = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
_COUNTED: Final = re.compile(r"(?<=\.(?:mp3|m4a|m4b|m4v|mp4|aac|ogg|wav))\?.*", re.IGNORECASE)
"""What follows a file's name is for who counts its readers. Else a query may be what tells one file from another."""

_BEST_FIRST: Final = ("application/json", "text/vtt", "application/x-subrip", "application/srt", "text/html")
"""By how surely a format tells who speaks, and when."""


class Link(Struct, frozen=True):
    """Where a transcript stands, and what type it is said to be of."""

    url: str
    type: str | None


class FeedItem(Struct, frozen=True):
    """An episode of a feed.

    Attributes:
        key: A digest of its guid.
        enclosure: A digest of the file that is listened to; null where there is none.
        title: Visible characters; may be empty.
        url: Where to hear it; null where the item does not say.
        published_ms: Null where it has no certain date.
        links: Its transcripts, the best first.
    """

    key: str
    enclosure: str | None
    title: str
    url: str | None
    published_ms: int | None
    links: tuple[Link, ...]


class FeedContents(Struct, frozen=True):
    """The episodes of a feed that have transcripts, and how many of its items could not be read."""

    items: list[FeedItem]
    lost: int


def read_feed(body: bytes, source: str, language: str | None = None) -> FeedContents:
    """Read the episodes that have transcripts. The largest feeds take seconds: call it in a thread.

    Args:
        body: The feed, in any encoding that it declares and Python knows.
        source: Whose it is; makes guids unique that are only unique there.
        language: Transcripts in this one are preferred.

    Raises:
        FeedError: If it is not RSS or Atom, defines entities, or has more markup than any feed.
    """
    feed = read_entries(body, _ELEMENTS, MOST_MARKUP, _NAMESPACES)
    if feed.root == "feed":
        videos = [_video(entry, source) for entry in feed.entries[:MOST_ITEMS] if _video_id(entry)]
        return FeedContents(videos, feed.lost)
    listed = feed.entries
    if len(listed) > MOST_ITEMS:
        listed = nlargest(MOST_ITEMS, listed, key=lambda entry: parse_feed_date(entry.text("pubDate", "dc:date")) or 0)
    episodes = (_episode(entry, source, language) for entry in listed)
    return FeedContents([episode for episode in episodes if episode.links], feed.lost)


def _episode(item: FeedEntry, source: str, language: str | None) -> FeedItem:
    enclosures = item.elements.get("enclosure")
    heard = enclosures[0].attributes.get("url", "").strip() if enclosures else ""
    page = _said(item, "link")
    title = plain(_said(item, "title"))[:LONGEST_TITLE].strip()
    return FeedItem(
        key=_identify(_said(item, "guid") or item.about or heard or page or title, source),
        enclosure=_file(heard) if heard else None,
        title=title,
        url=next((link for link in (page, heard) if _is_link(link)), None),
        published_ms=parse_feed_date(_said(item, "pubDate", "dc:date")),
        links=tuple(_links(item, language)),
    )


def _links(item: FeedEntry, language: str | None) -> Iterator[Link]:
    found = []
    for tag in item.elements.get(_TRANSCRIPT, ()):
        said = tag.attributes
        kind, url = said.get("type", "").partition(";")[0].strip().lower(), said.get("url", "").strip()
        rank = _BEST_FIRST.index(kind) if kind in _BEST_FIRST else len(_BEST_FIRST)
        if len(url) <= LONGEST_TRANSCRIPT_URL and _LINK.match(url):
            found.append((_is_foreign(said.get("language", ""), language), rank, Link(url, kind or None)))
    found.sort(key=lambda ranked: ranked[:2])
    return (link for _, _, link in found[:MOST_LINKS])


def _video(entry: FeedEntry, source: str) -> FeedItem:
    page = f"https://www.youtube.com/watch?v={_video_id(entry)}"
    return FeedItem(
        key=_identify(page, source),
        enclosure=_digest(page),
        title=plain(_said(entry, "title"))[:LONGEST_TITLE].strip(),
        url=page,
        published_ms=parse_feed_date(_said(entry, "published")),
        links=(Link(page, CAPTIONS),),
    )


def _video_id(entry: FeedEntry) -> str:
    said = _said(entry, _VIDEO)
    return said if _VIDEO_ID.match(said) else ""


def _is_foreign(language: str, wanted: str | None) -> bool:
    """Whether a transcript says that it is in another language than the one that is wanted."""
    return bool(language and wanted) and _primary(language) != _primary(wanted or "")


def _primary(language: str) -> str:
    return language.lower().partition("-")[0]


def _is_link(url: str) -> bool:
    """Whether it can be shown: nothing in it is hidden, or steers what shows it."""
    return len(url) <= LONGEST_URL and _LINK.match(url) is not None and plain(url) == url


def _file(url: str) -> str:
    """A digest of the file that is listened to, however it is fetched and counted."""
    return _digest(_COUNTED.sub("", url.partition("#")[0].partition("://")[2]))


def _identify(guid: str, source: str) -> str:
    """A short id: of the guid alone where that is long enough to be the same in another feed on purpose."""
    return _digest(guid if len(guid) >= _UNIQUE else f"{source}:{guid}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def _said(item: FeedEntry, *names: str) -> str:
    return item.text(*names)[:_LONGEST_WORDS]

"""Feeds, read: which episodes there are, and where their transcripts stand.

Sources: RSS 2.0 (Winer 2003); the podcast namespace, `podcast:transcript` (podcastindex.org/namespace/1.0); Atom (RFC
4287) with `yt:videoId`, as YouTube writes the feeds of its channels.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from heapq import nlargest
from typing import Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.ElementTree import DefusedXMLParser
from msgspec import Struct

from service.clock import parse_iso
from service.transcripts.cleaning import plain
from service.upstream.responses import parse_http_date

LARGEST: Final = 8 * 1024 * 1024
MOST_MARKUP: Final = 400_000
"""Tags of a whole feed: those of two thousand episodes with long notes are half as many."""

LONGEST_TAG: Final = 128 * 1024
"""Bytes of a tag with its attributes, or of a comment: the parser takes it in one piece, and blocks meanwhile."""

MOST_ITEMS: Final = 2_000
"""Of more the newest are read."""

MOST_LINKS: Final = 3
"""Transcripts of an episode that are tried."""

LONGEST_TITLE: Final = 300
LONGEST_URL: Final = 500
LONGEST_TRANSCRIPT_URL: Final = 2_000
CAPTIONS: Final = "video/x-youtube"
"""The type of a link that is a video's page: its captions are asked for."""

_CHUNK: Final = 65_536
_UNIQUE: Final = 16
_LONGEST_WORDS: Final = 10_000
_LONGEST_DATE: Final = 64
_PODCAST: Final = (
    "https://podcastindex.org/namespace/1.0",
    "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md",
)
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_VIDEO: Final = "{http://www.youtube.com/xml/schemas/2015}videoId"
_HOLDERS: Final = frozenset({"rss", "channel", "item", f"{_ATOM}feed", f"{_ATOM}entry"})
_LEAVES: Final = frozenset(
    {"title", "link", "guid", "pubDate", "enclosure", f"{_ATOM}title", f"{_ATOM}published", _VIDEO}
    | {f"{{{name}}}transcript" for name in _PODCAST}
)
_VIDEO_ID: Final = re.compile(r"[A-Za-z0-9_-]{11}\Z")
_LINK: Final = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
_COUNTED: Final = re.compile(r"(?<=\.(?:mp3|m4a|m4b|m4v|mp4|aac|ogg|wav))\?.*", re.IGNORECASE)
"""What follows a file's name is for who counts its readers. Else a query may be what tells one file from another."""

_BEST_FIRST: Final = ("application/json", "text/vtt", "application/x-subrip", "application/srt", "text/html")
"""By how surely a format tells who speaks, and when."""


class FeedDecodeError(ValueError):
    """What was read is no feed, or one made to hurt."""


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
        published_ms: Null where it has no date that can be read.
        links: Its transcripts, the best first.
    """

    key: str
    enclosure: str | None
    title: str
    url: str | None
    published_ms: int | None
    links: tuple[Link, ...]


def read_feed(body: bytes, source: str, language: str | None = None) -> list[FeedItem]:
    """Read the episodes that have transcripts.

    The largest of feeds takes some hundred milliseconds, in small pieces: in a thread of its own it blocks nothing.

    Args:
        body: The feed, in any encoding that it declares and Python knows.
        source: Whose it is; makes guids unique that are only unique there.
        language: Transcripts in this one are preferred.

    Raises:
        FeedDecodeError: If it is not RSS or Atom, declares entities or a document type, or has more markup than any
            feed.
    """
    root = _parse(body)
    if root.tag == f"{_ATOM}feed":
        return [_video(entry, source) for entry in root.findall(f"{_ATOM}entry")[:MOST_ITEMS] if _video_id(entry)]
    channel = root.find("channel")
    if root.tag != "rss" or channel is None:
        raise FeedDecodeError("neither RSS nor Atom")
    listed = channel.findall("item")
    if len(listed) > MOST_ITEMS:
        listed = nlargest(MOST_ITEMS, listed, key=lambda item: _date(_said(item, "pubDate")) or 0)
    items = (_episode(item, source, language) for item in listed)
    return [item for item in items if item.links]


def _parse(body: bytes) -> Element:
    if body.count(b"<") > MOST_MARKUP:
        raise FeedDecodeError("too much markup")
    parser = DefusedXMLParser(target=_Parts(), forbid_dtd=True)
    try:
        _feed(parser, body)
        root: Element | None = parser.close()
    except (ParseError, LookupError, ValueError) as error:
        raise FeedDecodeError("not XML") from error
    if root is None:
        raise FeedDecodeError("neither RSS nor Atom")
    return root


def _feed(parser: DefusedXMLParser, body: bytes) -> None:
    """Piece by piece: the parser holds the interpreter while it is fed, and in between lets others run."""
    for at in range(0, len(body), _CHUNK):
        parser.feed(body[at : at + _CHUNK])
        if at - parser.parser.CurrentByteIndex > LONGEST_TAG:
            raise ParseError("a tag that does not end")


class _Parts(TreeBuilder):
    """Builds the elements that are read, and the words in them: whatever else there is, however deep, is not kept."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_over = 0
        self._in_leaf = False

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        if self._passed_over or self._in_leaf or tag not in _HOLDERS | _LEAVES:
            self._passed_over += 1
            return _NOTHING
        self._in_leaf = tag in _LEAVES
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        if self._passed_over:
            self._passed_over -= 1
            return _NOTHING
        self._in_leaf = False
        return super().end(tag)

    def data(self, data: str, /) -> None:
        if self._in_leaf:
            super().data(data)


_NOTHING: Final = Element("")


def _episode(item: Element, source: str, language: str | None) -> FeedItem:
    enclosure = item.find("enclosure")
    heard = "" if enclosure is None else enclosure.get("url", "").strip()
    page = _said(item, "link")
    title = plain(_said(item, "title"))[:LONGEST_TITLE].strip()
    return FeedItem(
        key=_identify(_said(item, "guid") or heard or page or title, source),
        enclosure=_file(heard) if heard else None,
        title=title,
        url=next((link for link in (page, heard) if _is_link(link)), None),
        published_ms=_date(_said(item, "pubDate")),
        links=tuple(_links(item, language)),
    )


def _links(item: Element, language: str | None) -> Iterator[Link]:
    found = []
    for name in _PODCAST:
        for tag in item.findall(f"{{{name}}}transcript"):
            kind, url = tag.get("type", "").partition(";")[0].strip().lower(), tag.get("url", "").strip()
            rank = _BEST_FIRST.index(kind) if kind in _BEST_FIRST else len(_BEST_FIRST)
            if len(url) <= LONGEST_TRANSCRIPT_URL and _LINK.match(url):
                found.append((_is_foreign(tag.get("language", ""), language), rank, Link(url, kind or None)))
    found.sort(key=lambda ranked: ranked[:2])
    return (link for _, _, link in found[:MOST_LINKS])


def _video(entry: Element, source: str) -> FeedItem:
    page = f"https://www.youtube.com/watch?v={_video_id(entry)}"
    return FeedItem(
        key=_identify(page, source),
        enclosure=_digest(page),
        title=plain(_said(entry, f"{_ATOM}title"))[:LONGEST_TITLE].strip(),
        url=page,
        published_ms=_date(_said(entry, f"{_ATOM}published")),
        links=(Link(page, CAPTIONS),),
    )


def _video_id(entry: Element) -> str:
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


def _said(item: Element, tag: str) -> str:
    found = item.find(tag)
    return "" if found is None else (found.text or "")[:_LONGEST_WORDS].strip()


def _date(text: str) -> int | None:
    try:
        return parse_iso(text[:_LONGEST_DATE])
    except ValueError:
        return parse_http_date(text[:_LONGEST_DATE])

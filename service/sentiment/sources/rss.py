"""RSS 2.0, as CoinDesk and Cointelegraph publish it.

Sources: RSS 2.0 (Winer 2003): `item` of `title`, `link`, `guid`, `pubDate` (RFC 822). RSS 1.0 (2000): `rdf:about` for
`guid`, `dc:date` (ISO 8601) for `pubDate`.

CoinDesk answers the form of its path with a final slash with 308 and the form without (reported in 2026). The form
without is asked for; should that move again, redirects on the publisher's own site are followed (`open_session`).
"""

import html
import re
from hashlib import sha256
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.feeds.dates import parse_feed_date
from service.feeds.entries import FeedEntry, FeedError, read_entries
from service.upstream.session import UpstreamSession

PATHS: Final = {"coindesk": "/arc/outboundfeeds/rss", "cointelegraph": "/rss"}
"""Upstream → path of its feed."""

LONGEST_TITLE: Final = 300
LONGEST_URL: Final = 500
MOST_ITEMS: Final = 500
MOST_MARKUP: Final = 50_000
"""Tags of a whole feed; real ones have a fifth. Four megabytes of them would hold up the event loop for seconds."""

_WEIGHT: Final = 1
_MARKED_UP: Final = 2_000
"""Characters of a title that are read before its markup goes: what is longer was made to hurt."""

_ELEMENTS: Final = frozenset({"title", "link", "guid", "pubDate", "dc:date"})
_NAMESPACES: Final = {"http://purl.org/dc/elements/1.1/": "dc"}
_UNIQUE: Final = 16
_TAG: Final = re.compile(r"<!--.*?-->|</?[A-Za-z!?][^<>]*>", re.DOTALL)
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]+")
"""What no reader sees, and what therefore parts no word: "Bit", a zero-width blank, and "coin" are Bitcoin."""

_LINK: Final = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)


class Story(Struct, frozen=True):
    """An item of a feed; `published_ms` is null where it has no certain date."""

    id: str
    title: str
    url: str
    published_ms: int | None


class Stories(Struct, frozen=True):
    """What a feed held, how many items could not be read, and the upstream's time of its answer."""

    observed_ms: int
    stories: tuple[Story, ...]
    lost: int = 0


class NewsPage(Struct, frozen=True):
    """The stories of a feed, and how many of its items could not be read."""

    stories: tuple[Story, ...]
    lost: int


class RssDecoder:
    """Reads a feed.

    Args:
        source: Whose it is; makes ids unique that are only unique there.
    """

    def __init__(self, source: str) -> None:
        self._source = source

    def decode(self, body: bytes) -> NewsPage:
        """Read a feed; an item that cannot be read costs no other.

        Raises:
            FeedError: If it is not RSS, defines entities, has more markup than any feed, or has items of which
                none can be read.
        """
        feed = read_entries(body, _ELEMENTS, MOST_MARKUP, _NAMESPACES)
        if feed.root == "feed":
            raise FeedError("not RSS")
        read = [self._story(entry) for entry in feed.entries[:MOST_ITEMS]]
        stories = {story.id: story for story in read if story is not None}
        lost = feed.lost + read.count(None)
        if lost and not stories:
            raise FeedError("no item with a title")
        return NewsPage(tuple(stories.values()), lost)

    def _story(self, entry: FeedEntry) -> Story | None:
        title = plain(entry.text("title")[:_MARKED_UP])[:LONGEST_TITLE].strip()
        if not title:
            return None
        link = entry.text("link")
        url = link if len(link) <= LONGEST_URL and _LINK.match(link) else ""
        published_ms = parse_feed_date(entry.text("pubDate", "dc:date"))
        return Story(self._identify(entry.text("guid") or entry.about or url or title), title, url, published_ms)

    def _identify(self, guid: str) -> str:
        """A short id: of the guid alone where that is long enough to be the same in another feed on purpose."""
        known_as = guid if len(guid) >= _UNIQUE else f"{self._source}:{guid}"
        return sha256(known_as.encode("utf-8", "replace")).hexdigest()[:24]


class NewsFeed:
    """A feed, as this package asks for it.

    Args:
        session: Open session to the publisher; its name is the source.
        clock: An observation is never dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self.source = session.name
        self._session = session
        self._clock = clock
        self._decoder = RssDecoder(session.name)

    async def stories(self) -> Stories:
        """Ask for what is in the feed now.

        Raises:
            UpstreamError: If there is no answer that can be used.
        """
        fetched = await self._session.get(PATHS[self.source], weight=_WEIGHT, decoder=self._decoder)
        page = fetched.value
        return Stories(min(fetched.date_ms, self._clock.now_ms()), page.stories, page.lost)


def plain(text: str) -> str:
    """What a reader sees of a text: without markup, entities, control and invisible characters; blanks are single."""
    # XML's own escapes are gone by now; what is left of them the publisher has escaped once more.
    visible = _INVISIBLE.sub("", _TAG.sub(" ", html.unescape(text)))
    return " ".join(_CONTROLS.sub(" ", visible).split())

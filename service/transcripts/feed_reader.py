"""Asking for feeds and transcripts, and reading what comes."""

import asyncio

from msgspec import Struct

from service.feeds.entries import FeedError
from service.transcripts.feed import CAPTIONS, LARGEST, FeedItem, Link, read_feed
from service.transcripts.formats.decoder import decode
from service.transcripts.segment import Segment
from service.transcripts.sources import FeedSource
from service.transcripts.youtube import HOST, Captions
from service.upstream.failures import UpstreamError
from service.upstream.feed_fetcher import FeedFetcher, Validators

LARGEST_TRANSCRIPT = 4 * 1024 * 1024

_FEEDS = "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
_TRANSCRIPTS = "application/json, text/vtt, application/x-subrip, text/html, text/plain;q=0.9, */*;q=0.1"


class Channel(Struct, frozen=True):
    """What a feed answered: its episodes with transcripts, null where it has not changed; items that are unreadable."""

    items: list[FeedItem] | None
    validators: Validators
    observed_ms: int
    lost: int = 0


class FeedReader:
    """Reads feeds and transcripts.

    Args:
        fetcher: Who asks.
        captions: Reads what is said in videos on YouTube; null where the operator has not opted in.
    """

    def __init__(self, fetcher: FeedFetcher, captions: Captions | None) -> None:
        self._fetcher = fetcher
        self._captions = captions

    async def channel(self, source: FeedSource, known: Validators) -> Channel:
        """Read a feed.

        Args:
            source: Which.
            known: The version that was read last.

        Raises:
            BlockedError: If its host's robots.txt keeps us out.
            UpstreamError: If there is no answer, or none that is a feed.
        """
        obey_robots = self._captions is None or not source.url.startswith(HOST)
        visit = await self._fetcher.get(source.url, LARGEST, accept=_FEEDS, known=known, obey_robots=obey_robots)
        if visit.body is None:
            return Channel(None, known, visit.date_ms)
        try:
            feed = await asyncio.to_thread(read_feed, visit.body, source.id, source.language)
        except FeedError as error:
            raise UpstreamError(source.id, 200, str(error).encode()) from error
        readable = [item for item in feed.items if self._captions or item.links[0].type != CAPTIONS]
        return Channel(readable, visit.validators, visit.date_ms, feed.lost)

    async def transcript(self, link: Link, language: str | None) -> list[Segment]:
        """Read a transcript.

        Raises:
            UpstreamError: If there is no answer.
            UnreadableError: If what came is no transcript.
        """
        if link.type == CAPTIONS and self._captions:
            return await self._captions.read(link.url, language)
        visit = await self._fetcher.get(link.url, LARGEST_TRANSCRIPT, accept=_TRANSCRIPTS)
        # What a feed says of a format it says on purpose; what a server says may be its default.
        return await asyncio.to_thread(decode, visit.body or b"", link.type or visit.content_type)

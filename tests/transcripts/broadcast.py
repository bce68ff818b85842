"""A few feeds on a small web, moved by hand, and the room's parts over a real fetcher and a real store."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from typing import NamedTuple

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.sentiment.matcher import Known
from service.storage.database import Database, open_database
from service.transcripts.feed_reader import FeedReader
from service.transcripts.pages import TranscriptPages
from service.transcripts.refresh import KnownMarket, TranscriptRefresh
from service.transcripts.service import TranscriptService
from service.transcripts.sources import FeedSource
from service.transcripts.store import TranscriptStore
from service.transcripts.youtube import Captions
from service.upstream.responses import http_date
from service.wire.cursor import Cursors
from service.wire.transcripts import Highlights, TranscriptSource, TranscriptSources, TranscriptsQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.upstream.web import Web, open_web

ALPHA = FeedSource("alpha", "Alpha", "podcast", "https://alpha.example/rss", "en")
BETA = FeedSource("beta", "Beta", "podcast", "https://beta.example/rss")
PODCAST = "https://podcastindex.org/namespace/1.0"
SOLANA = "Solana soars after the upgrade and everybody who held it is very happy about that."
BITCOIN = "Bitcoin crashes hard while the Federal Reserve hikes interest rates once more."
MEMES = "Meme coins are where all of the attention is going this month, believe it or not."


class Episode(NamedTuple):
    """An item of a feed; `transcripts` are (url, type) or (url, type, language)."""

    guid: str
    title: str = "An episode"
    at_ms: int | None = START_MS - HOUR_MS
    transcripts: Sequence[tuple[str, ...]] = ()
    enclosure: str = ""
    link: str = ""

    def write(self) -> str:
        date = "" if self.at_ms is None else f"<pubDate>{http_date(self.at_ms)}</pubDate>"
        heard = f'<enclosure url="{escape(self.enclosure)}" type="audio/mpeg"/>' if self.enclosure else ""
        words = "".join(
            '<podcast:transcript url="{}" type="{}"{}/>'.format(
                escape(url), kind, f' language="{language[0]}"' if language else ""
            )
            for url, kind, *language in self.transcripts
        )
        link = f"<link>{escape(self.link)}</link>" if self.link else ""
        named = f"<title>{escape(self.title)}</title><guid>{escape(self.guid)}</guid>"
        return f"<item>{named}{date}{link}{heard}{words}</item>"


def rss(*episodes: Episode, namespace: str = PODCAST) -> str:
    items = "".join(episode.write() for episode in episodes)
    return f'<?xml version="1.0"?><rss version="2.0" xmlns:podcast="{namespace}"><channel>{items}</channel></rss>'


def vtt(*said: str, speaker: str = "Ann") -> str:
    cues = "".join(
        f"\n00:00:{at * 5:02d}.000 --> 00:00:{at * 5 + 5:02d}.000\n<v {speaker}>{text}\n"
        for at, text in enumerate(said)
    )
    return f"WEBVTT\n{cues}"


class Room:
    """The room's parts without their loop."""

    def __init__(self, web: Web, database: Database, clock: FakeClock, captions: Captions | None) -> None:
        self.web = web
        self.database = database
        self.clock = clock
        self.origin = "test"
        self.titles = {"BTC": "Bitcoin", "ETH": "Ethereum", "SOL": "Solana"}
        self.categories = ["Layer 1 (L1)", "Meme"]
        self.sources = [ALPHA, BETA]
        self.store = TranscriptStore(database)
        self.pages = TranscriptPages(database)
        self.reader = FeedReader(web.fetcher, captions)
        self.refresh = self.another_refresh()

    def another_refresh(self) -> TranscriptRefresh:
        """As after a start."""
        market = KnownMarket(lambda: self.origin, self.coins, lambda: self.categories)
        return TranscriptRefresh(self.clock, self.store, self.reader, self.sources, market)

    def coins(self) -> list[Known]:
        return [Known(symbol, title) for symbol, title in self.titles.items()]

    @property
    def desk(self) -> TranscriptService:
        return TranscriptService(
            self.clock, self.pages, Cursors(bytes(32)), self.sources, self.find_coin, self.find_sector
        )

    def find_coin(self, spelled: str) -> str:
        if spelled.upper() not in self.titles:
            raise ServiceError("UNKNOWN_SYMBOL", f"no coin {spelled!r}", details={"candidates": []})
        return spelled.upper()

    def find_sector(self, name: str) -> object:
        if name not in self.categories:
            raise ServiceError("UNKNOWN_CATEGORY", f"no category {name!r}", details={"candidates": []})
        return name

    def publish(self, source: FeedSource, *episodes: Episode) -> None:
        """Have a feed hold these episodes."""
        self.web.put(source.url.removeprefix("https://"), rss(*episodes))

    def say(self, at: str, *said: str) -> tuple[str, str]:
        """Put a transcript at `host/path`; what an episode names it by."""
        self.web.put(at, vtt(*said), Content_Type="text/vtt")
        return f"https://{at}", "text/vtt"

    async def highlights(self, query: TranscriptsQuery = TranscriptsQuery()) -> Highlights:  # noqa: B008 - it is frozen
        answer = await self.desk.transcripts(query)
        assert isinstance(answer.data, Highlights)
        return answer.data

    async def quotes(self, query: TranscriptsQuery = TranscriptsQuery()) -> list[str]:  # noqa: B008 - it is frozen
        return [one.quote for one in (await self.highlights(query)).highlights]

    async def listed(self) -> dict[str, TranscriptSource]:
        answer = await self.desk.transcripts(TranscriptsQuery(action="sources"))
        assert isinstance(answer.data, TranscriptSources)
        return {source.id: source for source in answer.data.sources}


def episode(number: int, transcript: tuple[str, ...], days_ago: float = 1.0, enclosure: str = "") -> Episode:
    """An episode with a guid that is long enough to be the same elsewhere on purpose."""
    at_ms = START_MS - round(days_ago * DAY_MS)
    return Episode(f"https://guid.example/{number}", "An episode", at_ms, [transcript], enclosure)


@asynccontextmanager
async def open_room(folder: Path, clock: FakeClock, *, captions: bool = False) -> AsyncIterator[Room]:
    async with open_web(clock) as web, open_database(folder / "verdict.db", clock) as database:
        yield Room(web, database, clock, Captions(web.fetcher) if captions else None)

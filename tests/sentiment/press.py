"""Two publishers and an index, moved by hand, and the room's parts over real sessions and a real store."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from email.utils import formatdate
from pathlib import Path

from aiohttp import web

from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.sentiment.aggregation import Conclusions
from service.sentiment.refresh import SentimentMarket, SentimentRefresh, SentimentSources
from service.sentiment.service import SentimentService
from service.sentiment.sources.alternative import FearGreed
from service.sentiment.sources.rss import NewsFeed
from service.sentiment.stance import Trading
from service.sentiment.store import NewsStore
from service.storage.database import Database, open_database
from service.storage.documents import DocumentStore
from service.upstream.session import open_session
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import category_loading
from tests.upstream.conftest import listening
from tests.upstream.faults import Faults

AMPLE = 1_000_000
FEEDS = {"coindesk": "/coindesk/arc/outboundfeeds/rss", "cointelegraph": "/cointelegraph/rss"}


class Press:
    """What is published.

    Attributes:
        url: Where all of it is.
        stories: Feed → (title, when, guid), newest first.
        index: Today's Fear & Greed.
        faults: By feed, and of `alternative`: put in the publisher's place.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.stories: dict[str, list[tuple[str, int, str]]] = {feed: [] for feed in FEEDS}
        self.index = 50
        self.faults = {name: Faults() for name in (*FEEDS, "alternative")}
        self.url = ""

    def publish(self, feed: str, title: str, ago_s: int = 60, guid: str = "") -> None:
        self.stories[feed].insert(
            0, (title, self.clock.now_ms() - ago_s * SECOND_MS, guid or f"https://{feed}/{title}")
        )

    def asked(self) -> tuple[int, int, int]:
        """Requests that came so far: to the first feed, the second, the index."""
        first, second, index = (len(faults.requests) for faults in self.faults.values())
        return first, second, index

    async def rss(self, request: web.Request) -> web.StreamResponse:
        feed = request.path.split("/")[1]
        items = "".join(
            f"<item><title><![CDATA[{title}]]></title><guid>{guid}</guid>"
            f"<pubDate>{formatdate(at_ms / SECOND_MS, usegmt=True)}</pubDate></item>"
            for title, at_ms, guid in self.stories[feed]
        )
        said = f'<?xml version="1.0"?><rss version="2.0"><channel>{items}</channel></rss>'
        return await self.faults[feed](request) or web.Response(text=said, headers=self._dated())

    async def fng(self, request: web.Request) -> web.StreamResponse:
        rows = [{"value": str(self.index), "value_classification": "Neutral", "timestamp": str(START_MS // 1000)}]
        said = json.dumps({"name": "Fear and Greed Index", "data": rows, "metadata": {"error": None}})
        return await self.faults["alternative"](request) or web.Response(text=said, headers=self._dated())

    def _dated(self) -> dict[str, str]:
        return {"Date": formatdate(self.clock.now_ms() / SECOND_MS, usegmt=True)}


class Room:
    """The room's parts without their loop."""

    def __init__(self, press: Press, database: Database, clock: FakeClock, sources: SentimentSources) -> None:
        self.press = press
        self.clock = clock
        self.origin = "test"
        self.tape: dict[str, Trading] = {
            "BTC": Trading("Bitcoin", 1.0, 3.0, 10.95, 1.0, START_MS - 5_000),
            "SOL": Trading("Solana", 2.0, 18.0, 45.0, 2.0, START_MS - 5_000),
        }
        self.categories: dict[str, tuple[str, ...]] = {"Layer 1 (L1)": ("BTC", "SOL"), "Meme": ()}
        self.shelf = DocumentStore(database)
        self.drawer = self.shelf.document("sentiment.conclusions", Conclusions)
        self.store = NewsStore(database)
        self.desk = SentimentService(clock, self.drawer, self.find, category_loading)
        market = SentimentMarket(lambda: self.origin, lambda: self.tape, lambda: self.categories)
        self.refresh = SentimentRefresh(clock, self.store, self.drawer, sources, market)

    def find(self, name: str) -> object:
        if name not in self.categories:
            raise ServiceError("UNKNOWN_CATEGORY", f"no category {name!r}", details={"candidates": ["Meme"]})
        return name


@asynccontextmanager
async def open_sources(url: str, clock: Clock) -> AsyncIterator[SentimentSources]:
    """Sessions to what stands at an address, as the replay has it."""
    async with AsyncExitStack() as stack:
        sessions = {
            name: await stack.enter_async_context(
                open_session(name, f"{url}/{name}", clock, weight_per_minute=AMPLE, deadline_s=20)
            )
            for name in (*FEEDS, "alternative")
        }
        feeds = [NewsFeed(sessions[feed], clock) for feed in FEEDS]
        yield SentimentSources(feeds, FearGreed(sessions["alternative"], clock))


@asynccontextmanager
async def open_press(clock: FakeClock) -> AsyncIterator[Press]:
    press, app = Press(clock), web.Application()
    for path in FEEDS.values():
        app.router.add_get(path, press.rss)
    app.router.add_get("/alternative/fng/", press.fng)
    async with listening(app) as url:
        press.url = url
        yield press


@asynccontextmanager
async def open_room(folder: Path, clock: FakeClock) -> AsyncIterator[Room]:
    async with (
        open_press(clock) as press,
        open_sources(press.url, clock) as sources,
        open_database(folder / "verdict.db", clock) as database,
    ):
        yield Room(press, database, clock, sources)

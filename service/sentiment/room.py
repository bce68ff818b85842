"""The room, opened: a desk that answers, and the loop that keeps what it answers fresh."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.room import Market as MarketRoom
from service.market.schedule import Lead, Loop, running
from service.market.shelf import Shelf
from service.sentiment.desk import SentimentDesk
from service.sentiment.mood import Conclusions
from service.sentiment.refresh import EVERY_S, Market, SentimentRefresh, Sources
from service.sentiment.sources.alternative import FearGreed
from service.sentiment.sources.rss import News
from service.sentiment.store import NewsStore
from service.sentiment.tape import Tape
from service.storage.database import Database
from service.upstream.session import UpstreamSession

FEEDS: Final = ("coindesk", "cointelegraph")


@asynccontextmanager
async def open_sentiment(
    database: Database,
    shelf: Shelf,
    market: MarketRoom,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    origin: Callable[[], str],
    lead: Lead,
) -> AsyncIterator[SentimentDesk]:
    """Open the room; it answers at once from what the shelf holds.

    Args:
        database: Where news are kept.
        shelf: Where conclusions are kept; its owner goes on following it.
        market: The coins there are, how they trade, and their categories.
        clock: All of its time.
        sessions: To the upstreams by name: the news feeds and `alternative`.
        origin: Which history the sessions tell at this moment.
        lead: Whether this process is the one that fetches.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    tape = Tape(clock, market.coins, market.store, market.categories.titles)
    drawer = shelf.drawer("sentiment.conclusions", Conclusions)
    sources = Sources([News(sessions[name], clock) for name in FEEDS], FearGreed(sessions["alternative"], clock))

    told = Market(origin=origin, tape=tape.now, categories=market.categories.memberships)
    refresh = SentimentRefresh(clock, NewsStore(database), drawer, sources, told)

    async def read_the_news() -> None:
        await tape.read()
        await refresh.round()

    desk = SentimentDesk(clock, drawer, market.categories.find, market.categories.filling)
    await shelf.follow()
    async with running(
        [Loop("sentiment", read_the_news, EVERY_S, after=market.known, wake=market.members)], lead, clock
    ):
        yield desk

"""Opens the package: the service that answers, and the loop that refreshes its data."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.factory import MarketData
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.sentiment.aggregation import Conclusions
from service.sentiment.refresh import EVERY_S, SentimentMarket, SentimentRefresh, SentimentSources
from service.sentiment.service import SentimentService
from service.sentiment.sources.alternative import FearGreed
from service.sentiment.sources.rss import NewsFeed
from service.sentiment.store import NewsStore
from service.sentiment.trading import TradingSnapshot
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.session import UpstreamSession

FEEDS: Final = ("coindesk", "cointelegraph")


@asynccontextmanager
async def open_sentiment(
    database: Database,
    documents: DocumentStore,
    market: MarketData,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[SentimentService]:
    """Open the service; it answers at once from stored data.

    Args:
        database: Where news are kept.
        documents: Holds the conclusions; its owner refreshes it.
        market: The coins there are, how they trade, and their categories.
        clock: All of its time.
        sessions: To the upstreams by name: the news feeds and `alternative`.
        origin: Which history the sessions tell at this moment.
        lead: Whether this process is the one that fetches.

    Yields:
        The service.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    tape = TradingSnapshot(clock, market.coins, market.store, market.categories.titles)
    document = documents.document("sentiment.conclusions", Conclusions)
    sources = SentimentSources(
        [NewsFeed(sessions[name], clock) for name in FEEDS], FearGreed(sessions["alternative"], clock)
    )

    known_market = SentimentMarket(origin=origin, tape=tape.now, categories=market.categories.memberships)
    refresh = SentimentRefresh(clock, NewsStore(database), document, sources, known_market)

    async def read_the_news() -> None:
        await tape.read()
        await refresh.round()

    service = SentimentService(clock, document, market.categories.find, market.categories.load_progress)
    await documents.refresh()
    async with running_tasks(
        [PeriodicTask("sentiment", read_the_news, EVERY_S, after=market.past_prices_read, wake=market.members_changed)],
        lead,
        clock,
    ):
        yield service

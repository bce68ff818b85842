"""Opens the package: the service that answers, and the loop that refreshes its data."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.factory import MarketData
from service.market.symbols import unit_of
from service.scheduler import Leadership, PeriodicTask, running_tasks, setting_when_done
from service.sentiment.matcher import Known
from service.settings import Settings
from service.storage.database import Database
from service.transcripts.feed_reader import FeedReader
from service.transcripts.pages import TranscriptPages
from service.transcripts.refresh import EVERY_S, KnownMarket, TranscriptRefresh
from service.transcripts.service import TranscriptService
from service.transcripts.sources import sources_of
from service.transcripts.store import TranscriptStore
from service.transcripts.youtube import Captions
from service.upstream.feed_fetcher import FeedFetcher
from service.wire.cursor import Cursors

LOOK_EVERY_S: Final = 15.0
"""How often every process sees how the sources stand, for an operator."""


@asynccontextmanager
async def open_transcripts(
    settings: Settings,
    database: Database,
    cursors: Cursors,
    market: MarketData,
    fetcher: FeedFetcher,
    clock: Clock,
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[TranscriptService]:
    """Open the package; it answers at once from what the store holds.

    Args:
        settings: Which feeds are read, and whether captions of videos on YouTube are.
        database: Where episodes are kept.
        cursors: Writes and reads where pages begin.
        market: The coins and categories there are.
        fetcher: Who asks for feeds and transcripts.
        clock: All of its time.
        origin: The current dataset.
        lead: Whether this process is the one that fetches.

    Yields:
        The service.

    Raises:
        SettingsError: If the list of feeds cannot be used.
    """
    sources = sources_of(settings)

    def coins() -> list[Known]:
        titles = {str(symbol): title for symbol, title in market.categories.titles().items()}
        view = market.coins.view().items()
        return [Known(symbol, titles.get(symbol, ""), unit_of(coin.venue_symbol)[1]) for symbol, coin in view]

    captions = Captions(fetcher) if settings.youtube_captions == "on" else None
    known_market = KnownMarket(origin=origin, coins=coins, categories=market.categories.category_names)
    refresh = TranscriptRefresh(clock, TranscriptStore(database), FeedReader(fetcher, captions), sources, known_market)
    service = TranscriptService(
        clock, TranscriptPages(database), cursors, sources, market.coins.find, market.categories.find
    )
    loops = (
        PeriodicTask(
            "transcripts", setting_when_done(refresh.round, service.tried), EVERY_S, after=market.funding_loaded
        ),
        PeriodicTask("transcript sources", service.look, LOOK_EVERY_S, every_process=True),
    )
    if not sources:
        service.tried.set()
    async with running_tasks(loops if sources else (), lead, clock):
        yield service

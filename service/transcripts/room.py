"""The room, opened: a desk that answers, and the loop that keeps what it answers fresh."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.room import Market as MarketRoom
from service.market.schedule import Lead, Loop, noting, running
from service.settings import Settings
from service.storage.database import Database
from service.transcripts.desk import TranscriptDesk
from service.transcripts.pages import TranscriptPages
from service.transcripts.reading import FeedReader
from service.transcripts.refresh import EVERY_S, Market, TranscriptRefresh
from service.transcripts.sources import sources_of
from service.transcripts.store import TranscriptStore
from service.transcripts.youtube import Captions
from service.upstream.visitor import Visitor
from service.wire.cursor import Cursors

LOOK_EVERY_S: Final = 15.0
"""How often every process sees how the sources stand, for an operator."""


@asynccontextmanager
async def open_transcripts(
    settings: Settings,
    database: Database,
    cursors: Cursors,
    market: MarketRoom,
    visitor: Visitor,
    clock: Clock,
    origin: Callable[[], str],
    lead: Lead,
) -> AsyncIterator[TranscriptDesk]:
    """Open the room; it answers at once from what the store holds.

    Args:
        settings: Which feeds are read, and whether captions of videos on YouTube are.
        database: Where episodes are kept.
        cursors: Writes and reads where pages begin.
        market: The coins and categories there are.
        visitor: Who asks for feeds and transcripts.
        clock: All of its time.
        origin: Which history the visitor is told at this moment.
        lead: Whether this process is the one that fetches.

    Yields:
        The desk.

    Raises:
        SettingsError: If the list of feeds cannot be used.
    """
    sources = sources_of(settings)

    def titles() -> Mapping[str, str]:
        known = {str(symbol): title for symbol, title in market.categories.titles().items()}
        return {symbol: known.get(symbol, "") for symbol in market.coins.view()}

    captions = Captions(visitor) if settings.youtube_captions == "on" else None
    told = Market(origin=origin, titles=titles, categories=market.categories.category_names)
    refresh = TranscriptRefresh(clock, TranscriptStore(database), FeedReader(visitor, captions), sources, told)
    desk = TranscriptDesk(clock, TranscriptPages(database), cursors, sources, market.coins.find, market.categories.find)
    loops = (
        Loop("transcripts", noting(refresh.round, desk.tried), EVERY_S, after=market.paid),
        Loop("transcript sources", desk.look, LOOK_EVERY_S, everywhere=True),
    )
    if not sources:
        desk.tried.set()
    async with running(loops if sources else (), lead, clock):
        yield desk

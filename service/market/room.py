"""The room, opened: a desk that answers, and the loops that keep what it answers fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.desk import MarketDesk
from service.market.history import HistoryRefresh
from service.market.loops import keep_doing
from service.market.quotes import QuoteRefresh
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.session import UpstreamSession

QUOTES_EVERY_S: Final = 15.0
HISTORY_EVERY_S: Final = 15.0
FOLLOW_EVERY_S: Final = 1.0


@asynccontextmanager
async def open_market(
    database: Database,
    clock: Clock,
    session: UpstreamSession,
    origin: Callable[[], str],
    leader: Callable[[], bool],
) -> AsyncIterator[MarketDesk]:
    """Open the market room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        clock: All of its time.
        session: To the venue.
        origin: Which history the session tells at this moment (`live`, or a replay's own name for it): asked each time,
            because a replay's changes at midnight. What the store holds of another one is cleared.
        leader: Whether this process is the one that fetches; the others read what it stores.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be used.
    """
    store, desk = MarketStore(database), MarketDesk(clock)
    source = Hyperliquid(session, clock)

    async def load() -> None:
        desk.show(await store.snapshot())

    quotes = QuoteRefresh(clock, store, source, origin, load)
    history = HistoryRefresh(clock, store, source, origin, load)

    async def follow() -> None:
        if await store.revision() != desk.revision:
            await load()

    async def refresh_quotes() -> None:
        if leader():
            await quotes.round()

    async def refresh_history() -> None:
        await quotes.coins_known.wait()
        await history.round()

    await store.claim(origin())
    await load()
    loops = [
        asyncio.create_task(keep_doing("follow", follow, FOLLOW_EVERY_S, clock)),
        asyncio.create_task(keep_doing("quotes", refresh_quotes, QUOTES_EVERY_S, clock)),
        asyncio.create_task(keep_doing("history", refresh_history, HISTORY_EVERY_S, clock)),
    ]
    try:
        yield desk
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

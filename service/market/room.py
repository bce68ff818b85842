"""The room, opened: desks that answer, and the loops that keep what they answer fresh."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.market.desk import MarketDesk
from service.market.fallback import FALLBACK_VENUE, BinanceFallback
from service.market.live import Live
from service.market.observed import VENUE
from service.market.schedule import running
from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS, Hyperliquid
from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.session import UpstreamSession
from service.upstream.socket import open_socket


class Market(Struct, frozen=True):
    """The room's desks, and what can be said of its readiness."""

    coins: MarketDesk
    store: MarketStore
    readiness: Callable[[], Mapping[str, object]]


@asynccontextmanager
async def open_market(
    database: Database,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    feed_url: str,
    origin: Callable[[], str],
    leader: Callable[[], bool],
) -> AsyncIterator[Market]:
    """Open the market room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        clock: All of its time.
        sessions: To the upstreams, by their names.
        feed_url: The first venue's WebSocket.
        origin: Which history the sessions tell at this moment (`live`, or a replay's own name for it): asked each time,
            because a replay's changes at midnight. What the store holds of another one is cleared.
        leader: Whether this process is the one that fetches; the others read what it stores.

    Yields:
        The desks.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be used.
    """
    store = MarketStore(database)
    fallback = BinanceFallback(sessions[FALLBACK_VENUE], clock)
    live = Live(clock, store, Hyperliquid(sessions[VENUE], clock), fallback, origin)
    await store.claim(origin())
    await live.load()
    async with open_socket(VENUE, feed_url, clock, FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket:
        loops = [
            *live.loops(socket),
            # One row for each topic: Loop("name", refresh.round, EVERY_S, after=live.coins_known).
        ]
        async with running(loops, leader, clock):
            yield Market(live.desk, store, lambda: live.readiness(leads=leader()))

"""The room, opened: desks that answer, and the loops that keep what they answer fresh."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.market.alerts import AlertRefresh
from service.market.alerts_desk import AlertDesk
from service.market.alerts_store import AlertStore
from service.market.breadth_desk import BreadthDesk
from service.market.caps import CapStore, PastCaps
from service.market.categories import CATEGORIES_EVERY_S, CategoryRefresh
from service.market.category_desk import CategoryDesk
from service.market.conclude import CONCLUDE_EVERY_S, ConcludeRefresh
from service.market.concluded import CONCLUSIONS, Conclusions
from service.market.desk import MarketDesk
from service.market.fallback import FALLBACK_VENUE, BinanceFallback
from service.market.gecko import UPSTREAM as GECKO
from service.market.gecko import GeckoDrawers, known_coins
from service.market.historical import HistoricalDesk
from service.market.live import FOLLOW_EVERY_S, Live
from service.market.observed import VENUE
from service.market.regime_desk import RegimeDesk
from service.market.samples import SampleRefresh, SampleStore
from service.market.schedule import Loop, running
from service.market.shelf import Shelf
from service.market.sources.coingecko import CoinGecko, GeckoCoin
from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS, Hyperliquid
from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.session import UpstreamSession
from service.upstream.socket import open_socket
from service.wire.cursor import Cursors

MINUTELY_S: Final = 60.0
"""How often coins are sampled and their funding is watched."""


class Market(Struct, frozen=True):
    """The room's desks, one a topic; the store that rooms above read; and what can be said of its readiness."""

    coins: MarketDesk
    breadth: BreadthDesk
    regimes: RegimeDesk
    historical: HistoricalDesk
    categories: CategoryDesk
    alerts: AlertDesk
    store: MarketStore
    readiness: Callable[[], Mapping[str, object]]


@asynccontextmanager
async def open_market(
    database: Database,
    shelf: Shelf,
    cursors: Cursors,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    feed_url: str,
    origin: Callable[[], str],
    leader: Callable[[], bool],
) -> AsyncIterator[Market]:
    """Open the market room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        shelf: Its documents; followed here, for every room.
        cursors: Writes and reads where pages begin.
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
    coins, gecko = live.desk, GeckoDrawers.on(shelf)
    conclusions = shelf.drawer(CONCLUSIONS, Conclusions)
    samples, events, caps = SampleStore(database), AlertStore(database), CapStore(database)

    def worth() -> Mapping[str, GeckoCoin]:
        return known_coins(gecko.coins.now)

    def identities() -> Mapping[str, str]:
        return {symbol: coin.id for symbol, coin in worth().items()}

    conclude = ConcludeRefresh(clock, store, conclusions, origin, lambda: live.history.asked_ms)
    categories = CategoryRefresh(clock, gecko, caps, CoinGecko(sessions[GECKO], clock), origin, coins.view)
    sampling = SampleRefresh(clock, samples, coins, worth, origin)
    watching = AlertRefresh(clock, store, events, coins, origin)
    market = Market(
        coins=coins,
        breadth=BreadthDesk(clock, conclusions, coins),
        regimes=RegimeDesk(clock, conclusions, coins),
        historical=HistoricalDesk(clock, database, coins, samples, PastCaps(caps, origin, identities), worth),
        categories=CategoryDesk(clock, gecko, coins.view),
        alerts=AlertDesk(events, cursors, coins),
        store=store,
        readiness=lambda: live.readiness(leads=leader()),
    )
    await store.claim(origin())
    await shelf.follow()
    await live.load()
    async with open_socket(VENUE, feed_url, clock, FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket:
        loops = [
            *live.loops(socket),
            Loop("shelf", shelf.follow, FOLLOW_EVERY_S, everywhere=True),
            Loop("conclude", conclude.round, CONCLUDE_EVERY_S, after=live.coins_known, wake=live.history.news),
            Loop("categories", categories.round, CATEGORIES_EVERY_S, after=live.coins_known),
            Loop("samples", sampling.round, MINUTELY_S, after=live.coins_known),
            Loop("alerts", watching.round, MINUTELY_S, after=live.coins_known),
        ]
        async with running(loops, leader, clock):
            yield market

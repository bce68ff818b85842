"""The room, opened: a desk that answers, and the loops that keep what it answers fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.fallback import FALLBACK_VENUE
from service.market.observed import VENUE
from service.market.quotes import RECHECK_EVERY_S
from service.market.schedule import Lead, Loop, running
from service.market.series_check import SeriesCheck
from service.market.shelf import Shelf
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.rwa.bars import BarsRefresh
from service.rwa.desk import RwaDesk
from service.rwa.drawers import Drawers
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import Priced
from service.rwa.quotes import ListingRefresh, QuotesRefresh, accepted_quotes
from service.upstream.session import UpstreamSession

QUOTES_EVERY_S: Final = 30.0
LISTING_EVERY_S: Final = 1.0
"""How often it is asked whether the listing is due, which it is once an hour, and as soon as there are coins."""

BARS_EVERY_S: Final = 5.0
"""How often it is asked whether bars are missing, which they are once a day."""


@asynccontextmanager
async def open_rwa(  # noqa: PLR0913, PLR0917 - the parts it is built from, each used once
    shelf: Shelf,
    store: MarketStore,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    origin: Callable[[], str],
    lead: Lead,
    coins: Callable[[], Mapping[str, Priced]],
    held: Callable[[], str],
    days: asyncio.Event | None = None,
) -> AsyncIterator[RwaDesk]:
    """Open the room; it answers at once from what the shelf holds.

    Args:
        shelf: Where the room keeps what it knows; its owner goes on following it.
        store: The market's, where bars are kept.
        clock: All of its time.
        sessions: To the upstreams by name: `hyperliquid` and `binance`.
        origin: Which history the sessions tell at this moment.
        lead: Whether this process is the one that fetches.
        coins: The coins of the main dex by ticker, to tell wrappers by.
        held: Which history the store holds.
        days: Set once recorded daily bars are loaded; null where nothing is loaded in bulk.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    drawers, source = Drawers.open(shelf), Hyperliquid(sessions[VENUE], clock)
    fallback = TradifiFallback(sessions[FALLBACK_VENUE], clock, lambda: drawers.listing.now.value)
    listing = ListingRefresh(clock, drawers, source, origin, coins)
    quotes = QuotesRefresh(clock, drawers, store, source, fallback, origin, lambda: bars.has_asked)
    check = SeriesCheck(clock, store, lambda of: accepted_quotes(drawers, of), quotes.quarantine)
    bars = BarsRefresh(clock, drawers, store, source, origin, held, check)

    listed = asyncio.Event()
    drawers.listing.on_change(lambda _: listed.set())
    has_bars = asyncio.Event()
    drawers.charts.on_change(lambda _: has_bars.set())
    desk = RwaDesk(clock, drawers)
    await shelf.follow()
    loops = (
        Loop("rwa.listing", listing.round, LISTING_EVERY_S),
        Loop("rwa.quotes", quotes.round, QUOTES_EVERY_S),
        Loop("rwa.recheck", quotes.recheck, RECHECK_EVERY_S, wake=has_bars),
        Loop("rwa.bars", bars.round, BARS_EVERY_S, after=days, wake=listed),
    )
    async with running(loops, lead, clock):
        yield desk

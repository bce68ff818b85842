"""Builds the package: a service that answers, and periodic tasks that keep its data fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.fallback import FALLBACK_VENUE
from service.market.ingest.quotes import RECHECK_EVERY_S
from service.market.models import VENUE
from service.market.past_prices import PastPriceReader, PriceRecorder
from service.market.plausibility.series import SeriesCheck
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.rwa.candles import AssetBarsRefresh
from service.rwa.documents import RwaDocuments, accepted_quotes
from service.rwa.fallback import TradifiFallback
from service.rwa.listing import AssetListingRefresh, HasPrice
from service.rwa.quotes import AssetQuotesRefresh
from service.rwa.service import RwaService
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.storage.documents import DocumentStore
from service.upstream.session import UpstreamSession

QUOTES_EVERY_S: Final = 30.0
LISTING_EVERY_S: Final = 1.0
"""Seconds between two checks whether the listing is due: once an hour, and as soon as there are coins."""

BARS_EVERY_S: Final = 5.0
"""Seconds between two checks whether bars are missing, which happens once a day."""


@asynccontextmanager
async def open_rwa(  # noqa: PLR0913, PLR0917 - the parts it is built from, each used once
    document_store: DocumentStore,
    store: MarketStore,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    origin: Callable[[], str],
    lead: Leadership,
    coins: Callable[[], Mapping[str, HasPrice]],
    held: Callable[[], str],
    past: PastPriceReader,
    recorder: PriceRecorder,
    days: asyncio.Event | None = None,
) -> AsyncIterator[RwaService]:
    """Open the package; it answers at once from stored documents.

    Args:
        document_store: Holds the documents; refreshed by its owner.
        store: The market's store, which keeps bars.
        clock: Time source.
        sessions: Upstream sessions by name: `hyperliquid` and `binance`.
        origin: The current dataset of the sessions.
        lead: Whether this process leads, which means it fetches.
        coins: Coins of the main dex by ticker, to detect wrappers.
        held: The dataset of the store.
        past: Prices that changes are measured from.
        recorder: Stores the prices of the assets.
        days: Set once recorded daily bars are loaded; null without a recording.

    Yields:
        The service.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    documents, source = RwaDocuments.open(document_store), Hyperliquid(sessions[VENUE], clock)
    fallback = TradifiFallback(sessions[FALLBACK_VENUE], clock, lambda: documents.listing.current.value)
    listing = AssetListingRefresh(clock, documents, source, origin, coins)
    quotes = AssetQuotesRefresh(clock, documents, store, source, fallback, origin, lambda: bars.has_asked)
    check = SeriesCheck(
        clock, store, lambda of: accepted_quotes(documents, of), quotes.quarantine, references=quotes.references
    )
    bars = AssetBarsRefresh(clock, documents, store, source, origin, held, check, past)
    recorder.sources.append(lambda of: accepted_quotes(documents, of).values())

    listed = asyncio.Event()
    documents.listing.on_change(lambda _: listed.set())
    has_bars = asyncio.Event()
    documents.charts.on_change(lambda _: has_bars.set())
    service = RwaService(clock, documents, lambda: past.now)
    await document_store.refresh()
    loops = (
        PeriodicTask("rwa.listing", listing.round, LISTING_EVERY_S),
        PeriodicTask("rwa.quotes", quotes.round, QUOTES_EVERY_S),
        PeriodicTask("rwa.recheck", quotes.recheck, RECHECK_EVERY_S, wake=has_bars),
        PeriodicTask("rwa.bars", bars.refresh, BARS_EVERY_S, after=days, wake=listed),
    )
    async with running_tasks(loops, lead, clock):
        yield service

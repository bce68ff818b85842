"""Opens the package: its services, and the tasks that keep their data fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.lookup.coins import LookupService
from service.lookup.finder import Finder
from service.lookup.overview import OverviewService
from service.lookup.prices import PriceService
from service.lookup.tokens import EVERY_S, TokenDocuments, TokenRefresh
from service.market.factory import MarketData
from service.market.loading import LoadProgress
from service.rwa.service import RwaService
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.storage.documents import DocumentStore
from service.table.coins import CoinTable


class Lookups(Struct, frozen=True):
    """The package's services, and whether contracts and totals were read after the start."""

    prices: PriceService
    coins: LookupService
    finder: Finder
    overview: OverviewService
    filling: Callable[[], LoadProgress]


@asynccontextmanager
async def open_lookups(
    document_store: DocumentStore,
    market: MarketData,
    rwa: RwaService,
    table: CoinTable,
    clock: Clock,
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[Lookups]:
    """Open the package. It answers from memory.

    Args:
        document_store: Where contracts and totals are stored.
        market: The coins.
        rwa: Real-world assets.
        table: Figures of the coins.
        clock: The time.
        origin: The current dataset.
        lead: Whether this process leads, and when tasks begin.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    documents, tried = TokenDocuments.on(document_store), asyncio.Event()
    await document_store.refresh()
    tokens = TokenRefresh(clock, documents, market.gecko, origin)

    async def read_tokens() -> None:
        try:
            await tokens.round()
        finally:
            tried.set()

    def filling() -> LoadProgress:
        return LoadProgress(int(tried.is_set() or not lead.is_leader()), 1, "tables")

    tasks = [
        PeriodicTask("contracts and totals", read_tokens, EVERY_S, after=market.prices_known),
    ]
    async with running_tasks(tasks, lead, clock):
        finder = Finder(clock, market, table, rwa, documents)
        yield Lookups(
            PriceService(clock, market),
            LookupService(clock, market, table, finder),
            finder,
            OverviewService(clock, market, documents),
            filling,
        )

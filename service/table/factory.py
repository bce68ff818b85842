"""Opens the package: the table of coins and their history."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.market.factory import MarketData
from service.market.loading import LoadProgress
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.table.coins import CoinTable
from service.table.history import CoinHistory
from service.table.references import REFRESH_S, ReferenceCloses
from service.verdict.service import VerdictService
from service.wire.cursor import Cursors

_DAY_S: Final = 86_400.0


class CoinTables(Struct, frozen=True):
    """The table, the history, and whether closes were read after the bulk load of bars."""

    coins: CoinTable
    history: CoinHistory
    filling: Callable[[], LoadProgress]


@asynccontextmanager
async def open_table(
    database: Database,
    cursors: Cursors,
    market: MarketData,
    sentiment: SentimentService,
    verdict: VerdictService,
    clock: Clock,
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[CoinTables]:
    """Open the table. It answers from memory.

    Args:
        database: Where bars and payments are stored.
        cursors: Write and read positions in lists.
        market: The coins.
        sentiment: Stances of coins.
        verdict: Stored inputs of verdicts.
        clock: The time.
        origin: The current dataset.
        lead: Whether this process leads, and when loops begin.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    references, read = ReferenceCloses(database), asyncio.Event()
    await references.refresh()

    async def read_loaded() -> None:
        await references.refresh()
        read.set()

    def filling() -> LoadProgress:
        return LoadProgress(int(read.is_set() or not lead.is_leader()), 1, "tables")

    history = CoinHistory(clock, database, market, verdict, origin)
    loops = [
        PeriodicTask("reference closes", references.refresh, REFRESH_S, every_process=True),
        PeriodicTask("reference closes of loaded bars", read_loaded, _DAY_S, after=market.series_loaded),
        PeriodicTask("daily history", history.warm, REFRESH_S, after=market.momentum_ready),
    ]
    async with running_tasks(loops, lead, clock):
        yield CoinTables(
            CoinTable(clock, market, sentiment, references, cursors),
            history,
            filling,
        )

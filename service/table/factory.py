"""Opens the package: the table of coins and their history."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.market.factory import MarketData
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.table.coins import CoinTable
from service.table.history import CoinHistory
from service.verdict.service import VerdictService
from service.wire.cursor import Cursors

WARM_EVERY_S: Final = 5.0


class CoinTables(Struct, frozen=True):
    """The table and the history."""

    coins: CoinTable
    history: CoinHistory


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
    history = CoinHistory(clock, database, market, verdict, origin)
    loops = [PeriodicTask("daily history", history.warm, WARM_EVERY_S, after=market.momentum_ready)]
    async with running_tasks(loops, lead, clock):
        yield CoinTables(CoinTable(clock, market, sentiment, cursors), history)

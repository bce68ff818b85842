"""Opens the package: the table of coins and their history."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.market.room import Market
from service.market.schedule import Lead, Loop, running
from service.sentiment.desk import SentimentDesk
from service.storage.database import Database
from service.table.coins import CoinTable
from service.table.history import CoinHistory
from service.table.references import REFRESH_S, References
from service.verdict.desk import VerdictDesk
from service.wire.cursor import Cursors


class Table(Struct, frozen=True):
    """The coins now, and their past."""

    coins: CoinTable
    history: CoinHistory


@asynccontextmanager
async def open_table(
    database: Database,
    cursors: Cursors,
    market: Market,
    sentiment: SentimentDesk,
    verdict: VerdictDesk,
    clock: Clock,
    origin: Callable[[], str],
    lead: Lead,
) -> AsyncIterator[Table]:
    """Open the table; it answers at once from what is in memory.

    Args:
        database: Where bars and payments are stored.
        cursors: Writes and reads cursors of pages.
        market: The coins.
        sentiment: Their stances.
        verdict: Stored inputs of verdicts.
        clock: All of its time.
        origin: Which history the upstreams tell at this moment.
        lead: When loops may begin.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    references = References(database)
    await references.refresh()
    loops = [Loop("reference closes", references.refresh, REFRESH_S, everywhere=True)]
    async with running(loops, lead, clock):
        yield Table(
            CoinTable(clock, market, sentiment, references, cursors),
            CoinHistory(clock, database, market, verdict, origin),
        )

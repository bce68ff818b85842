"""Opens the package: the table of coins and their history."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.market.filling import Filling
from service.market.room import Market
from service.market.schedule import Lead, Loop, running
from service.sentiment.desk import SentimentDesk
from service.storage.database import Database
from service.table.coins import CoinTable
from service.table.history import CoinHistory
from service.table.references import REFRESH_S, References
from service.verdict.desk import VerdictDesk
from service.wire.cursor import Cursors

_DAY_S: Final = 86_400.0


class Table(Struct, frozen=True):
    """The coins now, and their past; `filling` says whether closes were read since bars were loaded in bulk."""

    coins: CoinTable
    history: CoinHistory
    filling: Callable[[], Filling]


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
    references, read = References(database), asyncio.Event()
    await references.refresh()

    async def read_loaded() -> None:
        await references.refresh()
        read.set()

    def filling() -> Filling:
        return Filling(int(read.is_set() or not lead.held()), 1, "tables")

    history = CoinHistory(clock, database, market, verdict, origin)
    loops = [
        Loop("reference closes", references.refresh, REFRESH_S, everywhere=True),
        Loop("reference closes of loaded bars", read_loaded, _DAY_S, after=market.loaded),
        Loop("daily history", history.warm, REFRESH_S, after=market.summed),
    ]
    async with running(loops, lead, clock):
        yield Table(
            CoinTable(clock, market, sentiment, references, cursors),
            history,
            filling,
        )

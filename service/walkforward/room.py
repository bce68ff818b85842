"""The room, opened: a desk that answers, and the loop that has every published day walked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.clock import Clock
from service.market.room import Market
from service.market.schedule import Lead, Loop, running
from service.storage.database import Database
from service.walkforward.apart import run_apart
from service.walkforward.desk import WalkforwardDesk
from service.walkforward.refresh import EVERY_S, QUIET_S, WalkforwardRefresh
from service.walkforward.store import RunStore
from service.wire.cursor import Cursors


@asynccontextmanager
async def open_walkforward(
    database: Database,
    cursors: Cursors,
    market: Market,
    clock: Clock,
    origin: Callable[[], str],
    lead: Lead,
) -> AsyncIterator[WalkforwardDesk]:
    """Open the room; it answers at once from the runs that are kept.

    Args:
        database: Where runs are kept, and what is walked.
        cursors: Writes and reads where pages begin.
        market: The coins there are, their prices and their series.
        clock: All of its time.
        origin: Which history the service tells at this moment.
        lead: Whether this process is the one that has days walked.

    Yields:
        The desk. On leaving, a run that is under way is ended with its process.
    """
    runs = RunStore(database)
    quiet_s = 0.0 if market.recorded else QUIET_S  # once recorded funding is watched nothing more urgent is computed
    refresh = WalkforwardRefresh(clock, runs, market.store, database.address, origin, run_apart, quiet_s)
    concluded = asyncio.Event() if market.recorded else None
    if concluded is not None:
        market.conclusions.on_change(lambda _: concluded.set())
    desk = WalkforwardDesk(clock, runs, cursors, market.coins, origin)
    async with running([Loop("walkforward", refresh.round, EVERY_S, after=market.summed, wake=concluded)], lead, clock):
        yield desk

"""Opens the walk-forward service and starts its daily run."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.clock import Clock
from service.market.factory import MarketData
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.storage.database import Database
from service.walkforward.child_process import run_in_process
from service.walkforward.refresh import EVERY_S, QUIET_S, WalkforwardScheduler
from service.walkforward.service import WalkforwardService
from service.walkforward.store import RunStore
from service.wire.cursor import Cursors


@asynccontextmanager
async def open_walkforward(
    database: Database,
    cursors: Cursors,
    market: MarketData,
    clock: Clock,
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[WalkforwardService]:
    """Open the service. It answers at once from stored runs.

    Args:
        database: Holds runs, bars and funding.
        cursors: Write and read positions in lists.
        market: Coins, prices and series.
        clock: The time.
        origin: The current dataset.
        lead: Whether this process runs the walk-forward.

    Yields:
        The service. On exit, a running child process is stopped.
    """
    runs = RunStore(database)
    quiet_s = 0.0 if market.is_recorded else QUIET_S  # recorded data needs no other start-up work
    refresh = WalkforwardScheduler(clock, runs, market.store, database.address, origin, run_in_process, quiet_s)
    concluded = asyncio.Event() if market.is_recorded else None
    if concluded is not None:
        market.daily_report.on_change(lambda _: concluded.set())
    service = WalkforwardService(clock, runs, cursors, market.coins, origin)
    async with running_tasks(
        [PeriodicTask("walkforward", refresh.round, EVERY_S, after=market.momentum_ready, wake=concluded)], lead, clock
    ):
        yield service

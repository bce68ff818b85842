"""The room, opened: a desk that answers, and the loops that keep what it answers fresh."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.market.history import HistoryRefresh
from service.market.quotes import QuoteRefresh
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.failure import UpstreamError
from service.upstream.session import UpstreamSession

QUOTES_EVERY_S: Final = 15.0
HISTORY_EVERY_S: Final = 15.0
FOLLOW_EVERY_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0

_log: Final = logging.getLogger("verdict.market")


@asynccontextmanager
async def open_market(
    database: Database,
    clock: Clock,
    session: UpstreamSession,
    origin: Callable[[], str],
    leader: Callable[[], bool],
) -> AsyncIterator[MarketDesk]:
    """Open the market room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        clock: All of its time.
        session: To the venue.
        origin: Which history the session tells at this moment (`live`, or a replay's own name for it): asked each time,
            because a replay's changes at midnight. What the store holds of another one is cleared.
        leader: Whether this process is the one that fetches; the others read what it stores.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be used.
    """
    store, desk = MarketStore(database), MarketDesk(clock)
    source = Hyperliquid(session, clock)

    async def load() -> None:
        desk.show(await store.snapshot())

    quotes = QuoteRefresh(clock, store, source, origin, load)
    history = HistoryRefresh(clock, store, source, origin, load)

    async def follow() -> None:
        if await store.revision() != desk.revision:
            await load()

    async def refresh_quotes() -> None:
        if leader():
            await quotes.round()

    async def refresh_history() -> None:
        await quotes.coins_known.wait()
        await history.round()

    await store.claim(origin())
    await load()
    loops = [
        asyncio.create_task(keep_doing("follow", follow, FOLLOW_EVERY_S, clock)),
        asyncio.create_task(keep_doing("quotes", refresh_quotes, QUOTES_EVERY_S, clock)),
        asyncio.create_task(keep_doing("history", refresh_history, HISTORY_EVERY_S, clock)),
    ]
    try:
        yield desk
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)


async def keep_doing(name: str, step: Callable[[], Awaitable[None]], every_s: float, clock: Clock) -> None:
    """Do something again and again, whatever happens, until cancelled.

    A failure is logged and doubles the pause, up to a minute; what an upstream asks for as a pause is kept.

    Args:
        name: What it is, for the log.
        step: What to do.
        every_s: Seconds from start to start.
        clock: Where time is waited for.
    """
    failures = 0
    while True:
        started_s, pause_s = clock.monotonic(), every_s
        try:
            await step()
        except ServiceError as error:
            failures += 1
            asked_s = (error.retry_after_s or 0.0) if isinstance(error, UpstreamError) else 0.0
            pause_s = max(asked_s, _back_off(every_s, failures))
            _log.warning("a refresh failed", extra={"loop": name, "code": error.code, "pause_s": pause_s})
        except Exception:  # noqa: BLE001 - a loop outlives every defect; the log has its trace
            failures += 1
            pause_s = _back_off(every_s, failures)
            _log.exception("a refresh is defective", extra={"loop": name, "pause_s": pause_s})
        else:
            failures = 0
        await clock.sleep(max(0.0, started_s + pause_s - clock.monotonic()))


def _back_off(every_s: float, failures: int) -> float:
    return min(every_s * 2.0 ** min(failures - 1, 10), LONGEST_PAUSE_S)

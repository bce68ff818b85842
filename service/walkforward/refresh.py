"""Running the engine once a day, in the process that leads."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from service.clock import HOUR_MS, Clock, day_of
from service.market.store import MarketStore
from service.walkforward.apart import RunFailedError
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import Packed
from service.walkforward.store import RunStore
from service.walkforward.worker import Gone, Job

EVERY_S: Final = 30.0
"""A round in which nothing is due is three small reads."""

QUIET_S: Final = 60.0
"""A service that has just started, or begun another history, has more urgent things to compute."""

PATIENCE_S: Final = 3_600.0
"""So long the first run of a history waits for its funding to be known."""

ENOUGH: Final = 0.9
"""Share of the listed coins whose funding makes a first run worth while."""

SETTLED_MS: Final = HOUR_MS
"""So long after a day's close the next runs wait: its late bars and its last payments have then come."""

FIRST_PAUSE_S: Final = 600.0
LONGEST_PAUSE_S: Final = 21_600.0

_log: Final = logging.getLogger("verdict.walkforward")


class WalkforwardRefresh:
    """Has every published day walked once.

    Args:
        clock: What time it is, and how long a failure is left alone.
        runs: Where runs are kept.
        market: The series; what is published, and what funding came to.
        address: What whoever runs opens the store by.
        origin: Which history the store is meant to hold at this moment; a replay's changes at midnight.
        run: Does a job, in a process of its own.
        quiet_s: Seconds to wait before the first run of a history.
    """

    def __init__(
        self,
        clock: Clock,
        runs: RunStore,
        market: MarketStore,
        address: str,
        origin: Callable[[], str],
        run: Callable[[Job, Callable[[int, int], None]], Awaitable[Packed | Gone]],
        quiet_s: float = QUIET_S,
    ) -> None:
        self._clock = clock
        self._runs = runs
        self._market = market
        self._address = address
        self._origin = origin
        self._run = run
        self._quiet_s = quiet_s
        self._parameters = Parameters()
        self._walked: str | None = None
        self._since_s = self._again_s = 0.0
        self._failures = 0

    async def round(self) -> None:
        """Walk the last published day, if that is due; whatever goes wrong is left alone for ten minutes at least.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin = self._origin()
        if origin != self._walked:
            self._walked, self._failures, self._since_s = origin, 0, self._clock.monotonic()
            self._again_s = self._since_s + self._quiet_s
        until_ms = await self._market.published_through(origin)
        if until_ms is None or not await self._is_due(origin, until_ms):
            return
        # Noted before: what fails in between, the store included, must not cost a minute of arithmetic every minute.
        pause_s = min(FIRST_PAUSE_S * 2.0**self._failures, LONGEST_PAUSE_S)
        began_s = self._clock.monotonic()
        self._again_s, self._failures = began_s + pause_s, min(self._failures + 1, 10)
        await self._market.sum_funding(origin)
        job = Job(self._address, origin, until_ms, self._clock.now_ms(), self._parameters)
        try:
            brought = await self._run(job, _watch)
        except (RunFailedError, OSError) as error:
            _log.error("a walk-forward failed", extra={"reason": str(error), "pause_s": pause_s})
            return
        if isinstance(brought, Gone):
            _log.info("a walk-forward was not run", extra={"reason": brought.reason})
            return
        number = await self._runs.put(origin, brought)
        self._failures = 0
        took_s = round(self._clock.monotonic() - began_s, 1)
        _log.info("a walk-forward was run", extra={"run": number, "run_id": brought.run_id, "took_s": took_s})

    async def _is_due(self, origin: str, until_ms: int) -> bool:
        now_s = self._clock.monotonic()
        if now_s < self._again_s or await self._runs.is_done(origin, ENGINE, self._parameters, day_of(until_ms) - 1):
            return False
        if await self._runs.newest(origin) is None:
            return now_s - self._since_s >= PATIENCE_S or await self._is_funding_known(origin)
        return self._clock.now_ms() >= until_ms + SETTLED_MS

    async def _is_funding_known(self, origin: str) -> bool:
        coins = await self._market.funding_progress(origin)
        return sum(coin.last_ms is not None for coin in coins) >= ENOUGH * max(1, len(coins))


def _watch(done: int, total: int) -> None:
    """Say how far it is, to whoever wants to know."""
    _log.debug("a walk-forward is being run", extra={"done": done, "total": total})

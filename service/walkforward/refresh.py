"""Runs the walk-forward once a day, in the leader."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from service.clock import HOUR_MS, Clock, day_of
from service.market.store import MarketStore
from service.walkforward.child_process import RunFailedError
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import PackedRun
from service.walkforward.store import RunStore
from service.walkforward.worker import NothingToWalk, WalkforwardJob

EVERY_S: Final = 30.0
"""A round without a due run takes three small reads."""

QUIET_S: Final = 60.0
"""Pause after a start or a change of the dataset, which have more urgent work."""

FUNDING_WAIT_S: Final = 3_600.0
"""Longest wait of the first run of a dataset for funding."""

FUNDED_SHARE: Final = 0.9
"""Share of the listed coins whose funding is needed for the first run."""

SETTLED_MS: Final = HOUR_MS
"""Wait after the close of a day for late bars and payments."""

FIRST_PAUSE_S: Final = 600.0
LONGEST_PAUSE_S: Final = 21_600.0

_log: Final = logging.getLogger("verdict.walkforward")


class WalkforwardScheduler:
    """Runs the walk-forward once for every published day.

    Args:
        clock: The time.
        runs: Stored runs.
        market: Published days, bars and funding.
        address: Address of the database, for the child process.
        origin: The current dataset; that of a replay changes at midnight.
        run: Runs a job in a child process.
        quiet_s: Seconds to wait before the first run of a dataset.
    """

    def __init__(
        self,
        clock: Clock,
        runs: RunStore,
        market: MarketStore,
        address: str,
        origin: Callable[[], str],
        run: Callable[[WalkforwardJob, Callable[[int, int], None]], Awaitable[PackedRun | NothingToWalk]],
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
        self._dataset: str | None = None
        self._since_s = self._next_s = 0.0
        self._failures = 0

    async def round(self) -> None:
        """Run for the last published day if that is due. After a failure, wait ten minutes or more.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin = self._origin()
        if origin != self._dataset:
            self._dataset, self._failures, self._since_s = origin, 0, self._clock.monotonic()
            self._next_s = self._since_s + self._quiet_s
        until_ms = await self._market.published_through(origin)
        if until_ms is None or not await self._is_due(origin, until_ms):
            return
        # Set the pause before the run: a failure, also of the store, must not repeat a minute of work every minute.
        pause_s = min(FIRST_PAUSE_S * 2.0**self._failures, LONGEST_PAUSE_S)
        began_s = self._clock.monotonic()
        self._next_s, self._failures = began_s + pause_s, min(self._failures + 1, 10)
        await self._market.sum_funding(origin)
        job = WalkforwardJob(self._address, origin, until_ms, self._clock.now_ms(), self._parameters)
        try:
            result = await self._run(job, _log_progress)
        except (RunFailedError, OSError) as error:
            _log.error("Walk-forward failed", extra={"reason": str(error), "pause_s": pause_s})
            return
        if isinstance(result, NothingToWalk):
            _log.info("Walk-forward skipped", extra={"reason": result.reason})
            return
        number = await self._runs.put(origin, result)
        self._failures = 0
        took_s = round(self._clock.monotonic() - began_s, 1)
        _log.info("Walk-forward finished", extra={"run": number, "run_id": result.run_id, "took_s": took_s})

    async def _is_due(self, origin: str, until_ms: int) -> bool:
        now_s = self._clock.monotonic()
        if now_s < self._next_s or await self._runs.is_done(origin, ENGINE, self._parameters, day_of(until_ms) - 1):
            return False
        if await self._runs.newest(origin) is None:
            return now_s - self._since_s >= FUNDING_WAIT_S or await self._is_funding_known(origin)
        return self._clock.now_ms() >= until_ms + SETTLED_MS

    async def _is_funding_known(self, origin: str) -> bool:
        coins = await self._market.funding_progress(origin)
        return sum(coin.last_ms is not None for coin in coins) >= FUNDED_SHARE * max(1, len(coins))


def _log_progress(done: int, total: int) -> None:
    """Log the progress of a run."""
    _log.debug("Walk-forward is running", extra={"done": done, "total": total})

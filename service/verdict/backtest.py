"""Keeps the backtested record up to date: what became of verdicts that are recomputed for every past day."""

import asyncio
from collections.abc import Callable
from typing import Final

from service.market.conclusions.concluded import Conclusions
from service.market.series import Days, read_days
from service.market.shelf import Drawer
from service.market.store import MarketStore
from service.storage.database import Database
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import Scorecard

BACKTEST_EVERY_S: Final = 60.0


class Backtest:
    """Recomputes all verdicts once a day has been published, in the process that leads.

    Args:
        database: Where bars and sums of funding are.
        store: Sums funding up.
        conclusions: The market's conclusions: through which day.
        drawer: Where the count is put.
        origin: Which history the store is meant to hold at this moment.
    """

    def __init__(
        self,
        database: Database,
        store: MarketStore,
        conclusions: Drawer[Conclusions],
        drawer: Drawer[Scorecard],
        origin: Callable[[], str],
    ) -> None:
        self._database = database
        self._store = store
        self._conclusions = conclusions
        self._drawer = drawer
        self._origin = origin

    async def round(self) -> None:
        """Recompute where a day has been published since, or the rules are others.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin, concluded, kept = self._origin(), self._conclusions.now, self._drawer.now
        if concluded.value is None or concluded.origin != origin:
            return
        through_ms = concluded.value.through_ms
        is_current = kept.value is not None and kept.value.ruleset == CURRENT.label.version
        if is_current and (kept.origin, kept.observed_ms) == (origin, through_ms):
            return
        await self._store.sum_funding(origin)
        days = await self._database.inspect(lambda connection: read_days(connection, through_ms))
        if days.origin == origin:
            await self._drawer.put(origin, await asyncio.to_thread(_count, days), through_ms)


def _count(days: Days) -> Scorecard:
    from service.verdict.recount import count  # noqa: PLC0415 - brings numpy, which only the leader needs

    return count(days)

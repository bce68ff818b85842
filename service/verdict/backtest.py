"""Keeps the backtested record current: outcomes of verdicts that are recomputed for every past day."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from service.market.daily_report.models import BreadthDay, DailyReport
from service.market.series import ClosedDays, count_days, read_days
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.documents import Document
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import Scorecard

BACKTEST_EVERY_S: Final = 60.0


class BacktestRecord:
    """Recomputes all verdicts after each published day, and when bars or funding of past days came late.

    Runs in the leader.

    Args:
        database: Holds bars and daily sums of funding.
        store: Sums funding by day.
        conclusions: The daily reports of the market.
        document: Holds the backtested record.
        origin: The current dataset.
    """

    def __init__(
        self,
        database: Database,
        store: MarketStore,
        conclusions: Document[DailyReport],
        document: Document[Scorecard],
        origin: Callable[[], str],
    ) -> None:
        self._database = database
        self._store = store
        self._conclusions = conclusions
        self._document = document
        self._origin = origin

    async def round(self) -> None:
        """Recompute if another day is published, bars or funding of past days came late, or the rules changed.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin, concluded, kept = self._origin(), self._conclusions.current, self._document.current
        if concluded.value is None or concluded.origin != origin:
            return
        through_ms = concluded.value.through_ms
        await self._store.sum_funding(origin)
        is_of_day = (kept.origin, kept.observed_ms) == (origin, through_ms)
        if is_of_day and kept.value is not None and kept.value.ruleset == CURRENT.label.version:
            counts = await self._database.inspect(lambda connection: count_days(connection, through_ms))
            if kept.value.counts == counts:
                return
        days = await self._database.inspect(lambda connection: read_days(connection, through_ms))
        if days.origin == origin:
            record = await asyncio.to_thread(_recompute, days, concluded.value.breadth)
            await self._document.put(origin, record, through_ms)


def _recompute(days: ClosedDays, published: Sequence[BreadthDay]) -> Scorecard:
    from service.verdict.recompute import recompute_scorecard  # noqa: PLC0415 - brings numpy, which only the leader needs

    return recompute_scorecard(days, published)

"""One verdict a day on every listed coin. Statistics count only these, so requests cannot bias them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from service.clock import DAY_MS, Clock
from service.market.daily_report.models import DailyReport
from service.storage.documents import Document
from service.verdict.decide import decide
from service.verdict.ledger import Ledger
from service.wire.verdict import CoinVerdict, VerdictInputs, VerdictRaw

DAILY_EVERY_S: Final = 15.0

MOST_WAIT_S: Final = 3_600.0
"""How long to wait for sources after a day is published. Then its verdicts are issued without them."""

ENOUGH_COINS: Final = 0.9
"""Share of the coins that need facts from all sources, so that an outage does not decide a day's verdicts."""


class DailyVerdicts:
    """Issues the verdicts of a day once its report is published. Runs in the leader.

    Args:
        clock: The time.
        conclusions: The daily reports of the market.
        ledger: Verdicts are appended here.
        collect_all: Collects the inputs of every listed coin.
        origin: The current dataset.
    """

    def __init__(
        self,
        clock: Clock,
        conclusions: Document[DailyReport],
        ledger: Ledger,
        collect_all: Callable[[], Awaitable[Sequence[VerdictInputs]]],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._conclusions = conclusions
        self._ledger = ledger
        self._collect_all = collect_all
        self._origin = origin
        self._issued: tuple[str, int] | None = None
        self._waiting_since: tuple[tuple[str, int], float] | None = None

    async def round(self) -> None:
        """Issue the verdicts of the newest published day if it has none yet.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; no verdict of the day is written.
        """
        origin = self._origin()
        day = self._newest_day(origin)
        if day is None or self._issued == (origin, day):
            return
        if not await self._ledger.has_day(origin, day):
            inputs = await self._collect_all()
            if not inputs or not (_have_enough_facts(inputs) or self._has_waited_enough((origin, day))):
                return
            verdicts = await asyncio.to_thread(_decide_all, inputs)
            if self._origin() != origin:
                return
            await self._ledger.issue_day(origin, day, verdicts, self._clock.now_ms())
        self._issued = (origin, day)

    def _newest_day(self, origin: str) -> int | None:
        """The last published day, counted from 1970-01-01; null if it closed more than a day ago."""
        kept, now_ms = self._conclusions.current, self._clock.now_ms()
        if kept.value is None or kept.origin != origin:
            return None
        return (kept.value.through_ms - 1) // DAY_MS if 0 <= now_ms - kept.value.through_ms < DAY_MS else None

    def _has_waited_enough(self, wanted: tuple[str, int]) -> bool:
        now_s = self._clock.monotonic()
        if self._waiting_since is None or self._waiting_since[0] != wanted:
            self._waiting_since = (wanted, now_s)
        return now_s - self._waiting_since[1] >= MOST_WAIT_S


def _have_enough_facts(inputs: Sequence[VerdictInputs]) -> bool:
    return sum(_has_all_facts(found.raw) for found in inputs) >= ENOUGH_COINS * len(inputs)


def _has_all_facts(raw: VerdictRaw) -> bool:
    priced = raw.risk is not None and raw.risk.price is not None
    return priced and raw.funding is not None and raw.regime is not None and raw.sentiment is not None


def _decide_all(inputs: Sequence[VerdictInputs]) -> list[CoinVerdict]:
    return [decide(found) for found in inputs]

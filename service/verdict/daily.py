"""One verdict a day on every listed coin, whoever asks for what: the record that statistics are made of."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from service.clock import DAY_MS, Clock
from service.market.conclusions.concluded import Conclusions
from service.market.shelf import Drawer
from service.verdict.decide import decide
from service.verdict.ledger import Ledger
from service.wire.verdict import Verdict, VerdictInputs, VerdictRaw

DAILY_EVERY_S: Final = 15.0

PATIENCE_S: Final = 3_600.0
"""How long sources are waited for once a day is published. Then its verdicts are issued as they are."""

ENOUGH: Final = 0.9
"""Share of the coins all of whose sources must tell for a day's verdicts to be the market's and not an outage's."""


class Daily:
    """Issues the day's verdicts once its conclusions are published, in the process that leads.

    Args:
        clock: What day it is.
        conclusions: Where the market's conclusions are.
        ledger: Where verdicts are written.
        observe: Gathers the inputs of every listed coin, now.
        origin: Which history is told at this moment.
    """

    def __init__(
        self,
        clock: Clock,
        conclusions: Drawer[Conclusions],
        ledger: Ledger,
        observe: Callable[[], Awaitable[Sequence[VerdictInputs]]],
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._conclusions = conclusions
        self._ledger = ledger
        self._observe = observe
        self._origin = origin
        self._issued: tuple[str, int] | None = None
        self._awaited: tuple[tuple[str, int], float] | None = None

    async def round(self) -> None:
        """Issue the verdicts of the newest published day, where that is the last one and has none yet.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; nothing of the day is written then.
        """
        origin = self._origin()
        day = self._newest_day(origin)
        if day is None or self._issued == (origin, day):
            return
        if not await self._ledger.is_told(origin, day):
            inputs = await self._observe()
            if not inputs or not (_are_enough(inputs) or self._is_patience_over((origin, day))):
                return
            verdicts = await asyncio.to_thread(_decide_all, inputs)
            if self._origin() != origin:
                return
            await self._ledger.issue_day(origin, day, verdicts, self._clock.now_ms())
        self._issued = (origin, day)

    def _newest_day(self, origin: str) -> int | None:
        """The last published day, counted from 1970-01-01; null where it closed more than a day ago."""
        kept, now_ms = self._conclusions.now, self._clock.now_ms()
        if kept.value is None or kept.origin != origin:
            return None
        return (kept.value.through_ms - 1) // DAY_MS if 0 <= now_ms - kept.value.through_ms < DAY_MS else None

    def _is_patience_over(self, wanted: tuple[str, int]) -> bool:
        now_s = self._clock.monotonic()
        if self._awaited is None or self._awaited[0] != wanted:
            self._awaited = (wanted, now_s)
        return now_s - self._awaited[1] >= PATIENCE_S


def _are_enough(inputs: Sequence[VerdictInputs]) -> bool:
    return sum(_is_told(found.raw) for found in inputs) >= ENOUGH * len(inputs)


def _is_told(raw: VerdictRaw) -> bool:
    priced = raw.risk is not None and raw.risk.price is not None
    return priced and raw.funding is not None and raw.regime is not None and raw.sentiment is not None


def _decide_all(inputs: Sequence[VerdictInputs]) -> list[Verdict]:
    return [decide(found) for found in inputs]

"""All sources asked at once, and what they told bundled into the inputs of a verdict."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

from service.clock import MINUTE_MS, Clock, iso
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.verdict.sources import Source, SourceSet, Told
from service.wire.verdict import Sources, SourceState, VerdictInputs, VerdictRaw

DEADLINE_S: Final = 2.0
"""How long a source is waited for; who has not told by then is rejected, and nobody waits for him."""

BATCH: Final = 16
"""Coins observed at a time where all are: so that one source that hangs costs seconds, not minutes."""

_log: Final = logging.getLogger("verdict.verdict")


class Observer:
    """Observes what is known of a coin now.

    Args:
        clock: Its deadlines.
        sources: Who is asked.
        market: Knows which coins there are.
    """

    def __init__(self, clock: Clock, sources: SourceSet, market: MarketDesk) -> None:
        self._clock = clock
        self._sources = sources
        self._market = market

    async def observe(self, symbol: str) -> VerdictInputs:
        """Ask all sources at once.

        Args:
            symbol: Canonical ticker.

        Returns:
            The inputs: what raised or did not tell in time is `rejected` and null. `as_of` is the oldest observation
            among what was told; where nothing was, when the price was last observed, else the minute that this is.
        """
        told = await self._ask(symbol)
        observed = [each.observed_ms for each in told if each is not None]
        risk, funding, regime, sentiment = (None if each is None else each.facts for each in told)
        return VerdictInputs(
            symbol=symbol,
            as_of=iso(min(observed) if observed else self._last_seen_ms(symbol)),
            sources=Sources(*(_state(each) for each in told)),
            raw=VerdictRaw(risk, funding, regime, sentiment),
        )

    async def observe_all(self) -> list[VerdictInputs]:
        """Observe every listed coin, by ticker."""
        symbols, observed = sorted(self._market.view()), []
        for at in range(0, len(symbols), BATCH):
            observed += await asyncio.gather(*map(self.observe, symbols[at : at + BATCH]))
        return observed

    async def _ask(self, symbol: str) -> Sequence[Told[Any] | None]:
        """What each source told, in their order; null where it did not."""
        asked = [asyncio.ensure_future(_hear(source, symbol)) for source in self._sources]
        try:
            await asyncio.sleep(0)  # whoever answers from memory has told after this, and no deadline is needed
            if not all(each.done() for each in asked):
                await self._wait(asked)
            return [each.result() if each.done() and not each.cancelled() else None for each in asked]
        finally:
            for each in asked:
                each.cancel()

    async def _wait(self, asked: Sequence[asyncio.Future[Any]]) -> None:
        """Wait until all have told, or until the deadline."""
        everyone = asyncio.gather(*asked, return_exceptions=True)
        deadline = asyncio.ensure_future(self._clock.sleep(DEADLINE_S))
        try:
            await asyncio.wait((everyone, deadline), return_when=asyncio.FIRST_COMPLETED)
        finally:
            deadline.cancel()

    def _last_seen_ms(self, symbol: str) -> int:
        """A time that stays the same while nothing changes, so that being asked again is no new verdict."""
        now_ms = self._clock.now_ms()
        quote = self._market.quotes(self._market.state.origin).get(symbol)
        if quote is None or quote.price_ms is None:
            return now_ms // MINUTE_MS * MINUTE_MS
        return min(quote.price_ms, now_ms)


async def _hear(source: Source[Any], symbol: str) -> Told[Any] | None:
    """What a source tells; null where it raises, which for a verdict is one and the same whatever it raises."""
    try:
        return await source(symbol)
    except ServiceError:
        return None
    except Exception:  # noqa: BLE001 - a defect of one source must not silence the others; the log has its trace
        _log.exception("a source of verdicts is defective", extra={"symbol": symbol})
        return None


def _state(told: Told[Any] | None) -> SourceState:
    if told is None:
        return "rejected"
    return "stale" if told.stale else "fulfilled"

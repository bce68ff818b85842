"""The inputs of a verdict: four sources of facts on a coin, asked at the same time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from service.clock import MINUTE_MS, Clock, iso
from service.errors import ServiceError
from service.market.daily_report.service import RegimeService
from service.market.factory import MarketData
from service.market.freshness import MOOD, Freshness
from service.market.loading import raise_unavailable
from service.market.models import VENUE
from service.market.momentum import PAID, MomentumService
from service.market.service import MarketService
from service.sentiment.service import FIRST_FEED, SentimentService
from service.wire.verdict import (
    FundingFacts,
    RegimeFacts,
    RiskFacts,
    SentimentFacts,
    Sources,
    SourceState,
    VerdictInputs,
    VerdictRaw,
)

T = TypeVar("T")

_CHARTED: Final = ("trend_daily", "trend_weekly")
_FIELDS: Final = ("price", "funding_apr", *_CHARTED, "btc_correlation")
"""Fields of the risk context in the inputs. No rule reads the momentary funding or the correlation."""


class SourceFacts(NamedTuple, Generic[T]):
    """Facts of one source.

    `observed_ms` is the oldest observation among the values that rules read, epoch milliseconds UTC. `stale` means that
    one of them could not be refreshed. A trend that a young coin does not have yet is unknown, not stale.
    """

    facts: T
    observed_ms: int
    stale: bool


FactSource = Callable[[str], Awaitable[SourceFacts[T]]]
"""Takes a canonical ticker; raises `ServiceError` without facts."""


class VerdictSources(NamedTuple):
    """The four sources, by their names in answers."""

    risk: FactSource[RiskFacts]
    funding: FactSource[FundingFacts]
    regime: FactSource[RegimeFacts]
    sentiment: FactSource[SentimentFacts]


def create_sources(clock: Clock, market: MarketData, sentiment: SentimentService) -> VerdictSources:
    """Create the sources. Each answers from memory."""
    return VerdictSources(
        risk=partial(_risk, market.coins),
        funding=partial(_funding, clock, market.momentum),
        regime=partial(_regime, market.regimes),
        sentiment=partial(_sentiment, clock, sentiment),
    )


async def _risk(market: MarketService, symbol: str) -> SourceFacts[RiskFacts]:
    context, quoted_ms = market.assess(symbol)
    through_ms = market.view()[symbol].through_ms
    facts = RiskFacts(
        observed_at=iso(quoted_ms),
        price=context.price,
        funding_apr=context.funding_apr,
        charted_at=None if through_ms is None else iso(through_ms),
        trend_daily=context.trend_daily,
        trend_weekly=context.trend_weekly,
        btc_correlation=context.btc_correlation,
        stale_fields=[field for field in context._stale_fields if field in _FIELDS],  # noqa: SLF001 - the wire's name
    )
    charted = through_ms is not None and (facts.trend_daily is not None or facts.trend_weekly is not None)
    observed_ms = min(quoted_ms, through_ms) if charted and through_ms is not None else quoted_ms
    return SourceFacts(facts, observed_ms, any(_is_stale_input(facts, field) for field in facts.stale_fields))


def _is_stale_input(facts: RiskFacts, field: str) -> bool:
    """Whether a stale field is one that rules read and that could not be refreshed."""
    if field in _CHARTED:
        return facts.charted_at is None or getattr(facts, field) is not None
    return field == "price"


async def _funding(clock: Clock, momentum: MomentumService, symbol: str) -> SourceFacts[FundingFacts]:
    found = momentum.of(symbol)
    judged = Freshness.GONE if found is None else PAID.judge(found.newest_ms, clock.now_ms())
    if found is None or judged is Freshness.GONE:
        raise_unavailable(VENUE, None, f"payments of funding of {symbol}")
    facts = FundingFacts(
        observed_at=iso(found.newest_ms),
        apr_24h=found.apr_24h,
        apr_7d=found.apr_7d,
        percentile_30d=found.percentile_30d,
        payments=found.payments,
    )
    return SourceFacts(facts, found.newest_ms, judged is Freshness.STALE)


async def _regime(regimes: RegimeService, symbol: str) -> SourceFacts[RegimeFacts]:
    standing = regimes.standing(symbol)
    coin = standing.coin
    if standing.market is None and coin is None:
        raise_unavailable(VENUE, None, f"regime of {symbol}")
    facts = RegimeFacts(
        observed_at=iso(standing.through_ms),
        market=standing.market,
        coin=None if coin is None else coin.regime,
        coin_confidence=None if coin is None else coin.confidence,
    )
    return SourceFacts(facts, standing.through_ms, standing.stale)


async def _sentiment(clock: Clock, sentiment: SentimentService, symbol: str) -> SourceFacts[SentimentFacts]:
    mood = sentiment.mood(symbol)
    at_ms, stance = mood.observed_ms, mood.stance
    if at_ms is None or stance is None or MOOD.judge(at_ms, clock.now_ms()) is Freshness.GONE:
        raise_unavailable(FIRST_FEED, None, f"sentiment of {symbol}")
    return SourceFacts(SentimentFacts(iso(at_ms), stance, mood.summary), at_ms, mood.stale)


DEADLINE_S: Final = 2.0
"""Sources that miss the deadline are rejected."""

BATCH: Final = 16
"""Coins collected at a time, so that one source that hangs delays all coins by seconds, not minutes."""

_log: Final = logging.getLogger("verdict.verdict")


class InputCollector:
    """Collects the inputs of verdicts.

    Args:
        clock: Time of deadlines.
        sources: The four sources.
        market: The listed coins.
    """

    def __init__(self, clock: Clock, sources: VerdictSources, market: MarketService) -> None:
        self._clock = clock
        self._sources = sources
        self._market = market

    async def collect(self, symbol: str) -> VerdictInputs:
        """Ask all sources at the same time.

        Args:
            symbol: Canonical ticker.

        Returns:
            The inputs. A source that raises or misses the deadline is `rejected` and null. `as_of` is the oldest
            observation; without any, the time of the last price, else the start of the current minute.
        """
        results = await self._ask(symbol)
        observed = [each.observed_ms for each in results if each is not None]
        risk, funding, regime, sentiment = (None if each is None else each.facts for each in results)
        return VerdictInputs(
            symbol=symbol,
            as_of=iso(min(observed) if observed else self._last_seen_ms(symbol)),
            sources=Sources(*(_source_state(each) for each in results)),
            raw=VerdictRaw(risk, funding, regime, sentiment),
        )

    async def collect_all(self) -> list[VerdictInputs]:
        """Collect the inputs of every listed coin, ordered by ticker."""
        symbols, observed = sorted(self._market.view()), []
        for at in range(0, len(symbols), BATCH):
            observed += await asyncio.gather(*map(self.collect, symbols[at : at + BATCH]))
        return observed

    async def _ask(self, symbol: str) -> Sequence[SourceFacts[Any] | None]:
        """The facts of each source, in order; null if it was rejected."""
        asked = [asyncio.ensure_future(_ask_source(source, symbol)) for source in self._sources]
        try:
            await asyncio.sleep(0)  # sources that answer from memory are done after this; no deadline is needed
            if not all(each.done() for each in asked):
                await self._wait(asked)
            return [each.result() if each.done() and not each.cancelled() else None for each in asked]
        finally:
            for each in asked:
                each.cancel()

    async def _wait(self, asked: Sequence[asyncio.Future[Any]]) -> None:
        """Wait until all are done, or until the deadline."""
        everyone = asyncio.gather(*asked, return_exceptions=True)
        deadline = asyncio.ensure_future(self._clock.sleep(DEADLINE_S))
        try:
            await asyncio.wait((everyone, deadline), return_when=asyncio.FIRST_COMPLETED)
        finally:
            deadline.cancel()

    def _last_seen_ms(self, symbol: str) -> int:
        """A time that stays the same while nothing changes, so that the same inputs give the same verdict."""
        now_ms = self._clock.now_ms()
        quote = self._market.quotes(self._market.state.origin).get(symbol)
        if quote is None or quote.price_ms is None:
            return now_ms // MINUTE_MS * MINUTE_MS
        return min(quote.price_ms, now_ms)


async def _ask_source(source: FactSource[Any], symbol: str) -> SourceFacts[Any] | None:
    """The facts of a source; null if it raises."""
    try:
        return await source(symbol)
    except ServiceError:
        return None
    except Exception:  # noqa: BLE001 - a bug in one source must not stop the others; the log has its trace
        _log.exception("A source of verdicts failed", extra={"symbol": symbol})
        return None


def _source_state(result: SourceFacts[Any] | None) -> SourceState:
    if result is None:
        return "rejected"
    return "stale" if result.stale else "fulfilled"

"""What a verdict asks: four sources, each of which tells facts of one coin, or raises."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from service.clock import Clock, iso
from service.market.conclusions.regime_desk import RegimeDesk
from service.market.desk import MarketDesk
from service.market.freshness import MOOD, Freshness
from service.market.momentum import PAID, MomentumDesk
from service.market.observed import VENUE
from service.market.room import Market
from service.market.silence import nothing_to_say
from service.sentiment.desk import FIRST_FEED, SentimentDesk
from service.wire.verdict import FundingFacts, RegimeFacts, RiskFacts, SentimentFacts

T = TypeVar("T")

_CHARTED: Final = ("trend_daily", "trend_weekly")
_FIELDS: Final = ("price", "funding_apr", *_CHARTED, "btc_correlation")
"""Fields of the risk context that are part of the inputs. No rule reads the momentary funding or the correlation."""


class Told(NamedTuple, Generic[T]):
    """What a source told.

    `observed_ms` is the oldest observation among what the rules look at, epoch milliseconds UTC; `stale` says that a
    part of it could not be refreshed. A trend that a young coin does not have yet is not known, and not stale.
    """

    facts: T
    observed_ms: int
    stale: bool


Source = Callable[[str], Awaitable[Told[T]]]
"""Takes a canonical ticker."""


class SourceSet(NamedTuple):
    """The four, by the names that answers give them."""

    risk: Source[RiskFacts]
    funding: Source[FundingFacts]
    regime: Source[RegimeFacts]
    sentiment: Source[SentimentFacts]


def open_sources(clock: Clock, market: Market, sentiment: SentimentDesk) -> SourceSet:
    """The sources over the rooms below: each answers from memory."""
    return SourceSet(
        risk=partial(_risk, market.coins),
        funding=partial(_funding, clock, market.momentum),
        regime=partial(_regime, market.regimes),
        sentiment=partial(_sentiment, clock, sentiment),
    )


async def _risk(market: MarketDesk, symbol: str) -> Told[RiskFacts]:
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
    return Told(facts, observed_ms, any(_is_missed(facts, field) for field in facts.stale_fields))


def _is_missed(facts: RiskFacts, field: str) -> bool:
    """Whether a field that is named stale is one that the rules look at, and could not be refreshed."""
    if field in _CHARTED:
        return facts.charted_at is None or getattr(facts, field) is not None
    return field == "price"


async def _funding(clock: Clock, momentum: MomentumDesk, symbol: str) -> Told[FundingFacts]:
    found = momentum.of(symbol)
    judged = Freshness.GONE if found is None else PAID.judge(found.newest_ms, clock.now_ms())
    if found is None or judged is Freshness.GONE:
        nothing_to_say(VENUE, None, f"payments of funding of {symbol}")
    facts = FundingFacts(
        observed_at=iso(found.newest_ms),
        apr_24h=found.apr_24h,
        apr_7d=found.apr_7d,
        percentile_30d=found.percentile_30d,
        payments=found.payments,
    )
    return Told(facts, found.newest_ms, judged is Freshness.STALE)


async def _regime(regimes: RegimeDesk, symbol: str) -> Told[RegimeFacts]:
    standing = regimes.standing(symbol)
    coin = standing.coin
    if standing.market is None and coin is None:
        nothing_to_say(VENUE, None, f"regime of {symbol}")
    facts = RegimeFacts(
        observed_at=iso(standing.through_ms),
        market=standing.market,
        coin=None if coin is None else coin.regime,
        coin_confidence=None if coin is None else coin.confidence,
    )
    return Told(facts, standing.through_ms, standing.stale)


async def _sentiment(clock: Clock, sentiment: SentimentDesk, symbol: str) -> Told[SentimentFacts]:
    mood = sentiment.mood(symbol)
    at_ms, stance = mood.observed_ms, mood.stance
    if at_ms is None or stance is None or MOOD.judge(at_ms, clock.now_ms()) is Freshness.GONE:
        nothing_to_say(FIRST_FEED, None, f"sentiment of {symbol}")
    return Told(SentimentFacts(iso(at_ms), stance, mood.summary), at_ms, mood.stale)

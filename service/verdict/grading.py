"""Verdict and score of many coins at once, from memory, without evidence. The ledger does not change."""

from typing import Final, NamedTuple

from service.clock import Clock, iso
from service.errors import ServiceError
from service.market.factory import MarketData
from service.market.freshness import MOOD, Freshness
from service.market.models import CoinView
from service.market.momentum import PAID, Momentum
from service.verdict.decide import grade as grade_inputs
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.sentiment import Mood
from service.wire.verdict import (
    FundingFacts,
    Label,
    RegimeFacts,
    RiskFacts,
    SentimentFacts,
    Sources,
    SourceState,
    VerdictInputs,
    VerdictRaw,
)

_MOST_CACHED: Final = 4_096
_NEVER: Final = iso(0)
"""Observation time of constant inputs; no rule reads it."""


class GradingInputs(NamedTuple):
    """The values that rules read; equal values give equal grades. Null is unknown."""

    is_priced: bool
    trend_daily: Trend | None
    trend_weekly: Trend | None
    market_regime: Regime | None
    coin_regime: Regime | None
    apr_24h: float | None
    apr_7d: float | None
    stance: Stance | None
    is_chart_stale: bool
    risk: SourceState
    funding: SourceState
    regime: SourceState
    sentiment: SourceState

    @property
    def is_complete(self) -> bool:
        """Whether all sources are fulfilled."""
        return {self.risk, self.funding, self.regime, self.sentiment} == {"fulfilled"}


class CoinGrade(NamedTuple):
    """A verdict, its score, and whether all of its sources are fulfilled."""

    verdict: Label
    score: float
    is_complete: bool


class CoinGrader:
    """Grades coins by the current rules: the verdict and score that `signal` gives to the same inputs.

    Args:
        clock: Ages are judged by it.
        market: Funding and regimes.
    """

    def __init__(self, clock: Clock, market: MarketData) -> None:
        self._clock = clock
        self._market = market
        self._cached: dict[GradingInputs, CoinGrade] = {}

    def grade(
        self, coin: CoinView, mood: Mood, *, is_price_stale: bool, is_chart_stale: bool
    ) -> tuple[CoinGrade, GradingInputs]:
        """Grade a coin.

        Args:
            coin: As it stands now.
            mood: Its sentiment.
            is_price_stale: Whether its price could not be refreshed.
            is_chart_stale: Whether its trends could not be refreshed.
        """
        read = self._read(coin, mood, is_price_stale=is_price_stale, is_chart_stale=is_chart_stale)
        grade = self._cached.get(read)
        if grade is None:
            if len(self._cached) >= _MOST_CACHED:
                self._cached.clear()
            grade = self._cached[read] = CoinGrade(*grade_inputs(_inputs(read)), read.is_complete)
        return grade, read

    def _read(self, coin: CoinView, mood: Mood, *, is_price_stale: bool, is_chart_stale: bool) -> GradingInputs:
        """The values of a coin, by the same age limits as `sources`."""
        now_ms = self._clock.now_ms()
        paid = self._market.momentum.of(coin.symbol)
        paid_is = Freshness.GONE if paid is None else PAID.judge(paid.newest_ms, now_ms)
        funding = None if paid_is is Freshness.GONE else paid
        has_trend = coin.trend_daily is not None or coin.trend_weekly is not None
        missed = coin.price is None or is_price_stale or coin.through_ms is None or (has_trend and is_chart_stale)
        market_regime, coin_regime, regime = self._regimes(coin.symbol)
        has_stance = mood.stance is not None and MOOD.judge(mood.observed_ms, now_ms) is not Freshness.GONE
        return GradingInputs(
            coin.price is not None,
            coin.trend_daily,
            coin.trend_weekly,
            market_regime,
            coin_regime,
            *_means(funding),
            mood.stance if has_stance else None,
            is_chart_stale,
            "rejected" if coin.price is None and coin.funding_apr is None else _state(is_stale=missed),
            "rejected" if funding is None else _state(is_stale=paid_is is Freshness.STALE),
            regime,
            _state(is_stale=mood.stale) if has_stance else "rejected",
        )

    def _regimes(self, symbol: str) -> tuple[Regime | None, Regime | None, SourceState]:
        try:
            standing = self._market.regimes.standing(symbol)
        except ServiceError:
            return None, None, "rejected"
        coin = None if standing.coin is None else standing.coin.regime
        if standing.market is None and coin is None:
            return None, None, "rejected"
        return standing.market, coin, _state(is_stale=standing.stale)


def _means(paid: Momentum | None) -> tuple[float | None, float | None]:
    return (None, None) if paid is None else (paid.apr_24h, paid.apr_7d)


def _state(*, is_stale: bool) -> SourceState:
    return "stale" if is_stale else "fulfilled"


def _inputs(read: GradingInputs) -> VerdictInputs:
    """Inputs with the given values, and constants for the rest."""
    risk = regime = funding = sentiment = None
    if read.risk != "rejected":
        price = 1.0 if read.is_priced else None
        stale = ["trend_daily", "trend_weekly"] if read.is_chart_stale else []
        risk = RiskFacts(_NEVER, price, None, None, read.trend_daily, read.trend_weekly, None, stale)
    if read.apr_24h is not None:
        funding = FundingFacts(_NEVER, read.apr_24h, read.apr_7d, None, 0)
    if read.regime != "rejected":
        regime = RegimeFacts(_NEVER, read.market_regime, read.coin_regime, None)
    if read.stance is not None:
        sentiment = SentimentFacts(_NEVER, read.stance, None)
    sources = Sources(read.risk, read.funding, read.regime, read.sentiment)
    return VerdictInputs("", _NEVER, sources, VerdictRaw(risk, funding, regime, sentiment))

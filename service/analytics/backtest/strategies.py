"""The strategies that are walked forward, in the order in which they are published."""

from typing import Final

from service.analytics.backtest import funding_reversion, momentum, trend_following
from service.analytics.backtest.plan import Strategy

STRATEGIES: Final[tuple[Strategy, ...]] = (
    trend_following.STRATEGY,
    momentum.STRATEGY,
    funding_reversion.STRATEGY,
)

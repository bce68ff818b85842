"""Payload of `signal-quality`: what the walk-forward shows about one strategy on one coin."""

from typing import Literal

from msgspec import Struct

from service.wire.regime import Share
from service.wire.walkforward import Strategy

SignalType = Literal["mean_reversion", Strategy]
"""Strategies of the engine, and `mean_reversion`, the default of clients, for which no strategy is run."""

ReliabilityTier = Literal["INSUFFICIENT_DATA", "PRELIMINARY", "VALIDATED"]


class SignalValidations(Struct, frozen=True):
    """Out-of-sample trades of one coin by one strategy, from the last walk-forward; costs and funding are included.

    `strategy` is null where no strategy of this type is run. `sampleSize` counts closed trades, `wins` those that
    returned more than 0. `winRate` (0 to 1) and `meanReturnPct` (percent of a trade's notional) are null without
    trades. `sharpe` is the mean of the trades' returns over their standard deviation: per trade, not annualised.
    `deflatedSharpe` (0 to 1; Bailey and López de Prado 2014) is the probability that the true ratio is above what the
    best of `trials` back-tests without skill is expected to show. Both are null under 30 trades, and where the trades
    do not allow them. `trials` counts all back-tests of the run. `firstDay` and `lastDay` are the UTC days that were
    tested. The last three are null where nothing was tested.
    """

    strategy: Strategy | None
    sampleSize: int
    wins: int
    winRate: Share | None
    meanReturnPct: float | None
    sharpe: float | None
    deflatedSharpe: Share | None
    trials: int | None
    firstDay: str | None
    lastDay: str | None


class SignalQuality(Struct, frozen=True):
    """How far a kind of signal can be trusted on one coin.

    `reliability_tier` is `INSUFFICIENT_DATA` under 30 trades, `VALIDATED` from 100 trades with a `deflatedSharpe` of at
    least 0.95, else `PRELIMINARY`. `confidence` is `validations.deflatedSharpe`. It says nothing about the next trade.
    """

    asset: str
    signal_type: SignalType
    reliability_tier: ReliabilityTier
    confidence: Share | None
    validations: SignalValidations
    message: str

"""Payloads of `signal-quality`: the record of one strategy on one coin, or that of verdicts."""

from typing import Literal

from msgspec import Struct

from service.wire.regime import Share
from service.wire.verdict import Label
from service.wire.walkforward import Strategy

StrategyType = Literal["mean_reversion", Strategy]
"""Strategies of the engine, and `mean_reversion`, the default of clients, for which no strategy is run."""

SignalType = Literal[StrategyType, "verdict"]
"""`verdict` is the verdict of `signal/{symbol}`."""

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
    signal_type: StrategyType
    reliability_tier: ReliabilityTier
    confidence: Share | None
    validations: SignalValidations
    message: str


class VerdictFigures(Struct, frozen=True):
    """How often verdicts of one kind came true so many days later.

    `days_seen` counts the days on which such verdicts were given, `outcomes` the coins on all of them. `hit_rate` is
    how often what the verdict says came true, `hit_rate_low` and `hit_rate_high` its 95 % interval, clustered by day;
    `base_rate` how often the same came true after any daily verdict; 0 to 1. `mean_move_pct` is in percent. All null
    under 60 days, the interval also where all days are alike.
    """

    verdict: Label
    days: int
    days_seen: int
    outcomes: int
    hit_rate: Share | None
    base_rate: Share | None
    hit_rate_low: Share | None
    hit_rate_high: Share | None
    mean_move_pct: float | None


class VerdictCounts(Struct, frozen=True):
    """One record: daily verdicts on all coins and on this coin, and verdicts that somebody asked for, on all coins.

    Verdicts without an outcome have no row. `void` counts outcomes that are left out, because no price was recorded.
    """

    all_coins: list[VerdictFigures]
    this_coin: list[VerdictFigures]
    asked: list[VerdictFigures]
    void: int


class VerdictRecords(Struct, frozen=True):
    """Two records that are never mixed.

    `live` counts the ledger, `backtested` the same rules recomputed for every past day from closed bars; null until
    that is done. `ruleset` is the version that both count. `entries` and `head` are the length and last hash of the
    ledger.
    """

    ruleset: int
    days_needed: int
    entries: int
    head: str
    live: VerdictCounts
    backtested: VerdictCounts | None


class VerdictQuality(Struct, frozen=True):
    """The record of verdicts, with `signal_type=verdict`.

    `validations` counts live daily verdicts on this coin that called a rise or a fall, a day later: `sampleSize` are
    their days, `winRate` is null under 60; what belongs to trades is null. `reliability_tier` is `INSUFFICIENT_DATA`
    under 60 days, `VALIDATED` where a probability is published, else `PRELIMINARY`. `confidence` is null: probabilities
    stand in the claims of a verdict.
    """

    asset: str
    signal_type: Literal["verdict"]
    reliability_tier: ReliabilityTier
    confidence: float | None
    validations: SignalValidations
    message: str
    record: VerdictRecords

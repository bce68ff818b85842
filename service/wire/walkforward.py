"""Payloads of `walkforward`: what was decided out of sample, what is held, how it ended.

Dates are UTC days (`2025-07-25`); prices USD; `*Pct` of a position percent of its notional at its entry, of a summary
percent of the equity. `exposure` is the mean of the days' positions as a share of the day's equity, `turnover` what is
traded a year as a multiple of it. Positions are entered and left at the open of the day after the decision, and keep
their quantity in between.
"""

from typing import Literal

from msgspec import Struct

from service.wire.regime import Direction, Share, TradingStandard

Strategy = Literal["trend-following", "cross-sectional-momentum", "funding-reversion"]
WalkforwardExit = Literal[
    "trend-turned", "stop", "rank-lost", "funding-normal", "time", "universe-left", "delisted", "fold-end"
]


class WalkforwardSignal(Struct, frozen=True):
    """A decision to enter, made at the close of `scanDate`; `entryPrice` is the next open, null while it is to come."""

    id: str
    symbol: str
    scanDate: str
    direction: Direction
    strategy: Strategy
    score: float | None
    fold: int
    entryPrice: float | None


class WalkforwardPosition(Struct, frozen=True):
    """A position still held; `currentPrice` is live, null where too old; `unrealizedPct` is the price's part."""

    id: str
    symbol: str
    direction: Direction
    entryDate: str
    entryPrice: float
    currentPrice: float | None
    holdDays: int
    unrealizedPct: float | None
    stop: float | None
    strategy: Strategy
    fold: int


class WalkforwardOutcome(Struct, frozen=True):
    """A position that has ended: `returnPct` = the price's part + `fundingPct` (received: positive) - `costPct`."""

    id: str
    symbol: str
    direction: Direction
    entryDate: str
    exitDate: str
    entryPrice: float
    exitPrice: float
    returnPct: float
    fundingPct: float
    costPct: float
    holdDays: int
    exitReason: WalkforwardExit
    fold: int
    strategy: Strategy


class BuyAndHold(Struct, frozen=True):
    """The same universe bought for equal sums at the first test day and kept to the end, after costs and funding."""

    returnPct: float
    sharpe: float | None
    maxDrawdownPct: float


class StrategySummary(Struct, frozen=True):
    """Out of sample, of one strategy or of all three with a third of the capital each on the first day.

    `sharpe` is annualised over 365 days, after costs and funding; `probabilisticSharpe` and `deflatedSharpe` are
    probabilities (Bailey and López de Prado 2012, 2014) that it is above zero, and above what the best of `trials`
    would show by luck. All three are null under 30 test days. `fundingKnown` is the share of position-days whose
    funding was recorded; of the others longs are charged the venue's resting rate and shorts are paid nothing.
    `published` is false, and the figures are zero or null, where the leakage gate refused the strategy: `refused` says
    why.
    """

    strategy: Strategy | Literal["all"]
    published: bool
    refused: str | None
    total: int
    wins: int
    losses: int
    winRate: Share | None
    meanReturnPct: float | None
    returnPct: float
    sharpe: float | None
    probabilisticSharpe: Share | None
    deflatedSharpe: Share | None
    maxDrawdownPct: float
    exposure: float
    turnover: float
    fundingKnown: Share | None
    trials: int


class WalkforwardMethod(Struct, frozen=True):
    """How training days were kept apart from tested days, and what the test against look-ahead is; sentences.

    Attributes:
        purge: Which training days before a test fold are left out.
        embargo: Whether days after a test fold are left out, and why.
        surrogates: The sign-flip surrogate test.
    """

    purge: str
    embargo: str
    surrogates: str


class WalkforwardSummary(Struct, frozen=True):
    """The run as a whole: the figures of all three strategies together, then each of them, then doing nothing.

    `standard` is how trades are filled and charged, `method` how they were tested.
    """

    total: int
    wins: int
    losses: int
    winRate: Share | None
    meanReturnPct: float | None
    sharpe: float | None
    deflatedSharpe: Share | None
    maxDrawdownPct: float
    exposure: float
    trials: int
    returnPct: float
    probabilisticSharpe: Share | None
    turnover: float
    firstDay: str
    lastDay: str
    folds: int
    coins: int
    strategies: list[StrategySummary]
    buyAndHold: BuyAndHold
    standard: TradingStandard
    method: WalkforwardMethod


class WalkforwardMeta(Struct, frozen=True):
    """Which run the records are of; all null, and `message` says so, while the engine has written nothing."""

    engine: str
    run_id: str | None
    ran_at: str | None
    parameters_hash: str | None
    total: int
    next_cursor: str | None
    message: str | None


class WalkforwardSignals(Struct, frozen=True):
    """`walkforward?action=signals`, newest first."""

    signals: list[WalkforwardSignal]
    meta: WalkforwardMeta


class WalkforwardPositions(Struct, frozen=True):
    """`walkforward?action=positions`, newest first."""

    positions: list[WalkforwardPosition]
    meta: WalkforwardMeta


class WalkforwardOutcomes(Struct, frozen=True):
    """`walkforward?action=outcomes`, newest first; `summary` is of the whole run, whatever the filters are."""

    outcomes: list[WalkforwardOutcome]
    summary: WalkforwardSummary | None
    meta: WalkforwardMeta

"""What is published of the market and its coins, as plain values. Needs no numpy.

Every `*_ms` is the close of a daily bar, epoch milliseconds, every `*_day` a UTC day counted from 1970-01-01. Prices
are USD; convictions are 0 to 1. Trades follow the standard of `service.analytics.costs`.
"""

from typing import Literal, NamedTuple

from service.analytics.rules import Direction, Regime
from service.analytics.states import State

ExitReason = Literal["trend-turned", "market-turned", "no-bars"]

ReasonCode = Literal[
    "btc-trend",
    "btc-in-usd",
    "breadth-net-pct",
    "btc-volatility-percentile",
    "trend",
    "trend-streak-days",
    "market-regime",
    "line-distance-atr",
]


class Reason(NamedTuple):
    """One input of a decision and its value on that day.

    | code | value |
    |---|---|
    | btc-trend, trend | the daily trend state of BTC, of the coin |
    | btc-in-usd | UP where BTC is above its SuperTrend line in USD, else DOWN |
    | breadth-net-pct | UP less DOWN, percent of the universe |
    | btc-volatility-percentile | of the 30-day realised volatility within 365 days, 0 to 100 |
    | trend-streak-days | closed days in that state, as `states.days_in_state` counts |
    | market-regime | the market's regime |
    | line-distance-atr | average true ranges from the SuperTrend line in USD up to the close (negative: under it) |
    """

    code: ReasonCode
    value: float | str


class MarketRegimeRun(NamedTuple):
    """A run of the market's regime; `conviction` and `reasons` are those of its last day, `through_ms` its close.

    `age_days` counts its closed days, as `states.days_in_state` does.
    """

    regime: Regime
    since_ms: int
    through_ms: int
    age_days: int
    conviction: float
    reasons: tuple[Reason, ...]


class CoinRegimeState(NamedTuple):
    """The regime a coin is in."""

    coin: str
    regime: Regime
    since_ms: int
    conviction: float
    reasons: tuple[Reason, ...]


class RegimeChange(NamedTuple):
    """A coin's regime turned at the close of a bar: to risk-on (long), to risk-off (short), or to neutral (None)."""

    coin: str
    regime: Regime
    direction: Direction | None
    conviction: float
    fired_ms: int
    reasons: tuple[Reason, ...]


class OpenPosition(NamedTuple):
    """What following the coin's regime wants at the last closed bar.

    It is entered at the open of `entry_day`. `entry_price` is None, and `hold_days` 0, while that day's bar has not
    closed.
    """

    coin: str
    regime: Regime
    direction: Direction
    conviction: float
    entry_day: int
    entry_price: float | None
    hold_days: int


class Trade(NamedTuple):
    """A position that was closed.

    Entered at the open of `entry_day` and left at the open of `exit_day`; where the coin had no bar on the day after
    the decision, at the close of `exit_day`. `return_pct`, percent of the notional at entry, is the price's part plus
    `funding_pct` (received: positive) less `cost_pct`. `funded_days` are the days held whose funding was recorded.
    Nothing is rounded.
    """

    coin: str
    direction: Direction
    entry_day: int
    entry_price: float
    exit_day: int
    exit_price: float
    return_pct: float
    funding_pct: float
    cost_pct: float
    hold_days: int
    funded_days: int
    exit_reason: ExitReason


class RelativeReturn(NamedTuple):
    """A coin's return over 30 days, the points by which it exceeds the universe's median, and its trend state."""

    coin: str
    return_pct: float
    excess_pct: float
    state: State


class DivergenceFinding(NamedTuple):
    """BTC closed at a 20-day high (bearish) or low (bullish) that breadth did not confirm.

    `net_pct` is breadth on that day, `reference_net_pct` the best (worst) of the 20 days, `reference_ms` when it was.
    """

    code: Literal["bearish-breadth", "bullish-breadth"]
    at_ms: int
    net_pct: float
    reference_net_pct: float
    reference_ms: int

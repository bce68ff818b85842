"""The daily report: one document from all closed daily bars, written by the leader, read by every process."""

from typing import Final

from msgspec import Struct

from service.wire.market import Crossing, MarketHealth, Trend
from service.wire.regime import CoinRegime, MarketRegime, RegimePosition, RegimeSignal, RegimeSummary, RegimeTrade

DAILY_REPORT: Final = "market.conclusions"
"""Name of the document."""


class BreadthDay(Struct, frozen=True, array_like=True):
    """Number of coins UP, HODL and DOWN on a closed day, counted from 1970-01-01 UTC. Published once, never changed."""

    day: int
    up: int
    hodl: int
    down: int


TREND_RUNS: Final = "market.trend_runs"
"""Name of the document."""


class RunOfDays(Struct, frozen=True, array_like=True):
    """A run of one trend: its first and its last day, both included, counted from 1970-01-01 UTC."""

    trend: Trend
    first_day: int
    last_day: int


class CoinRuns(Struct, frozen=True):
    """How a coin has trended, from closed bars.

    Attributes:
        through_ms: Close of the last day that was used.
        daily: The newest runs of the daily trend, at most 50, oldest first.
        weekly: The present run of the weekly trend, from a Monday to a Sunday.
        upper: Upper SuperTrend band of that last day, USD.
        lower: The lower one.
    """

    through_ms: int
    daily: list[RunOfDays]
    weekly: RunOfDays | None
    upper: float | None
    lower: float | None


class TrendRuns(Struct, frozen=True):
    """The runs of every coin by venue symbol; of the same bars as the charts."""

    coins: dict[str, CoinRuns]


class RegimeRun(Struct, frozen=True, array_like=True):
    """A run of one market regime, from the close of the bar on which it began; the last one continues."""

    regime: str
    since_ms: int


class CoinTrades(Struct, frozen=True):
    """Closed trades of one coin's regime, oldest first, and its current position."""

    trades: list[RegimeTrade]
    summary: RegimeSummary
    position: RegimePosition | None


class DailyReport(Struct, frozen=True):
    """The market through one published day.

    Published days and the market's regime never change. A coin's trades change in two cases: a bar that arrives after
    its day was published reopens a position that was closed for lack of it, and known funding replaces the assumed one.
    `currentPrice` is null everywhere; answers fill in the present one.

    Attributes:
        through_ms: Close of the published day's bar.
        breadth: Every published day, oldest first.
        crossings: Newest first. `signals` too, those of one day by ticker.
        regime: Null until its inputs are known (some 120 days of BTC).
        runs: Runs of the market regime, oldest first.
        positions: Open positions, highest conviction first.
        regime_trades: Every coin that ever had a position, by ticker; null in a document of a version that filled at
            closes.
    """

    through_ms: int
    breadth: list[BreadthDay]
    health: MarketHealth
    crossings: list[Crossing]
    regime: MarketRegime | None
    runs: list[RegimeRun]
    positions: list[RegimePosition]
    signals: list[RegimeSignal]
    confidence: list[CoinRegime]
    regime_trades: dict[str, CoinTrades] | None = None

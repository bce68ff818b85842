"""What a back-test brought: its trades, what is still held, what was decided, and its days.

Columns have one entry a position, and nothing is rounded. Rows are those of the tape. Percentages are of a position's
notional at its entry; daily figures are shares of the equity at the day's open.
"""

from typing import Final, NamedTuple

import numpy as np

from service.analytics.backtest.statistics import DAYS_A_YEAR
from service.analytics.bars import Floats, Indices
from service.analytics.funding import DEFAULT_APR

RESTING_RATE: Final = DEFAULT_APR / 100 / DAYS_A_YEAR
"""Share of its notional that a long pays a day at the venue's resting rate, charged where funding was not recorded."""


class ClosedTrades(NamedTuple):
    """Positions that have ended, by entry and then by coin.

    Attributes:
        coin: Column of the tape.
        side: -1 short, 1 long.
        entry: Row at whose open it was entered; it was decided on the row before.
        exit: Row at whose open it was left; of a delisted coin its last row, at whose close.
        entry_price: USD.
        exit_price: USD.
        weight: Its notional at entry as a share of the equity at that open, before the costs of entries.
        days: How many days it was held, so funding was due.
        price_pct: side * (exit / entry - 1).
        funding_pct: Received positive, paid negative.
        cost_pct: Fees and slippage of both sides, the exit's on the exit's notional.
        return_pct: price + funding - cost.
        reason: Index in `plan.REASONS`.
    """

    coin: Indices
    side: Indices
    entry: Indices
    exit: Indices
    entry_price: Floats
    exit_price: Floats
    weight: Floats
    days: Indices
    price_pct: Floats
    funding_pct: Floats
    cost_pct: Floats
    return_pct: Floats
    reason: Indices


class OpenPositions(NamedTuple):
    """Positions still held when the tape ends, by entry and then by coin; columns as in `ClosedTrades`.

    `price_pct` is marked at the last close, `funding_pct` is what there was so far, `cost_pct` is of both sides, as if
    it were left at that close, and `stop` is the plan's price on the last row, NaN for none.
    """

    coin: Indices
    side: Indices
    entry: Indices
    entry_price: Floats
    weight: Floats
    days: Indices
    stop: Floats
    price_pct: Floats
    funding_pct: Floats
    cost_pct: Floats


class EntrySignals(NamedTuple):
    """Decisions to enter, by row and then by coin: one for every position, and those whose fill is still to come.

    `row` is the row that decided, `entry_price` the open of the next: NaN for a decision of the tape's last row.
    """

    row: Indices
    coin: Indices
    side: Indices
    score: Floats
    weight: Floats
    entry_price: Floats


class BacktestBook(NamedTuple):
    """The books of one simulation.

    The daily columns have one entry for every row from the first that decided to the last: day d lasts from its open to
    the next. The equity begins as 1 and is multiplied by 1 + net on every day. A position's notional is its weight of
    the equity at its entry; what it brought over its days, in money, adds up to its return times that notional. The
    cost of an exit is booked on the day that it ends, and that of a position still held, on the last day of the tape.

    Attributes:
        trades: What has ended.
        open: What is held when the tape ends.
        signals: What was decided.
        net: Price, funding and costs over the equity at the day's open; -1 on the day it is lost, and 0 after it.
        price: The price's part of it alone.
        exposure: What the positions are worth at the day's open, longs and shorts alike, over that equity.
        turnover: Notional entered and left, over that equity.
        position_days: Days of all positions together, those still held included.
        known_days: Those of them whose funding was recorded.
    """

    trades: ClosedTrades
    open: OpenPositions
    signals: EntrySignals
    net: Floats
    price: Floats
    exposure: Floats
    turnover: Floats
    position_days: int
    known_days: int

    @property
    def lost_on(self) -> int | None:
        """Index of the day on which the equity was lost; None if it was not."""
        lost: Indices = np.flatnonzero(self.net <= -1)
        return int(lost[0]) if lost.size else None

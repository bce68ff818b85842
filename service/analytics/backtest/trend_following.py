"""Trend following: go with the SuperTrend from the bar on which it turns until it turns back.

- **Entry**: at the close of the bar on which the coin's SuperTrend in US dollars turns, if the coin is tradable: long
  when it turns up, short when it turns down. That a series begins as up is a convention, not a turn, so the first run
  of a young coin is never traded.
- **Exit**: when it turns back (`trend-turned`; the position is then the other way), after 60 days (`time`), or when the
  coin leaves the universe (`universe-left`). The stop shown is the line: the close beyond it is the turn, so there is
  no order that would be filled within a day.
- **Position**: 1 / (coins tradable that day) of the capital each, so that all of them together make about the whole.
- **Score**: average true ranges between the close and the line, negative where it goes short.

Sources: Olivier Seban's SuperTrend as TA-Lib 0.8 publishes it; that a market's own past return predicts its next one
for months, and for both sides: Moskowitz, Ooi and Pedersen, "Time series momentum" (2012).
"""

from collections.abc import Mapping
from itertools import product
from typing import Final

import numpy as np

from service.analytics.backtest.plan import Int8, Strategy, TradingPlan, hold_triggered, previous_rows
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Chart, Flags
from service.analytics.supertrend import supertrend

HORIZON_DAYS: Final = 60
"""Longest holding time: four in five recorded runs of SuperTrend(10, 3) are over by then."""

GRID: Final = tuple(
    {"period": period, "multiplier": multiplier} for period, multiplier in product((7, 10, 14), (2.0, 3.0, 4.0))
)


def plan(tape: MarketTape, tradable: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """Decide every row.

    Args:
        tape: The recorded market.
        tradable: Its universe.
        parameters: `period` (bars) and `multiplier` (average true ranges) of the SuperTrend.

    Returns:
        What is wanted.
    """
    chart = Chart(tape.high, tape.low, tape.close)
    said = supertrend(chart, period=int(parameters["period"]), multiplier=parameters["multiplier"])
    rising, falling = said.direction > 0, said.direction < 0
    side, reason = hold_triggered(_turns(said.direction), (falling, rising), tradable, HORIZON_DAYS, "trend-turned")
    wanted = side != 0
    share = 1 / np.maximum(np.count_nonzero(tradable, axis=1), 1)[:, None]
    with np.errstate(invalid="ignore"):  # a coin that has never moved is no distance from its line, in ranges of zero
        ranges = (tape.close - said.line) / said.atr
    return TradingPlan(
        side=side,
        weight=np.where(wanted, share, 0.0),
        score=np.where(wanted, ranges, np.nan),
        stop=np.where(wanted, said.line, np.nan),
        reason=reason,
    )


def _turns(direction: Int8) -> Int8:
    """The direction on bars on which it is not that of the coin's bar before; 0 on others, the first known one too."""
    row = np.arange(len(direction), dtype=np.int32)[:, None]
    known = np.maximum.accumulate(np.where(direction != 0, row, 0), axis=0)
    before = previous_rows(np.take_along_axis(direction, known, axis=0), 0)
    return np.where(before * direction < 0, direction, np.int8(0))


STRATEGY: Final = Strategy("trend-following", HORIZON_DAYS, GRID, plan)

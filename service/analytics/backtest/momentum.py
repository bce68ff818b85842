"""Cross-sectional momentum: hold the strongest coins against the weakest ones, and ask again every week.

- **Entry**: at the close of Sunday (UTC) the tradable coins are ranked by their return over `lookback` days, the last
  day left out; long the `top` first, short the `top` last. Nothing is held while fewer than two times `top` are ranked.
- **Exit**: on a Sunday on which the coin is no longer among them (`rank-lost`), on the fourth Sunday in any case
  (`time`; it may be chosen again a week later), or on the day on which it leaves the universe (`universe-left`).
- **Position**: 1 / (2 top) of the capital each, so half of the capital long and half short.
- **Score**: the return it is ranked by, as it stands that day, percent.

Sources: Jegadeesh and Titman, "Returns to buying winners and selling losers" (1993); for coins, at one to four weeks,
Liu, Tsyvinski and Wu, "Common risk factors in cryptocurrency" (2022). The last day is left out because what it did is
partly given back: Jegadeesh, "Evidence of predictable behavior of security returns" (1990).
"""

from collections.abc import Mapping
from itertools import pairwise, product
from typing import Final

import numpy as np

from service.analytics.backtest.plan import REASONS, Int8, Strategy, TradingPlan, exit_reasons
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import WEEK, Flags, Floats, Indices, monday_of, week_of

HORIZON_DAYS: Final = 28
"""Longest holding time: four weeks, the longest horizon at which the effect is reported for coins."""

SKIPPED_DAYS: Final = 1

GRID: Final = tuple({"lookback": lookback, "top": top} for lookback, top in product((14, 28, 56), (3, 5, 8)))


def plan(tape: MarketTape, tradable: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """Decide every row.

    Args:
        tape: The recorded market.
        tradable: Its universe.
        parameters: `lookback` (days) and `top` (coins on either side).

    Returns:
        What is wanted.
    """
    top = int(parameters["top"])
    gained = _trailing(tape.close, int(parameters["lookback"]))
    sundays = _sundays(tape)
    chosen = _chosen(np.where(tradable, gained, np.nan)[sundays], top)
    side, timed_out = _hold(chosen, sundays, tradable)
    wanted = side != 0
    why = np.where(timed_out, np.int8(REASONS.index("time")), np.int8(REASONS.index("rank-lost")))
    return TradingPlan(
        side=side,
        weight=np.where(wanted, 1 / (2 * top), 0.0),
        score=np.where(wanted, gained * 100, np.nan),
        stop=np.full(side.shape, np.nan),
        reason=exit_reasons(side, tradable, why),
    )


def _trailing(close: Floats, lookback: int) -> Floats:
    """The return up to the close of the day before, a fraction; NaN where either close is missing."""
    gained = np.full(close.shape, np.nan)
    first = lookback + SKIPPED_DAYS
    if len(close) > first:
        gained[first:] = close[lookback:-SKIPPED_DAYS] / close[:-first] - 1
    return gained


def _sundays(tape: MarketTape) -> Indices:
    first = monday_of(week_of(tape.first_day)) + WEEK - 1 - tape.first_day
    return np.arange(first, len(tape.close), WEEK)


def _chosen(gained: Floats, top: int) -> Int8:
    """Of every row the sides that its ranking asks for; of equals the first column counts as the stronger."""
    ranked = np.count_nonzero(~np.isnan(gained), axis=1)[:, None]
    order = np.argsort(-gained, axis=1, kind="stable")  # NaN comes last
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(order.shape[1])[None], axis=1)
    enough = ranked >= 2 * top
    strongest, weakest = enough & (place < top), enough & (place >= ranked - top) & (place < ranked)
    sides: Int8 = strongest.astype(np.int8) - weakest
    return sides


def _hold(chosen: Int8, sundays: Indices, tradable: Flags) -> tuple[Int8, Flags]:
    """Hold what each Sunday chose until the next, and tell where it would be held on but for the time."""
    side, timed_out = np.zeros(tradable.shape, np.int8), np.zeros(tradable.shape, np.bool_)
    weeks = np.zeros(tradable.shape[1], np.int64)
    for wanted, (sunday, following) in zip(chosen, pairwise([*sundays, len(tradable)]), strict=True):
        held = side[sunday - 1] if sunday else side[0]
        weeks = np.where((wanted != 0) & (wanted == held), weeks + 1, 0)
        timed_out[sunday] = weeks * WEEK >= HORIZON_DAYS
        within = np.logical_and.accumulate(tradable[sunday:following], axis=0)
        side[sunday:following] = np.where(timed_out[sunday], 0, wanted) * within
    return side, timed_out


STRATEGY: Final = Strategy("cross-sectional-momentum", HORIZON_DAYS, GRID, plan)

"""Funding reversion: take the side that is paid, where the other one pays rarely much, until it no longer does.

- **Entry**: at the close of a day whose funding is rare for the coin (mid-rank percentile within its last 30 days, 20
  known at least) at `rarity` or more and over the venue's resting rate by more than `excess_apr`: short, because longs
  pay to be long; or at 100 - `rarity` or less and under the resting rate by more than that: long, because shorts pay.
  Only where funding is recorded.
- **Exit**: when the percentile is back in the middle, 50, or beyond it (`funding-normal`), after 14 days (`time`; then
  not again before funding has been normal once), or when the coin leaves the universe (`universe-left`). A day on which
  funding was not recorded changes nothing.
- **Position**: 1 / (tradable coins whose percentile is known that day, or that are held) of the capital each, so
  that no day's plan adds up to more than the capital, whatever was not recorded.
- **Score**: the day's funding, percent a year, positive where longs pay.

Sources: funding is what crowding costs, and a dear one is followed by lower returns: Schmeling, Schrimpf and Todorov,
"Crypto carry" (BIS working paper 1087, 2023); why it pulls the price back: He, Manela, Ross and von Wachter,
"Fundamentals of perpetual futures" (2022). The percentile is that of `service.analytics.funding`.
"""

from collections.abc import Mapping
from itertools import product
from typing import Final

import numpy as np

from service.analytics.backtest.plan import Strategy, TradingPlan, hold_triggered
from service.analytics.backtest.statistics import DAYS_A_YEAR
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from service.analytics.funding import DEFAULT_APR

HORIZON_DAYS: Final = 14
"""Longest holding time: a crowd that has stayed for two weeks is no spike."""

WINDOW_DAYS: Final = 30
LEAST_KNOWN: Final = 20
NORMAL: Final = 50.0

GRID: Final = tuple(
    {"rarity": rarity, "excess_apr": excess} for rarity, excess in product((85.0, 90.0, 95.0), (10.95, 21.9, 32.85))
)


def plan(tape: MarketTape, tradable: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """Decide every row.

    Args:
        tape: The recorded market.
        tradable: Its universe.
        parameters: `rarity` (percentile, 50 to 100) and `excess_apr` (percent a year over or under the resting rate).

    Returns:
        What is wanted.
    """
    rank = _percentile(tape.funding)
    apr = tape.funding * DAYS_A_YEAR * 100
    rarity, excess = parameters["rarity"], parameters["excess_apr"]
    dear = (rank >= rarity) & (apr > DEFAULT_APR + excess)
    cheap = (rank <= 100 - rarity) & (apr < DEFAULT_APR - excess)
    normal = rank >= NORMAL, rank <= NORMAL
    triggers = cheap.astype(np.int8) - dear
    side, reason = hold_triggered(triggers, normal, tradable, HORIZON_DAYS, "funding-normal")
    wanted = side != 0
    sharing = (tradable & ~np.isnan(rank)) | wanted
    share = 1 / np.maximum(np.count_nonzero(sharing, axis=1), 1)[:, None]
    return TradingPlan(
        side=side,
        weight=np.where(wanted, share, 0.0),
        score=np.where(wanted, apr, np.nan),
        stop=np.full(side.shape, np.nan),
        reason=reason,
    )


def _percentile(funding: Floats) -> Floats:
    """The mid-rank of each day's funding among the last days', itself included, 0 to 100; NaN where too few are known.

    Days that are not known compare as neither lower nor equal, so they drop out by themselves.
    """
    lower, equal, known = (np.zeros(funding.shape, np.int16) for _ in range(3))
    for back in range(min(WINDOW_DAYS, len(funding))):
        now, then = funding[back:], funding[: len(funding) - back]
        lower[back:] += then < now
        equal[back:] += then == now
        known[back:] += ~np.isnan(then)
    is_ranked = ~np.isnan(funding) & (known >= LEAST_KNOWN)
    ranks: Floats = np.where(is_ranked, (2 * lower + equal) * 50 / np.maximum(known, 1), np.nan)
    return ranks


STRATEGY: Final = Strategy("funding-reversion", HORIZON_DAYS, GRID, plan)

"""What a strategy wants, day by day, and what a strategy is."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from service.wire.walkforward import Strategy as Name
from service.wire.walkforward import WalkforwardExit

Int8: TypeAlias = npt.NDArray[np.int8]

REASONS: Final[tuple[WalkforwardExit, ...]] = get_args(WalkforwardExit)
"""Why a position is left; `TradingPlan.reason` counts in it. `delisted` and `fold-end` are the simulation's to give."""

NO_REASON: Final = -1
"""Nothing was left on that row."""


class TradingPlan(NamedTuple):
    """What is wanted at the close of each row, known from that row and earlier ones; shape (days, coins).

    Attributes:
        side: -1 short, 0 nothing, 1 long: the position to be in from the next open on.
        weight: Share of the strategy's equity at entry that a position gets which is decided on that row; its quantity
            stays as it is from then on. 0 where nothing is wanted.
        score: How strongly the rule speaks, in the units its strategy documents; NaN where nothing is wanted.
        stop: USD price at which the rule gives the position up, as it stands that day; NaN where there is none.
        reason: Index in `REASONS` on rows on which the side of the row before is left (a turn from one side to the
            other included), `NO_REASON` on all others.
    """

    side: Int8
    weight: Floats
    score: Floats
    stop: Floats
    reason: Int8

    def until(self, rows: int) -> "TradingPlan":
        """The first `rows` days (views)."""
        days = slice(rows)
        return TradingPlan(self.side[days], self.weight[days], self.score[days], self.stop[days], self.reason[days])


class Strategy(NamedTuple):
    """A documented rule, and the parameter sets a walk-forward may choose from.

    `plan` takes a tape, the flags of `universe.tradable` for it, and one parameter set of `grid`. No position is held
    for more than `horizon_days` days: that is also how far a decision's outcome reaches, so what has to be purged.
    """

    name: Name
    horizon_days: int
    grid: tuple[Mapping[str, float], ...]
    plan: Callable[[MarketTape, Flags, Mapping[str, float]], TradingPlan]


def hold_triggered(
    triggers: Int8, let_go: tuple[Flags, Flags], tradable: Flags, horizon_days: int, because: WalkforwardExit
) -> tuple[Int8, Int8]:
    """Hold what has been triggered.

    A position begins on a row that triggers it while the coin is tradable. It ends on the first row on which the coin
    is not, its side is let go or the other one is triggered (then it is turned), or `horizon_days` rows after it began.
    After that it waits for a new trigger; one that has run out of time, for its side to be let go before.

    Args:
        triggers: 1 begins a long, -1 a short, 0 nothing; shape (days, coins).
        let_go: Where the rule lets longs go, and where shorts.
        tradable: The universe.
        horizon_days: Rows a position is wanted at most.
        because: What the exit is called where the rule let go.

    Returns:
        `side` and `reason` of a `TradingPlan`.
    """
    begins = {side: tradable & (triggers == side) for side in (1, -1)}
    ends = {side: ~tradable | go | begins[-side] for side, go in zip((1, -1), let_go, strict=True)}
    held = {side: _held(begins[side], ends[side], horizon_days) for side in (1, -1)}
    side = held[1].astype(np.int8) - held[-1]
    before = previous_rows(side, 0)
    ruled = np.where(before > 0, ends[1], ends[-1])
    why = np.where(ruled, np.int8(REASONS.index(because)), np.int8(REASONS.index("time")))
    return side, exit_reasons(side, tradable, why)


def exit_reasons(side: Int8, tradable: Flags, why: Int8) -> Int8:
    """Say why positions were left: `universe-left` where the coin is not tradable, else what `why` says there."""
    before = previous_rows(side, 0)
    why = np.where(tradable, why, np.int8(REASONS.index("universe-left")))
    return np.where((before != 0) & (side != before), why, np.int8(NO_REASON))


def previous_rows(rows: Int8, first: int) -> Int8:
    """What stood on the row before each row; `first` before the first one."""
    before = np.full_like(rows, first)
    before[1:] = rows[:-1]
    return before


def _held(begins: Flags, ends: Flags, horizon_days: int) -> Flags:
    """Where a side is held: between a beginning and the next end (which wins on its row), its first rows only."""
    row = np.arange(len(begins), dtype=np.int32)[:, None]
    began, ended = (np.maximum.accumulate(np.where(flags, row, -1), axis=0) for flags in (begins, ends))
    on = began > ended
    fresh = on.copy()
    fresh[1:] &= ~on[:-1]
    since = np.maximum.accumulate(np.where(fresh, row, -1), axis=0)
    held: Flags = on & (row - since < horizon_days)
    return held

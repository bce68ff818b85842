"""Positions that a trigger begins, and that end when their rule lets go, after a longest time, or with the universe."""

import numpy as np

from service.analytics.backtest.plan import NO_REASON, REASONS, Int8
from service.analytics.bars import Flags
from service.wire.walkforward import WalkforwardExit


def follow(
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
        `side` and `reason` of a `Plan`.
    """
    begins = {side: tradable & (triggers == side) for side in (1, -1)}
    ends = {side: ~tradable | go | begins[-side] for side, go in zip((1, -1), let_go, strict=True)}
    held = {side: _held(begins[side], ends[side], horizon_days) for side in (1, -1)}
    side = held[1].astype(np.int8) - held[-1]
    before = ahead(side, 0)
    ruled = np.where(before > 0, ends[1], ends[-1])
    why = np.where(ruled, np.int8(REASONS.index(because)), np.int8(REASONS.index("time")))
    return side, left(side, tradable, why)


def left(side: Int8, tradable: Flags, why: Int8) -> Int8:
    """Say why positions were left: `universe-left` where the coin is not tradable, else what `why` says there."""
    before = ahead(side, 0)
    why = np.where(tradable, why, np.int8(REASONS.index("universe-left")))
    return np.where((before != 0) & (side != before), why, np.int8(NO_REASON))


def ahead(rows: Int8, first: int) -> Int8:
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

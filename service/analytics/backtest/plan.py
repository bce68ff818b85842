"""What a strategy wants, day by day, and what a strategy is."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from service.analytics.backtest.tape import Tape
from service.analytics.bars import Flags, Floats
from service.wire.walkforward import Strategy as Name
from service.wire.walkforward import WalkforwardExit

Int8: TypeAlias = npt.NDArray[np.int8]

REASONS: Final[tuple[WalkforwardExit, ...]] = get_args(WalkforwardExit)
"""Why a position is left; `Plan.reason` counts in it. `delisted` and `fold-end` are the simulation's to give."""

NO_REASON: Final = -1
"""Nothing was left on that row."""


class Plan(NamedTuple):
    """What is wanted at the close of each row, known from that row and earlier ones; shape (days, coins).

    Attributes:
        side: -1 short, 0 nothing, 1 long: the position to be in from the next open on.
        weight: Share of the strategy's capital that a position gets which is decided on that row; it keeps it for as
            long as it is held. 0 where nothing is wanted.
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

    def until(self, rows: int) -> "Plan":
        """The first `rows` days (views)."""
        days = slice(rows)
        return Plan(self.side[days], self.weight[days], self.score[days], self.stop[days], self.reason[days])


class Strategy(NamedTuple):
    """A documented rule, and the parameter sets a walk-forward may choose from.

    `plan` takes a tape, the flags of `universe.tradable` for it, and one parameter set of `grid`. No position is held
    for more than `horizon_days` days: that is also how far a decision's outcome reaches, so what has to be purged.
    """

    name: Name
    horizon_days: int
    grid: tuple[Mapping[str, float], ...]
    plan: Callable[[Tape, Flags, Mapping[str, float]], Plan]

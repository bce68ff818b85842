"""One strategy, walked forward: parameters chosen on the days before each fold, then followed through it.

Imports numbers and so numpy: imported only where a walk-forward is run.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from service.analytics.backtest.book import Book
from service.analytics.backtest.charges import fill_costs
from service.analytics.backtest.inspection import held_over, rows_of
from service.analytics.backtest.plan import Plan, Strategy
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.statistics import sharpe
from service.analytics.backtest.tape import Tape
from service.analytics.backtest.universe import tradable
from service.analytics.bars import Flags, Floats
from service.walkforward.folds import Fold, fold_days
from service.walkforward.parameters import Parameters

Simulate: TypeAlias = Callable[[Tape, Plan, int, int, Floats, Flags | None], Book]


class Ground(NamedTuple):
    """What every strategy is walked over, what its fills cost, and who fills its orders; made by `prepare`."""

    tape: Tape
    universe: Flags
    costs: Floats
    parameters: Parameters
    simulate: Simulate = simulate

    @property
    def rows(self) -> int:
        """Days of the tape."""
        return len(self.tape.close)


def prepare(tape: Tape, parameters: Parameters, fill: Simulate = simulate) -> Ground:
    """Tell the universe and the costs of every day of a tape."""
    costs = fill_costs(tape, parameters.fee_bps, parameters.slippage)
    return Ground(tape, tradable(tape, parameters.universe_size), costs, parameters, fill)


class Training(NamedTuple):
    """What choosing the parameters of a fold looked at.

    Attributes:
        rows: Which rows of the tape were allowed to decide, of shape (days before the fold,).
        decided: On which of them any of the back-tests entered a position.
        sharpes: Of every parameter set, per day, in the grid's order; None where it never traded.
        chosen: Place of the chosen one.
    """

    rows: Flags
    decided: frozenset[int]
    sharpes: tuple[float | None, ...]
    chosen: int


class WalkedFold(NamedTuple):
    """A fold that has been walked, with the plan that was followed and what it brought."""

    fold: Fold
    training: Training
    chosen: Mapping[str, float]
    plan: Plan
    book: Book


def walk(strategy: Strategy, ground: Ground, step: Callable[[], None]) -> list[WalkedFold]:
    """Walk a strategy through all its folds.

    Every plan is made once, on the whole tape, because a plan of a shortened tape is its beginning; that this holds is
    what the gate examines. Training nevertheless is given no row of the fold or after it.

    Args:
        strategy: Whom.
        ground: Over what.
        step: Called after each plan and each back-test.
    """
    plans = []
    for chosen in strategy.grid:
        plans.append(strategy.plan(ground.tape, ground.universe, chosen))
        step()
    walked = []
    for fold in fold_days(ground.rows, ground.parameters, strategy.horizon_days):
        training = _train(plans, fold, ground, step)
        plan = plans[training.chosen]
        walked.append(WalkedFold(fold, training, strategy.grid[training.chosen], plan, follow(plan, fold, ground)))
    return walked


def follow(plan: Plan, fold: Fold, ground: Ground) -> Book:
    """Trade a plan through a test fold."""
    return ground.simulate(ground.tape, plan, fold.begin, fold.end, ground.costs, None)


def back_test(plan: Plan, begin: int, allowed: Flags, ground: Ground) -> tuple[float | None, frozenset[int]]:
    """Trade a plan on the rows before a fold that are allowed to decide; later rows are not so much as handed on.

    Returns:
        The Sharpe ratio per day over the days that could be held, None if nothing ever was; the rows that did decide.
    """
    book = ground.simulate(ground.tape.until(begin), plan.until(begin), 0, begin, ground.costs[:begin], allowed)
    return sharpe(book.net[held_over(allowed)]), frozenset(book.signals.row.tolist())


def best(sharpes: Sequence[float | None]) -> int:
    """The place of the highest Sharpe ratio: of equals the first; one that never traded has none and comes last."""
    return max(range(len(sharpes)), key=lambda at: (sharpes[at] is not None, sharpes[at] or 0.0, -at))


def _train(plans: Sequence[Plan], fold: Fold, ground: Ground, step: Callable[[], None]) -> Training:
    """Choose the parameter set that would have done best on what was known before the fold."""
    allowed = rows_of(fold.begin, [fold.training])
    decided: frozenset[int] = frozenset()
    sharpes = []
    for plan in plans:
        ratio, rows = back_test(plan, fold.begin, allowed, ground)
        sharpes.append(ratio)
        decided |= rows
        step()
    return Training(allowed, decided, tuple(sharpes), best(sharpes))

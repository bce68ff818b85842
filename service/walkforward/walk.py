"""Walks one strategy forward: parameters are chosen on the days before each fold and followed through it.

Folds and purge after M. Lopez de Prado, "Advances in Financial Machine Learning" (2018), chapter 7. Needs numpy: import
it only where a walk-forward runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.inspection import held_over, rows_of
from service.analytics.backtest.plan import Strategy, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.statistics import sharpe
from service.analytics.backtest.tape import MarketTape
from service.analytics.backtest.universe import fill_costs, tradable
from service.analytics.bars import Flags, Floats
from service.walkforward.parameters import Parameters


class Fold(NamedTuple):
    """One test fold, rows [begin, end), counted from 1, and the rows that its parameters are chosen on."""

    number: int
    begin: int
    end: int
    training: range


def fold_days(rows: int, parameters: Parameters, horizon_days: int) -> list[Fold]:
    """Lay the folds over a tape.

    The first test fold begins after `train_days`; each begins where the one before it ends, the last one runs to the
    end of the tape. Training is what comes before a fold, without the purge (`horizon_days` and the day of the fill),
    because what is decided there may still be held in the fold. There is no embargo: it protects a test fold from
    training days that follow it, and no training window here holds such a day.

    Args:
        rows: Days of the tape.
        parameters: How to split.
        horizon_days: The longest that a strategy holds a position.

    Returns:
        The folds, oldest first; none where no day is left after `train_days`.
    """
    begins = range(parameters.train_days, rows, parameters.test_days)
    return [
        Fold(
            number=number,
            begin=begin,
            end=min(begin + parameters.test_days, rows),
            training=_training(begin, parameters, horizon_days),
        )
        for number, begin in enumerate(begins, 1)
    ]


def purge_days(horizon_days: int) -> int:
    """How many days before a test fold are left out of training: a label's horizon, and the day of its fill."""
    return horizon_days + 1


def _training(begin: int, parameters: Parameters, horizon_days: int) -> range:
    start = 0 if parameters.scheme == "anchored" else begin - parameters.train_days
    return range(start, max(start, begin - purge_days(horizon_days)))


Simulate: TypeAlias = Callable[[MarketTape, TradingPlan, int, int, Floats, Flags | None], BacktestBook]


class WalkContext(NamedTuple):
    """Inputs that all strategies share: tape, universe, costs of fills, parameters and simulator; see `prepare`."""

    tape: MarketTape
    universe: Flags
    costs: Floats
    parameters: Parameters
    simulate: Simulate = simulate

    @property
    def rows(self) -> int:
        """Days of the tape."""
        return len(self.tape.close)


def prepare(tape: MarketTape, parameters: Parameters, fill: Simulate = simulate) -> WalkContext:
    """Compute the universe and the costs of every day of a tape."""
    costs = fill_costs(tape, parameters.fee_bps, parameters.slippage)
    return WalkContext(tape, tradable(tape, parameters.universe_size), costs, parameters, fill)


class Training(NamedTuple):
    """The choice of parameters for a fold.

    Attributes:
        rows: Rows of the tape on which decisions are allowed, of shape (days before the fold,).
        decided: Those rows on which any back-test entered a position.
        sharpes: Sharpe ratio per day of every parameter set, in the order of the grid; None if it never traded.
        chosen: Index of the chosen set.
    """

    rows: Flags
    decided: frozenset[int]
    sharpes: tuple[float | None, ...]
    chosen: int


class WalkedFold(NamedTuple):
    """A walked fold with its plan and its results."""

    fold: Fold
    training: Training
    chosen: Mapping[str, float]
    plan: TradingPlan
    book: BacktestBook


def walk_strategy(strategy: Strategy, context: WalkContext, step: Callable[[], None]) -> list[WalkedFold]:
    """Walk a strategy through all its folds.

    Every plan is made once on the whole tape: the plan of a shorter tape is its beginning, which the gate checks.
    Training still gets no row of the fold or after it. Folds after one that lost all equity trade nothing.

    Args:
        strategy: The strategy.
        context: Shared inputs.
        step: Called after each plan and each back-test.
    """
    plans = []
    for chosen in strategy.grid:
        plans.append(strategy.plan(context.tape, context.universe, chosen))
        step()
    walked: list[WalkedFold] = []
    is_solvent = True
    for fold in fold_days(context.rows, context.parameters, strategy.horizon_days):
        training = _train(plans, fold, context, step)
        plan = plans[training.chosen]
        book = follow(plan, fold, context, None if is_solvent else rows_of(context.rows, ()))
        is_solvent = is_solvent and book.lost_on is None
        walked.append(WalkedFold(fold, training, strategy.grid[training.chosen], plan, book))
    return walked


def follow(plan: TradingPlan, fold: Fold, context: WalkContext, allowed: Flags | None = None) -> BacktestBook:
    """Trade a plan through a test fold, on allowed rows if they are given."""
    return context.simulate(context.tape, plan, fold.begin, fold.end, context.costs, allowed)


def back_test(
    plan: TradingPlan, begin: int, allowed: Flags, context: WalkContext
) -> tuple[float | None, frozenset[int]]:
    """Trade a plan on allowed rows before a fold; later rows are not passed on.

    Returns:
        The Sharpe ratio per day over days on which positions were possible, None without positions; and the rows with
        decisions.
    """
    book = context.simulate(context.tape.until(begin), plan.until(begin), 0, begin, context.costs[:begin], allowed)
    return sharpe(book.net[held_over(allowed)]), frozenset(book.signals.row.tolist())


def best_index(sharpes: Sequence[float | None]) -> int:
    """Index of the highest Sharpe ratio: the first of equals; a set that never traded comes last."""
    return max(range(len(sharpes)), key=lambda at: (sharpes[at] is not None, sharpes[at] or 0.0, -at))


def _train(plans: Sequence[TradingPlan], fold: Fold, context: WalkContext, step: Callable[[], None]) -> Training:
    """Choose the parameter set that did best on the days before the fold."""
    allowed = rows_of(fold.begin, [fold.training])
    decided: frozenset[int] = frozenset()
    sharpes = []
    for plan in plans:
        ratio, rows = back_test(plan, fold.begin, allowed, context)
        sharpes.append(ratio)
        decided |= rows
        step()
    return Training(allowed, decided, tuple(sharpes), best_index(sharpes))

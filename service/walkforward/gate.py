"""The leakage gate: checks that a strategy must pass before any of its records is published.

Every check uses the real plans, training rows and books of the walk. No check relies on the strategy. Needs numpy.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

from service.analytics.backtest.inspection import (
    EXACT,
    SurrogateEdge,
    accounting_error,
    count_misfilled,
    count_mismatched_days,
    first_difference,
    longest_holding,
    plan_a_day_early,
    rows_of,
    surrogate_edge,
)
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.statistics import compounded
from service.analytics.backtest.surrogates import sign_flip_tape
from service.analytics.backtest.universe import tradable
from service.clock import DAY_MS, iso
from service.walkforward.parameters import Parameters
from service.walkforward.records import GateCheck, GateFinding
from service.walkforward.walk import WalkContext, WalkedFold, back_test, best_index, follow, prepare, purge_days

CUT_EVERY: Final = 1
"""Every n-th day ends a shortened tape; 1 is every day, because a leak of one day shows only on that day."""

UNIVERSE_EVERY: Final = 30
"""Every n-th shortened tape has its universe recomputed, which is slow and the same for all strategies."""

SURROGATES: Final = 40
"""Sign-flip surrogates of the recorded tape."""

MOST_ERRORS: Final = 4.0
"""Largest edge on surrogates, in standard errors from zero."""

WalkedFolds = Sequence[WalkedFold]


def step_count(rows: int, folds: int, choices: int) -> int:
    """Number of steps that `check_strategy` reports."""
    return len(range(0, rows, CUT_EVERY)) + folds * choices + SURROGATES


def check_strategy(
    strategy: Strategy, walked: WalkedFolds, context: WalkContext, now_ms: int, seed: str, step: Callable[[], None]
) -> list[GateFinding]:
    """Run all six checks on one strategy.

    Args:
        strategy: The strategy.
        walked: Its folds, as they will be published; at least one.
        context: Shared inputs of the walk.
        now_ms: The instant of the run.
        seed: Seed of all random numbers; the same seed gives the same findings.
        step: Called after each shortened tape, each surrogate and each back-test.
    """
    checks: tuple[tuple[GateCheck, tuple[bool, str]], ...] = (
        ("truncation", _truncation(strategy, walked, context, step)),
        ("shifted-features", _shifted_features(walked, context)),
        ("sign-flip-surrogates", _sign_flip_surrogates(strategy, walked, context, seed, step)),
        ("purge", _purge(strategy, walked, context, step)),
        ("fills", _fills(walked, context)),
        ("open-bar", _open_bar(context, now_ms)),
    )
    return [GateFinding(strategy.name, check, held, figures) for check, (held, figures) in checks]


def _seeded_number(seed: str, what: str) -> int:
    """A number of 64 bits, the same for the same words on every machine."""
    return int.from_bytes(sha256(f"{seed}/{what}".encode()).digest()[:8], "big")


def _truncation(
    strategy: Strategy, walked: WalkedFolds, context: WalkContext, step: Callable[[], None]
) -> tuple[bool, str]:
    """The plan of a shorter tape must be the beginning of the plan of the whole tape.

    This is checked for every day, also for the days before the first fold.
    """
    differing = []
    cuts = range(1, context.rows + 1, CUT_EVERY)
    for number, rows in enumerate(cuts):
        tested = next(tested for tested in walked if rows <= tested.fold.end)
        known, universe = context.tape.until(rows), context.universe[:rows]
        if number % UNIVERSE_EVERY == 0:
            universe = tradable(known, context.parameters.universe_size)
        row = first_difference(tested.plan, strategy.plan(known, universe, tested.chosen), rows)
        if row is not None:
            differing.append((rows, row))
        step()
    if not differing:
        return True, f"the plans of {len(cuts)} shortened tapes are the beginnings of the plan that was followed"
    ends, first = (_date(context, at) for at in differing[0])
    return False, (
        f"{len(differing)} of {len(cuts)} shortened tapes give another plan: without the days from {ends} on it is"
        f" another one already on {first}"
    )


def _shifted_features(walked: WalkedFolds, context: WalkContext) -> tuple[bool, str]:
    """Acting on the plan a day early must change the result; otherwise the plan does not depend on its day."""
    if not any(len(tested.book.signals.row) for tested in walked):
        return True, "nothing was decided, so nothing can have been foreseen"
    known = compounded_pct(walked)
    # Early folds can be too short for a change, so the check covers the whole tape.
    changed = any(_ever_changes(tested, context) for tested in walked)
    foreseen = []
    for tested in walked:
        book = follow(plan_a_day_early(tested.plan), tested.fold, context)
        foreseen.append(tested._replace(book=book))
    figures = f"{known:z.2f} % as it is, {compounded_pct(foreseen):z.2f} % a day ahead of itself"
    return changed, figures if changed else f"knowing the plan a day earlier changes nothing: {figures}"


def _ever_changes(tested: WalkedFold, context: WalkContext) -> bool:
    """Whether acting on a plan a day early changes the result on any day of the tape."""
    whole = tested.fold._replace(begin=0, end=context.rows)
    known, foreseen = (follow(plan, whole, context).net for plan in (tested.plan, plan_a_day_early(tested.plan)))
    return float(abs(foreseen - known).max()) > EXACT


def compounded_pct(walked: WalkedFolds) -> float:
    """Return of the folds in sequence, percent."""
    grown = 1.0
    for tested in walked:
        grown *= 1 + compounded(tested.book.net)
    return (grown - 1) * 100


def _sign_flip_surrogates(
    strategy: Strategy, walked: WalkedFolds, context: WalkContext, seed: str, step: Callable[[], None]
) -> tuple[bool, str]:
    """Trade tapes whose days are kept or negated at random. Only look-ahead can earn on them before costs."""
    sets = {tuple(tested.chosen.items()): tested.chosen for tested in walked}
    parts = []
    for number in range(SURROGATES):
        tape = sign_flip_tape(context.tape, _seeded_number(seed, f"surrogate/{number}"))
        plans = {key: strategy.plan(tape, context.universe, chosen) for key, chosen in sets.items()}
        chance = context._replace(tape=tape)
        parts += [follow(plans[tuple(tested.chosen.items())], tested.fold, chance).price for tested in walked]
        step()
    found: SurrogateEdge = surrogate_edge(parts)
    if found.errors is None:
        return True, f"no position was held on {SURROGATES} tapes, so nothing can have been foreseen"
    figures = (
        f"{found.yearly_pct:+z.2f} % a year before costs on {SURROGATES} tapes whose days go either way by chance,"
        f" {found.errors:+z.2f} standard errors from zero ({MOST_ERRORS:g} allowed, {found.days} days held)"
    )
    return abs(found.errors) <= MOST_ERRORS, figures


def _purge(strategy: Strategy, walked: WalkedFolds, context: WalkContext, step: Callable[[], None]) -> tuple[bool, str]:
    """Training must end before its fold, by at least the purge, and use nothing else.

    The rows of training and the rows of its decisions are compared with the rule. Then training is repeated on a tape
    that ends before the fold and must give the same ratios and the same choice.
    """
    purge = purge_days(strategy.horizon_days)
    wrong = used = 0
    swayed = []
    for tested in walked:
        lawful = _allowed_rows(tested.fold.begin, purge, context.parameters)
        rows = {*tested.training.rows.nonzero()[0].tolist(), *tested.training.decided}
        used += len(rows)
        wrong += len(rows - lawful)
        if not _is_same_choice(strategy, tested, lawful, context, step):
            swayed.append(tested.fold.number)
    figures = (
        f"{used} training days of {len(walked)} folds, {purge} purged before each; no embargo, for none follows it"
    )
    if wrong:
        return False, f"{wrong} training days that should have been left out, of {figures}"
    held = max(longest_holding(tested.plan) for tested in walked)
    if held > strategy.horizon_days:
        return False, f"positions are wanted for {held} days, longer than the {strategy.horizon_days} purged: {figures}"
    if swayed:
        return False, f"the choice of fold {swayed[0]} is not that of its training days alone: {figures}"
    return True, f"{figures}; without the fold the choice is the same"


def _allowed_rows(begin: int, purge: int, parameters: Parameters) -> set[int]:
    """The rows that training may use, from the rule and not from the folds."""
    oldest = begin - parameters.train_days if parameters.scheme == "rolling" else 0
    return {row for row in range(oldest, begin) if row + purge < begin}


def _is_same_choice(
    strategy: Strategy, tested: WalkedFold, lawful: set[int], context: WalkContext, step: Callable[[], None]
) -> bool:
    """Whether training gives the same choice on a tape that ends before the fold."""
    begin = tested.fold.begin
    known = prepare(context.tape.until(begin), context.parameters, context.simulate)
    allowed = rows_of(begin, (range(row, row + 1) for row in lawful))
    again = []
    for chosen in strategy.grid:
        again.append(back_test(strategy.plan(known.tape, known.universe, chosen), begin, allowed, known)[0])
        step()
    return (
        best_index(again) == tested.training.chosen
        and strategy.grid[tested.training.chosen] == tested.chosen
        and all(_same(one, other) for one, other in zip(again, tested.training.sharpes, strict=True))
    )


def _same(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else abs(one - other) <= EXACT


def _fills(walked: WalkedFolds, context: WalkContext) -> tuple[bool, str]:
    """Every decision must be filled at the open after it, and the days must add up to the positions.

    Folds after one that lost all equity must have no position.
    """
    positions = sum(len(tested.book.trades.coin) + len(tested.book.open.coin) for tested in walked)
    wrong, amiss, missing, is_solvent = 0, 0, 0.0, True
    for fold, _, _, plan, book in walked:
        wrong += count_misfilled(context.tape, plan, fold.begin, fold.end, book)
        amiss += (
            count_mismatched_days(context.tape, plan, fold.begin, fold.end, book) if is_solvent else book.position_days
        )
        is_solvent = is_solvent and book.lost_on is None
        missing = max(missing, accounting_error(context.tape, fold.begin, book, context.costs))
    if wrong:
        return False, f"{wrong} of {positions} positions are not filled at the open after their decision"
    if amiss:
        return False, f"{amiss} position-days are held and not wanted, or wanted and not held"
    if missing > EXACT:
        return False, f"the days and the positions differ by {missing * 100:z.4f} % of the equity"
    return True, f"{positions} positions filled at the open after their decision"


def _open_bar(context: WalkContext, now_ms: int) -> tuple[bool, str]:
    """The last day of the tape must have closed."""
    closes_ms = (context.tape.first_day + context.rows) * DAY_MS
    figures = f"the last bar closes at {iso(closes_ms)}, the run is of {iso(now_ms)}"
    return closes_ms <= now_ms, figures


def _date(context: WalkContext, row: int) -> str:
    return iso((context.tape.first_day + row) * DAY_MS)[:10]

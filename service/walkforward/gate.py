"""The leakage gate: what a strategy must show before anything of it is published.

Every check is made on what was really walked (the plans that were followed, the rows that training used, the books that
will be told), and none asks the strategy about itself. Imports numbers and so numpy.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

from service.analytics.backtest.inspection import (
    EXACT,
    Edge,
    edge,
    first_difference,
    foreseeing,
    longest,
    misfilled,
    overlooked,
    rows_of,
    unaccounted,
)
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.statistics import compounded
from service.analytics.backtest.surrogates import surrogate
from service.analytics.backtest.universe import tradable
from service.clock import DAY_MS, iso
from service.walkforward.folds import purge_days
from service.walkforward.parameters import Parameters
from service.walkforward.run import Check, Finding
from service.walkforward.walk import Ground, WalkedFold, back_test, best, follow, prepare

CUT_EVERY: Final = 1
"""Of the days of a tape so many-th is the last of a shortened one: each. A leak of one day shows on that day alone."""

UNIVERSE_EVERY: Final = 30
"""Of the shortened tapes so many-th has its universe told anew; it is the same for all strategies, and slow to tell."""

SURROGATES: Final = 40
"""Sign-flip surrogates of the recorded tape."""

MOST_ERRORS: Final = 4.0
"""Standard errors from zero beyond which an edge on them is no chance."""

Walked = Sequence[WalkedFold]


def steps(rows: int, folds: int, choices: int) -> int:
    """How often `examine` reports for so many days, folds and parameter sets."""
    return len(range(0, rows, CUT_EVERY)) + folds * choices + SURROGATES


def examine(
    strategy: Strategy, walked: Walked, ground: Ground, now_ms: int, seed: str, step: Callable[[], None]
) -> list[Finding]:
    """Make all six checks of one strategy.

    Args:
        strategy: Whom.
        walked: Its folds, as they will be published; at least one.
        ground: What they were walked over.
        now_ms: The instant of the run.
        seed: Of everything that is drawn; the same one gives the same findings.
        step: Called after each shortened tape, each surrogate and each back-test.
    """
    checks: tuple[tuple[Check, tuple[bool, str]], ...] = (
        ("truncation", _truncation(strategy, walked, ground, step)),
        ("shifted-features", _shifted_features(walked, ground)),
        ("sign-flip-surrogates", _sign_flip_surrogates(strategy, walked, ground, seed, step)),
        ("purge", _purge(strategy, walked, ground, step)),
        ("fills", _fills(walked, ground)),
        ("open-bar", _open_bar(ground, now_ms)),
    )
    return [Finding(strategy.name, check, held, figures) for check, (held, figures) in checks]


def _drawn(seed: str, what: str) -> int:
    """Draw 64 bits, the same for the same words on every machine."""
    return int.from_bytes(sha256(f"{seed}/{what}".encode()).digest()[:8], "big")


def _truncation(strategy: Strategy, walked: Walked, ground: Ground, step: Callable[[], None]) -> tuple[bool, str]:
    """The plan of a tape that ends earlier must be the beginning of the plan of the whole one.

    That is asked for every day: what was decided on a day of a fold is what would have been decided had the tape ended
    there, and what the first parameters were chosen by as well.
    """
    differing = []
    cuts = range(1, ground.rows + 1, CUT_EVERY)
    for number, rows in enumerate(cuts):
        tested = next(tested for tested in walked if rows <= tested.fold.end)
        known, universe = ground.tape.until(rows), ground.universe[:rows]
        if number % UNIVERSE_EVERY == 0:
            universe = tradable(known, ground.parameters.universe_size)
        row = first_difference(tested.plan, strategy.plan(known, universe, tested.chosen), rows)
        if row is not None:
            differing.append((rows, row))
        step()
    if not differing:
        return True, f"the plans of {len(cuts)} shortened tapes are the beginnings of the plan that was followed"
    ends, first = (_date(ground, at) for at in differing[0])
    return False, (
        f"{len(differing)} of {len(cuts)} shortened tapes give another plan: without the days from {ends} on it is"
        f" another one already on {first}"
    )


def _shifted_features(walked: Walked, ground: Ground) -> tuple[bool, str]:
    """Acting on tomorrow's plan must bring something else; where it does not, the plan says nothing about its day."""
    if not any(len(tested.book.signals.row) for tested in walked):
        return True, "nothing was decided, so nothing can have been foreseen"
    known = compounded_pct(walked)
    # The folds of the first days are too short for most plans to change in: whether they ever do is asked of the past.
    changed = any(_ever_changes(tested, ground) for tested in walked)
    foreseen = []
    for tested in walked:
        book = follow(foreseeing(tested.plan), tested.fold, ground)
        foreseen.append(tested._replace(book=book))
    figures = f"{known:.2f} % as it is, {compounded_pct(foreseen):.2f} % a day ahead of itself"
    return changed, figures if changed else f"knowing the plan a day earlier changes nothing: {figures}"


def _ever_changes(tested: WalkedFold, ground: Ground) -> bool:
    """Whether acting on a plan a day earlier brings something else on any day of the tape."""
    whole = tested.fold._replace(begin=0, end=ground.rows)
    known, foreseen = (follow(plan, whole, ground).net for plan in (tested.plan, foreseeing(tested.plan)))
    return float(abs(foreseen - known).max()) > EXACT


def compounded_pct(walked: Walked) -> float:
    """What the folds brought one after the other, percent."""
    grown = 1.0
    for tested in walked:
        grown *= 1 + compounded(tested.book.net)
    return (grown - 1) * 100


def _sign_flip_surrogates(
    strategy: Strategy, walked: Walked, ground: Ground, seed: str, step: Callable[[], None]
) -> tuple[bool, str]:
    """Trade tapes whose days are kept or negated at random: only look-ahead can earn there before costs."""
    sets = {tuple(tested.chosen.items()): tested.chosen for tested in walked}
    parts = []
    for number in range(SURROGATES):
        tape = surrogate(ground.tape, _drawn(seed, f"surrogate/{number}"))
        plans = {key: strategy.plan(tape, ground.universe, chosen) for key, chosen in sets.items()}
        chance = ground._replace(tape=tape)
        parts += [follow(plans[tuple(tested.chosen.items())], tested.fold, chance).price for tested in walked]
        step()
    found: Edge = edge(parts)
    figures = (
        f"{found.yearly_pct:+.2f} % a year before costs on {SURROGATES} tapes whose days go either way by chance,"
        f" {found.errors:+.2f} standard errors from zero ({MOST_ERRORS:g} allowed, {found.days} days held)"
    )
    return abs(found.errors) <= MOST_ERRORS, figures


def _purge(strategy: Strategy, walked: Walked, ground: Ground, step: Callable[[], None]) -> tuple[bool, str]:
    """Training must end before its fold, by the purge at least, and choose by nothing else.

    The rows that training says it used and those its back-tests decided on are held against the rule; then it is done
    again on a tape that ends before the fold, and must come to the same ratios and the same choice.
    """
    purge = purge_days(strategy.horizon_days)
    wrong = used = 0
    swayed = []
    for tested in walked:
        lawful = _lawful(tested.fold.begin, purge, ground.parameters)
        rows = {*tested.training.rows.nonzero()[0].tolist(), *tested.training.decided}
        used += len(rows)
        wrong += len(rows - lawful)
        if not _chosen_so(strategy, tested, lawful, ground, step):
            swayed.append(tested.fold.number)
    figures = (
        f"{used} training days of {len(walked)} folds, {purge} purged before each; no embargo, for none follows it"
    )
    if wrong:
        return False, f"{wrong} training days that should have been left out, of {figures}"
    held = max(longest(tested.plan) for tested in walked)
    if held > strategy.horizon_days:
        return False, f"positions are wanted for {held} days, longer than the {strategy.horizon_days} purged: {figures}"
    if swayed:
        return False, f"the choice of fold {swayed[0]} is not that of its training days alone: {figures}"
    return True, f"{figures}; without the fold the choice is the same"


def _lawful(begin: int, purge: int, parameters: Parameters) -> set[int]:
    """The rows that training before a fold may use, by the rule itself and not by how folds are laid."""
    oldest = begin - parameters.train_days if parameters.scheme == "rolling" else 0
    return {row for row in range(oldest, begin) if row + purge < begin}


def _chosen_so(
    strategy: Strategy, tested: WalkedFold, lawful: set[int], ground: Ground, step: Callable[[], None]
) -> bool:
    """Whether training comes to the same on a tape on which the fold has not happened."""
    begin = tested.fold.begin
    known = prepare(ground.tape.until(begin), ground.parameters, ground.simulate)
    allowed = rows_of(begin, (range(row, row + 1) for row in lawful))
    again = []
    for chosen in strategy.grid:
        again.append(back_test(strategy.plan(known.tape, known.universe, chosen), begin, allowed, known)[0])
        step()
    return (
        best(again) == tested.training.chosen
        and strategy.grid[tested.training.chosen] == tested.chosen
        and all(_same(one, other) for one, other in zip(again, tested.training.sharpes, strict=True))
    )


def _same(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else abs(one - other) <= EXACT


def _fills(walked: Walked, ground: Ground) -> tuple[bool, str]:
    """Every decision must be entered and left at opens after it, and the days must add up to that."""
    positions = sum(len(tested.book.trades.coin) + len(tested.book.open.coin) for tested in walked)
    wrong, amiss, missing = 0, 0, 0.0
    for fold, _, _, plan, book in walked:
        wrong += misfilled(ground.tape, plan, fold.begin, fold.end, book)
        amiss += overlooked(ground.tape, plan, fold.begin, fold.end, book)
        missing = max(missing, unaccounted(ground.tape, book, ground.costs))
    if wrong:
        return False, f"{wrong} of {positions} positions are not filled at the open after their decision"
    if amiss:
        return False, f"{amiss} position-days are held and not wanted, or wanted and not held"
    if missing > EXACT:
        return False, f"the days and the positions differ by {missing * 100:.4f} % of the capital"
    return True, f"{positions} positions filled at the open after their decision"


def _open_bar(ground: Ground, now_ms: int) -> tuple[bool, str]:
    """The last day of the tape must be over."""
    closes_ms = (ground.tape.first_day + ground.rows) * DAY_MS
    figures = f"the last bar closes at {iso(closes_ms)}, the run is of {iso(now_ms)}"
    return closes_ms <= now_ms, figures


def _date(ground: Ground, row: int) -> str:
    return iso((ground.tape.first_day + row) * DAY_MS)[:10]

"""A whole walk-forward: every strategy walked, examined, and told if it held. Imports numbers and so numpy."""

from collections.abc import Callable, Sequence
from typing import Final

from service.analytics.backtest.inspection import fingerprint
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import DayBar, lay
from service.clock import iso
from service.walkforward import gate
from service.walkforward.folds import fold_days
from service.walkforward.parameters import ENGINE, Parameters, Request
from service.walkforward.run import Finding, Run
from service.walkforward.summary import summarise
from service.walkforward.telling import Teller
from service.walkforward.walk import Ground, WalkedFold, prepare, walk
from service.wire.canonical import digest
from service.wire.walkforward import Strategy as Name

Report = Callable[[int, int], None]

_RUN_ID_DIGITS: Final = 16


def run(request: Request, report: Report) -> Run:
    """Run a walk-forward of all strategies.

    Args:
        request: Histories of closed bars. Fewer days than one training window and a day to test are no error: the run
            says so and brings nothing.
        report: Called with how many steps are done and how many there are, from none to all.

    Returns:
        What was decided out of sample, what is held, how it ended, and what the gate found.

    Raises:
        ValueError: If a history is broken; see `tape.lay`.
    """
    bars = {history.coin: [DayBar(*bar) for bar in history.bars] for history in request.histories}
    tape = lay(bars, {history.coin: dict(history.funding) for history in request.histories})
    return walk_all(STRATEGIES, prepare(tape, request.parameters), request.now_ms, report)


def walk_all(strategies: Sequence[Strategy], ground: Ground, now_ms: int, report: Report) -> Run:
    """Walk some strategies over prepared ground.

    Args:
        strategies: Whom, in the order in which they are told.
        ground: Over what.
        now_ms: The instant of the run.
        report: As for `run`.
    """
    parameters_hash = hash_parameters(strategies, ground.parameters)
    folds = len(fold_days(ground.rows, ground.parameters, 0))
    if not folds:
        report(0, 0)
        return _told(ground, now_ms, parameters_hash)
    step = _steps(strategies, ground.rows, folds, report)
    walks: dict[Name, list[WalkedFold]] = {}
    findings: list[Finding] = []
    for strategy in strategies:
        walks[strategy.name] = walk(strategy, ground, step)
        findings += gate.examine(strategy, walks[strategy.name], ground, now_ms, parameters_hash, step)
    return _told(ground, now_ms, parameters_hash, walks, findings)


def hash_parameters(strategies: Sequence[Strategy], parameters: Parameters) -> str:
    """Digest all that a run depends on but its tape: the same digest and tape, the same records."""
    return digest(
        {
            "engine": ENGINE,
            "parameters": parameters,
            "gate": {"cut_every": gate.CUT_EVERY, "surrogates": gate.SURROGATES, "errors": gate.MOST_ERRORS},
            "strategies": [
                {"name": strategy.name, "horizon_days": strategy.horizon_days, "grid": list(strategy.grid)}
                for strategy in strategies
            ],
        }
    )


def _steps(strategies: Sequence[Strategy], rows: int, folds: int, report: Report) -> Callable[[], None]:
    """Count the steps of a run for whoever draws a bar."""
    total = sum(
        len(strategy.grid) * (1 + folds) + gate.steps(rows, folds, len(strategy.grid)) for strategy in strategies
    )
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        report(done, total)

    report(0, total)
    return step


def _told(
    ground: Ground,
    now_ms: int,
    parameters_hash: str,
    walks: dict[Name, list[WalkedFold]] | None = None,
    findings: Sequence[Finding] = (),
) -> Run:
    refused = _refusals(findings)
    tape, tape_digest = ground.tape, fingerprint(ground.tape)
    tellers = {name: Teller(name, ground) for name in walks or {}}
    published = [
        (tellers[name], tested) for name, walked in (walks or {}).items() if name not in refused for tested in walked
    ]
    signals = [signal for teller, tested in published for signal in teller.signals(tested)]
    positions = [position for teller, tested in published for position in teller.positions(tested)]
    outcomes = [outcome for teller, tested in published for outcome in teller.outcomes(tested)]
    last_day = tape.first_day + ground.rows - 1
    return Run(
        engine=ENGINE,
        run_id=digest([tape_digest, parameters_hash, last_day])[:_RUN_ID_DIGITS],
        ran_at=iso(now_ms),
        parameters_hash=parameters_hash,
        tape_digest=tape_digest,
        parameters=ground.parameters,
        message=None if walks else _too_short(ground),
        summary=summarise(walks, refused, ground) if walks else None,
        signals=sorted(signals, key=lambda told: (told.scanDate, told.id), reverse=True),
        positions=sorted(positions, key=lambda told: (told.entryDate, told.id), reverse=True),
        outcomes=sorted(outcomes, key=lambda told: (told.exitDate, told.id), reverse=True),
        folds=[tellers[name].fold(tested) for name, walked in (walks or {}).items() for tested in walked],
        findings=list(findings),
    )


def _refusals(findings: Sequence[Finding]) -> dict[Name, str]:
    """Why a strategy is not published: everything that the gate held against it."""
    refused: dict[Name, str] = {}
    for finding in findings:
        if not finding.held:
            said = f"{finding.check}: {finding.figures}"
            refused[finding.strategy] = f"{refused[finding.strategy]}; {said}" if finding.strategy in refused else said
    return refused


def _too_short(ground: Ground) -> str:
    needed = ground.parameters.train_days + 1
    return f"Nothing was walked: {ground.rows} days are recorded, and the first fold needs {needed}."

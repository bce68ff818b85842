"""A whole walk-forward: walks every strategy, checks it, and collects its records. Needs numpy."""

from collections.abc import Callable, Sequence
from typing import Final

from service.analytics.backtest.inspection import digest_tape
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.tape import DayBar, build_tape
from service.clock import iso
from service.walkforward import gate
from service.walkforward.parameters import ENGINE, Parameters, WalkforwardRequest
from service.walkforward.records import GateFinding, WalkforwardRun
from service.walkforward.serializer import WalkSerializer
from service.walkforward.summary import summarise
from service.walkforward.walk import WalkContext, WalkedFold, fold_days, prepare, walk_strategy
from service.wire.canonical import digest
from service.wire.walkforward import Strategy as Name

ReportProgress = Callable[[int, int], None]

_RUN_ID_DIGITS: Final = 16


def run_walkforward(request: WalkforwardRequest, report: ReportProgress) -> WalkforwardRun:
    """Run a walk-forward of all strategies.

    Args:
        request: Histories of closed bars. With fewer days than a training window and one test day, the run is empty and
            says so.
        report: Called with steps done and steps in all.

    Returns:
        Out-of-sample signals, positions, outcomes, and the findings of the gate.

    Raises:
        ValueError: If a history is broken; see `tape.lay`.
    """
    bars = {history.coin: [DayBar(*bar) for bar in history.bars] for history in request.histories}
    tape = build_tape(bars, {history.coin: dict(history.funding) for history in request.histories})
    return walk_strategies(STRATEGIES, prepare(tape, request.parameters), request.now_ms, report)


def walk_strategies(
    strategies: Sequence[Strategy], context: WalkContext, now_ms: int, report: ReportProgress
) -> WalkforwardRun:
    """Walk strategies over prepared inputs.

    Args:
        strategies: Strategies in the order of the result.
        context: Shared inputs.
        now_ms: The instant of the run.
        report: As for `run_walkforward`.
    """
    parameters_hash = hash_parameters(strategies, context.parameters)
    folds = len(fold_days(context.rows, context.parameters, 0))
    if not folds:
        report(0, 0)
        return _create_run(context, now_ms, parameters_hash)
    step = _step_counter(strategies, context.rows, folds, report)
    walks: dict[Name, list[WalkedFold]] = {}
    findings: list[GateFinding] = []
    for strategy in strategies:
        walks[strategy.name] = walk_strategy(strategy, context, step)
        findings += gate.check_strategy(strategy, walks[strategy.name], context, now_ms, parameters_hash, step)
    return _create_run(context, now_ms, parameters_hash, walks, findings)


def hash_parameters(strategies: Sequence[Strategy], parameters: Parameters) -> str:
    """Digest of everything a run depends on except its tape: same digest and tape, same records."""
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


def _step_counter(strategies: Sequence[Strategy], rows: int, folds: int, report: ReportProgress) -> Callable[[], None]:
    """Counts the steps of a run and reports them."""
    total = sum(
        len(strategy.grid) * (1 + folds) + gate.step_count(rows, folds, len(strategy.grid)) for strategy in strategies
    )
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        report(done, total)

    report(0, total)
    return step


def _create_run(
    context: WalkContext,
    now_ms: int,
    parameters_hash: str,
    walks: dict[Name, list[WalkedFold]] | None = None,
    findings: Sequence[GateFinding] = (),
) -> WalkforwardRun:
    refused = _refusals(findings)
    tape, tape_digest = context.tape, digest_tape(context.tape)
    serializers = {name: WalkSerializer(name, context) for name in walks or {}}
    published = [
        (serializers[name], tested)
        for name, walked in (walks or {}).items()
        if name not in refused
        for tested in walked
    ]
    signals = [signal for serializer, tested in published for signal in serializer.signals(tested)]
    positions = [position for serializer, tested in published for position in serializer.positions(tested)]
    outcomes = [outcome for serializer, tested in published for outcome in serializer.outcomes(tested)]
    last_day = tape.first_day + context.rows - 1
    return WalkforwardRun(
        engine=ENGINE,
        run_id=digest([tape_digest, parameters_hash, last_day])[:_RUN_ID_DIGITS],
        ran_at=iso(now_ms),
        parameters_hash=parameters_hash,
        tape_digest=tape_digest,
        parameters=context.parameters,
        message=None if walks else _too_short(context),
        summary=summarise(walks, refused, context) if walks else None,
        signals=sorted(signals, key=lambda record: (record.scanDate, record.id), reverse=True),
        positions=sorted(positions, key=lambda record: (record.entryDate, record.id), reverse=True),
        outcomes=sorted(outcomes, key=lambda record: (record.exitDate, record.id), reverse=True),
        folds=[serializers[name].fold(tested) for name, walked in (walks or {}).items() for tested in walked],
        findings=list(findings),
    )


def _refusals(findings: Sequence[GateFinding]) -> dict[Name, str]:
    """Failed checks by strategy: the reason why it is not published."""
    refused: dict[Name, str] = {}
    for finding in findings:
        if not finding.held:
            said = f"{finding.check}: {finding.figures}"
            refused[finding.strategy] = f"{refused[finding.strategy]}; {said}" if finding.strategy in refused else said
    return refused


def _too_short(context: WalkContext) -> str:
    needed = context.parameters.train_days + 1
    return f"Nothing was walked: {context.rows} days are recorded, and the first fold needs {needed}."

"""`verdict walkforward run`: walk the recorded market forward now, and say honestly what came of it."""

import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from service.clients.cli.refusal import DONE, RefusalError
from service.clients.cli.spinner import CLEAR
from service.clients.cli.terminal import is_plain, is_terminal
from service.clock import SystemClock, day_of
from service.market.store import MarketStore
from service.operator.folder import Folder, run_in_folder
from service.operator.output import WIDTH, print_json
from service.walkforward.parameters import Parameters, Request
from service.walkforward.recordings import RecordingsError, read_recordings
from service.walkforward.records import pack
from service.walkforward.run import Run
from service.walkforward.store import RunStore
from service.walkforward.tape_reader import read_histories
from service.wire.walkforward import StrategySummary, WalkforwardSummary

Report = Callable[[int, int], None]

_LABEL: Final = 22
_COLUMN: Final = 11
_HEADS: Final[Mapping[str, str]] = {
    "all": "ALL THREE",
    "trend-following": "TREND",
    "cross-sectional-momentum": "MOMENTUM",
    "funding-reversion": "FUNDING",
}
_UNKNOWN: Final = "-"


class _Asked(Struct, frozen=True):
    """What the data folder gives to walk: which history, its days before a midnight, and a request of them."""

    origin: str
    until_ms: int
    request: Request


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Run over the data folder, whose service then tells the records; or over recordings, which keeps nothing."""
    parameters = Parameters(scheme=arguments.scheme)
    if arguments.recordings is not None:
        found = _walk(_recorded(Path(arguments.recordings), parameters), environment)
        kept = f"read from {arguments.recordings}; nothing was kept"
    else:
        asked = run_in_folder(environment, lambda folder: _ask(folder, parameters))
        found = _walk(asked.request, environment)
        number = run_in_folder(environment, lambda folder: _keep(folder, asked, found))
        kept = f"kept as run {number}; the service tells its records from now on"
    if arguments.json:
        print_json(_document(found))
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, kept))
    return DONE


def _recorded(directory: Path, parameters: Parameters) -> Request:
    now_ms = SystemClock().now_ms()
    try:
        return Request(now_ms, parameters, read_recordings(directory, now_ms))
    except RecordingsError as error:
        raise RefusalError(str(error)) from error


async def _ask(folder: Folder, parameters: Parameters) -> _Asked:
    market = MarketStore(folder.database)
    origin = await market.held()
    until_ms = None if origin is None else await market.published_through(origin)
    if origin is None or until_ms is None:
        raise RefusalError(
            "the data folder holds no published day yet; let the service run until its history is fetched, or name "
            "recordings with --recordings"
        )
    await market.sum_funding(origin)
    histories = await folder.database.inspect(lambda connection: read_histories(connection, origin, until_ms))
    return _Asked(origin, until_ms, Request(folder.clock.now_ms(), parameters, histories))


async def _keep(folder: Folder, asked: _Asked, found: Run) -> int:
    return await RunStore(folder.database).put(asked.origin, pack(found, day_of(asked.until_ms) - 1))


def _walk(request: Request, environment: Mapping[str, str]) -> Run:
    from service.walkforward.engine import run as walk  # noqa: PLC0415 - numpy, which no other command needs

    try:
        with _progress(environment) as report:
            return walk(request, report)
    except ValueError as error:
        raise RefusalError(f"the bars cannot be used: {error}") from error


@contextmanager
def _progress(environment: Mapping[str, str]) -> Iterator[Report]:
    """A line on a terminal's standard error, that tells how far it is and goes when it is done; elsewhere nothing."""
    if not is_terminal(sys.stderr) or is_plain(environment):
        yield lambda _done, _total: None
        return
    try:
        yield _tell
    finally:
        sys.stderr.write(CLEAR)
        sys.stderr.flush()


def _tell(done: int, total: int) -> None:
    """Say each per cent once: there are thousands of steps."""
    if total and 100 * done // total != 100 * (done - 1) // total:
        sys.stderr.write(f"{CLEAR}walking forward: {100 * done // total} %")
        sys.stderr.flush()


def _document(found: Run) -> dict[str, object]:
    """The run without its records, which are the route's to tell."""
    told = msgspec.to_builtins(found)
    counts = {kind: len(told.pop(kind)) for kind in ("signals", "positions", "outcomes")}
    return {**told, "records": counts}


def _lines(found: Run, kept: str) -> list[str]:
    """What a person reads, in 80 columns."""
    names = f"run {found.run_id}, {kept}"
    if found.summary is None:
        return [*_wrapped(found.message or ""), *_wrapped(names)]
    return [
        *_wrapped(_heading(found, found.summary)),
        "",
        *_table(found.summary),
        "",
        *_wrapped(_costs(found, found.summary)),
        "",
        *_gate(found, found.summary),
        "",
        *_wrapped(names),
        f"parameters {found.parameters_hash}",
    ]


def _heading(found: Run, summary: WalkforwardSummary) -> str:
    return (
        f"Out of sample from {summary.firstDay} to {summary.lastDay}: {summary.folds} {found.parameters.scheme} folds, "
        f"{summary.coins} coins, {summary.trials} trials in training, {len(found.positions)} positions still open."
    )


def _costs(found: Run, summary: WalkforwardSummary) -> str:
    parameters = found.parameters
    bps = [bps for _, bps in parameters.slippage]
    return (
        f"After fees of {parameters.fee_bps:g} and slippage of {min(bps):g} to {max(bps):g} basis points a fill, by "
        "the coin's volume, and funding; where that is not recorded, longs pay the resting rate. P(Sharpe > 0) is the "
        "probabilistic Sharpe ratio; P(Sharpe > luck) the deflated one, against the best that "
        f"{summary.trials} trials would show by luck."
    )


def _table(summary: WalkforwardSummary) -> list[str]:
    """One column a strategy, beside doing nothing."""
    columns, idle = summary.strategies, summary.buyAndHold
    rows: list[tuple[str, Callable[[StrategySummary], str], str]] = [
        ("trades", lambda told: str(told.total), ""),
        ("won", lambda told: _share(told.winRate), ""),
        ("mean of a trade", lambda told: _percent(told.meanReturnPct), ""),
        ("return", lambda told: _percent(told.returnPct), _percent(idle.returnPct)),
        ("Sharpe, annualised", lambda told: _ratio(told.sharpe), _ratio(idle.sharpe)),
        ("P(Sharpe > 0)", lambda told: _ratio(told.probabilisticSharpe), ""),
        ("P(Sharpe > luck)", lambda told: _ratio(told.deflatedSharpe), ""),
        ("deepest drawdown", lambda told: _share(told.maxDrawdownPct / 100), _share(idle.maxDrawdownPct / 100)),
        ("exposure", lambda told: _share(told.exposure), ""),
        ("turnover a year", lambda told: f"{told.turnover:.1f} x", ""),
        ("funding recorded", lambda told: _share(told.fundingKnown), ""),
    ]
    lines = [_line("", [*(_HEADS[told.strategy] for told in columns), "HOLDING"])]
    lines += [_line(label, [*(_cell(cell, told) for told in columns), held]) for label, cell, held in rows]
    return lines


def _cell(cell: Callable[[StrategySummary], str], told: StrategySummary) -> str:
    return cell(told) if told.published else "refused"


def _line(label: str, cells: Sequence[str]) -> str:
    return (label.ljust(_LABEL) + "".join(cell.rjust(_COLUMN) for cell in cells)).rstrip()


def _gate(found: Run, summary: WalkforwardSummary) -> list[str]:
    """What the leakage gate said: one line where all is well, one more for each strategy that it refused."""
    held = sum(finding.held for finding in found.findings)
    lines = _wrapped(f"Leakage gate: {held} of {len(found.findings)} checks held.")
    for told in summary.strategies:
        if told.refused is not None:
            lines += _wrapped(f"Not published: {told.strategy} ({told.refused}).")
    return [*lines, "", *_wrapped(summary.method.surrogates), "", *_wrapped(summary.method.embargo)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:+.2f} %"


def _share(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value * 100:.1f} %"


def _ratio(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.3f}"

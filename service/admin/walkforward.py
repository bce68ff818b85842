"""`verdict admin walkforward`: walk the recorded market forward now, and say honestly what came of it."""

import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import click
import msgspec
from msgspec import Struct

from service.admin.folder import Folder, json_option, run_in_folder
from service.cli.environment import Environment, VerdictCommand
from service.cli.output_format import put_document, put_lines
from service.cli.spinner import CLEAR
from service.cli.terminal import is_plain, is_terminal
from service.client.errors import DONE, RefusalError
from service.clock import SystemClock, day_of
from service.formats import change, number, share
from service.market.store import MarketStore
from service.walkforward.histories import RecordingsError, read_histories, read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun, pack_run
from service.walkforward.store import RunStore
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
    request: WalkforwardRequest


@click.command("walkforward", cls=VerdictCommand, example="verdict admin walkforward")
@click.option(
    "--recordings",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder of recorded candles and funding; stores nothing.",
)
@click.option(
    "--scheme",
    type=click.Choice(["anchored", "rolling"]),
    default="anchored",
    help="Train on all days before a fold, or on the last 365 (anchored).",
)
@json_option
@click.pass_obj
def walkforward(
    environment: Environment, recordings: Path | None, scheme: Literal["anchored", "rolling"], *, json: bool
) -> int:
    """Walk the stored market forward now. The service then shows the records of the run."""
    parameters = Parameters(scheme=scheme)
    if recordings is not None:
        found = _walk(_recorded(recordings, parameters), environment.variables)
        kept = f"read from {recordings}; nothing was stored"
    else:
        asked = run_in_folder(environment.variables, lambda folder: _ask(folder, parameters))
        found = _walk(asked.request, environment.variables)
        number = run_in_folder(environment.variables, lambda folder: _keep(folder, asked, found))
        kept = f"stored as run {number}; the service shows its records from now on"
    if json:
        put_document(_document(found))
    else:
        put_lines(_lines(found, kept))
    return DONE


def _recorded(directory: Path, parameters: Parameters) -> WalkforwardRequest:
    now_ms = SystemClock().now_ms()
    try:
        return WalkforwardRequest(now_ms, parameters, read_recordings(directory, now_ms))
    except RecordingsError as error:
        raise RefusalError(str(error)) from error


async def _ask(folder: Folder, parameters: Parameters) -> _Asked:
    market = MarketStore(folder.database)
    origin = await market.held()
    until_ms = None if origin is None else await market.published_through(origin)
    if origin is None or until_ms is None:
        raise RefusalError(
            "the data folder has no published day yet. Let the service run until its history is fetched, or name "
            "recordings with --recordings"
        )
    await market.sum_funding(origin)
    histories = await folder.database.inspect(lambda connection: read_histories(connection, origin, until_ms))
    return _Asked(origin, until_ms, WalkforwardRequest(folder.clock.now_ms(), parameters, histories))


async def _keep(folder: Folder, asked: _Asked, found: WalkforwardRun) -> int:
    return await RunStore(folder.database).put(asked.origin, pack_run(found, day_of(asked.until_ms) - 1))


def _walk(request: WalkforwardRequest, environment: Mapping[str, str]) -> WalkforwardRun:
    from service.walkforward.engine import run_walkforward as walk  # noqa: PLC0415 - numpy, which no other command needs

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


def _document(found: WalkforwardRun) -> dict[str, object]:
    """The run without its records, which are the route's to tell."""
    fields = msgspec.to_builtins(found)
    counts = {kind: len(fields.pop(kind)) for kind in ("signals", "positions", "outcomes")}
    return {**fields, "records": counts}


def _lines(found: WalkforwardRun, kept: str) -> list[str]:
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


def _heading(found: WalkforwardRun, summary: WalkforwardSummary) -> str:
    return (
        f"Out of sample from {summary.firstDay} to {summary.lastDay}: {summary.folds} {found.parameters.scheme} folds, "
        f"{summary.coins} coins, {summary.trials} trials in training, {len(found.positions)} positions still open."
    )


def _costs(found: WalkforwardRun, summary: WalkforwardSummary) -> str:
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
        ("trades", lambda one: str(one.total), ""),
        ("won", lambda one: _share(one.winRate), ""),
        ("mean of a trade", lambda one: _percent(one.meanReturnPct), ""),
        ("return", lambda one: _percent(one.returnPct), _percent(idle.returnPct)),
        ("Sharpe, annualised", lambda one: _ratio(one.sharpe), _ratio(idle.sharpe)),
        ("P(Sharpe > 0)", lambda one: _ratio(one.probabilisticSharpe), ""),
        ("P(Sharpe > luck)", lambda one: _ratio(one.deflatedSharpe), ""),
        ("deepest drawdown", lambda one: _share(one.maxDrawdownPct / 100), _share(idle.maxDrawdownPct / 100)),
        ("exposure", lambda one: _share(one.exposure), ""),
        ("turnover a year", lambda one: f"{number(one.turnover, 1)} x", ""),
        ("funding recorded", lambda one: _share(one.fundingKnown), ""),
    ]
    lines = [_line("", [*(_HEADS[one.strategy] for one in columns), "HOLDING"])]
    lines += [_line(label, [*(_cell(cell, one) for one in columns), held]) for label, cell, held in rows]
    return lines


def _cell(cell: Callable[[StrategySummary], str], one: StrategySummary) -> str:
    return cell(one) if one.published else "refused"


def _line(label: str, cells: Sequence[str]) -> str:
    return (label.ljust(_LABEL) + "".join(cell.rjust(_COLUMN) for cell in cells)).rstrip()


def _gate(found: WalkforwardRun, summary: WalkforwardSummary) -> list[str]:
    """What the leakage gate said: one line where all is well, one more for each strategy that it refused."""
    held = sum(finding.held for finding in found.findings)
    lines = _wrapped(f"Leakage gate: {held} of {len(found.findings)} checks held.")
    for one in summary.strategies:
        if one.refused is not None:
            lines += _wrapped(f"Not published: {one.strategy} ({one.refused}).")
    return [*lines, "", *_wrapped(summary.method.surrogates), "", *_wrapped(summary.method.embargo)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else change(value)


def _share(value: float | None) -> str:
    return _UNKNOWN if value is None else share(value)


def _ratio(value: float | None) -> str:
    return _UNKNOWN if value is None else number(value, 3)

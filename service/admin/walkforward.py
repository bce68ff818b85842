"""`verdict admin walkforward`: run the walk-forward on the stored market, and print its figures."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import click
import msgspec

from service.admin.folder import Folder, json_option, run_in_folder
from service.cli.environment import Environment, VerdictCommand
from service.cli.formatting import UNKNOWN, share, signed
from service.cli.layout import table, wrap
from service.cli.output_format import put_document, put_lines
from service.cli.spinner import CLEAR
from service.cli.terminal import Display, is_plain, is_terminal
from service.client.errors import DONE, RefusalError
from service.clock import SystemClock, day_of
from service.formats import number, sentence
from service.market.store import MarketStore
from service.walkforward.histories import RecordingsError, read_histories, read_recordings
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun, pack_run
from service.walkforward.store import RunStore
from service.wire.walkforward import StrategySummary, WalkforwardSummary

_HEADS: Final[Mapping[str, str]] = {
    "all": "ALL THREE",
    "trend-following": "TREND",
    "cross-sectional-momentum": "MOMENTUM",
    "funding-reversion": "FUNDING",
}


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
        kept = f"read from {recordings}. Nothing was stored."
    else:
        origin, last_day, request = run_in_folder(environment.variables, lambda folder: _ask(folder, parameters))
        found = _walk(request, environment.variables)

        async def keep(folder: Folder) -> int:
            return await RunStore(folder.database).put(origin, pack_run(found, last_day))

        kept = f"stored as run {run_in_folder(environment.variables, keep)}. The service shows its records from now on."
    if json:
        put_document(_document(found))
    else:
        put_lines(_lines(environment.screen, found, kept))
    return DONE


def _recorded(directory: Path, parameters: Parameters) -> WalkforwardRequest:
    now_ms = SystemClock().now_ms()
    try:
        return WalkforwardRequest(now_ms, parameters, read_recordings(directory, now_ms))
    except RecordingsError as error:
        raise RefusalError(str(error)) from error


async def _ask(folder: Folder, parameters: Parameters) -> tuple[str, int, WalkforwardRequest]:
    """The history of the data folder: its origin, its last published day, and a request to walk it."""
    market = MarketStore(folder.database)
    origin = await market.held()
    until_ms = None if origin is None else await market.published_through(origin)
    if origin is None or until_ms is None:
        raise RefusalError(
            "The data folder has no published day yet. Let the service run until its history is fetched, or name "
            "recordings with --recordings."
        )
    await market.sum_funding(origin)
    histories = await folder.database.inspect(lambda connection: read_histories(connection, origin, until_ms))
    return origin, day_of(until_ms) - 1, WalkforwardRequest(folder.clock.now_ms(), parameters, histories)


def _walk(request: WalkforwardRequest, environment: Mapping[str, str]) -> WalkforwardRun:
    """Run the engine. On a terminal, a line on standard error shows the progress until it is done."""
    from service.walkforward.engine import run_walkforward as walk  # noqa: PLC0415 - numpy, which no other command needs

    shows = is_terminal(sys.stderr) and not is_plain(environment)

    def report(done: int, total: int) -> None:
        if shows and total and 100 * done // total != 100 * (done - 1) // total:  # once per percent
            sys.stderr.write(f"{CLEAR}Walking forward: {100 * done // total} %")
            sys.stderr.flush()

    try:
        return walk(request, report)
    except ValueError as error:
        raise RefusalError(f"The bars cannot be used: {sentence(str(error))}") from error
    finally:
        if shows:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _document(found: WalkforwardRun) -> dict[str, object]:
    """The run without its records, which the route serves."""
    fields = msgspec.to_builtins(found)
    counts = {kind: len(fields.pop(kind)) for kind in ("signals", "positions", "outcomes")}
    return {**fields, "records": counts}


def _lines(screen: Display, found: WalkforwardRun, kept: str) -> Iterator[str]:
    """The run for people: paragraphs and one table."""
    summary, names = found.summary, f"Run {found.run_id}, {kept}"
    if summary is None:
        yield from _paragraphs(screen, found.message or "", names)
        return
    parameters = found.parameters
    fills_bps = [bps for _, bps in parameters.slippage]
    held = sum(finding.held for finding in found.findings)
    refused = [f"Not published: {one.strategy} ({one.refused})." for one in summary.strategies if one.refused]
    yield from _paragraphs(
        screen,
        f"Out of sample from {summary.firstDay} to {summary.lastDay}: {summary.folds} {parameters.scheme} folds, "
        f"{summary.coins} coins, {summary.trials} trials in training, {len(found.positions)} positions still open.",
        "",
    )
    yield from _table(screen, summary)
    yield from _paragraphs(
        screen,
        "",
        f"After fees of {parameters.fee_bps:g} and slippage of {min(fills_bps):g} to {max(fills_bps):g} basis points a "
        "fill, by the coin's volume, and funding; where that is not recorded, longs pay the resting rate. "
        "P(Sharpe > 0) is the probabilistic Sharpe ratio; P(Sharpe > luck) the deflated one, against the best that "
        f"{summary.trials} trials would show by luck.",
        "",
        f"Leakage gate: {held} of {len(found.findings)} checks held.",
        *refused,
        *("", summary.method.surrogates, "", summary.method.embargo, "", names),
    )
    yield f"parameters {found.parameters_hash}"


def _paragraphs(screen: Display, *texts: str) -> Iterator[str]:
    for text in texts:
        yield from wrap(screen, [(text, None)]) if text else [""]


def _table(screen: Display, summary: WalkforwardSummary) -> Iterator[str]:
    """A column for each strategy, and one for buy and hold."""
    idle = summary.buyAndHold
    figures: list[tuple[str, Callable[[StrategySummary], object], str]] = [
        ("trades", lambda one: one.total, ""),
        ("won", lambda one: share(one.winRate), ""),
        ("mean of a trade", lambda one: signed(one.meanReturnPct), ""),
        ("return", lambda one: signed(one.returnPct), signed(idle.returnPct)),
        ("Sharpe, annualised", lambda one: _ratio(one.sharpe), _ratio(idle.sharpe)),
        ("P(Sharpe > 0)", lambda one: _ratio(one.probabilisticSharpe), ""),
        ("P(Sharpe > luck)", lambda one: _ratio(one.deflatedSharpe), ""),
        ("deepest drawdown", lambda one: share(one.maxDrawdownPct / 100), share(idle.maxDrawdownPct / 100)),
        ("exposure", lambda one: share(one.exposure), ""),
        ("turnover a year", lambda one: f"{number(one.turnover, 1)} x", ""),
        ("funding recorded", lambda one: share(one.fundingKnown), ""),
    ]
    heads = ["", *(_HEADS[one.strategy] for one in summary.strategies), "HOLDING"]
    rows = [
        [label, *(figure(one) if one.published else "refused" for one in summary.strategies), held]
        for label, figure, held in figures
    ]
    return table(screen, heads, rows, right="lrrrrr")


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else number(value, 3)

"""`verdict scorecard`: how past verdicts turned out, beside what they claimed."""

import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.clients.cli.plots import Series, lines
from service.clients.cli.refusal import DONE
from service.clients.cli.screen import Screen
from service.clock import iso
from service.operator.folder import Folder, run_in_folder
from service.operator.output import WIDTH, print_json, print_table
from service.storage.engine import Connection
from service.verdict.ledger import HORIZONS, Head, Kind, read_head
from service.verdict.scorecard import LABELS, LEAST, Figures, Pools, Reliability, Scorecard, reliability
from service.verdict.tally import Census, Count, count_entries, tally

_KINDS: Final[Mapping[Kind, str]] = {
    "daily": "DAILY: one verdict a day on every listed coin, whoever asks for what",
    "asked": "ASKED: every verdict somebody was given; apart, for who asks chooses when",
}
_HEADERS: Final = ("VERDICT", "DAYS", "OUTCOMES", "      HIT RATE", "BASE RATE", " BRIER", "MEAN MOVE")
_NOT_YET: Final = "not enough yet"
_PLOT_ROWS: Final = 20
_NOTHING: Final = (
    "No verdict has been issued yet. A running service issues one on every listed coin each day, once the day's "
    "market is published (minutes after 00:00 UTC), and scores it 1, 3 and 7 days later."
)
_NEWEST: Final = "SELECT origin FROM verdict_ledger ORDER BY seq DESC LIMIT 1"


class _Record(NamedTuple):
    """What the ledger holds: of the history that its newest entry tells of (null: it is empty), and its head in all."""

    origin: str | None
    head: Head
    census: Census
    scorecard: Scorecard


def show(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Show the record of the ledger's newest history: by verdict and horizon, and claimed against observed."""

    async def read(folder: Folder) -> _Record:
        return await folder.database.inspect(_read)

    record = run_in_folder(environment, read)
    if arguments.json:
        print_json(_plain(record))
    elif record.origin is None:
        _say(_NOTHING)
    else:
        _show(record)
    return DONE


def _read(connection: Connection) -> _Record:
    newest = connection.execute(_NEWEST).fetchone()
    origin = None if newest is None else str(newest[0])
    return _Record(
        origin, read_head(connection), count_entries(connection, origin or ""), tally(connection, origin or "")
    )


def _show(record: _Record) -> None:
    pools = Pools(record.scorecard.cells)
    _say(_sum_up(record))
    for kind, _ in _counts(record.census):
        sys.stdout.write(f"\n{_KINDS[kind]}\n\n")
        print_table(_HEADERS, [_row(found) for found in _figures(pools, kind)], nothing="")
    _say(
        "\nHIT RATE: how often what the verdict says came true. BASE RATE: how often the same came true of all daily "
        "verdicts. BRIER: 0 is perfect, 0.25 a coin toss; only of verdicts that claimed a probability, which those of "
        "version 2 of the rules do not."
    )
    _show_reliability(record.scorecard)


def _sum_up(record: _Record) -> str:
    issued = [
        f"{count.entries} {kind} ({count.abstained} of them abstained), {iso(count.first_ms)[:10]} to "
        f"{iso(count.last_ms)[:10]}"
        for kind, count in _counts(record.census)
    ]
    others = record.head.entries - sum(count.entries for count in record.census.kinds.values())
    apart = f" Of other histories: {others}, not counted here." if others else ""
    return (
        f"Verdicts issued of the history {record.origin!r}: {'; '.join(issued)}. Outcomes still to come: "
        f"{record.census.waiting}; without a price: {record.census.void}.{apart}"
    )


def _counts(census: Census) -> list[tuple[Kind, Count]]:
    return [(kind, census.kinds[kind]) for kind in _KINDS if kind in census.kinds]


def _figures(pools: Pools, kind: Kind) -> Iterator[tuple[str, int, Figures]]:
    for verdict in LABELS:
        for days in HORIZONS:
            yield verdict, days, pools.figures(verdict, days, kind)


def _row(found: tuple[str, int, Figures]) -> list[str]:
    verdict, days, (outcomes, hit_rate, base_rate, brier, move, _) = found
    if hit_rate is None or move is None:
        figures = [_NOT_YET, "", "", ""]
    else:
        figures = [_percent(hit_rate), _percent(base_rate), "-" if brier is None else f"{brier:.4f}", f"{move:+.2f} %"]
    return [verdict, *_align(_HEADERS[1:], [days, outcomes, *figures])]


def _align(headers: Sequence[str], cells: Sequence[object]) -> list[str]:
    """Put figures under the right end of their headers."""
    return [str(cell).rjust(len(header)) for header, cell in zip(headers, cells, strict=True)]


def _show_reliability(scorecard: Scorecard) -> None:
    tables = {days: reliability(scorecard, days) for days in HORIZONS}
    known = [(days, found) for days, table in tables.items() for found in table if found.rose is not None]
    sys.stdout.write("\nRELIABILITY of daily verdicts: after what was claimed, how often prices rose\n\n")
    if not known:
        _say(f"No figures: fewer than {LEAST} outcomes of verdicts that claimed the same probability.")
        return
    headers = [title for days in HORIZONS for title in (f"OUTCOMES, {days} D", "  ROSE")]
    rows = [[claim, *_align(headers, cells)] for claim, cells in _reliability_rows(tables)]
    print_table(["CLAIMED", *headers], rows, nothing="")
    sys.stdout.writelines(f"{line}\n" for line in ["", *_plot(known)])


def _reliability_rows(tables: Mapping[int, Sequence[Reliability]]) -> Iterator[tuple[str, list[object]]]:
    for low, high in sorted({(found.low, found.high) for table in tables.values() for found in table}):
        cells: list[object] = []
        for days in HORIZONS:
            found = next((found for found in tables[days] if found.low == low), None)
            cells += [0, "-"] if found is None else [found.outcomes, _percent(found.rose)]
        yield f"{100 * low:.0f} to {100 * high:.0f} %", cells


def _plot(known: Sequence[tuple[int, Reliability]]) -> Iterator[str]:
    """Claimed against observed, horizons by their days, over a dotted diagonal."""
    claims = sorted(100 * found.claimed for _, found in known)
    ends = [claims[0], claims[-1]]
    drawn = [Series(ends, ends, name="as claimed", dotted=True)]
    for days in HORIZONS:
        points = [(100 * found.claimed, 100 * (found.rose or 0.0)) for horizon, found in known if horizon == days]
        rose = f"rose after {days} day{'s' * (days > 1)}"
        drawn.append(Series([x for x, _ in points], [y for _, y in points], name=rose, mark=str(days)))
    marks = [(end, f"claimed {_points(end)}") for end in sorted({*ends})]
    return lines(Screen(WIDTH, colour=False), drawn, rows=_PLOT_ROWS, tick=_points, marks=marks)


def _points(percent: float) -> str:
    return f"{percent:.0f} %"


def _plain(record: _Record) -> dict[str, object]:
    pools = Pools(record.scorecard.cells)
    return {
        "origin": record.origin,
        "ledger": {"entries": record.head.entries, "head": record.head.hash},
        "issued": {
            kind: {
                "entries": count.entries,
                "abstained": count.abstained,
                "first": iso(count.first_ms),
                "last": iso(count.last_ms),
            }
            for kind, count in _counts(record.census)
        },
        "waiting": record.census.waiting,
        "void": record.census.void,
        "records": [
            {"kind": kind, "verdict": verdict, "days": days, **found._asdict()}
            for kind in _KINDS
            for verdict, days, found in _figures(pools, kind)
        ],
        "reliability": [
            {"kind": kind, "days": days, **found._asdict()}
            for kind in _KINDS
            for days in HORIZONS
            for found in reliability(record.scorecard, days, kind)
        ],
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}".replace("%", " %")


def _say(text: str) -> None:
    start = "\n" if text.startswith("\n") else ""
    sys.stdout.write(start + textwrap.fill(text.strip(), WIDTH) + "\n")

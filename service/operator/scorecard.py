"""`verdict scorecard`: how past verdicts turned out."""

import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.clients.cli.refusal import DONE
from service.clock import iso
from service.operator.folder import Folder, run_in_folder
from service.operator.output import WIDTH, print_json, print_table
from service.storage.engine import Connection
from service.verdict.ledger import HORIZONS, Head, Kind, read_head
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import LABELS, LEAST_DAYS, Figures, Pools, Scorecard
from service.verdict.tally import Census, Count, count_entries, tally

_KINDS: Final[Mapping[Kind, str]] = {
    "daily": "DAILY: one verdict a day on every listed coin, whoever asks for what",
    "asked": "ASKED: every verdict somebody was given; apart, for who asks chooses when",
}
_HEADERS: Final = ("VERDICT", "AFTER", "DAYS", "OUTCOMES", " RIGHT", "  95 % INTERVAL", "  BASE", "MEAN MOVE")
_NOT_YET: Final = "not enough yet"
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
    """Show the record of the ledger's newest history: by verdict and horizon."""

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
    pools = Pools(record.scorecard)
    _say(_sum_up(record))
    for kind, _ in _counts(record.census):
        sys.stdout.write(f"\n{_KINDS[kind]}\n\n")
        print_table(_HEADERS, [_row(found) for found in _figures(pools, kind)], nothing="")
    _say(
        f"\nRIGHT: how often what the verdict says came true, of verdicts by {CURRENT.label.name} version "
        f"{CURRENT.label.version}. Coins move together, so days are what counts: {LEAST_DAYS} are needed, "
        "and the interval treats all coins of a day as one. BASE: how often the same came true of all daily "
        "verdicts."
    )


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


def _row(row: tuple[str, int, Figures]) -> list[str]:
    verdict, days, found = row
    if found.hit_rate is None or found.mean_move_pct is None:
        figures = ["", _NOT_YET, "", ""]
    else:
        interval = f"{_percent(found.hit_rate_low).removesuffix(' %')} to {_percent(found.hit_rate_high)}"
        figures = [_percent(found.hit_rate), interval, _percent(found.base_rate), f"{found.mean_move_pct:+.2f} %"]
    return [verdict, *_align(_HEADERS[1:], [days, found.days_seen, found.outcomes, *figures])]


def _align(headers: Sequence[str], cells: Sequence[object]) -> list[str]:
    """Put figures under the right end of their headers."""
    return [str(cell).rjust(len(header)) for header, cell in zip(headers, cells, strict=True)]


def _plain(record: _Record) -> dict[str, object]:
    pools = Pools(record.scorecard)
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
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}".replace("%", " %")


def _say(text: str) -> None:
    start = "\n" if text.startswith("\n") else ""
    sys.stdout.write(start + textwrap.fill(text.strip(), WIDTH) + "\n")

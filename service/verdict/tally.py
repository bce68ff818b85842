"""The ledger, counted: SQLite does the sums, so that nobody waits for them. For `Database.inspect`."""

from typing import Final

from msgspec import Struct

from service.storage.engine import Connection
from service.verdict.ledger import ABSTAINED, Kind
from service.verdict.scorecard import BINS, FLAT_PCT, Bin, Cell, Scorecard

_FLAT: Final = " ".join(f"WHEN {days} THEN {bound}" for days, bound in FLAT_PCT.items())
_RISEN: Final = "count(*) FILTER (WHERE o.move_pct > 0)"
_MISS: Final = "(l.probability_up - CASE WHEN o.move_pct > 0 THEN 1 ELSE 0 END)"
_PLACES: Final = " ".join(f"WHEN l.probability_up * {BINS} < {place + 1} THEN {place}" for place in range(BINS - 1))
_SCORED: Final = """
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq) WHERE l.origin = ? AND o.price IS NOT NULL
"""
_CELLS: Final = f"""
    SELECT l.kind, o.days, CASE l.kind WHEN 'daily' THEN l.symbol ELSE '' END, l.verdict, count(*),
        {_RISEN}, count(*) FILTER (WHERE o.move_pct < 0),
        count(*) FILTER (WHERE abs(o.move_pct) <= CASE o.days {_FLAT} END), total(o.move_pct), total({_MISS} * {_MISS}),
        count(l.probability_up)
    {_SCORED} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""
_BINS: Final = f"""
    SELECT l.kind, o.days, CASE {_PLACES} ELSE {BINS - 1} END AS place, count(*),
        {_RISEN}, total(l.probability_up)
    {_SCORED} AND l.probability_up IS NOT NULL GROUP BY 1, 2, place ORDER BY 1, 2, place
"""
_ENTRIES: Final = """
    SELECT kind, count(*), count(*) FILTER (WHERE verdict = ?), min(issued_ms), max(issued_ms)
    FROM verdict_ledger WHERE origin = ? GROUP BY kind ORDER BY kind
"""
_WAITING: Final = "SELECT count(*) FROM verdict_due WHERE origin = ?"
_VOID: Final = """
    SELECT count(*) FROM verdict_outcomes o JOIN verdict_ledger l USING (seq) WHERE l.origin = ? AND o.price IS NULL
"""


class Count(Struct, frozen=True):
    """How many verdicts of a kind were issued, how many of them abstained, and when the first and last were."""

    entries: int
    abstained: int
    first_ms: int
    last_ms: int


class Census(Struct, frozen=True):
    """What the ledger holds of a history: verdicts by kind, outcomes that are waited for, outcomes without a price."""

    kinds: dict[Kind, Count]
    waiting: int
    void: int


def tally(connection: Connection, origin: str) -> Scorecard:
    """Sum all scored outcomes of a history."""
    return Scorecard(
        [Cell(*row) for row in connection.execute(_CELLS, (origin,))],
        [Bin(*row) for row in connection.execute(_BINS, (origin,))],
    )


def count_entries(connection: Connection, origin: str) -> Census:
    """Count what the ledger holds of a history."""
    kinds = {kind: Count(*row) for kind, *row in connection.execute(_ENTRIES, (ABSTAINED, origin))}
    ((waiting,),) = connection.execute(_WAITING, (origin,))
    ((void,),) = connection.execute(_VOID, (origin,))
    return Census(kinds, waiting, void)

"""The ledger, counted: SQLite does the sums, so that nobody waits for them. For `Database.inspect`."""

from typing import Final

from service.clock import DAY_MS
from service.storage.engine import Connection
from service.verdict.claims import earned
from service.verdict.live_skill import measure_live
from service.verdict.measured import MEASURED, Measured
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import FLAT_PCT, Cell, LiveSkill, Scorecard, Spread

_FLAT: Final = f"CASE o.days {' '.join(f'WHEN {days} THEN {bound}' for days, bound in FLAT_PCT.items())} END"
_HIT: Final = f"""
    CASE WHEN l.verdict LIKE '%bull' THEN o.move_pct > 0 WHEN l.verdict LIKE '%bear' THEN o.move_pct < 0
        ELSE abs(o.move_pct) <= {_FLAT} END
"""
# Entries of version 1 of the rules claim a probability. They are another rule set's, and not counted here.
_SCORED: Final = """
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
    WHERE l.origin = ? AND o.price IS NOT NULL AND l.probability_up IS NULL
"""
_CELLS: Final = f"""
    SELECT l.kind, o.days, CASE l.kind WHEN 'daily' THEN l.symbol ELSE '' END, l.verdict, count(*),
        count(*) FILTER (WHERE o.move_pct > 0), count(*) FILTER (WHERE o.move_pct < 0),
        count(*) FILTER (WHERE abs(o.move_pct) <= {_FLAT}), total(o.move_pct)
    {_SCORED} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""
_SPREADS: Final = f"""
    SELECT kind, days, verdict, count(*), sum(hits * hits), sum(hits * outcomes), sum(outcomes * outcomes) FROM (
        SELECT l.kind, o.days, l.verdict, l.issued_ms / {DAY_MS} AS day, count(*) AS outcomes,
            count(*) FILTER (WHERE {_HIT}) AS hits
        {_SCORED} GROUP BY 1, 2, 3, 4
    ) AS by_day GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""  # noqa: S608 - of constants
_VOID: Final = """
    SELECT count(*) FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
    WHERE l.origin = ? AND o.price IS NULL AND l.probability_up IS NULL
"""


def tally(connection: Connection, origin: str, measured: Measured = MEASURED) -> Scorecard:
    """Sum all scored outcomes of a history, of verdicts by the current rule set.

    Args:
        connection: To the ledger.
        origin: The history.
        measured: Which claims were earned.
    """
    ((void,),) = connection.execute(_VOID, (origin,))
    return Scorecard(
        CURRENT.label.version,
        [Cell(*row) for row in connection.execute(_CELLS, (origin,))],
        [Spread(*row) for row in connection.execute(_SPREADS, (origin,))],
        _skills(connection, origin, measured),
        void,
    )


def _skills(connection: Connection, origin: str, measured: Measured) -> list[LiveSkill]:
    found = (
        measure_live(connection, origin, look, look.model, measured)
        for look in earned(measured)
        if look.model is not None
    )
    return [skill for skill in found if skill is not None]

"""Counts the outcomes in the ledger, with SQL. Runs inside `Database.inspect`."""

import zlib
from typing import Final

from msgspec import json

from service.clock import DAY_MS
from service.storage.engine import Connection
from service.verdict.claims import apply, earned
from service.verdict.ledger import THOUSANDS
from service.verdict.measured import MEASURED, IsotonicModel, LogisticModel, MeasuredClaim, MeasuredSkill
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import FLAT_PCT, DaySpread, LiveSkill, OutcomeCell, Scorecard
from service.wire.verdict import CoinVerdict

_DECIMALS: Final = 4
# Version 1 of the rules claims a probability of its own. Its entries are not counted.
_DAILY_OUTCOMES: Final = """
    SELECT l.day, l.symbol, o.move_pct, l.body
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
    WHERE l.origin = ? AND l.kind = 'daily' AND o.days = ? AND o.price IS NOT NULL AND l.probability_up IS NULL
    ORDER BY l.day, l.seq
"""
_read: Final = json.Decoder(CoinVerdict).decode


def measure_live(
    connection: Connection,
    origin: str,
    look: MeasuredClaim,
    model: IsotonicModel | LogisticModel,
    measured: MeasuredSkill,
) -> LiveSkill | None:
    """Measure the skill of a claim on the daily verdicts of a dataset.

    The reference is the base rate of the recorded days that the model was fitted on.

    Args:
        connection: To the ledger.
        origin: The dataset.
        look: The claim.
        model: Its model.
        measured: Results of the protocol.

    Returns:
        The skill; null where `live_skill` gives a reason, as with fewer than 60 days of 20 coins or more.
    """
    from service.analytics.calibration.live import Published, live_skill  # noqa: PLC0415 - brings numpy
    from service.analytics.calibration.skill import Unmeasured  # noqa: PLC0415

    published = [
        Published(day, symbol, move_pct, apply(model, _read(zlib.decompress(body))))
        for day, symbol, move_pct, body in connection.execute(_DAILY_OUTCOMES, (origin, look.days))
    ]
    key = (look.ruleset, look.target, look.days)
    base_rate = next(row.base_rate for row in measured.followed if (row.ruleset, row.target, row.days) == key)
    found = live_skill(published, base_rate, look.target, look.days)
    if isinstance(found, Unmeasured):
        return None
    days_seen, skill = found
    return LiveSkill(look.target, look.days, days_seen, round(skill.value, _DECIMALS), round(skill.high, _DECIMALS))


_FLAT: Final = f"CASE o.days {' '.join(f'WHEN {days} THEN {bound}' for days, bound in FLAT_PCT.items())} END"
_HIT: Final = f"""
    CASE WHEN l.verdict LIKE '%bull' THEN o.move_pct > 0 WHEN l.verdict LIKE '%bear' THEN o.move_pct < 0
        ELSE abs(o.move_pct) <= {_FLAT} END
"""
# Version 1 of the rules claims a probability. Its entries are not counted.
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


def count_ledger(connection: Connection, origin: str, measured: MeasuredSkill = MEASURED) -> Scorecard:
    """Count the scored outcomes of a dataset, of verdicts by the current rule set.

    Args:
        connection: To the ledger.
        origin: The dataset.
        measured: Results of the protocol: which claims are published.
    """
    ((void,),) = connection.execute(_VOID, (origin,))
    return Scorecard(
        CURRENT.label.version,
        [
            OutcomeCell(kind, days, THOUSANDS.get(symbol, symbol), *sums)
            for kind, days, symbol, *sums in connection.execute(_CELLS, (origin,))
        ],
        [DaySpread(*row) for row in connection.execute(_SPREADS, (origin,))],
        _skills(connection, origin, measured),
        void,
    )


def _skills(connection: Connection, origin: str, measured: MeasuredSkill) -> list[LiveSkill]:
    found = (
        measure_live(connection, origin, look, look.model, measured)
        for look in earned(measured)
        if look.model is not None
    )
    return [skill for skill in found if skill is not None]

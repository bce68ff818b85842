"""The live skill of a claim that was earned: its probabilities against the outcomes in the ledger."""

import zlib
from typing import Final

from msgspec import json

from service.storage.engine import Connection
from service.verdict.claims import apply
from service.verdict.measured import Isotonic, Logistic, Look, Measured
from service.verdict.scorecard import LiveSkill
from service.wire.verdict import Verdict

_DECIMALS: Final = 4
# Entries of version 1 of the rules have a probability of their own, and are not counted.
_SCORED: Final = """
    SELECT l.day, l.symbol, o.move_pct, l.body
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
    WHERE l.origin = ? AND l.kind = 'daily' AND o.days = ? AND o.price IS NOT NULL AND l.probability_up IS NULL
    ORDER BY l.day, l.seq
"""
_read: Final = json.Decoder(Verdict).decode


def measure_live(
    connection: Connection, origin: str, look: Look, model: Isotonic | Logistic, measured: Measured
) -> LiveSkill | None:
    """Measure a claim on the daily verdicts of a history.

    The reference is the base rate of the recorded days that the model was fitted on.

    Args:
        connection: To the ledger.
        origin: The history.
        look: The claim.
        model: Its model.
        measured: What the protocol found.

    Returns:
        Its skill; null under 60 days with 20 coins or more.
    """
    from service.analytics.calibration.live import Published, live_skill  # noqa: PLC0415 - brings numpy

    published = [
        Published(day, symbol, move_pct, apply(model, _read(zlib.decompress(body))))
        for day, symbol, move_pct, body in connection.execute(_SCORED, (origin, look.days))
    ]
    key = (look.ruleset, look.target, look.days)
    base_rate = next(row.base_rate for row in measured.followed if (row.ruleset, row.target, row.days) == key)
    found = live_skill(published, base_rate, look.target, look.days)
    if found is None:
        return None
    days_seen, skill = found
    return LiveSkill(look.target, look.days, days_seen, round(skill.value, _DECIMALS), round(skill.high, _DECIMALS))

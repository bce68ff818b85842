"""The live skill of a claim that was earned: its probabilities against the outcomes in the ledger. Needs numpy."""

import zlib
from typing import Final

import numpy as np
from msgspec import json

from service.analytics.calibration.protocol import LEAST_COINS, block_of, came_true
from service.analytics.calibration.skill import measure
from service.storage.engine import Connection
from service.verdict.claims import apply
from service.verdict.measured import Look, Measured
from service.verdict.scorecard import LEAST_DAYS, LiveSkill
from service.wire.verdict import Verdict

_DECIMALS: Final = 4
# Entries of version 1 of the rules have a probability of their own, and are not counted.
_SCORED: Final = """
    SELECT l.day, l.symbol, o.move_pct, l.body
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
    WHERE l.origin = ? AND l.kind = 'daily' AND o.days = ? AND o.price IS NOT NULL AND l.probability_up IS NULL
    ORDER BY l.day, l.seq
"""
_LEVEL: Final = 0.05
"""Share of bootstrap samples above the upper bound of skill: decision 9."""

_read: Final = json.Decoder(Verdict).decode


def measure_live(connection: Connection, origin: str, look: Look, measured: Measured) -> LiveSkill | None:
    """Measure a claim on the daily verdicts of a history, by the bootstrap of the protocol.

    The reference is the base rate of the recorded days that the model was fitted on.

    Args:
        connection: To the ledger.
        origin: The history.
        look: The claim, with its model.
        measured: What the protocol found.

    Returns:
        Its skill; null under 60 days with 20 coins or more.
    """
    rows = connection.execute(_SCORED, (origin, look.days)).fetchall()
    if not rows or look.model is None:
        return None
    places = {symbol: at for at, symbol in enumerate(dict.fromkeys(row[1] for row in rows))}
    at = [row[0] - rows[0][0] for row in rows], [places[row[1]] for row in rows]
    moves, probability = (np.full((at[0][-1] + 1, len(places)), np.nan) for _ in range(2))
    moves[at] = [row[2] for row in rows]
    probability[at] = [apply(look.model, _read(zlib.decompress(row[3]))) for row in rows]
    outcome = came_true(moves, look.target, look.days)
    known = ~np.isnan(outcome)
    known[known.sum(axis=1) < LEAST_COINS] = False
    of_day, _ = np.nonzero(known)
    days_seen = len(np.unique(of_day))
    if days_seen < LEAST_DAYS:
        return None
    base = next(
        row.base_rate
        for row in measured.followed
        if (row.ruleset, row.target, row.days) == (look.ruleset, look.target, look.days)
    )
    skill = measure(
        probability[known],
        np.full(len(of_day), base),
        outcome[known],
        of_day,
        block=block_of(look.days),
        level=_LEVEL,
    )
    return LiveSkill(look.target, look.days, days_seen, round(skill.value, _DECIMALS), round(skill.high, _DECIMALS))

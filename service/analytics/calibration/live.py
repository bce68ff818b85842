"""Skill of probabilities that were published, on the outcomes that followed them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from service.analytics.calibration.protocol import LEAST_COINS, LEAST_DAYS_TO_CLAIM, Target, block_of, came_true
from service.analytics.calibration.skill import Skill, Unmeasured, measure

_LEVEL: Final = 0.05
"""Share of bootstrap samples below and above the interval: decision 9."""


class Published(NamedTuple):
    """One probability: of which day and coin, and the move that followed, in any unit."""

    day: int
    coin: str
    move: float
    probability: float


def live_skill(
    published: Sequence[Published], base_rate: float, target: Target, horizon: int
) -> tuple[int, Skill] | Unmeasured:
    """Measure skill over the base rate by the bootstrap of the protocol.

    Args:
        published: In order of days, at most one of a coin and day.
        base_rate: Of the days that the model was fitted on.
        target: What comes true.
        horizon: After so many days.

    Returns:
        Counted days and skill; a reason under 60 days with 20 coins or more, and where `measure` has none.
    """
    if not published:
        return Unmeasured("nothing was published")
    places = {coin: at for at, coin in enumerate(dict.fromkeys(one.coin for one in published))}
    first, last = published[0].day, published[-1].day
    at = [one.day - first for one in published], [places[one.coin] for one in published]
    moves, probability = (np.full((last - first + 1, len(places)), np.nan) for _ in range(2))
    moves[at] = [one.move for one in published]
    probability[at] = [one.probability for one in published]
    outcome = came_true(moves, target, horizon)
    known = ~np.isnan(outcome)
    known[known.sum(axis=1) < LEAST_COINS] = False
    days, _ = np.nonzero(known)
    counted = len(np.unique(days))
    if counted < LEAST_DAYS_TO_CLAIM:
        return Unmeasured(f"{counted} days with {LEAST_COINS} coins are fewer than {LEAST_DAYS_TO_CLAIM}")
    reference = np.full(len(days), base_rate)
    skill = measure(probability[known], reference, outcome[known], days, block=block_of(horizon), level=_LEVEL)
    return skill if isinstance(skill, Unmeasured) else (counted, skill)

"""Made-up markets whose scores tell a known amount of what follows, or nothing."""

import numpy as np

from service.analytics.calibration.fits import Floats
from service.analytics.recomputed import JudgedDays

DAYS, COINS = 420, 24
SCORES = np.arange(-2.0, 3.0)
STRENGTH = 0.06
"""By how much a point of the planted score raises the probability that a coin rises the next day."""


def market(seed: int, strength: float = 0.0, days: int = DAYS, coins: int = COINS) -> tuple[Floats, JudgedDays]:
    """Closes and scores: coins share half of their moves, scores last for days, as those of trends do.

    Args:
        seed: Of everything.
        strength: How much a point of the score adds to the probability of a rise on the next day; 0 is noise.
        days: How many.
        coins: How many.
    """
    dice = np.random.default_rng(seed)
    turns = dice.random((days, coins)) < 0.2
    turns[0] = True
    fresh = dice.choice(SCORES, (days, coins))
    since = np.maximum.accumulate(np.where(turns, np.arange(days)[:, None], 0), axis=0)
    score = np.take_along_axis(fresh, since, axis=0)
    if strength:
        rises = dice.random((days, coins)) < 0.5 + strength * score
        returns = np.where(rises, 1, -1) * dice.uniform(0.001, 0.03, (days, coins))
    else:
        returns = dice.normal(0, 0.02, (days, 1)) + dice.normal(0, 0.02, (days, coins))
    closes = np.full((days, coins), 100.0)
    closes[1:] *= np.cumprod(1 + returns[:-1], axis=0)
    groups = np.array([score, dice.choice(SCORES, (days, coins))])
    return closes, JudgedDays(1, score, groups, np.zeros(score.shape, np.int8))

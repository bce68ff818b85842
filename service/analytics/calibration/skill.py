"""Brier scores by day, their decomposition, and skill with intervals over whole days.

Sources: Brier, Monthly Weather Review 78 (1950); Murphy, Journal of Applied Meteorology 12 (1973); Politis and Romano,
"A circular block-resampling procedure for stationary data" (1992).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.calibration.fits import Floats

Days = npt.NDArray[np.int64]

SAMPLES: Final = 10_000
SEED: Final = 8402
_BINS: Final = 10


class Bin(NamedTuple):
    """One range of probability: its share of the weight, the mean prediction, and how often the target came true."""

    share: float
    predicted: float
    observed: float


class Decomposition(NamedTuple):
    """Brier score = reliability - resolution + uncertainty + what is lost within bins; each 0 to 1."""

    reliability: float
    resolution: float
    uncertainty: float


class Skill(NamedTuple):
    """How much better than the base rate: 1 is perfect, 0 no better. `low` and `high` bound it at the level asked for.

    `bias` is the mean prediction less the observed rate, `bias_error` the standard error of that over blocks of days.
    """

    value: float
    low: float
    high: float
    bias: float
    bias_error: float


def by_day(values: Floats, days: Days) -> Floats:
    """The mean of each day's values, in order of days."""
    _, places = np.unique(days, return_inverse=True)
    return np.bincount(places, values) / np.bincount(places)


def day_weights(days: Days) -> Floats:
    """Weights under which every day counts 1, however many rows it has."""
    _, places, counts = np.unique(days, return_inverse=True, return_counts=True)
    weights: Floats = 1 / counts[places]
    return weights


def bins(predicted: Floats, outcomes: Floats, weights: Floats) -> list[Bin]:
    """The ten equal ranges of probability, lowest first; without those that nothing was predicted in."""
    places = np.minimum((predicted * _BINS).astype(np.int64), _BINS - 1)
    mass, said, came = (np.bincount(places, weights * column, _BINS) for column in (1.0, predicted, outcomes))
    return [
        Bin(float(mass[at] / weights.sum()), float(said[at] / mass[at]), float(came[at] / mass[at]))
        for at in np.flatnonzero(mass).tolist()
    ]


def decompose(found: Sequence[Bin]) -> Decomposition:
    """Murphy's three parts."""
    base = sum(one.share * one.observed for one in found)
    return Decomposition(
        sum(one.share * (one.predicted - one.observed) ** 2 for one in found),
        sum(one.share * (one.observed - base) ** 2 for one in found),
        base * (1 - base),
    )


def measure(
    predicted: Floats, reference: Floats, outcomes: Floats, days: Days, *, block: int, level: float, seed: int = SEED
) -> Skill:
    """Skill over the reference, its interval drawn by circular blocks of whole days.

    Args:
        predicted: Probabilities, of shape (rows,).
        reference: The base rate that was known then, of shape (rows,).
        outcomes: 1 where the target came true, else 0.
        days: The day of each row.
        block: Days drawn together.
        level: The share of samples below `low`, and above `high`.
        seed: Of the samples.
    """
    own = by_day((predicted - outcomes) ** 2, days)
    base = by_day((reference - outcomes) ** 2, days)
    bias = by_day(predicted - outcomes, days)
    drawn = np.random.default_rng(seed).integers(0, len(own), (SAMPLES, -(-len(own) // block)))
    skills = 1 - _sums(own, drawn, block) / _sums(base, drawn, block)
    low, high = np.quantile(skills, [level, 1 - level])
    return Skill(
        float(1 - own.sum() / base.sum()),
        float(low),
        float(high),
        float(bias.mean()),
        float((_sums(bias, drawn, block) / (drawn.shape[1] * block)).std()),
    )


def _sums(values: Floats, starts: Days, block: int) -> Floats:
    """The sum of each sample: of blocks of successive values, the first following the last."""
    until = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[:block]]))])
    sums: Floats = (until[starts + block] - until[starts]).sum(axis=1)
    return sums


def intraclass(outcomes: Floats, days: Days) -> float:
    """The intraclass correlation of outcomes within a day, by one-way analysis of variance; 0 to 1."""
    _, places, counts = np.unique(days, return_inverse=True, return_counts=True)
    groups, rows = len(counts), len(outcomes)
    means = np.bincount(places, outcomes) / counts
    between = float((counts * (means - outcomes.mean()) ** 2).sum() / (groups - 1))
    within = float(((outcomes - means[places]) ** 2).sum() / (rows - groups))
    size = (rows - float((counts**2).sum()) / rows) / (groups - 1)
    return max(0.0, (between - within) / (between + (size - 1) * within))


def effective(outcomes: Floats, days: Days) -> float:
    """How many independent outcomes these are worth: rows / (1 + (mean rows a day - 1) x intraclass correlation)."""
    a_day = len(outcomes) / len(np.unique(days))
    return len(outcomes) / (1 + (a_day - 1) * intraclass(outcomes, days))

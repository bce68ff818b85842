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
_NOTHING: Final = 1e-12
"""A mean Brier score at most this is zero but for rounding."""


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


class Unmeasured(NamedTuple):
    """Why there is no number."""

    reason: str


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


def decompose(found: Sequence[Bin]) -> Decomposition | Unmeasured:
    """Murphy's three parts; none without a prediction."""
    if not found:
        return Unmeasured("nothing was predicted")
    base = sum(one.share * one.observed for one in found)
    return Decomposition(
        sum(one.share * (one.predicted - one.observed) ** 2 for one in found),
        sum(one.share * (one.observed - base) ** 2 for one in found),
        base * (1 - base),
    )


def measure(
    predicted: Floats, reference: Floats, outcomes: Floats, days: Days, *, block: int, level: float, seed: int = SEED
) -> Skill | Unmeasured:
    """Skill over the reference, its interval drawn by circular blocks of whole days.

    Args:
        predicted: Probabilities, of shape (rows,).
        reference: The base rate that was known then, of shape (rows,).
        outcomes: 1 where the target came true, else 0.
        days: The day of each row.
        block: Days drawn together.
        level: The share of samples below `low`, and above `high`.
        seed: Of the samples.

    Returns:
        The skill; a reason where there are fewer days than two blocks, so that samples would not differ, or where a
        sample has only days on which the reference was exactly right, so that there is nothing to be better than.
    """
    own = by_day((predicted - outcomes) ** 2, days)
    base = by_day((reference - outcomes) ** 2, days)
    bias = by_day(predicted - outcomes, days)
    if len(own) < 2 * block:
        return Unmeasured(f"{len(own)} days are fewer than two blocks of {block} days")
    drawn = block_starts(len(own), block, seed)
    by_chance = _sums(base, drawn, block)
    if by_chance.min() <= _NOTHING * len(own):
        return Unmeasured("the reference was exactly right on all days of a sample")
    skills = 1 - _sums(own, drawn, block) / by_chance
    low, high = np.quantile(skills, [level, 1 - level])
    return Skill(
        float(1 - own.sum() / base.sum()),
        float(low),
        float(high),
        float(bias.mean()),
        float((_sums(bias, drawn, block) / (drawn.shape[1] * block)).std()),
    )


def block_starts(days: int, block: int, seed: int) -> Days:
    """The first days of the blocks of every sample, of shape (SAMPLES, blocks).

    Drawn by PCG64 under that name, since numpy may change its default generator. It may change how integers are drawn
    as well, so a test compares them with the recorded ones.
    """
    return np.random.Generator(np.random.PCG64(seed)).integers(0, days, (SAMPLES, -(-days // block)))


def _sums(values: Floats, starts: Days, block: int) -> Floats:
    """The sum of each sample: of blocks of successive values, the first following the last."""
    until = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[:block]]))])
    sums: Floats = (until[starts + block] - until[starts]).sum(axis=1)
    return sums


def intraclass(outcomes: Floats, days: Days) -> float | Unmeasured:
    """The intraclass correlation of outcomes within a day, by one-way analysis of variance; 0 to 1.

    A reason where there are fewer than two days, no day has two outcomes, or all outcomes are the same.
    """
    _, places, counts = np.unique(days, return_inverse=True, return_counts=True)
    groups, rows = len(counts), len(outcomes)
    if groups <= 1:
        return Unmeasured("outcomes of fewer than two days do not differ between days")
    if rows == groups:
        return Unmeasured("no day has two outcomes")
    if outcomes.min() == outcomes.max():
        return Unmeasured("all outcomes are the same")
    means = np.bincount(places, outcomes) / counts
    between = float((counts * (means - outcomes.mean()) ** 2).sum() / (groups - 1))
    within = float(((outcomes - means[places]) ** 2).sum() / (rows - groups))
    size = (rows - float((counts**2).sum()) / rows) / (groups - 1)
    return max(0.0, (between - within) / (between + (size - 1) * within))


def effective(outcomes: Floats, days: Days) -> float | Unmeasured:
    """How many independent outcomes these are worth: rows / (1 + (mean rows a day - 1) x intraclass correlation).

    A reason where there is no such correlation.
    """
    within = intraclass(outcomes, days)
    if isinstance(within, Unmeasured):
        return within
    return len(outcomes) / (1 + (len(outcomes) / len(np.unique(days)) - 1) * within)

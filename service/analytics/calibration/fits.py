"""Fits from scores or contributions to probabilities. Weights let every day count the same."""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STRENGTH: Final = 1.0
"""L2 penalty of the logistic fit on every coefficient but the intercept, in days."""

_STEPS: Final = 25
"""Of Newton's method: more than it takes to converge."""


class Isotonic(NamedTuple):
    """A non-decreasing step function of the first feature: from `starts[i]` on the probability is `levels[i]`."""

    starts: Floats
    levels: Floats

    def predict(self, features: Floats) -> Floats:
        """Probabilities, of shape (rows,); below the first start, the first level."""
        steps = np.searchsorted(self.starts, features[:, 0], side="right") - 1
        return self.levels[np.maximum(steps, 0)]


class Logistic(NamedTuple):
    """`1 / (1 + exp(-(intercept + features @ coefficients)))`."""

    intercept: float
    coefficients: Floats

    def predict(self, features: Floats) -> Floats:
        """Probabilities, of shape (rows,)."""
        return _sigmoid(self.intercept + features @ self.coefficients)


Model: TypeAlias = Isotonic | Logistic


def fit_isotonic(features: Floats, outcomes: Floats, weights: Floats) -> Isotonic:
    """Fit by pooling adjacent violators (Ayer et al., Annals of Mathematical Statistics 26, 1955).

    Args:
        features: Of shape (rows, columns); only the first column is read.
        outcomes: 1 where the target came true, else 0, of shape (rows,).
        weights: Of shape (rows,), positive.
    """
    starts, places = np.unique(features[:, 0], return_inverse=True)
    mass = np.bincount(places, weights)
    means = np.bincount(places, weights * outcomes) / mass
    blocks: list[tuple[float, float, float]] = []  # start, mean, weight
    for start, mean, weight in zip(starts.tolist(), means.tolist(), mass.tolist(), strict=True):
        block = (start, mean, weight)
        while blocks and blocks[-1][1] >= block[1]:
            before = blocks.pop()
            total = before[2] + block[2]
            block = (before[0], (before[1] * before[2] + block[1] * block[2]) / total, total)
        blocks.append(block)
    return Isotonic(np.array([block[0] for block in blocks]), np.array([block[1] for block in blocks]))


def fit_logistic(features: Floats, outcomes: Floats, weights: Floats) -> Logistic:
    """Fit an L2-regularised logistic regression by Newton's method; the intercept is not penalised.

    Args:
        features: Of shape (rows, columns).
        outcomes: 1 where the target came true, else 0, of shape (rows,).
        weights: Of shape (rows,), positive.
    """
    design = np.column_stack([np.ones(len(features)), features])
    penalty = np.full(design.shape[1], STRENGTH)
    penalty[0] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        predicted = _sigmoid(design @ found)
        gradient = design.T @ (weights * (predicted - outcomes)) + penalty * found
        curvature = (design.T * (weights * predicted * (1 - predicted))) @ design + np.diag(penalty)
        found -= np.linalg.lstsq(curvature, gradient, rcond=None)[0]
    return Logistic(float(found[0]), found[1:])


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-values))

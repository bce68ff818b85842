"""Student's distribution by numerical integration, as the integral of a power of a cosine."""

from math import atan, cos, pi, sqrt, tan

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
PIECES = 40


def _area(until: float, power: int) -> float:
    """The integral of cos(x) ** power from 0."""
    width = until / PIECES
    return sum(
        width / 2 * sum(weight * cos(width * (piece + (node + 1) / 2)) ** power for node, weight in _NODES)
        for piece in range(PIECES)
    )


_NODES = list(zip(NODES.tolist(), WEIGHTS.tolist(), strict=True))


def within(errors: float, freedom: int) -> float:
    """The probability that a variable of Student's distribution is so near to zero."""
    return _area(atan(errors / sqrt(freedom)), freedom - 1) / _area(pi / 2, freedom - 1)


def reach(days: int) -> float:
    """The standard errors of a 95 % interval from so many days, by halving."""
    low, high = 0.0, pi / 2
    whole = _area(pi / 2, days - 2)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _area(middle, days - 2) < 0.95 * whole else (low, middle)
    return tan(low) * sqrt(days - 1)

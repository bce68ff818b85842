"""Intervals of means of days. Needs no numpy."""

from functools import lru_cache
from math import atan, cos, exp, lgamma, log, pi, sin, sqrt
from statistics import NormalDist
from typing import Final

LEVEL: Final = 0.95
"""How often an interval holds the true value."""

_EXACT: Final = 1e-14
_STEPS: Final = 100


@lru_cache(maxsize=4096)
def standard_errors(days: int) -> float | None:
    """How many standard errors a 95 % interval reaches to either side of an estimate from so many days.

    The quantile of Student's t distribution with days - 1 degrees of freedom, exact to rounding ("Student", "The
    Probable Error of a Mean", Biometrika 6, 1908). None under two days: one day has no spread.
    """
    if days <= 1:
        return None
    freedom, reach = days - 1, NormalDist().inv_cdf((1 + LEVEL) / 2)
    # Newton's method. The probability is concave in the reach, so from a reach that is too small no step is too long.
    for _ in range(_STEPS):
        step = (LEVEL - _within(reach, freedom)) / (2 * _density(reach, freedom))
        reach += step
        if step <= _EXACT * reach:
            break
    return reach


def _within(reach: float, freedom: int) -> float:
    """The probability of a value within `reach` of zero (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = atan(reach / sqrt(freedom))
    square, odd = cos(angle) ** 2, freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for power in range(2 + odd, freedom - 1, 2):
        term *= square * (power - 1) / power
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _density(value: float, freedom: int) -> float:
    scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    return exp(scale - (freedom + 1) / 2 * log(1 + value**2 / freedom))

"""Realised volatility, and how high it is for the asset."""

from math import sqrt
from typing import Final

import numpy as np

from service.analytics.bars import Floats, logarithms

RETURNS: Final = 30
"""Daily log returns that a value is made of."""

YEAR: Final = 365
"""Days in a year: crypto trades on all of them. Also the values among which the newest one is ranked."""

LEAST_RANKED: Final = 90
"""Values under which a rank says nothing."""


def realised(closes: Floats) -> Floats:
    """Realised volatility: the sample standard deviation of the last 30 daily log returns, annualised.

    Args:
        closes: Of successive closed bars, shape (n,).

    Returns:
        Percent a year at each bar, NaN until there are 30 returns before it.
    """
    values = np.full(closes.size, np.nan)
    if closes.size > RETURNS:
        moves = np.diff(logarithms(closes))
        windows = np.lib.stride_tricks.sliding_window_view(moves, RETURNS).copy()
        windows -= (windows.sum(axis=1) / RETURNS)[:, None]
        windows *= windows
        values[RETURNS:] = np.sqrt(windows.sum(axis=1) / (RETURNS - 1)) * (sqrt(YEAR) * 100)
    return values


def percentiles(values: Floats) -> Floats:
    """Rank each value among the last 365, itself included.

    Args:
        values: All known, shape (n,).

    Returns:
        Percent of them that lie below it, equal ones (and itself) counting half; NaN under 90 of them.
    """
    padded = np.concatenate([np.full(YEAR - 1, np.nan), values])
    windows = np.lib.stride_tricks.sliding_window_view(padded, YEAR) if values.size else np.empty((0, YEAR))
    own = values[:, None]
    below, equal = (windows < own).sum(axis=1), (windows == own).sum(axis=1)
    count = np.minimum(np.arange(values.size) + 1, YEAR)
    return np.where(count >= LEAST_RANKED, (below + equal / 2) / count * 100, np.nan)

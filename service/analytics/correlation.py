"""How a coin moves with another."""

from typing import Final

import numpy as np

from service.analytics.bars import Bars

WINDOW: Final = 90
"""Common closed bars that are looked at."""

LEAST: Final = 30
"""Common closed bars under which nothing is said."""


def correlation(one: Bars, other: Bars) -> float | None:
    """Pearson correlation of daily log returns.

    Args:
        one: Daily bars of a coin.
        other: Daily bars of the other.

    Returns:
        Within [-1, 1], over the last `WINDOW` common bars; None under `LEAST` of them or where a price never moved.
    """
    _, ours, theirs = np.intersect1d(one.day, other.day, assume_unique=True, return_indices=True)
    if ours.size < LEAST:
        return None
    x = np.diff(np.log(one.close[ours[-WINDOW:]]))
    y = np.diff(np.log(other.close[theirs[-WINDOW:]]))
    x -= x.mean()
    y -= y.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    if spread == 0:
        return None
    return min(1.0, max(-1.0, float((x * y).sum()) / spread))

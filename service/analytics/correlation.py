"""How coins move with another one."""

from typing import Final

import numpy as np

from service.analytics.bars import Floats, Indices, logarithms

WINDOW: Final = 90
"""Common closed bars that are looked at."""

LEAST: Final = 30
"""Common closed bars under which nothing is said."""


def correlations(closes: Floats, other: int) -> Floats:
    """Pearson correlation of daily log returns with another coin.

    Args:
        closes: Daily closes of shape (days, coins), NaN where there is none.
        other: Column of the coin to compare with; -1 if it has no bars.

    Returns:
        Within [-1, 1], of shape (coins,); NaN under `LEAST` common bars or where a price never moved.
    """
    if other < 0 or not len(closes):
        return np.full(closes.shape[1], np.nan)
    places = _common_places(closes, other)
    taken = np.maximum(places, 0)
    returns = places[:, :-1] >= 0
    count = np.maximum(returns.sum(axis=1), 1)
    sides = []
    for prices in (closes[taken, np.arange(places.shape[0])[:, None]], closes[taken, other]):
        moves = np.where(returns, np.diff(logarithms(prices), axis=1), 0.0)
        sides.append(np.where(returns, moves - (moves.sum(axis=1) / count)[:, None], 0.0))
    x, y = sides
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    known = (places[:, WINDOW - LEAST] >= 0) & (spread > 0)
    value = (x * y).sum(axis=1) / np.where(known, spread, 1.0)
    return np.where(known, np.clip(value, -1.0, 1.0), np.nan)


def _common_places(closes: Floats, other: int) -> Indices:
    """The rows of the last bars in common, of shape (coins, WINDOW), oldest first; -1 in front where lacking."""
    places = np.full((closes.shape[1], WINDOW), -1, np.int64)
    there = ~np.isnan(closes)
    there &= there[:, other : other + 1]
    for own, common in zip(places, there.T, strict=True):
        rows = np.flatnonzero(common)[-WINDOW:]
        own[WINDOW - rows.size :] = rows
    return places

"""How coins move with another one."""

from typing import Final

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Flags, Floats

WINDOW: Final = 90
"""Common closed bars that are looked at."""

LEAST: Final = 30
"""Common closed bars under which nothing is said."""

Places = npt.NDArray[np.int64]
"""Of shape (coins, WINDOW): the rows of the last bars that a coin has in common with the other, oldest first; -1 where
there are fewer, at the front."""


def common_places(closes: Floats, other: int) -> Places:
    """Find the last common bars of every coin.

    Args:
        closes: Daily closes of shape (days, coins), NaN where there is none.
        other: Column of the coin to compare with; -1 if it has no bars.
    """
    places = np.full((closes.shape[1], WINDOW), -1, np.int64)
    if other >= 0:
        there = ~np.isnan(closes)
        there &= there[:, other : other + 1]
        for own, common in zip(places, there.T, strict=True):
            rows = np.flatnonzero(common)[-WINDOW:]
            own[WINDOW - rows.size :] = rows
    return places


def note(places: Places, row: int, common: Flags) -> None:
    """Take one row more for the coins that have a bar on it in common with the other; `places` is changed in place."""
    places[common, :-1] = places[common, 1:]
    places[common, -1] = row


def correlations(closes: Floats, other: int, places: Places) -> Floats:
    """Pearson correlation of daily log returns with another coin.

    Args:
        closes: Daily closes of shape (days, coins).
        other: Column of the coin to compare with; -1 if it has no bars.
        places: What `common_places` and `note` have made of them.

    Returns:
        Within [-1, 1], of shape (coins,); NaN under `LEAST` common bars or where a price never moved.
    """
    if other < 0 or not len(closes):
        return np.full(places.shape[0], np.nan)
    taken = np.maximum(places, 0)
    returns = places[:, :-1] >= 0
    count = np.maximum(returns.sum(axis=1), 1)
    sides = []
    for prices in (closes[taken, np.arange(places.shape[0])[:, None]], closes[taken, other]):
        moves = np.where(returns, np.diff(np.log(prices), axis=1), 0.0)
        sides.append(np.where(returns, moves - (moves.sum(axis=1) / count)[:, None], 0.0))
    x, y = sides
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    known = (places[:, WINDOW - LEAST] >= 0) & (spread > 0)
    value = (x * y).sum(axis=1) / np.where(known, spread, 1.0)
    return np.where(known, np.clip(value, -1.0, 1.0), np.nan)

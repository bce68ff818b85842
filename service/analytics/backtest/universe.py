"""What could be traded on each day, as it could be known on that day."""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from service.analytics.backtest.tape import Tape
from service.analytics.bars import Flags, Floats

SEASONED: Final = 60
"""Bars a coin must have had, the day's included: every rule knows what it asks for by then."""

VOLUME_BARS: Final = 30
"""Bars whose median dollar volume says how large a coin is: a month, so that one wild day changes little."""


def tradable(tape: Tape, size: int) -> Flags:
    """Tell the universe of every day.

    Args:
        tape: The recorded market.
        size: Coins at most.

    Returns:
        Flags of shape (days, coins): the coin has a bar that day and `SEASONED` so far, and is among the `size` largest
        of those by the median of close times volume (USD) over its last `VOLUME_BARS` bars; of equals the first column.
        Only the row itself and earlier ones are looked at, so coins that were delisted later are there until they were.
    """
    there = ~np.isnan(tape.close)
    seasoned = there & (there.cumsum(axis=0) >= SEASONED)
    traded = np.where(seasoned, _median_traded(tape, there), -1.0)
    largest = np.argsort(-traded, axis=1, kind="stable")[:, :size]
    flags = np.zeros_like(seasoned)
    np.put_along_axis(flags, largest, np.take_along_axis(seasoned, largest, axis=1), axis=1)
    return flags


def _median_traded(tape: Tape, there: Flags) -> Floats:
    """The median dollar volume of each coin's last bars, on the rows on which it has had enough of them."""
    medians = np.full(there.shape, np.nan)
    for column in range(there.shape[1]):
        rows = np.flatnonzero(there[:, column])
        if rows.size >= VOLUME_BARS:
            dollars = (tape.close[:, column] * tape.volume[:, column])[rows]
            windows = sliding_window_view(dollars, VOLUME_BARS)
            medians[rows[VOLUME_BARS - 1 :], column] = np.median(windows, axis=1)
    return medians

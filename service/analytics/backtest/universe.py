"""What could be traded on each day, as it could be known on that day."""

from typing import Final

import numpy as np

from service.analytics.backtest.charges import median_volume
from service.analytics.backtest.tape import Tape
from service.analytics.bars import Flags

SEASONED: Final = 60
"""Bars a coin must have had, the day's included: every rule knows what it asks for by then."""


def tradable(tape: Tape, size: int) -> Flags:
    """Tell the universe of every day.

    Args:
        tape: The recorded market.
        size: Coins at most.

    Returns:
        Flags of shape (days, coins): the coin has a bar that day and `SEASONED` so far, and is among the `size` largest
        of those by `charges.median_volume`; of equals the first column.
        Only the row itself and earlier ones are looked at, so coins that were delisted later are there until they were.
    """
    there = ~np.isnan(tape.close)
    seasoned = there & (there.cumsum(axis=0) >= SEASONED)
    traded = np.where(seasoned, median_volume(tape, there), -1.0)
    largest = np.argsort(-traded, axis=1, kind="stable")[:, :size]
    flags = np.zeros_like(seasoned)
    np.put_along_axis(flags, largest, np.take_along_axis(seasoned, largest, axis=1), axis=1)
    return flags

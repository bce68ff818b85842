"""What could be traded on each day, as it could be known on that day."""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from service.analytics.costs import FEE_BPS, SLIPPAGE, VOLUME_BARS, Slippage

_BPS: Final = 10_000


def fill_costs(tape: MarketTape, fee_bps: float = FEE_BPS, slippage: Slippage = SLIPPAGE) -> Floats:
    """Tell what a fill costs by the day of its decision.

    Args:
        tape: The recorded market.
        fee_bps: Fee, basis points of the notional.
        slippage: Bands of volume; the last one also holds where the volume is not known.

    Returns:
        Fee and slippage as a fraction of the fill's notional, shape (days, coins): a fill at the open of row r + 1
        costs what stands on row r. Only the row itself and earlier ones are looked at.
    """
    volume = np.nan_to_num(median_volume(tape, ~np.isnan(tape.close)))
    bounds, bps = (np.array(column) for column in zip(*reversed(slippage), strict=True))
    place = np.maximum(np.searchsorted(bounds, volume, side="right") - 1, 0)
    costs: Floats = (fee_bps + bps[place]) / _BPS
    return costs


def median_volume(tape: MarketTape, there: Flags) -> Floats:
    """The median dollar volume (close times volume, USD) of each coin's last `VOLUME_BARS` bars, the row's included.

    Args:
        tape: The recorded market.
        there: Where a coin has a bar, shape (days, coins).

    Returns:
        Shape (days, coins); NaN on rows without a bar, and where there have been fewer bars.
    """
    medians = np.full(there.shape, np.nan)
    for column in range(there.shape[1]):
        rows = np.flatnonzero(there[:, column])
        if rows.size >= VOLUME_BARS:
            dollars = (tape.close[:, column] * tape.volume[:, column])[rows]
            windows = sliding_window_view(dollars, VOLUME_BARS)
            medians[rows[VOLUME_BARS - 1 :], column] = np.median(windows, axis=1)
    return medians


SEASONED: Final = 60
"""Bars a coin must have had, the day's included: every rule knows what it asks for by then."""


def tradable(tape: MarketTape, size: int) -> Flags:
    """Tell the universe of every day.

    Args:
        tape: The recorded market.
        size: Coins at most.

    Returns:
        Flags of shape (days, coins): the coin has a bar that day and `SEASONED` so far, and is among the `size` largest
        of those by `costs.median_volume`; of equals the first column.
        Only the row itself and earlier ones are looked at, so coins that were delisted later are there until they were.
    """
    there = ~np.isnan(tape.close)
    seasoned = there & (there.cumsum(axis=0) >= SEASONED)
    traded = np.where(seasoned, median_volume(tape, there), -1.0)
    largest = np.argsort(-traded, axis=1, kind="stable")[:, :size]
    flags = np.zeros_like(seasoned)
    np.put_along_axis(flags, largest, np.take_along_axis(seasoned, largest, axis=1), axis=1)
    return flags

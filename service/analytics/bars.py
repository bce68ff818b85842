"""Series of closed bars, and the two series derived from them: ISO weeks and ratios."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from service.clock import DAY_MS

Floats: TypeAlias = npt.NDArray[np.float64]
Days: TypeAlias = npt.NDArray[np.int64]
Row: TypeAlias = tuple[int, float, float, float, float]
"""One daily bar: open time (epoch ms, 00:00 UTC), open, high, low, close."""

_DAYS_FROM_MONDAY: Final = 3
"""1970-01-01 was a Thursday: adding this makes the division by 7 start on Mondays."""


class Bars(NamedTuple):
    """Closed bars, oldest first, each array of shape (n,).

    `day` counts from 1970-01-01 and names the bar's first day (a week's Monday); prices are positive and finite.
    """

    day: Days
    open: Floats
    high: Floats
    low: Floats
    close: Floats

    def until(self, stop: int) -> "Bars":
        """The first `stop` bars."""
        return Bars(self.day[:stop], self.open[:stop], self.high[:stop], self.low[:stop], self.close[:stop])


def from_rows(rows: Sequence[Row]) -> Bars:
    """Make daily bars of rows that are sorted by time, one a day."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    opened_ms = table[:, 0].astype(np.int64)  # below 2**53, so exact
    return Bars(opened_ms // DAY_MS, *(table[:, column].copy() for column in range(1, 5)))


def weekly(bars: Bars) -> Bars:
    """Gather daily bars into closed ISO weeks (Monday to Sunday UTC).

    Args:
        bars: Daily bars; days may be missing.

    Returns:
        One bar for every week that has a day and is closed: its Sunday or a later day is there.
    """
    week = (bars.day + _DAYS_FROM_MONDAY) // 7
    starts = np.flatnonzero(np.diff(week, prepend=week[:1] - 1))
    if starts.size and (bars.day[-1] + _DAYS_FROM_MONDAY) % 7 != 6:  # noqa: PLR2004 - Sunday
        bars = bars.until(int(starts[-1]))
        starts = starts[:-1]
    if not starts.size:
        return bars.until(0)
    ends = np.append(starts[1:], bars.day.size) - 1
    return Bars(
        day=week[starts] * 7 - _DAYS_FROM_MONDAY,
        open=bars.open[starts],
        high=np.maximum.reduceat(bars.high, starts),
        low=np.minimum.reduceat(bars.low, starts),
        close=bars.close[ends],
    )


def ratio(base: Bars, quote: Bars) -> Bars:
    """Price one coin in another on the days both have a bar.

    Args:
        base: Daily bars of the coin.
        quote: Daily bars of what it is priced in.

    Returns:
        Ratio bars as the room's docstring defines them.
    """
    day, ours, theirs = np.intersect1d(base.day, quote.day, assume_unique=True, return_indices=True)
    ratios = [mine[ours] / other[theirs] for mine, other in zip(base[1:], quote[1:], strict=True)]
    return Bars(day, ratios[0], np.maximum.reduce(ratios), np.minimum.reduce(ratios), ratios[3])

"""Tables of closed bars, and the two kinds derived from them: ratios and ISO weeks.

A table has one row a day, without a day left out, and NaN where a series has no bar. Days count from 1970-01-01.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import log
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from service.clock import DAY_MS

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Indices: TypeAlias = npt.NDArray[np.int64]
Row: TypeAlias = tuple[int, float, float, float, float]
"""One daily bar: open time (epoch ms, 00:00 UTC), open, high, low, close; prices are positive and finite."""


class BarSequence(Protocol):
    """Daily bars, however they are kept; one a day at most."""

    def __len__(self) -> int:
        """How many there are."""

    def __iter__(self) -> Iterator[Row]:
        """One after the other."""


WEEK: Final = 7
_MONDAY: Final = 3
"""1970-01-01 was a Thursday: adding this makes the division by 7 start on Mondays."""


def logarithms(values: Floats) -> Floats:
    """Natural logarithms of positive numbers, the same on every CPU; NaN stays NaN.

    numpy's own differ in the last bit between CPUs with and without AVX-512, and so would published values and digests.
    """
    return np.fromiter(map(log, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


class Chart(NamedTuple):
    """What a SuperTrend is drawn over; NaN where there is no bar."""

    high: Floats
    low: Floats
    close: Floats


def table(history: Mapping[str, BarSequence], against: Sequence[str]) -> tuple[int, Chart]:
    """Lay the daily bars of many coins on one calendar, priced in US dollars and in other coins.

    Args:
        history: By coin its bars, one a day at most.
        against: The coins to price in; nothing has a price in one that has no bars, nor in itself.

    Returns:
        The first day, and bars of shape (days, 1 + len(against), coins), from the first bar of any coin to the last of
        any. The bar of a ratio is what the package's docstring defines, and is missing where either side is.
    """
    sizes = [len(rows) for rows in history.values()]
    flat = np.fromiter(chain.from_iterable(chain.from_iterable(history.values())), np.float64, 5 * sum(sizes))
    rows = flat.reshape(-1, 5)
    day = rows[:, 0].astype(np.int64) // DAY_MS  # times are below 2**53, so exact
    first, last = (int(day.min()), int(day.max())) if day.size else (0, -1)
    place = (day - first) * len(sizes) + np.repeat(np.arange(len(sizes)), sizes)
    prices = np.full((4, (last - first + 1) * len(sizes)), np.nan)
    for field, laid in enumerate(prices, 1):
        laid[place] = rows[:, field]
    opens, *others = prices.reshape(4, last - first + 1, len(sizes))
    drawn = np.empty((3, last - first + 1, 1 + len(against), len(sizes)))
    drawn[:, :, 0] = others
    columns = {coin: at for at, coin in enumerate(history)}
    chart = Chart(*drawn)
    _price(opens, chart, [columns.get(coin, -1) for coin in against])
    return first, chart


def _price(opens: Floats, chart: Chart, against: Sequence[int]) -> None:
    """Write the bars in other coins beside those in US dollars, which are there."""
    in_usd = Chart(*(prices[..., 0, :] for prices in chart))
    scratch = np.empty_like(opens)
    for place, other in enumerate(against, 1):
        high, low, close = (prices[..., place, :] for prices in chart)
        if other < 0:
            high[:] = low[:] = close[:] = np.nan
            continue
        np.divide(in_usd.close, in_usd.close[..., other : other + 1], out=close)
        np.copyto(high, close)
        np.copyto(low, close)
        for prices in (opens, in_usd.high, in_usd.low):
            np.divide(prices, prices[..., other : other + 1], out=scratch)
            np.maximum(high, scratch, out=high)
            np.minimum(low, scratch, out=low)
        high[..., other] = low[..., other] = close[..., other] = np.nan


Number = TypeVar("Number", int, Indices)


def week_of(day: Number) -> Number:
    """Number the ISO week of a day, counted from that of 1970-01-01."""
    return (day + _MONDAY) // WEEK


def monday_of(week: Number) -> Number:
    """The first day of a week."""
    return week * WEEK - _MONDAY


def is_sunday(day: int) -> bool:
    """Whether a day is the last of its ISO week."""
    return (day + _MONDAY) % WEEK == WEEK - 1


def weeks(first_day: int, days: Chart) -> Chart:
    """Gather daily bars into ISO weeks, Monday to Sunday UTC.

    Args:
        first_day: The day of the first row.
        days: Daily bars of shape (days, series); days may be missing, rows may not.

    Returns:
        Bars of shape (weeks, series), from the week of the first day to that of the last, NaN for those that
        are not closed (neither their Sunday nor a later day is there).
    """
    count, series = days.close.shape
    high, low, close = (_by_week(first_day, prices) for prices in days)
    made = Chart(
        high=_joined([np.fmax.reduce(piece, axis=1) for piece in high], series),
        low=_joined([np.fmin.reduce(piece, axis=1) for piece in low], series),
        close=_joined([_last_known(piece) for piece in close], series),
    )
    traded = ~np.isnan(made.close)
    if count:
        newest = len(traded) - 1 - traded[::-1].argmax(axis=0)
        sunday = monday_of(week_of(first_day) + newest) + WEEK - 1 - first_day
        lacking = (sunday >= count) | np.isnan(days.close[np.minimum(sunday, count - 1), np.arange(series)])
        unclosed = np.flatnonzero(traded.any(axis=0) & lacking)
        for prices in made:
            prices[newest[unclosed], unclosed] = np.nan
    return made


def _by_week(first_day: int, prices: Floats) -> list[Floats]:
    """Cut a table into pieces of shape (weeks, days, series): parts of weeks at its ends, whole ones between."""
    head = min(monday_of(week_of(first_day - 1) + 1) - first_day, len(prices))
    whole, rest = divmod(len(prices) - head, WEEK)
    tail = len(prices) - rest
    pieces = [prices[:head][None], prices[head:tail].reshape(whole, WEEK, prices.shape[1]), prices[tail:][None]]
    return [piece for piece in pieces if piece.size]


def _last_known(piece: Floats) -> Floats:
    last = piece[:, 0].copy()
    for day in range(1, piece.shape[1]):
        np.copyto(last, piece[:, day], where=~np.isnan(piece[:, day]))
    return last


def _joined(pieces: list[Floats], series: int) -> Floats:
    return np.concatenate([np.empty((0, series)), *pieces])

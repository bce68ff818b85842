"""What the charts of a coin say: trend state by day and by week, and correlation to BTC."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from service.analytics.bars import Bars, Days, Row, from_rows, ratio, weekly
from service.analytics.correlation import correlation
from service.analytics.supertrend import supertrend
from service.clock import DAY_MS

BTC: Final = "BTC"
ETH: Final = "ETH"

State = Literal["UP", "HODL", "DOWN"]


class Trend(NamedTuple):
    """A trend state and the close of the first bar of its present run, epoch ms."""

    state: State
    since_ms: int


class Assessment(NamedTuple):
    """What is known of one coin.

    `through_ms` is the close of the last day on which the coin and everything it is compared with have a bar, epoch
    milliseconds: later bars do not enter. None where there is no such day; the rest is None where bars are too few.
    """

    through_ms: int | None
    daily: Trend | None
    weekly: Trend | None
    btc_correlation: float | None


def assess(history: Mapping[str, Sequence[Row]], coins: Collection[str]) -> dict[str, Assessment]:
    """Assess coins against USD, BTC and ETH.

    Args:
        history: Closed daily bars by venue symbol, oldest first; those of `BTC` and `ETH` as well as the coins'.
        coins: Which of them to assess.

    Returns:
        One assessment a coin.
    """
    bars = {name: from_rows(rows) for name, rows in history.items()}
    nothing = from_rows(())
    btc, eth = bars.get(BTC, nothing), bars.get(ETH, nothing)
    charts = {coin: list(_charts(coin, bars[coin], btc, eth)) for coin in coins}
    days = trends(charts, 1)
    weeks = trends({coin: [weekly(chart) for chart in own] for coin, own in charts.items()}, 7)
    return {
        coin: Assessment(
            through_ms=_through_ms(charts[coin]),
            daily=days[coin],
            weekly=weeks[coin],
            btc_correlation=1.0 if coin == BTC else correlation(bars[coin], btc),
        )
        for coin in coins
    }


def trends(charts: Mapping[str, Sequence[Bars]], bar_days: int) -> dict[str, Trend | None]:
    """Tell each coin's trend state on the last bar that all its charts have.

    Args:
        charts: By coin, its bars against everything it is compared with.
        bar_days: Length of a bar in days.

    Returns:
        The states; None where a chart is too short or the charts have no bar in common.
    """
    directions = supertrend([chart for own in charts.values() for chart in own]).direction.T
    columns = iter(directions)
    return {
        coin: _latest(own, [next(columns)[: chart.day.size] for chart in own], bar_days) for coin, own in charts.items()
    }


def _charts(coin: str, bars: Bars, btc: Bars, eth: Bars) -> Iterator[Bars]:
    yield bars
    if coin != BTC:
        yield ratio(bars, btc)
    if coin != ETH:
        yield ratio(bars, eth)


def _latest(charts: Sequence[Bars], directions: Sequence[npt.NDArray[np.int8]], bar_days: int) -> Trend | None:
    known = [chart.day[direction != 0] for chart, direction in zip(charts, directions, strict=True)]
    common: Days = reduce(np.intersect1d, known)
    if not common.size:
        return None
    votes = np.array(
        [direction[np.searchsorted(chart.day, common)] for chart, direction in zip(charts, directions, strict=True)]
    )
    verdicts = np.where(votes.min(axis=0) == 1, 1, np.where(votes.max(axis=0) == -1, -1, 0))
    changes = np.flatnonzero(np.diff(verdicts))
    first = int(common[changes[-1] + 1 if changes.size else 0])
    state: State = "UP" if verdicts[-1] == 1 else "DOWN" if verdicts[-1] == -1 else "HODL"
    return Trend(state, (first + bar_days) * DAY_MS)


def _through_ms(charts: Sequence[Bars]) -> int | None:
    common: Days = reduce(np.intersect1d, [chart.day for chart in charts])
    return (int(common[-1]) + 1) * DAY_MS if common.size else None

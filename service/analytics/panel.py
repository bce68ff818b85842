"""The closed daily bars of all coins, and what each coin's charts say."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from service.analytics.bars import BarSequence, Chart, Flags, Floats, Indices, table
from service.analytics.correlation import correlations
from service.analytics.supertrend import supertrend
from service.analytics.trend_states import StateRuns, States, WeeklyStates, combined_states, runs

BTC: Final = "BTC"
ETH: Final = "ETH"


class Panel:
    """All coins on one calendar.

    Tables have a row for every day from the first to the last, and a column a coin.

    Args:
        history: Closed daily bars by coin, one a day at most.
        against: What each coin is compared with besides USD.

    Attributes:
        coins: By column.
        first_day: The day of the first row, counted from 1970-01-01.
        close: Closes in USD, NaN where there is no bar.
        atr: Average true ranges in USD, NaN while unknown.
        line: SuperTrend lines in USD, NaN while unknown.
        in_usd: Directions of the SuperTrends in USD: 1 up, -1 down, 0 unknown.
        states: Daily trend states.
        runs: The runs of equal daily trend states.
        through: The last row on which a coin and everything it is compared with have a bar (-1: none).
        upper: Upper SuperTrend bands in USD on that row, NaN while unknown; of shape (coins,).
        lower: The lower bands.
        weekly: The weekly charts.
    """

    def __init__(self, history: Mapping[str, BarSequence], against: Sequence[str] = (BTC, ETH)) -> None:
        self.coins = list(history)
        self._column = {coin: at for at, coin in enumerate(self.coins)}
        self._btc = self.column(BTC) if BTC in against else -1
        compared = self._compared(against)
        self.first_day, drawn = table(history, against)
        course = supertrend(Chart(*(prices.reshape(len(prices), compared.size) for prices in drawn)), len(self.coins))
        directions = course.direction.reshape(drawn.close.shape)
        self.close: Floats = drawn.close[:, 0].copy()
        self.atr: Floats = course.atr
        self.line: Floats = course.line
        self.in_usd: States = directions[:, 0].copy()
        self.states: States = combined_states(directions, compared)
        self.runs: StateRuns = runs(self.states)
        self.through = _last_rows(~np.isnan(drawn.close) | ~compared)
        columns = np.arange(len(self.coins))
        self.upper: Floats = course.upper[self.through, columns] if len(self.close) else np.full(len(columns), np.nan)
        self.lower: Floats = course.lower[self.through, columns] if len(self.close) else np.full(len(columns), np.nan)
        self.weekly = WeeklyStates(self.first_day, drawn, compared)

    def column(self, coin: str) -> int:
        """The column of a coin; -1 if it is not known."""
        return self._column.get(coin, -1)

    @property
    def last_day(self) -> int:
        """The day of the last row."""
        return self.first_day + len(self.close) - 1

    def btc_correlations(self) -> Floats:
        """Correlation to BTC, of shape (coins,), NaN while unknown or not asked for; that of BTC itself is 1."""
        found = correlations(self.close, self._btc)
        if self._btc >= 0:
            found[self._btc] = 1.0
        return found

    def _compared(self, against: Sequence[str]) -> Flags:
        """Which charts each coin has: in USD, and in every other coin but itself."""
        usd = [True] * len(self.coins)
        ratios = [[coin != other for coin in self.coins] for other in against]
        return np.array([usd, *ratios], np.bool_)


def _last_rows(charts_there: Flags) -> Indices:
    """The last row on which all charts of a coin have a bar, of shape (coins,); -1 where there is none."""
    there = np.logical_and.reduce(charts_there, axis=1)
    if not there.size:
        return np.full(there.shape[1], -1, np.int64)
    newest = there.shape[0] - 1 - there[::-1].argmax(axis=0)
    return np.where(there.any(axis=0), newest, -1)

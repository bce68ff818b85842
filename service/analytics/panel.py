"""The closed daily bars of all coins, and what each coin's charts say: computed whole, or one day more."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from service.analytics import correlation, supertrend
from service.analytics.bars import Chart, Flags, Floats, Indices, Row, Rows, charts, table
from service.analytics.growing import Growing
from service.analytics.states import UNKNOWN
from service.analytics.votes import Runs, States, agreed, runs
from service.analytics.weekly import Weekly
from service.clock import DAY_MS

BTC: Final = "BTC"
ETH: Final = "ETH"


class Panel:
    """All coins on one calendar; changed in place by `advance`, to the same bits as a panel made anew.

    Tables have a row for every day from the first to the last, and a column a coin; `through` is the last row on which
    a coin and everything it is compared with have a bar (-1: none).

    Args:
        history: Closed daily bars by coin, one a day at most.
        against: What each coin is compared with besides USD.
    """

    def __init__(self, history: Mapping[str, Rows], against: Sequence[str] = (BTC, ETH)) -> None:
        self._against = against
        self._begin(history)

    def _begin(self, history: Mapping[str, Rows]) -> None:
        self.coins = list(history)
        self._column = {coin: at for at, coin in enumerate(self.coins)}
        self._charts = self._compared()
        self.first_day, drawn = table(history, self._against)
        flat = Chart(*(prices.reshape(len(prices), self._charts.size) for prices in drawn))
        course, state = supertrend.supertrend(flat, shown=len(self.coins))
        directions = course.direction.reshape(drawn.close.shape)
        states = agreed(directions, self._charts)
        found = runs(states)
        self._state = state.by_chart(len(self._charts))
        self._close = Growing(drawn.close[:, 0].copy(), np.nan)
        self._atr = Growing(course.atr, np.nan)
        self._line = Growing(course.line, np.nan)
        self._in_usd = Growing(directions[:, 0].copy(), 0)
        self._states = Growing(states, UNKNOWN)
        self._starts = Growing(found.start, -1)
        self._newest = Growing(found.newest, -1)
        self.through = _last_rows(~np.isnan(drawn.close) | ~self._charts)
        self._places = correlation.common_places(self.close, self.column(BTC))
        self._weekly = Weekly(self.first_day, drawn, self._charts)

    def column(self, coin: str) -> int:
        """The column of a coin; -1 if it is not known."""
        return self._column.get(coin, -1)

    @property
    def last_day(self) -> int:
        """The day of the last row."""
        return self.first_day + len(self.close) - 1

    @property
    def close(self) -> Floats:
        """Closes in USD, NaN where there is no bar."""
        return self._close.now

    @property
    def atr(self) -> Floats:
        """Average true ranges in USD, NaN while unknown."""
        return self._atr.now

    @property
    def line(self) -> Floats:
        """SuperTrend lines in USD, NaN while unknown."""
        return self._line.now

    @property
    def in_usd(self) -> States:
        """Directions of the SuperTrends in USD: 1 up, -1 down, 0 unknown."""
        return self._in_usd.now

    @property
    def states(self) -> States:
        """Daily trend states."""
        return self._states.now

    @property
    def runs(self) -> Runs:
        """The runs of equal daily trend states."""
        return Runs(self._starts.now, self._newest.now)

    def btc_correlations(self) -> Floats:
        """Correlation to BTC, of shape (coins,), NaN while unknown or not asked for; that of BTC itself is 1."""
        btc = self.column(BTC) if BTC in self._against else -1
        found = correlation.correlations(self.close, btc, self._places)
        if btc >= 0:
            found[btc] = 1.0
        return found

    @property
    def weekly(self) -> Weekly:
        """The weekly charts."""
        return self._weekly

    def advance(self, day: int, rows: Mapping[str, Row]) -> None:
        """Take the bars of a newly closed day.

        Args:
            day: Counted from 1970-01-01; days between the last one and it are days without bars.
            rows: The bars of that day, of all coins that have one. Coins that were not known are listed.

        Raises:
            ValueError: If the day is not after the last one, or has no bars, or those of another day. A bar that came
                late changes what is known of all days after it: make the panel anew.
        """
        begun = len(self.close) > 0
        if not rows or any(row[0] // DAY_MS != day for row in rows.values()) or (begun and day <= self.last_day):
            raise ValueError(f"these are not the bars of a day after the last one: {day}")
        if not begun:
            self._begin(dict.fromkeys(self.coins, ()) | {coin: (row,) for coin, row in rows.items()})
            return
        self._list([coin for coin in rows if coin not in self._column])
        for skipped in range(self.last_day + 1, day):
            self._take(skipped, {})
        self._take(day, rows)

    def _take(self, day: int, rows: Mapping[str, Row]) -> None:
        drawn = charts([rows.get(coin) for coin in self.coins], [self.column(other) for other in self._against])
        course = supertrend.step(self._state, drawn)
        there = ~np.isnan(drawn.close) | ~self._charts
        row = len(self.close)
        self._close.append(drawn.close[0])
        self._atr.append(course.atr[0])
        self._line.append(course.line[0])
        self._in_usd.append(course.direction[0])
        self._note_states(row, agreed(course.direction, self._charts))
        self.through[there.all(axis=0)] = row
        btc = self.column(BTC)
        if btc >= 0:
            correlation.note(self._places, row, ~np.isnan(drawn.close[0]) & ~np.isnan(drawn.close[0, btc]))
        self._weekly.take(day, drawn)

    def _note_states(self, row: int, states: States) -> None:
        start, newest = (rows[-1] for rows in self.runs)
        last = np.where(start < 0, UNKNOWN, self.states[start, np.arange(states.size)])
        known = states != UNKNOWN
        begins = known & (states != last)
        self._states.append(states)
        self._starts.append(np.where(begins, np.int32(row), start))
        self._newest.append(np.where(known, np.int32(row), newest))

    def _list(self, coins: Sequence[str]) -> None:
        """Make room for coins that have not been known until now."""
        if not coins:
            return
        new = len(coins)
        self._column |= {coin: at for at, coin in enumerate(coins, len(self.coins))}
        self.coins += coins
        charts_of_one = len(self._charts)
        self._charts = self._compared()
        self._state = self._state.beside(supertrend.blank(charts_of_one, new))
        for table_ in (self._close, self._atr, self._line, self._in_usd, self._states, self._starts, self._newest):
            table_.widen(new)
        self.through = np.concatenate([self.through, np.full(new, -1)])
        self._places = np.concatenate([self._places, np.full((new, correlation.WINDOW), -1)])
        self._weekly.widen(self._charts)

    def _compared(self) -> Flags:
        """Which charts each coin has: in USD, and in every other coin but itself."""
        usd = [True] * len(self.coins)
        ratios = [[coin != other for coin in self.coins] for other in self._against]
        return np.array([usd, *ratios], np.bool_)


def _last_rows(charts_there: Flags) -> Indices:
    """The last row on which all charts of a coin have a bar, of shape (coins,); -1 where there is none."""
    there = np.logical_and.reduce(charts_there, axis=1)
    if not there.size:
        return np.full(there.shape[1], -1, np.int64)
    newest = there.shape[0] - 1 - there[::-1].argmax(axis=0)
    return np.where(there.any(axis=0), newest, -1)

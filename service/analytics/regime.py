"""The regime of the market and of every coin, day by day."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isnan
from typing import Final

import numpy as np
import numpy.typing as npt

from service.analytics import rules
from service.analytics.breadth import Breadth
from service.analytics.findings import CoinRegimeState, MarketRegimeRun, Reason, RegimeChange
from service.analytics.hysteresis import Machine
from service.analytics.panel import BTC, Panel
from service.analytics.states import DOWN, HODL, NAMES, UNKNOWN, UP, days_in_state
from service.analytics.volatility import RETURNS, percentiles, realised
from service.clock import DAY_MS

_MARKET: Final = Machine(rules.market_wants, rules.MARKET_SYMBOLS, rules.CONFIRM_DAYS)
_COINS: Final = Machine(rules.coin_wants, rules.COIN_SYMBOLS, rules.CONFIRM_COIN_DAYS)


class MarketCourse:
    """Breadth and the market's regime, a value a row of the panel.

    `breadths` are the counts, `inputs` what the regime was decided on (None on days when one is unknown), `regimes` how
    tables write it.

    Args:
        panel: The coins.
        published: Breadths that have been published: they stand, and the regime follows them, whatever bars came since.
    """

    def __init__(self, panel: Panel, published: Iterable[Breadth] = ()) -> None:
        self._panel = panel
        self._published = {breadth.day: breadth for breadth in published}
        self.breadths: list[Breadth] = []
        self.inputs: list[rules.Inputs | None] = []
        self.regimes: list[int] = []
        self._see(self._ranks())

    def runs(self) -> list[MarketRegimeRun]:
        """Every run of the regime, oldest first."""
        turns = [row for row, regime in enumerate(self.regimes) if row == 0 or regime != self.regimes[row - 1]]
        return [
            self._run(start, end - 1)
            for start, end in pairwise([*turns, len(self.regimes)])
            if self.regimes[start] != UNKNOWN
        ]

    def now(self) -> MarketRegimeRun | None:
        """The run that goes on; None until all inputs have been known."""
        if not self.regimes or self.regimes[-1] == UNKNOWN:
            return None
        start = len(self.regimes) - 1
        while start > 0 and self.regimes[start - 1] == self.regimes[-1]:
            start -= 1
        return self._run(start, len(self.regimes) - 1)

    def _see(self, ranks: list[float]) -> None:
        """Take all days, given the percentiles of BTC's volatility on them."""
        states, btc, code = self._panel.states, self._panel.column(BTC), 0
        unknown = [UNKNOWN] * len(states)
        trends = states[:, btc].tolist() if btc >= 0 else unknown
        in_usd = self._panel.in_usd[:, btc].tolist() if btc >= 0 else unknown
        counts = [np.count_nonzero(states == state, axis=1).tolist() for state in (UP, HODL, DOWN)]
        days = range(self._panel.first_day, self._panel.last_day + 1)
        for day, up, hodl, down, trend, way, rank in zip(days, *counts, trends, in_usd, ranks, strict=True):
            counted = Breadth(day, up, hodl, down)
            breadth = self._published.get(counted.day, counted)
            inputs = None if trend == UNKNOWN or isnan(rank) else rules.Inputs(trend, breadth.net_pct, rank, way)
            code = _MARKET.after(code, rules.market_symbol(inputs))
            self.breadths.append(breadth)
            self.inputs.append(inputs)
            self.regimes.append(_MARKET.state(code))

    def _run(self, start: int, end: int) -> MarketRegimeRun:
        """Describe a run by the last of its days on which all inputs are known: its first is one."""
        regime = self.regimes[end]
        inputs = next(seen for seen in self.inputs[end::-1] if seen is not None)
        return MarketRegimeRun(
            regime=rules.REGIMES[regime],
            since_ms=_close_ms(self._panel, start),
            through_ms=_close_ms(self._panel, end),
            age_days=days_in_state(start, end),
            conviction=rules.market_conviction(regime, inputs),
            reasons=(
                Reason("btc-trend", NAMES[inputs.btc]),
                Reason("btc-in-usd", NAMES[inputs.in_usd]),
                Reason("breadth-net-pct", inputs.net_pct),
                Reason("btc-volatility-percentile", round(inputs.volatility, 4)),
            ),
        )

    def _ranks(self) -> list[float]:
        """The percentile of BTC's realised volatility on every row (NaN: none)."""
        ranks = np.full(len(self._panel.close), np.nan)
        btc = self._panel.column(BTC)
        if btc >= 0:
            rows = np.flatnonzero(~np.isnan(self._panel.close[:, btc]))
            values = realised(self._panel.close[rows, btc])[RETURNS:]
            ranks[rows[RETURNS:]] = percentiles(values)
        return ranks.tolist()


class CoinCourse:
    """The regime of every coin, a row a day of the panel.

    `regimes` are as tables write them, UNKNOWN where a coin has none.

    Args:
        panel: The coins.
        market: The market they are in.
    """

    def __init__(self, panel: Panel, market: MarketCourse) -> None:
        self._panel = panel
        self._market = market
        self.regimes = _COINS.states(_COINS.walk(self._symbols()))

    def coins(self) -> Iterator[CoinRegimeState]:
        """Every coin that has a regime at the last row."""
        for column, coin in enumerate(self._panel.coins):
            turned = self._turned(column)
            if turned is not None:
                yield CoinRegimeState(
                    coin=coin,
                    regime=rules.REGIMES[int(self.regimes[-1, column])],
                    since_ms=_close_ms(self._panel, turned),
                    conviction=self.conviction(len(self.regimes) - 1, column),
                    reasons=self._reasons(len(self.regimes) - 1, column),
                )

    def signals(self, since_day: int) -> list[RegimeChange]:
        """Every turn from a day on, newest first; that a coin has a regime at last, or none any more, is no turn."""
        first = max(1, since_day - self._panel.first_day)
        before, now = self.regimes[first - 1 : -1], self.regimes[first:]
        turned = (now != before) & (now != UNKNOWN) & (before != UNKNOWN)
        return [
            RegimeChange(
                coin=self._panel.coins[column],
                regime=rules.REGIMES[int(self.regimes[row, column])],
                direction=rules.DIRECTIONS.get(int(self.regimes[row, column])),
                conviction=self.conviction(row, column),
                fired_ms=_close_ms(self._panel, row),
                reasons=self._reasons(row, column),
            )
            for row, column in reversed([(first + int(row), int(column)) for row, column in np.argwhere(turned)])
        ]

    def conviction(self, row: int, column: int) -> float:
        """How clearly the inputs of a day speak for the regime of a coin, 0 to 1."""
        regime, market = int(self.regimes[row, column]), self._market.regimes[row]
        return rules.coin_conviction(regime, self._trend(row, column)[0], market, self._reach(row, column))

    def _symbols(self) -> npt.NDArray[np.int16]:
        """What `rules.coin_wants` is asked about each row."""
        states, newest = self._panel.states, self._panel.runs.newest
        market = np.array(self._market.regimes, np.int16)[:, None]
        rows = np.arange(len(states))[:, None]
        unseen = np.where((newest >= 0) & (rows - newest <= rules.PATIENCE_DAYS), rules.UNSEEN, rules.GONE)
        seen = (states + 1) * 6 + (self._panel.in_usd > 0) * 3 + market + 1
        symbols = np.where(states == UNKNOWN, unseen, seen)
        is_young = rows - self._first_known() < rules.SEASON_DAYS - 1
        return np.where((market == UNKNOWN) | is_young, rules.GONE, symbols).astype(np.int16)

    def _first_known(self) -> npt.NDArray[np.intp]:
        """The row on which the trend of each coin was first known; 0 where it never was, which is as good as any."""
        known = self._panel.states != UNKNOWN
        return known.argmax(axis=0) if known.size else np.zeros(known.shape[1], np.intp)

    def _turned(self, column: int) -> int | None:
        """The row on which a coin's present regime began; None if it has none."""
        if not len(self.regimes) or self.regimes[-1, column] == UNKNOWN:
            return None
        before = np.flatnonzero(self.regimes[:, column] != self.regimes[-1, column])
        return int(before[-1]) + 1 if before.size else 0

    def _trend(self, row: int, column: int) -> tuple[int, int]:
        """The last known trend state until then, and the calendar days it has lasted."""
        newest, start = (int(rows[row, column]) for rows in (self._panel.runs.newest, self._panel.runs.start))
        return int(self._panel.states[newest, column]), days_in_state(start, newest)

    def _reach(self, row: int, column: int) -> float | None:
        newest = int(self._panel.runs.newest[row, column])
        close, line, atr = (table[newest, column] for table in (self._panel.close, self._panel.line, self._panel.atr))
        return float((close - line) / atr) if atr > 0 else None

    def _reasons(self, row: int, column: int) -> tuple[Reason, ...]:
        state, streak = self._trend(row, column)
        reach = self._reach(row, column)
        reasons = (
            Reason("trend", NAMES[state]),
            Reason("trend-streak-days", streak),
            Reason("market-regime", rules.REGIMES[self._market.regimes[row]]),
        )
        return reasons if reach is None else (*reasons, Reason("line-distance-atr", round(reach, 4)))


def _close_ms(panel: Panel, row: int) -> int:
    return (panel.first_day + row + 1) * DAY_MS

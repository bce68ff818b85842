"""Everything the closed daily bars say of the market, computed whole."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from service.analytics import breadth, leadership
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import BarSequence
from service.analytics.breadth import Breadth, BreadthCrossing
from service.analytics.findings import CoinRegimeState, DivergenceFinding, MarketRegimeRun, RegimeChange, RelativeReturn
from service.analytics.panel import Panel
from service.analytics.regime import CoinCourse, MarketCourse
from service.analytics.regime_trades import RegimeTrades, follow
from service.analytics.trend import Assessment, TrendCourse, assessments, trend_courses


class MarketAnalytics:
    """The whole market at its last closed day.

    What it answers is plain values, so that who asks needs no numpy.

    Args:
        history: Closed daily bars by coin, one a day at most; those of coins delisted since included.
        published: Breadths that have been published: they stand, and the regime follows them, whatever bars came since.
    """

    def __init__(self, history: Mapping[str, BarSequence], published: Iterable[Breadth] = ()) -> None:
        self._panel = Panel(history)
        self._course = MarketCourse(self._panel, published)
        self._coins = CoinCourse(self._panel, self._course)

    @property
    def panel(self) -> Panel:
        """The tables of bars and trends."""
        return self._panel

    @property
    def regimes_by_day(self) -> tuple[Sequence[int], npt.NDArray[np.int8]]:
        """The regimes as tables write them: the market's, a row a day, and the coins', of shape (days, coins)."""
        return self._course.regimes, self._coins.regimes

    @property
    def breadths(self) -> Sequence[Breadth]:
        """Breadth of every day, oldest first."""
        return self._course.breadths

    def assessments(self) -> dict[str, Assessment]:
        """Trends and correlation of every coin."""
        return assessments(self._panel)

    def trend_courses(self) -> dict[str, TrendCourse]:
        """Runs of trends and SuperTrend bands of every coin."""
        return trend_courses(self._panel)

    def crossings(self) -> list[BreadthCrossing]:
        """Every crossing of UP and DOWN, oldest first."""
        return breadth.crossings(self.breadths)

    def velocity(self) -> float | None:
        """Change of net breadth, percentage points a day; see `breadth.velocity`."""
        return breadth.velocity(self.breadths)

    def standings(self) -> list[RelativeReturn]:
        """All coins by their return over 30 days, best first; see `leadership.relative_returns`."""
        return leadership.relative_returns(self._panel)

    def divergences(self) -> list[DivergenceFinding]:
        """BTC's high or low of the last day, where breadth does not confirm it; see `leadership.divergences`."""
        return leadership.divergences(self._panel, self.breadths)

    def opposed(self) -> list[str]:
        """The coins whose daily trend is the opposite of BTC's on the last day."""
        return leadership.opposed(self._panel)

    def regime(self) -> MarketRegimeRun | None:
        """The market's regime; None until its inputs have been known."""
        return self._course.now()

    def regimes(self) -> list[MarketRegimeRun]:
        """Every run of the market's regime, oldest first."""
        return self._course.runs()

    def coin_regimes(self) -> dict[str, CoinRegimeState]:
        """The regimes of all coins that have one."""
        return {regime.coin: regime for regime in self._coins.coins()}

    def signals(self, since_day: int) -> list[RegimeChange]:
        """Turns of coins' regimes on that day (counted from 1970-01-01) or later, newest first."""
        return self._coins.signals(since_day)

    def followed(self, tape: MarketTape) -> RegimeTrades:
        """What following each coin's regime holds and has brought; see `regime_trades.follow`."""
        return follow(self._panel, self._coins, tape)

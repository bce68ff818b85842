"""Everything the closed daily bars say of the market, computed whole or one day more."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from service.analytics import breadth, standing
from service.analytics.backtest.tape import Tape
from service.analytics.bars import Row, Rows
from service.analytics.breadth import Breadth, Crossing
from service.analytics.findings import CoinRegime, Divergence, MarketRegime, Signal, Standing
from service.analytics.panel import Panel
from service.analytics.regime import CoinCourse, MarketCourse
from service.analytics.regime_trades import Followed, follow
from service.analytics.trend import Assessment, assessments


class Market:
    """The whole market at its last closed day; changed in place by `advance`, from one thread at a time.

    What it answers is plain values, so that who asks needs no numpy.

    Args:
        history: Closed daily bars by coin, one a day at most; those of coins delisted since included.
        published: Breadths that have been told: they stand, and the regime follows them, whatever bars came since.
    """

    def __init__(self, history: Mapping[str, Rows], published: Iterable[Breadth] = ()) -> None:
        self._panel = Panel(history)
        self._course = MarketCourse(self._panel, published)
        self._coins = CoinCourse(self._panel, self._course)

    def advance(self, day: int, rows: Mapping[str, Row]) -> None:
        """Take a newly closed day, to the same bits as a market made anew.

        Args:
            day: Counted from 1970-01-01; days between the last one and it are days without bars.
            rows: The bars of that day, of all coins that have one. Coins that were not known are listed.

        Raises:
            ValueError: If the day is not after the last one, or has no bars; a bar that came late changes what is known
                of all days after it: make the market anew.
        """
        self._panel.advance(day, rows)
        self._course.follow()
        self._coins.follow()

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

    def crossings(self) -> list[Crossing]:
        """Every crossing of UP and DOWN, oldest first."""
        return breadth.crossings(self.breadths)

    def velocity(self) -> float | None:
        """Change of net breadth, percentage points a day; see `breadth.velocity`."""
        return breadth.velocity(self.breadths)

    def standings(self) -> list[Standing]:
        """All coins by their return over 30 days, best first; see `standing.standings`."""
        return standing.standings(self._panel)

    def divergences(self) -> list[Divergence]:
        """BTC's high or low of the last day, where breadth does not confirm it; see `standing.divergences`."""
        return standing.divergences(self._panel, self.breadths)

    def opposed(self) -> list[str]:
        """The coins whose daily trend is the opposite of BTC's on the last day."""
        return standing.opposed(self._panel)

    def regime(self) -> MarketRegime | None:
        """The market's regime; None until its inputs have been known."""
        return self._course.now()

    def regimes(self) -> list[MarketRegime]:
        """Every run of the market's regime, oldest first."""
        return self._course.runs()

    def coin_regimes(self) -> dict[str, CoinRegime]:
        """The regimes of all coins that have one."""
        return {regime.coin: regime for regime in self._coins.coins()}

    def signals(self, since_day: int) -> list[Signal]:
        """Turns of coins' regimes on that day (counted from 1970-01-01) or later, newest first."""
        return self._coins.signals(since_day)

    def followed(self, tape: Tape) -> Followed:
        """What following each coin's regime holds and has brought; see `regime_trades.follow`."""
        return follow(self._panel, self._coins, tape)

"""What the leader knows of one history of the market: every closed daily bar, and what has been made of them.

Numbers are made here, so it is used on a worker thread, by one at a time; numpy comes with the first of them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from service.analytics.breadth import Breadth
from service.clock import DAY_MS
from service.market.conclusions.concluded import BreadthDay, Conclusions
from service.market.conclusions.telling import tell
from service.market.observed import Chart
from service.market.packed import Bars

if TYPE_CHECKING:
    from service.analytics.backtest.tape import Tape
    from service.analytics.market import Market
    from service.analytics.trend import Assessment


class Chronicle:
    """The bars of one history, and what they say.

    Args:
        origin: Which history.
        published: The days whose breadth was published before, oldest first.

    Attributes:
        origin: As above.
        published: Those, and the days that were published here.
    """

    def __init__(self, origin: str, published: Sequence[BreadthDay]) -> None:
        self.origin = origin
        self.published = list(published)
        self._funded: int | None = None
        self._rows: dict[str, Bars] = {}
        self._charts: dict[str, Chart] = {}
        self._market: Market | None = None

    @property
    def newest_ms(self) -> dict[str, int]:
        """Open of each coin's newest bar."""
        return {coin: rows.last_ms for coin, rows in self._rows.items()}

    @property
    def last_days(self) -> dict[str, int]:
        """The day of each coin's newest bar, counted from 1970-01-01."""
        return {coin: open_ms // DAY_MS for coin, open_ms in self.newest_ms.items()}

    def is_due(self, newest: int, funded: int) -> bool:
        """Whether there is something to tell, now that days up to `newest` may be published.

        What was published before this process began is told once more: rules and words may be others than they were.
        So it is when the funding of another number of days is known: trades are charged with it.
        """
        last = self.published[-1].day if self.published else -1
        return newest > last or (newest == last and funded != self._funded)

    def take(self, news: Mapping[str, Bars]) -> dict[str, Chart]:
        """Take bars that follow those known.

        Args:
            news: By venue symbol, one at least of each.

        Returns:
            The charts that are others now.
        """
        for coin, bars in news.items():
            self._rows.setdefault(coin, Bars()).extend(bars.with_volumes())
        self._market = self._follow(news)
        charts = {
            coin: _chart(found) for coin, found in self._market.assessments().items() if found.through_ms is not None
        }
        changed = {coin: chart for coin, chart in charts.items() if self._charts.get(coin) != chart}
        self._charts = charts
        return changed

    def publish(self, newest: int, funding: Mapping[str, Sequence[tuple[int, float]]]) -> Conclusions | None:
        """Publish every day that may be, and say what there is to say through the last one.

        Args:
            newest: The newest day that may be published; one that a coin has a bar of.
            funding: By venue symbol, of each day what a long paid over it, a fraction of its notional.

        Returns:
            The conclusions; null where no day knows the trend of any coin.
        """
        last = self.published[-1].day if self.published else -1
        self.published += [
            BreadthDay(*found) for found in self._whole().breadths if last < found.day <= newest and found.universe
        ]
        if not self.published:
            return None
        self._funded = sum(map(len, funding.values()))
        day = self.published[-1].day
        return tell(self._through(day), self.published, self._tape(day, funding))

    def _follow(self, news: Mapping[str, Bars]) -> "Market":
        """The market with these bars: one day more where they are all of one new day, else made anew."""
        days = {int(row[0]) // DAY_MS for bars in news.values() for row in bars}
        if self._market is None or len(days) > 1 or min(days) <= self._market.panel.last_day:
            return self._make(self._rows)
        self._market.advance(min(days), {coin: next(iter(bars)) for coin, bars in news.items()})
        return self._market

    def _through(self, day: int) -> "Market":
        """The market as of a day, whatever bars came since."""
        market = self._whole()
        if market.panel.last_day == day:
            return market
        return self._make({coin: bars.before((day + 1) * DAY_MS) for coin, bars in self._rows.items()})

    def _tape(self, day: int, funding: Mapping[str, Sequence[tuple[int, float]]]) -> "Tape":
        """The bars through a day, with volumes and funding."""
        from service.analytics.backtest.tape import lay_packed  # noqa: PLC0415 - brings numpy, as above

        bars = {coin: rows.numbers for coin, rows in self._rows.items()}
        return lay_packed(bars, day, {coin: dict(days) for coin, days in funding.items()})

    def _whole(self) -> "Market":
        return self._market or self._make(self._rows)

    def _make(self, bars: Mapping[str, Bars]) -> "Market":
        from service.analytics.market import Market  # noqa: PLC0415 - brings numpy, which only the leader needs

        return Market(bars, [Breadth(day.day, day.up, day.hodl, day.down) for day in self.published])


def _chart(found: "Assessment") -> Chart:
    daily, weekly = found.daily, found.weekly
    return Chart(
        through_ms=found.through_ms,
        trend_daily=None if daily is None else daily.state,
        trend_daily_since_ms=None if daily is None else daily.since_ms,
        trend_weekly=None if weekly is None else weekly.state,
        trend_weekly_since_ms=None if weekly is None else weekly.since_ms,
        btc_correlation=found.btc_correlation,
    )

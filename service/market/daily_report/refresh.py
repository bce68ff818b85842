"""Keeps charts and the daily report up to date, in the process that leads.

A day's breadth is published once and never changes, although a coin's bar may come late. Before the first publication
every coin, including delisted ones, must have been requested once. A day is published when every listed coin has its
bar; or 15 minutes after its close, once every coin was requested since and 90 % of the coins traded the day before have
it; or a day after its close. A later bar enters only its coin's charts.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from service.analytics.breadth import Breadth
from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.daily_report.models import BreadthDay, CoinRuns, DailyReport, RunOfDays, TrendRuns
from service.market.daily_report.serializer import build_report
from service.market.models import MAJORS, SETTLE_MS, CoinChart, PackedBars, SeriesProgress
from service.market.store import MarketStore
from service.storage.documents import Document, DocumentState, RevisionConflictError

if TYPE_CHECKING:
    from service.analytics.backtest.tape import MarketTape
    from service.analytics.market import MarketAnalytics
    from service.analytics.trend import Assessment, TrendCourse, TrendRun

GRACE_MS: Final = 15 * MINUTE_MS
"""How long every coin's bar is waited for: the time of a round of all coins at midnight."""

LONGEST_WAIT_MS: Final = DAY_MS
"""How long a day waits that many coins lack."""

ENOUGH: Final = 0.9
"""With a smaller share of the coins traded the day before, missing bars mean an outage."""


def newest_publishable(
    last_days: Mapping[str, int], listed: Collection[str], now_ms: int, asked_ms: int | None
) -> int | None:
    """The newest day that may be published.

    Args:
        last_days: Day of each coin's newest closed bar, counted from 1970-01-01 UTC, by venue symbol.
        listed: Coins that are traded now.
        now_ms: Wall time.
        asked_ms: Start of the last round that requested every coin; null if there was none.

    Returns:
        The day; null if there is none. Earlier days may be published with it.
    """
    if asked_ms is None or not last_days.keys() >= set(MAJORS):
        return None
    newest = min(last_days[major] for major in MAJORS)
    oldest = min(last_days.values())
    lasts = [last_days.get(coin, oldest - 1) for coin in listed]
    return next(
        (day for day in range(newest, oldest - 1, -1) if _is_publishable(day, lasts, now_ms, asked_ms)),
        None,
    )


def _is_publishable(day: int, lasts: Collection[int], now_ms: int, asked_ms: int) -> bool:
    missing = sum(last < day for last in lasts)
    if not missing:
        return True
    close_ms = (day + 1) * DAY_MS
    if asked_ms < close_ms + SETTLE_MS or now_ms < close_ms + GRACE_MS:
        return False
    traded_before = sum(last >= day - 1 for last in lasts)
    return now_ms >= close_ms + LONGEST_WAIT_MS or len(lasts) - missing >= ENOUGH * traded_before


class MarketHistory:
    """All closed daily bars of one dataset, and what was computed from them.

    Used on a worker thread, by one caller at a time. numpy is imported with the first bars.

    Args:
        origin: The dataset.
        published: The published days, oldest first.

    Attributes:
        origin: As above.
        published: Those, and the days published here.
        runs: How every coin has trended.
    """

    def __init__(self, origin: str, published: Sequence[BreadthDay]) -> None:
        self.origin = origin
        self.published = list(published)
        self.runs = TrendRuns({})
        self._funded: int | None = None
        self._rows: dict[str, PackedBars] = {}
        self._charts: dict[str, CoinChart] = {}
        self._market: MarketAnalytics | None = None

    @property
    def newest_ms(self) -> dict[str, int]:
        """Open time of each coin's newest bar."""
        return {coin: rows.last_ms for coin, rows in self._rows.items()}

    @property
    def last_days(self) -> dict[str, int]:
        """Day of each coin's newest bar, counted from 1970-01-01."""
        return {coin: open_ms // DAY_MS for coin, open_ms in self.newest_ms.items()}

    def is_due(self, newest: int, funded: int) -> bool:
        """Whether a new report is due, when days up to `newest` may be published.

        The first report of a process is always due, because rules and wording may have changed. So is one after the
        number of days with known funding changed, because trades are charged with it.
        """
        last = self.published[-1].day if self.published else -1
        return newest > last or (newest == last and funded != self._funded)

    def add_bars(self, news: Mapping[str, PackedBars]) -> dict[str, CoinChart]:
        """Add bars that follow the known ones.

        Args:
            news: By venue symbol, at least one each.

        Returns:
            The charts that changed.
        """
        for coin, bars in news.items():
            self._rows.setdefault(coin, PackedBars()).extend(bars.with_volumes())
        self._market = self._build_market(self._rows)
        found = {coin: each for coin, each in self._market.assessments().items() if each.through_ms is not None}
        charts = {coin: _chart(each) for coin, each in found.items()}
        courses = self._market.trend_courses()
        self.runs = TrendRuns({coin: _runs(each.through_ms or 0, courses[coin]) for coin, each in found.items()})
        changed = {coin: chart for coin, chart in charts.items() if self._charts.get(coin) != chart}
        self._charts = charts
        return changed

    def publish(self, newest: int, funding: Mapping[str, Sequence[tuple[int, float]]]) -> DailyReport | None:
        """Publish all days up to `newest`, and build the report.

        Args:
            newest: Newest publishable day; at least one coin has its bar.
            funding: By venue symbol and day, what a long paid, a fraction of its notional.

        Returns:
            The report; null if no day has a known trend.
        """
        last = self.published[-1].day if self.published else -1
        self.published += [
            BreadthDay(*found)
            for found in self._full_market().breadths
            if last < found.day <= newest and found.universe
        ]
        if not self.published:
            return None
        self._funded = sum(map(len, funding.values()))
        day = self.published[-1].day
        return build_report(self._market_through(day), self.published, self._tape(day, funding))

    def _market_through(self, day: int) -> "MarketAnalytics":
        """The market as of a day, without later bars."""
        market = self._full_market()
        if market.panel.last_day == day:
            return market
        return self._build_market({coin: bars.before((day + 1) * DAY_MS) for coin, bars in self._rows.items()})

    def _tape(self, day: int, funding: Mapping[str, Sequence[tuple[int, float]]]) -> "MarketTape":
        """The bars through a day, with volumes and funding."""
        from service.analytics.backtest.tape import build_tape_from_packed  # noqa: PLC0415 - brings numpy, as above

        bars = {coin: rows.numbers for coin, rows in self._rows.items()}
        return build_tape_from_packed(bars, day, {coin: dict(days) for coin, days in funding.items()})

    def _full_market(self) -> "MarketAnalytics":
        return self._market or self._build_market(self._rows)

    def _build_market(self, bars: Mapping[str, PackedBars]) -> "MarketAnalytics":
        from service.analytics.market import MarketAnalytics  # noqa: PLC0415 - brings numpy, which only the leader needs

        return MarketAnalytics(bars, [Breadth(day.day, day.up, day.hodl, day.down) for day in self.published])


def _chart(found: "Assessment") -> CoinChart:
    daily, weekly = found.daily, found.weekly
    return CoinChart(
        through_ms=found.through_ms,
        trend_daily=None if daily is None else daily.state,
        trend_daily_since_ms=None if daily is None else daily.since_ms,
        trend_weekly=None if weekly is None else weekly.state,
        trend_weekly_since_ms=None if weekly is None else weekly.since_ms,
        btc_correlation=found.btc_correlation,
    )


def _runs(through_ms: int, course: "TrendCourse") -> CoinRuns:
    def days(run: "TrendRun") -> RunOfDays:
        return RunOfDays(run.state, run.first_day, run.last_day)

    weekly = None if course.weekly is None else days(course.weekly)
    return CoinRuns(through_ms, list(map(days, course.daily)), weekly, course.upper, course.lower)


DAILY_REPORT_EVERY_S: Final = 15.0
"""A round without new bars is two small reads. Jobs that store bars may wake it sooner."""

_log: Final = logging.getLogger("verdict.market")


class DailyReportRefresh:
    """Computes charts and the daily report from new closed bars, in the process that leads.

    Args:
        clock: Decides when a day may be published.
        store: Bars in, charts out.
        document: The report. Its published days never change.
        runs: How every coin has trended.
        origin: The dataset that the store should hold now; a replay's changes at midnight.
        asked: Start of the last round that requested every coin; null before the first of this dataset.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        document: Document[DailyReport],
        runs: Document[TrendRuns],
        origin: Callable[[], str],
        asked: Callable[[], int | None],
    ) -> None:
        self._clock = clock
        self._store = store
        self._document = document
        self._runs = runs
        self._origin = origin
        self._asked = asked
        self._history: MarketHistory | None = None

    async def round(self) -> None:
        """Process new bars and store what changes.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used; the next round starts with all bars.
        """
        origin, asked_ms = self._origin(), self._asked()
        progress = await self._store.progress(origin)
        if not progress:
            return
        current = self._document.current
        history = self._history_of(origin, current)
        newest_ms = await self._store.newest_closed()
        news = await self._read_news(history, newest_ms)
        if self._origin() != origin:
            return
        if news:
            charts = await asyncio.to_thread(history.add_bars, news)
            await self._store.put_charts(origin, charts)
            if history.runs != self._runs.current.value or origin != self._runs.current.origin:
                through_ms = max((runs.through_ms for runs in history.runs.coins.values()), default=None)
                await self._runs.put(origin, history.runs, through_ms)
        try:
            await self._publish(history, current, progress, asked_ms)
        except RevisionConflictError:
            _log.warning("Another process has published a newer daily report.")
            return
        self._history = history

    def _history_of(self, origin: str, current: DocumentState[DailyReport]) -> MarketHistory:
        """The history in memory, unless another leader has published more of it meanwhile.

        It is dropped until the round has succeeded.
        """
        history, self._history = self._history, None
        published = current.value.breadth if current.value is not None and current.origin == origin else []
        if history is not None and history.origin == origin and history.published == published:
            return history
        return MarketHistory(origin, published)

    async def _read_news(self, history: MarketHistory, newest_ms: Mapping[str, int]) -> dict[str, PackedBars]:
        """Read the bars that the history lacks."""
        known_ms = history.newest_ms
        since_ms = {
            coin: known_ms.get(coin, -1) + 1 for coin, at_ms in newest_ms.items() if known_ms.get(coin) != at_ms
        }
        return await self._store.packed_after(since_ms) if since_ms else {}

    async def _publish(
        self,
        history: MarketHistory,
        current: DocumentState[DailyReport],
        progress: Sequence[SeriesProgress],
        asked_ms: int | None,
    ) -> None:
        """Store the report of the newest publishable day, if it is new.

        Raises:
            RevisionConflictError: If another process has published meanwhile.
        """
        listed = [coin.venue_symbol for coin in progress if coin.listed]
        newest = newest_publishable(history.last_days, listed, self._clock.now_ms(), asked_ms)
        if newest is None or not history.is_due(newest, await self._store.funded_days()):
            return
        report = await asyncio.to_thread(history.publish, newest, await self._store.funding_days())
        if report is not None and (report != current.value or history.origin != current.origin):
            await self._document.put(history.origin, report, report.through_ms, over=current.revision)

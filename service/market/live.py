"""The first venue, kept: its quotes, its bars, its funding, and the desk that answers from them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from service.clock import Clock
from service.market.bulk_history import LOAD_EVERY_S, BulkHistory, PreparedHistory
from service.market.desk import MarketDesk
from service.market.history import HistoryRefresh
from service.market.hourly import FundingHistory, HourlyBars
from service.market.loading import Loading
from service.market.quarantine import Report
from service.market.quotes import FEED_EVERY_S, QUOTES_EVERY_S, RECHECK_EVERY_S, QuoteRefresh
from service.market.schedule import Loop, set_event
from service.market.series_check import SeriesCheck
from service.market.shelf import Drawer
from service.market.sources.hyperliquid import Hyperliquid
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.upstream.socket import UpstreamSocket

HISTORY_EVERY_S: Final = 15.0
HOURS_EVERY_S: Final = 30.0
FOLLOW_EVERY_S: Final = 1.0


class Live:
    """The desk, and what keeps it fresh.

    Args:
        clock: All of its time.
        store: Where everything is kept.
        source: The venue.
        fallback: Who stands in for it.
        origin: Which history the venues tell at this moment.
        quarantine: Where it is told what is held back.
        recorded: The recording that they replay, if they do: it is loaded in bulk.

    Attributes:
        bulk: What loads the recording.
        desk: What answers.
        quarantine: What is held back.
        held_back: Holds back what fails the plausibility check.
        history: What keeps the daily bars.
        funding: What keeps the payments of funding.
        loading: Tells how long the rest of them takes.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        fallback: Fallback,
        origin: Callable[[], str],
        quarantine: Drawer[Report],
        recorded: PreparedHistory | None = None,
    ) -> None:
        self.desk = MarketDesk(clock)
        self._store = store
        self.quarantine = quarantine
        self._quotes = QuoteRefresh(
            clock, store, source, origin, self.desk, fallback, quarantine, lambda: self.history.asked_ms is not None
        )
        background, self.held_back = asyncio.Lock(), self._quotes.quarantine
        check = SeriesCheck(clock, store, self.desk.quotes, self.held_back, fallback)
        self.bulk = None if recorded is None else BulkHistory(clock, store, recorded, origin, self.known)
        self.history = HistoryRefresh(clock, store, source, origin, background, fallback, check)
        self._hours = hours = HourlyBars(clock, store, source, origin, background, check, self._is_idle)
        self.loading = Loading(clock, store, source, origin, hours.pace)
        self.funding = FundingHistory(clock, store, source, origin, background, check, self._is_idle)

    async def load(self) -> None:
        """Answer from what the store holds.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        self.desk.show(await self._store.snapshot())

    def known(self) -> asyncio.Event:
        """An event that is set once there are prices: now, if the store holds coins, else when they are accepted.

        So a process that starts while the venue is down keeps all that others tell.
        """
        if not self.desk.view():
            return self._quotes.prices_known
        return set_event()

    def loaded(self) -> asyncio.Event | None:
        """An event that is set once recorded series are there; null where nothing is loaded in bulk."""
        return None if self.bulk is None else self.bulk.complete

    def paid(self) -> asyncio.Event | None:
        """An event that is set once recorded payments are there; null where nothing is loaded in bulk."""
        return None if self.bulk is None else self.bulk.paid

    def loops(self, socket: UpstreamSocket) -> Sequence[Loop]:
        """What is to be done, in rows.

        Args:
            socket: To the venue's feed.
        """

        async def listen() -> None:
            try:
                await socket.listen(self._quotes.hear)
            finally:
                self._quotes.forget()

        loading = () if self.bulk is None else (Loop("recorded history", self.bulk.round, LOAD_EVERY_S),)
        days = None if self.bulk is None else self.bulk.days
        told = self._quotes.coins_known  # frames stand in the order of an answer
        coins = set_event() if self.desk.view() else told
        return (
            *loading,
            Loop("follow", self._follow, FOLLOW_EVERY_S, everywhere=True),
            Loop("quotes", self._quotes.round, QUOTES_EVERY_S, after=days),
            Loop("socket", listen, FOLLOW_EVERY_S, after=told, endless=True),
            Loop("feed", self._quotes.feed, FEED_EVERY_S, after=told),
            Loop("recheck", self._quotes.recheck, RECHECK_EVERY_S, after=told, wake=self.history.news.follow()),
            Loop("history", self.history.round, HISTORY_EVERY_S, after=coins),
            Loop("hours", self._hours.round, HOURS_EVERY_S, after=self.loaded() or self.history.caught_up),
            Loop("funding", self.funding.round, HOURS_EVERY_S, after=self.loaded() or self.history.caught_up),
        )

    def shown(self, step: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """Make a step after which this process answers from what it has changed, rather than a second later.

        Args:
            step: What changes the store.
        """

        async def stepped() -> None:
            await step()
            await self._follow()

        return stepped

    def readiness(self, *, leads: bool) -> Mapping[str, object]:
        """What the desk says, what is held back, and in the process that leads how far the series by the hour are.

        Args:
            leads: Whether this process does.
        """
        series = {"hourly": self._hours, "funding": self.funding} if leads else {}
        return {
            **self.desk.readiness(),
            "quarantined": (self.quarantine.now.value or Report()).summary(),
            **{name: {"known": kept.known, "total": kept.total} for name, kept in series.items()},
        }

    async def _follow(self) -> None:
        if await self._store.revision() != self.desk.state.revision:
            await self.load()

    def _is_idle(self) -> bool:
        return self.history.idle

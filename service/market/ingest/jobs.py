"""Jobs that keep the first venue's quotes, bars and funding fresh, and the service that answers from them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from service.clock import Clock
from service.market.fallback import SecondVenueApi
from service.market.ingest.candles import DailyBarsRefresh
from service.market.ingest.hourly import FundingRefresh, HourlyBarsRefresh
from service.market.ingest.quotes import FEED_EVERY_S, QUOTES_EVERY_S, RECHECK_EVERY_S, QuoteRefresh
from service.market.ingest.recording import LOAD_EVERY_S, PreparedRecording, RecordingLoader
from service.market.loading import LoadEstimator
from service.market.plausibility.quarantine import QuarantineReport
from service.market.plausibility.series import SeriesCheck
from service.market.service import MarketService
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.scheduler import PeriodicTask, already_set
from service.storage.documents import Document
from service.upstream.websocket import UpstreamSocket

HISTORY_EVERY_S: Final = 15.0
HOURS_EVERY_S: Final = 30.0
FOLLOW_EVERY_S: Final = 1.0


class IngestJobs:
    """The market service and the jobs that feed it.

    Args:
        clock: Time source.
        store: Stores everything.
        source: The venue.
        fallback: The second venue.
        origin: The current dataset of the venues.
        quarantine: The quarantine's document.
        recorded: The recording that they replay, if any; it is loaded in bulk.

    Attributes:
        bulk: Loads the recording.
        service: Answers.
        quarantine: The quarantine's document.
        held_back: Holds back what fails the plausibility check.
        history: Keeps daily bars.
        funding: Keeps funding payments.
        loading: Estimates how long the rest takes.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        source: Hyperliquid,
        fallback: SecondVenueApi,
        origin: Callable[[], str],
        quarantine: Document[QuarantineReport],
        recorded: PreparedRecording | None = None,
    ) -> None:
        self.service = MarketService(clock)
        self._store = store
        self.quarantine = quarantine
        self._quotes = QuoteRefresh(
            clock, store, source, origin, self.service, fallback, quarantine, lambda: self.history.asked_ms is not None
        )
        background, self.held_back = asyncio.Lock(), self._quotes.quarantine
        quotes = self._quotes
        check = SeriesCheck(clock, store, self.service.quotes, quotes.quarantine, fallback, quotes.references)
        self.bulk = None if recorded is None else RecordingLoader(clock, store, recorded, origin, self.prices_known)
        self.history = DailyBarsRefresh(clock, store, source, origin, background, fallback, check)
        self._hours = hours = HourlyBarsRefresh(clock, store, source, origin, background, check, self._is_idle)
        self.loading = LoadEstimator(clock, store, source, origin, hours.pace)
        self.funding = FundingRefresh(clock, store, source, origin, background, check, self._is_idle)

    async def load(self) -> None:
        """Load the stored snapshot.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        self.service.show(await self._store.snapshot())

    def prices_known(self) -> asyncio.Event:
        """An event that is set once there are prices: at once if the store holds coins.

        So a process that starts while the venue is down serves everything else.
        """
        if not self.service.view():
            return self._quotes.prices_known
        return already_set()

    def series_loaded(self) -> asyncio.Event | None:
        """An event that is set once recorded series are loaded; null without a recording."""
        return None if self.bulk is None else self.bulk.complete

    def funding_loaded(self) -> asyncio.Event | None:
        """An event that is set once recorded payments are loaded; null without a recording."""
        return None if self.bulk is None else self.bulk.paid

    def tasks(self, socket: UpstreamSocket) -> Sequence[PeriodicTask]:
        """The periodic tasks.

        Args:
            socket: Connection to the venue's feed.
        """

        async def listen() -> None:
            try:
                await socket.listen(self._quotes.on_frame)
            finally:
                self._quotes.forget()

        loading = () if self.bulk is None else (PeriodicTask("recorded history", self.bulk.round, LOAD_EVERY_S),)
        days = None if self.bulk is None else self.bulk.days
        coins_known = self._quotes.coins_known  # a frame has the coins in the order of an answer
        arrived = self.history.news.subscribe()
        coins = already_set() if self.service.view() else coins_known
        hourly = self.series_loaded() or self.history.caught_up
        return (
            *loading,
            PeriodicTask("follow", self._follow, FOLLOW_EVERY_S, every_process=True),
            PeriodicTask("quotes", self._quotes.round, QUOTES_EVERY_S, after=days),
            PeriodicTask("socket", listen, FOLLOW_EVERY_S, after=coins_known, long_running=True),
            PeriodicTask("feed", self._quotes.feed, FEED_EVERY_S, after=coins_known),
            PeriodicTask("recheck", self._quotes.recheck, RECHECK_EVERY_S, after=coins_known, wake=arrived),
            PeriodicTask("history", self.history.round, HISTORY_EVERY_S, after=coins),
            PeriodicTask("hours", self._hours.round, HOURS_EVERY_S, after=hourly),
            PeriodicTask("funding", self.funding.round, HOURS_EVERY_S, after=hourly),
        )

    def then_reload(self, step: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """A step after which this process answers from the changed store at once, not a second later.

        Args:
            step: Changes the store.
        """

        async def stepped() -> None:
            await step()
            await self._follow()

        return stepped

    def readiness(self, *, leads: bool) -> Mapping[str, object]:
        """Details for `/readyz`: the service's, quarantined values, and in the leader the hourly series.

        Args:
            leads: Whether this process is the leader.
        """
        series = {"hourly": self._hours, "funding": self.funding} if leads else {}
        return {
            **self.service.readiness(),
            "quarantined": (self.quarantine.current.value or QuarantineReport()).summary(),
            **{name: {"known": current.known, "total": current.total} for name, current in series.items()},
        }

    async def _follow(self) -> None:
        if await self._store.revision() != self.service.state.revision:
            await self.load()

    def _is_idle(self) -> bool:
        return self.history.idle

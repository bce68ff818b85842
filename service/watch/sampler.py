"""Samples the streams in the leader: states every five seconds, and events once each."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from service.clock import DAY_MS, Clock, parse_iso
from service.market.alerts.service import AlertTransition
from service.market.daily_report.models import DailyReport
from service.market.factory import MarketData
from service.sentiment.service import SentimentService
from service.storage.documents import DocumentState
from service.watch.snapshots import LastPayments, funding_sample, prices_sample, regime_sample, sentiment_sample
from service.watch.store import SentEvents, StreamSample, StreamStore
from service.wire.envelope import encode

NEWS_MS: Final = 2 * DAY_MS
"""Events that are found this long after they happened are not sent."""


def news_since(sent: SentEvents, now_ms: int) -> int:
    """The instant after which events are sent: the first look at this dataset, two days ago at most.

    If that lies in the future, the clock was set back. Then nothing known now is sent, and events dated in the future
    are remembered.
    """
    since_ms = sent.since_ms
    return now_ms if since_ms is None or since_ms > now_ms else max(since_ms, now_ms - NEWS_MS)


def unsent(happened: Iterable[StreamSample], sent: SentEvents, since_ms: int) -> list[StreamSample]:
    """Events that were not sent yet."""
    return [each for each in happened if each.as_of_ms > since_ms and (each.stream, each.id) not in sent.sent]


def alert_events(turns: Iterable[AlertTransition]) -> list[StreamSample]:
    """Events of alerts: one when they fire, one when they clear."""
    return [
        StreamSample("alerts", at_ms, encode(alert), alert.id if alert.clearedAt is None else f"{alert.id} cleared")
        for at_ms, alert in turns
    ]


def crossing_events(kept: DocumentState[DailyReport], origin: str) -> list[StreamSample]:
    """Events of the crossings of a dataset, oldest first."""
    if kept.value is None or kept.origin != origin:
        return []
    return [
        StreamSample("crossings", parse_iso(crossing.at), encode(crossing), crossing.id)
        for crossing in reversed(kept.value.crossings)
    ]


class StreamSampler:
    """Samples states and events and appends them to the store.

    Args:
        clock: The time.
        store: Stored states.
        market: Quotes, alerts and regimes.
        sentiment: Sentiment of the market.
        follow: Shows new states to the readers of this process.
    """

    def __init__(
        self,
        clock: Clock,
        store: StreamStore,
        market: MarketData,
        sentiment: SentimentService,
        follow: Callable[[], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._store = store
        self._market = market
        self._sentiment = sentiment
        self._follow = follow
        self._paid = LastPayments(clock, market.store)

    async def round(self) -> None:
        """Sample all streams once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round samples the missed events.
        """
        origin = self._market.coins.state.origin
        listed = [coin.venue_symbol for coin in self._market.coins.view().values()]
        paid = await self._paid.aprs(origin, listed)
        sent = await self._store.sent_events(origin)
        now_ms = self._clock.now_ms()
        since_ms = news_since(sent, now_ms)
        alerts = alert_events(await self._market.alerts.transitions(origin, since_ms))
        happened = [*alerts, *crossing_events(self._market.daily_report.current, origin)]
        news = unsent(happened, sent, since_ms)
        past, news = (news, []) if since_ms == now_ms else ([], news)
        await self._store.append(origin, now_ms, since_ms, [*self._states(paid), *news], past)
        await self._follow()

    def _states(self, paid: Mapping[str, float]) -> list[StreamSample]:
        coins = self._market.coins
        view, quotes_ms = coins.view(), coins.state.quotes_ms
        return [
            *prices_sample(view, quotes_ms),
            *funding_sample(view, quotes_ms, paid),
            *regime_sample(self._market.regimes),
            *sentiment_sample(self._sentiment),
        ]

"""Opens the live streams and starts their loops."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.clock import SECOND_MS, Clock
from service.market.factory import MarketData
from service.market.models import MarketState
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.streams.broker import StreamBroker
from service.streams.state import SAMPLE_S
from service.watch.changes import STREAM_SHAPES
from service.watch.follower import FOLLOW_EVERY_S, StreamFollower
from service.watch.sampler import StreamSampler
from service.watch.store import KEPT, StreamStore
from service.wire.cursor import Cursors

LIVE_MS: Final = 30 * SECOND_MS
"""Two polls of the venue."""


def is_live(state: MarketState, now_ms: int) -> bool:
    """Whether quotes arrive.

    Args:
        state: State of the market in this process.
        now_ms: Wall time. Quotes dated that far in the future do not count: the clock was set back.
    """
    fed = state.quotes_ms is not None and abs(now_ms - state.quotes_ms) <= LIVE_MS
    return fed and state.venue is not None


class StreamFeed(Struct, frozen=True):
    """The hub of the streams; `readiness` gives number and age of the newest state of each stream."""

    hub: StreamBroker
    readiness: Callable[[], Mapping[str, object]]


@asynccontextmanager
async def open_stream_feed(
    database: Database,
    cursors: Cursors,
    market: MarketData,
    sentiment: SentimentService,
    clock: Clock,
    lead: Leadership,
) -> AsyncIterator[StreamFeed]:
    """Open the streams. Readers can resume at once from stored states.

    Args:
        database: Holds the states.
        cursors: Write and read positions to resume from.
        market: Quotes, alerts and regimes.
        sentiment: Sentiment of the market.
        clock: The time.
        lead: Whether this process samples states; other processes read them from the store.

    Yields:
        The streams.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    store = StreamStore(database)
    hub = StreamBroker(clock, cursors, STREAM_SHAPES, lambda: is_live(market.coins.state, clock.now_ms()), KEPT)
    follower = StreamFollower(store, hub)
    sampler = StreamSampler(clock, store, market, sentiment, follower.follow)
    await follower.follow()
    loops = (
        PeriodicTask("streams", sampler.round, SAMPLE_S),
        PeriodicTask("stream readers", hub.watch, FOLLOW_EVERY_S, every_process=True),
        PeriodicTask("stream states", follower.follow, FOLLOW_EVERY_S, every_process=True),
    )
    async with running_tasks(loops, lead, clock):
        yield StreamFeed(hub, lambda: _readiness(follower, clock.now_ms()))


def _readiness(follower: StreamFollower, now_ms: int) -> Mapping[str, object]:
    return {
        stream: {"number": state.seq, "age_seconds": max(0, now_ms - state.at_ms) // SECOND_MS}
        for stream, state in follower.newest().items()
    }

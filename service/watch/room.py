"""The room, opened: streams that tell, and the loops that feed them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

from service.clock import SECOND_MS, Clock
from service.market.room import Market
from service.market.schedule import Lead, Loop, running
from service.sentiment.desk import SentimentDesk
from service.storage.database import Database
from service.streams.hub import Hub
from service.streams.state import SAMPLE_S
from service.watch.changes import SHAPES
from service.watch.follower import FOLLOW_EVERY_S, Follower
from service.watch.liveness import is_live
from service.watch.sampler import Sampler
from service.watch.store import KEPT, StreamStore
from service.wire.cursor import Cursors


class Watch(Struct, frozen=True):
    """What is read along, and the number and age of each stream's newest state that this process knows."""

    hub: Hub
    readiness: Callable[[], Mapping[str, object]]


@asynccontextmanager
async def open_watch(
    database: Database,
    cursors: Cursors,
    market: Market,
    sentiment: SentimentDesk,
    clock: Clock,
    lead: Lead,
) -> AsyncIterator[Watch]:
    """Open the streams; readers may resume at once from what the store holds.

    Args:
        database: Where states are kept.
        cursors: What writes and reads where readers resume.
        market: What most streams tell of.
        sentiment: The market's mood.
        clock: All of its time.
        lead: Whether this process is the one that takes states; the others tell what it stores.

    Yields:
        The streams.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    store = StreamStore(database)
    hub = Hub(clock, cursors, SHAPES, lambda: is_live(market.coins.state, clock.now_ms()), KEPT)
    follower = Follower(store, hub)
    sampler = Sampler(clock, store, market, sentiment, follower.follow)
    await follower.follow()
    loops = (
        Loop("streams", sampler.round, SAMPLE_S),
        Loop("stream readers", hub.watch, FOLLOW_EVERY_S, everywhere=True),
        Loop("stream states", follower.follow, FOLLOW_EVERY_S, everywhere=True),
    )
    async with running(loops, lead, clock):
        yield Watch(hub, lambda: _told(follower, clock.now_ms()))


def _told(follower: Follower, now_ms: int) -> Mapping[str, object]:
    return {
        stream: {"number": state.seq, "age_seconds": max(0, now_ms - state.at_ms) // SECOND_MS}
        for stream, state in follower.newest().items()
    }

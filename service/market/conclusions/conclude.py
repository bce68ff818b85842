"""Keeping up to date what all closed daily bars say together: every coin's charts, and the market's conclusions."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.clock import Clock
from service.market.conclusions.chronicle import Chronicle
from service.market.conclusions.concluded import Conclusions
from service.market.conclusions.publication import newest_publishable
from service.market.observed import Progress
from service.market.packed import Bars
from service.market.shelf import Drawer, Kept, OvertakenError
from service.market.store import MarketStore

CONCLUDE_EVERY_S: Final = 15.0
"""A round without new bars is two small reads. Whoever brings bars may wake it sooner."""

_log: Final = logging.getLogger("verdict.market")


class ConcludeRefresh:
    """Looks for new closed bars and concludes from them, one round at a time, in the process that leads.

    Args:
        clock: Says when a day may be published.
        store: Where bars are, and charts are put.
        drawer: Where conclusions are put. It has been followed once: what it holds then is published for ever.
        origin: Which history the store is meant to hold at this moment; a replay's changes at midnight.
        asked: When the last round began that asked every coin for the bars it lacked; null before the first of this
            history.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        drawer: Drawer[Conclusions],
        origin: Callable[[], str],
        asked: Callable[[], int | None],
    ) -> None:
        self._clock = clock
        self._store = store
        self._drawer = drawer
        self._origin = origin
        self._asked = asked
        self._chronicle: Chronicle | None = None

    async def round(self) -> None:
        """Take the bars that came since the last round, and put what they change.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round begins with all bars.
        """
        origin, asked_ms = self._origin(), self._asked()
        progress = await self._store.progress(origin)
        if not progress:
            return
        kept = self._drawer.now
        chronicle = self._recall(origin, kept)
        newest_ms = await self._store.newest_closed()
        news = await self._read_news(chronicle, newest_ms)
        if self._origin() != origin:
            return
        if news:
            charts = await asyncio.to_thread(chronicle.take, news)
            await self._store.put_charts(origin, charts)
        try:
            await self._publish(chronicle, kept, progress, asked_ms)
        except OvertakenError:
            _log.warning("another process concludes too")
            return
        self._chronicle = chronicle

    def _recall(self, origin: str, kept: Kept[Conclusions]) -> Chronicle:
        """What is remembered of this history, unless another process, which led meanwhile, has published more of it.

        It is forgotten until the round has ended well.
        """
        chronicle, self._chronicle = self._chronicle, None
        published = kept.value.breadth if kept.value is not None and kept.origin == origin else []
        if chronicle is not None and chronicle.origin == origin and chronicle.published == published:
            return chronicle
        return Chronicle(origin, published)

    async def _read_news(self, chronicle: Chronicle, newest_ms: Mapping[str, int]) -> dict[str, Bars]:
        """Read the bars that the chronicle lacks, and no others."""
        known_ms = chronicle.newest_ms
        since_ms = {
            coin: known_ms.get(coin, -1) + 1 for coin, at_ms in newest_ms.items() if known_ms.get(coin) != at_ms
        }
        return await self._store.packed_after(since_ms) if since_ms else {}

    async def _publish(
        self, chronicle: Chronicle, kept: Kept[Conclusions], progress: Sequence[Progress], asked_ms: int | None
    ) -> None:
        """Put the conclusions of the newest day that may be published, where they are not there yet.

        Raises:
            OvertakenError: If others than those that the chronicle goes on from are there by now.
        """
        listed = [coin.venue_symbol for coin in progress if coin.listed]
        newest = newest_publishable(chronicle.last_days, listed, self._clock.now_ms(), asked_ms)
        if newest is None or not chronicle.is_due(newest, await self._store.funded_days()):
            return
        told = await asyncio.to_thread(chronicle.publish, newest, await self._store.funding_days())
        if told is not None and (told != kept.value or chronicle.origin != kept.origin):
            await self._drawer.put(chronicle.origin, told, told.through_ms, over=kept.revision)

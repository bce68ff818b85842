"""Keeping sentiment fresh: one round at a time, each source failing on its own."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from service.clock import HOUR_MS, MINUTE_MS, Clock
from service.feeds.dates import past_date
from service.sentiment.aggregation import (
    HORIZON_MS,
    Conclusions,
    FeedState,
    Index,
    ScoredItem,
    conclude,
    conclude_market,
)
from service.sentiment.reader import Reader, known_as
from service.sentiment.sources.alternative import FearGreed
from service.sentiment.sources.rss import NewsFeed, Stories
from service.sentiment.stance import Trading
from service.sentiment.store import NewsStore
from service.storage.documents import Document, FetchFailure
from service.upstream.failures import UpstreamError

T = TypeVar("T")

EVERY_S: Final = 5.0
"""How often to call `round`; it does nothing while nothing is due."""

NEWS_EVERY_MS: Final = 10 * MINUTE_MS
INDEX_EVERY_MS: Final = HOUR_MS
FEAR_GREED: Final = "alternative"
"""Name of the Fear & Greed index among the feeds."""

GONE_MS: Final = 48 * HOUR_MS
"""So old, neither news nor the index enters a conclusion."""

_log: Final = logging.getLogger("verdict.sentiment")


class SentimentSources(Struct, frozen=True):
    """What the package reads: news feeds, and the market's Fear & Greed index."""

    feeds: Sequence[NewsFeed]
    fear_greed: FearGreed


class SentimentMarket(Struct, frozen=True):
    """What comes from the market package, read in every round.

    Attributes:
        origin: The current dataset.
        tape: How coins trade, by symbol.
        categories: Name → symbols of its coins, in the category's own order.
    """

    origin: Callable[[], str]
    tape: Callable[[], Mapping[str, Trading]]
    categories: Callable[[], Mapping[str, Sequence[str]]]


class _View(Struct, frozen=True):
    """The market, as one round sees it."""

    origin: str
    tape: Mapping[str, Trading]
    categories: Mapping[str, Sequence[str]]
    read_with: str


class SentimentRefresh:
    """Fetches, scores, attributes, stores and concludes.

    Args:
        clock: When something is due.
        store: Where items are kept.
        document: Holds the conclusions.
        sources: What is read.
        market: What is known of the market.
    """

    def __init__(
        self,
        clock: Clock,
        store: NewsStore,
        document: Document[Conclusions],
        sources: SentimentSources,
        market: SentimentMarket,
    ) -> None:
        self._clock = clock
        self._store = store
        self._document = document
        self._sources = sources
        self._market = market
        self._origin: str | None = None
        self._asked_ms: int | None = None
        self._news_ms: int | None = None
        self._index: Index | None = None
        self._index_ms: int | None = None
        self._feeds: dict[str, FeedState] = {}
        self._reader: tuple[str, Reader] | None = None
        self._charted = 0

    async def round(self) -> None:
        """Do what is due: read the feeds every ten minutes; conclude after that, and when the market has new values.

        It tells more when coins or categories changed, and when the last days of more coins came to be known.

        One feed's failure leaves the others. Where all fail, the last conclusions stay as they are until their news are
        48 hours old; then, and where there never were any, price and funding alone are concluded from.

        Raises:
            UpstreamError: If no feed answered; the document then says so.
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        view = self._look()
        if view.origin != self._origin:
            self._begin(view.origin)
        if not self._is_due(self._asked_ms, NEWS_EVERY_MS):
            if not self._is_concluded(view):
                await self._conclude(view)
            return
        await self._ask_index()
        by_source, refusals = await self._ask_feeds()
        if self._market.origin() != view.origin:
            return
        if by_source or not refusals:
            self._asked_ms = self._clock.now_ms()
            self._news_ms = max((stories.observed_ms for stories in by_source.values()), default=self._asked_ms)
            await self._take(view, by_source)
            await self._conclude(view)
            return
        if self._is_gone(view.origin):
            self._news_ms = None
            await self._conclude(view)
        await self._document.fail(FetchFailure(self._clock.now_ms(), refusals[0].upstream_status, refusals[0].body))
        raise refusals[0]

    def _look(self) -> _View:
        tape, categories = self._market.tape(), self._market.categories()
        return _View(self._market.origin(), tape, categories, known_as(tape, categories))

    def _begin(self, origin: str) -> None:
        """Start with a history: what was known of the index and the feeds is taken over if it belongs to it."""
        kept = self._document.current
        self._origin, self._charted = origin, 0
        self._asked_ms = self._news_ms = self._index_ms = None
        known = kept.value if kept.origin == origin else None
        self._index = None if known is None else known.index
        self._feeds = {} if known is None else dict(known.feeds)

    def _is_due(self, done_ms: int | None, every_ms: int) -> bool:
        now_ms = self._clock.now_ms()
        return done_ms is None or not 0 <= now_ms - done_ms < every_ms

    def _is_concluded(self, view: _View) -> bool:
        kept = self._document.current
        if kept.value is None or kept.origin != view.origin or kept.value.read_with != view.read_with:
            return False
        return _charted(view.tape) <= self._charted

    def _is_gone(self, origin: str) -> bool:
        """Whether the conclusions that are kept say nothing of now: another history's, or of news that are too old."""
        kept = self._document.current
        if kept.value is None or kept.origin != origin:
            return True
        news_ms = kept.value.news_ms
        return news_ms is None or self._clock.now_ms() - news_ms > GONE_MS

    async def _ask_index(self) -> None:
        if self._is_due(self._index_ms, INDEX_EVERY_MS):
            outcome = await _attempt(self._sources.fear_greed.newest)
            self._note(FEAR_GREED, outcome)
            if isinstance(outcome, Index):
                self._index, self._index_ms = outcome, self._clock.now_ms()

    async def _ask_feeds(self) -> tuple[dict[str, Stories], list[UpstreamError]]:
        feeds = self._sources.feeds
        outcomes = await asyncio.gather(*(_attempt(feed.stories) for feed in feeds))
        for feed, outcome in zip(feeds, outcomes, strict=True):
            self._note(feed.source, outcome)
        by_source = {
            feed.source: outcome for feed, outcome in zip(feeds, outcomes, strict=True) if isinstance(outcome, Stories)
        }
        return by_source, [outcome for outcome in outcomes if isinstance(outcome, UpstreamError)]

    def _note(self, feed: str, outcome: object) -> None:
        """Record how a feed answered."""
        if isinstance(outcome, UpstreamError):
            before = self._feeds.get(feed, FeedState())
            self._feeds[feed] = FeedState(before.answered_ms, described(outcome.upstream_status))
        else:
            now_ms, unread, undated = self._clock.now_ms(), 0, 0
            if isinstance(outcome, Stories):
                unread = outcome.lost
                undated = sum(past_date(story.published_ms, now_ms) is None for story in outcome.stories)
            self._feeds[feed] = FeedState(now_ms, None, unread, undated)

    def _missing(self) -> str:
        """A sentence that names the news feeds that fail; empty if none does."""
        failing = [feed.source for feed in self._sources.feeds if self._feeds.get(feed.source, FeedState()).failure]
        return f" Failing feeds: {', '.join(failing)}." if failing else ""

    async def _take(self, view: _View, by_source: Mapping[str, Stories]) -> None:
        """Keep what is new; scored in a thread, for a feed of strange coins takes tens of milliseconds."""
        now_ms, reader = self._clock.now_ms(), await asyncio.to_thread(self._reader_for, view)
        held = await self._store.read(view.origin, now_ms - HORIZON_MS)
        fresh: list[ScoredItem] = []
        for source, stories in by_source.items():
            fresh += await asyncio.to_thread(reader.read, source, stories.stories, [*held, *fresh], now_ms)
        await self._store.put(view.origin, fresh, now_ms)
        _log.info("News was read.", extra={"feeds": len(by_source), "fresh": len(fresh), "held": len(held)})

    async def _conclude(self, view: _View) -> None:
        """Conclude from what is kept; without news while these are gone."""
        now_ms, kept, self._charted = self._clock.now_ms(), self._document.current, _charted(view.tape)
        items = [] if self._news_ms is None else await self._store.read(view.origin, now_ms - HORIZON_MS)
        if kept.value is None or kept.value.read_with != view.read_with:
            changed = await asyncio.to_thread(lambda: self._reader_for(view).attribute(items))
            await self._store.put(view.origin, changed, now_ms)
            items = sorted({item.id: item for item in [*items, *changed]}.values(), key=lambda item: item.published_ms)
        index = None if self._index is None or now_ms - self._index.of_ms > GONE_MS else self._index
        fear_greed = None if index is None else index.value
        coins, categories = await asyncio.to_thread(conclude, items, view.tape, view.categories, fear_greed, now_ms)
        market = conclude_market(items, view.tape, fear_greed, now_ms)
        note = self._missing()
        if note:
            coins = {symbol: replace(mood, summary=mood.summary + note) for symbol, mood in coins.items()}
            categories = {name: replace(mood, summary=mood.summary + note) for name, mood in categories.items()}
            market = replace(market, summary=market.summary + note)
        newest_ms = max((item.published_ms for item in items), default=None)
        feeds = dict(self._feeds)
        conclusions = Conclusions(newest_ms, self._news_ms, index, view.read_with, coins, categories, market, feeds)
        prices_ms = [each.observed_ms for each in view.tape.values() if each.observed_ms is not None]
        observed_ms = max(prices_ms, default=None) if self._news_ms is None else self._news_ms
        await self._document.put(view.origin, conclusions, observed_ms)

    def _reader_for(self, view: _View) -> Reader:
        """Made in a thread: to lay out the names of 700 categories takes tens of milliseconds."""
        if self._reader is None or self._reader[0] != view.read_with:
            self._reader = (view.read_with, Reader(view.tape, view.categories))
        return self._reader[1]


def described(status: int | None) -> str:
    """Why a feed failed: its HTTP status; null means that there was no answer."""
    if status == HTTPStatus.OK:
        return "The answer is not in the expected format."
    return "No answer." if status is None else f"HTTP status {status}."


def _charted(tape: Mapping[str, Trading]) -> int:
    """How many coins' last days are known."""
    return sum(trading.change_7d is not None for trading in tape.values())


async def _attempt(call: Callable[[], Awaitable[T]]) -> T | UpstreamError:
    """Ask; made here, what is asked is awaited even where the service ends before it is begun."""
    try:
        return await call()
    except UpstreamError as error:
        return error

"""Answers of `sentiment` and `coin/sentiment` from the newest conclusions, cached until these change."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Raw, Struct

from service.clock import HOUR_MS, Clock, iso, parse_iso
from service.sentiment.aggregation import CoinMood, Conclusions, FeedState
from service.sentiment.refresh import FEAR_GREED, described
from service.sentiment.service import SentimentService
from service.storage.documents import DocumentState
from service.wire.envelope import Answer, encode
from service.wire.queries import SentimentQuery
from service.wire.sentiment import (
    CategoryScore,
    CategorySentiment,
    CategorySlope,
    CategorySlopes,
    CoinSlope,
    CoinSlopes,
    FeedCheck,
    OneCoinSentiment,
    OneSentiment,
    SentimentCategories,
    SentimentHealth,
    SentimentItem,
    SentimentItems,
    SubjectKind,
)

MARKET: Final = "market"
"""`entity_id` of the whole market."""

_ID_BYTES: Final = 6


class SentimentViews:
    """Answers lists and single items of sentiment.

    Args:
        clock: The age of an answer of `health` before the first conclusions.
        sentiment: The conclusions.
        find_coin: Canonical ticker of a coin; raises UNKNOWN_SYMBOL.
        feeds: Names of the feeds that are read.
    """

    def __init__(
        self, clock: Clock, sentiment: SentimentService, find_coin: Callable[[str], str], feeds: tuple[str, ...]
    ) -> None:
        self._clock = clock
        self._sentiment = sentiment
        self._find_coin = find_coin
        self._feeds = feeds
        self._cache: dict[tuple[str, str], Answer] = {}
        self._revision = -1

    def view(self, query: SentimentQuery) -> Answer:
        """Answer an action other than `narratives` and `narrative`.

        Returns:
            The encoded payload; `as_of` as for a category.

        Raises:
            ServiceError: As `coin` and `category`; `UNAVAILABLE` and upstream codes as `SentimentService.category`.
        """
        if query.action == "health":
            return self._health()
        if query.symbol is not None:
            return self.coin(query.symbol)
        if query.name is not None:
            return self.category(query.name)
        return self._cached(query.action, "", _LISTS[query.action])

    def coin(self, symbol: str) -> Answer:
        """Sentiment of one coin. A listed coin without conclusions is neutral, with a summary that says so.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; upstream codes and `UNAVAILABLE` while there is no data.
        """
        ticker = str(self._find_coin(symbol))

        def build(known: Conclusions, created_at: str) -> Struct:
            mood = known.coins.get(ticker, _UNKNOWN)
            return OneCoinSentiment(success=True, symbol=ticker, data=item_of("coin", ticker, mood, created_at))

        return self._cached("coin", ticker, build)

    def category(self, name: str) -> Answer:
        """Sentiment of one category.

        Raises:
            ServiceError: As `SentimentService.category`.
        """
        self._sentiment.category(name)

        def build(known: Conclusions, created_at: str) -> Struct:
            return OneSentiment(success=True, data=_category_item(known.categories[name], created_at))

        return self._cached("category", name, build)

    def _cached(self, action: str, name: str, build: Callable[[Conclusions, str], Struct]) -> Answer:
        known, as_of_ms = self._sentiment.standing()
        if self._revision != self._sentiment.revision:
            self._revision, self._cache = self._sentiment.revision, {}
        answer = self._cache.get((action, name))
        if answer is None:
            created_at = iso(self._sentiment.state.observed_ms or as_of_ms)
            answer = self._cache[action, name] = Answer(Raw(encode(build(known, created_at))), as_of_ms)
        return answer

    def _health(self) -> Answer:
        state = self._sentiment.state
        checks = [_check(name, state) for name in (*self._feeds, FEAR_GREED)]
        as_of_ms = self._clock.now_ms() if state.observed_ms is None else state.observed_ms
        return Answer(SentimentHealth(all(check.ok for check in checks), checks), as_of_ms)


_UNKNOWN: Final = CoinMood("neutral", "Neutral: no sentiment has been computed for this coin yet.", None, None, 0, None)


def item_of(kind: SubjectKind, name: str, mood: CoinMood, created_at: str) -> SentimentItem:
    """The item of a mood.

    Args:
        kind: What it is about.
        name: Its `entity_id`.
        mood: Stance, score and news.
        created_at: When it was computed, ISO 8601 UTC.
    """
    digest = sha256(f"{kind} {name} {created_at}".encode()).digest()
    return SentimentItem(
        id=int.from_bytes(digest[:_ID_BYTES]),
        entity_id=name,
        stance=mood.stance,
        score=mood.score,
        mentions=mood.mentions,
        summary=mood.summary,
        type=kind,
        created_at=created_at,
        slope_24h=mood.slope_24h,
        newest_at=None if mood.newest_ms is None else iso(mood.newest_ms),
    )


def _category_item(found: CategorySentiment, created_at: str) -> SentimentItem:
    newest_at = found.provenance.newest_at
    newest_ms = None if newest_at is None else parse_iso(newest_at)
    mood = CoinMood(found.stance, found.summary, found.score, found.slope_24h, found.mentions, newest_ms)
    return item_of("category", found.name, mood, created_at)


def _market(known: Conclusions, created_at: str) -> Struct:
    return SentimentItems(success=True, data=[_summary(known, created_at)])


def _summary(known: Conclusions, created_at: str) -> SentimentItem:
    return item_of(MARKET, MARKET, known.market, created_at)


def _latest(known: Conclusions, created_at: str) -> Struct:
    items = [item_of("coin", symbol, mood, created_at) for symbol, mood in known.coins.items()]
    items += [_category_item(found, created_at) for found in known.categories.values()]
    return SentimentItems(
        success=True, data=sorted((item for item in items if item.mentions), key=lambda item: -item.mentions)
    )


def _categories(known: Conclusions, _: str) -> Struct:
    rows = [
        CategoryScore(
            found.name, found.stance, found.score, found.slope_24h, found.mentions, found.provenance.newest_at
        )
        for found in known.categories.values()
    ]
    return SentimentCategories(
        success=True,
        interval="1d",
        total_count=len(rows),
        categories=sorted(rows, key=lambda row: (-row.mentions, row.name)),
    )


def _slopes(known: Conclusions, created_at: str) -> Struct:
    rows = [
        CategorySlope(found.name, found.score, found.slope_24h, found.mentions)
        for found in known.categories.values()
        if found.score is not None and found.slope_24h is not None
    ]
    return CategorySlopes(_hour(created_at), len(rows), sorted(rows, key=lambda row: (-row.slope_24h, row.name)))


def _entity_slopes(known: Conclusions, created_at: str) -> Struct:
    rows = [
        CoinSlope(symbol, mood.score, mood.slope_24h, mood.mentions)
        for symbol, mood in known.coins.items()
        if mood.score is not None and mood.slope_24h is not None
    ]
    return CoinSlopes(_hour(created_at), len(rows), sorted(rows, key=lambda row: (-row.slope_24h, row.symbol)))


_LISTS: Final[Mapping[str, Callable[[Conclusions, str], Struct]]] = {
    "market": _market,
    "latest": _latest,
    "summary": _summary,
    "categories": _categories,
    "slopes": _slopes,
    "entity-slopes": _entity_slopes,
}


def _hour(at: str) -> str:
    return iso(parse_iso(at) // HOUR_MS * HOUR_MS)


def _check(name: str, state: DocumentState[Conclusions]) -> FeedCheck:
    known = FeedState() if state.value is None else state.value.feeds.get(name, FeedState())
    failure = known.failure
    if name != FEAR_GREED and state.failure is not None:  # the last round reached no news feed
        failure = described(state.failure.status)
    if known.answered_ms is None:
        return FeedCheck(name, ok=False, detail=failure or "Not asked yet.", as_of=None)
    return FeedCheck(name, ok=failure is None, detail=failure or known.detail, as_of=iso(known.answered_ms))

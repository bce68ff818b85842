"""Answers sentiment of coins, categories and the market from memory."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.market.loading import LoadProgress, raise_unavailable
from service.sentiment.aggregation import Conclusions
from service.sentiment.refresh import GONE_MS
from service.storage.documents import Document, DocumentState
from service.wire.envelope import Answer, encode
from service.wire.sentiment import NO_MOOD, Mood
from service.wire.streams import SentimentState

FIRST_FEED: Final = "coindesk"


class SentimentService:
    """Answers from the newest conclusions.

    Args:
        clock: Ages are judged by it.
        document: Holds the conclusions.
        find: Looks a category up by its exact name, and refuses one that there is not.
        filling: Tells how long it takes until the coins of a category are known.
    """

    def __init__(
        self,
        clock: Clock,
        document: Document[Conclusions],
        find: Callable[[str], object],
        filling: Callable[[str], LoadProgress],
    ) -> None:
        self._clock = clock
        self._find = find
        self._filling = filling
        self._kept: DocumentState[Conclusions] = DocumentState()
        self._moods: dict[str, Mood] = {}
        self._answers: dict[str, Answer] = {}
        document.on_change(self._show)

    @property
    def revision(self) -> int:
        """Another number whenever a mood is another."""
        return self._kept.revision

    def mood(self, symbol: str) -> Mood:
        """A coin's mood: the same object until something changes, `NO_MOOD` where nothing is known.

        Args:
            symbol: Canonical ticker.
        """
        return self._moods.get(symbol, NO_MOOD)

    def category(self, name: str) -> Answer:
        """The sentiment of a category.

        Args:
            name: Its exact name.

        Returns:
            The encoded payload; `as_of` is when the newest item scored was published (of all items: a category without
            items is not older for that), or when prices were observed where there are no news.

        Raises:
            ServiceError: `UNKNOWN_CATEGORY` with candidates; `UPSTREAM_4XX` or `UPSTREAM_5XX` where all that was known
                is older than 48 hours, or who belongs to the category cannot be had; `UNAVAILABLE` before the first
                conclusions, of the category too.
        """
        said, as_of_ms = self.standing()
        answer = self._answers.get(name)
        if answer is None:
            sentiment = said.categories.get(name)
            if sentiment is None:
                self._find(name)
                raise_unavailable(FIRST_FEED, None, f"sentiment of the category {name!r}", self._filling(name))
            answer = self._answers[name] = Answer(Raw(encode(sentiment)), as_of_ms)
        return answer

    def market(self) -> Answer:
        """The sentiment of the whole market.

        Returns:
            The encoded `SentimentState`; `as_of` as for a category.

        Raises:
            ServiceError: As `category`, but for a name.
        """
        said, as_of_ms = self.standing()
        mood = said.market
        return Answer(Raw(encode(SentimentState(mood.stance, mood.score, mood.summary))), as_of_ms)

    @property
    def state(self) -> DocumentState[Conclusions]:
        """The newest conclusions, whatever their age, and how the last round failed."""
        return self._kept

    def standing(self) -> tuple[Conclusions, int]:
        """The conclusions, and what they are as of: when the newest item was published, or prices were observed.

        Raises:
            ServiceError: Upstream codes if all that is known is older than 48 hours; `UNAVAILABLE` before the first.
        """
        kept = self._kept
        if kept.value is None or kept.observed_ms is None or self._clock.now_ms() - kept.observed_ms > GONE_MS:
            raise_unavailable(FIRST_FEED, kept.failure, "sentiment")
        newest_ms = kept.value.newest_ms
        return kept.value, kept.observed_ms if newest_ms is None else newest_ms

    def fear_greed(self) -> tuple[int, int] | None:
        """The Fear & Greed index, 0 to 100, and when its day began (epoch ms UTC); null where it is not known."""
        value, observed_ms = self._kept.value, self._kept.observed_ms
        if value is None or value.index is None or observed_ms is None:
            return None
        is_gone = self._clock.now_ms() - observed_ms > GONE_MS
        return None if is_gone else (value.index.value, value.index.of_ms)

    def categories(self) -> int:
        """Of how many categories the sentiment is known."""
        return 0 if self._kept.value is None else len(self._kept.value.categories)

    def readiness(self) -> Mapping[str, object]:
        """State of the package: coins with a mood, age of the news in seconds, whether it is failing, each feed.

        `ready` once something was concluded, or tried in vain.
        """
        value = self._kept.value
        news_ms = None if value is None else value.news_ms
        return {
            "ready": value is not None or self._kept.failure is not None,
            "coins": len(self._moods),
            "news_age_seconds": None if news_ms is None else max(0, self._clock.now_ms() - news_ms) // SECOND_MS,
            "fear_greed": None if value is None or value.index is None else value.index.value,
            "failing": self._kept.failure is not None,
            "feeds": {} if value is None else {name: feed.detail for name, feed in value.feeds.items()},
        }

    def _show(self, kept: DocumentState[Conclusions]) -> None:
        self._kept, self._answers = kept, {}
        stale = kept.failure is not None
        coins = {} if kept.value is None or kept.observed_ms is None else kept.value.coins
        self._moods = {
            symbol: Mood(mood.stance, mood.summary, kept.observed_ms, stale) for symbol, mood in coins.items()
        }

"""The room's front: moods and categories from memory."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.market.shelf import Drawer, Kept
from service.market.silence import nothing_to_say
from service.sentiment.mood import Conclusions
from service.sentiment.refresh import GONE_MS
from service.wire.envelope import Answer, encode
from service.wire.sentiment import NO_MOOD, Mood

FIRST_FEED: Final = "coindesk"
MOST_CANDIDATES: Final = 5
_LIKENESS: Final = 0.4


class SentimentDesk:
    """Answers from the newest conclusions.

    Args:
        clock: Ages are judged by it.
        drawer: Where conclusions are kept.
    """

    def __init__(self, clock: Clock, drawer: Drawer[Conclusions]) -> None:
        self._clock = clock
        self._kept: Kept[Conclusions] = Kept()
        self._moods: dict[str, Mood] = {}
        self._answers: dict[str, Answer] = {}
        drawer.on_change(self._show)

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
            The encoded payload; `as_of` is when the newest item scored was published (of all items: a category nobody
            writes about is not older for that), or when prices were observed where there are no news.

        Raises:
            ServiceError: `UNKNOWN_CATEGORY` with candidates; `UPSTREAM_4XX` or `UPSTREAM_5XX` where all that was known
                is older than 48 hours; `UNAVAILABLE` before the first conclusions.
        """
        kept = self._kept
        if kept.value is None or kept.observed_ms is None or self._clock.now_ms() - kept.observed_ms > GONE_MS:
            nothing_to_say(FIRST_FEED, kept.failure, "sentiment")
        answer = self._answers.get(name)
        if answer is None:
            sentiment = kept.value.categories.get(name)
            if sentiment is None:
                raise _unknown(name, kept.value.categories)
            newest_ms = kept.value.newest_ms
            answer = Answer(Raw(encode(sentiment)), kept.observed_ms if newest_ms is None else newest_ms)
            self._answers[name] = answer
        return answer

    def readiness(self) -> Mapping[str, object]:
        """What can be said of the room: coins with a mood, age of the news in seconds, whether it is failing."""
        value = self._kept.value
        news_ms = None if value is None else value.news_ms
        return {
            "coins": len(self._moods),
            "news_age_seconds": None if news_ms is None else max(0, self._clock.now_ms() - news_ms) // SECOND_MS,
            "fear_greed": None if value is None or value.index is None else value.index.value,
            "failing": self._kept.failure is not None,
        }

    def _show(self, kept: Kept[Conclusions]) -> None:
        self._kept, self._answers = kept, {}
        stale = kept.failure is not None
        coins = {} if kept.value is None or kept.observed_ms is None else kept.value.coins
        self._moods = {
            symbol: Mood(mood.stance, mood.summary, kept.observed_ms, stale) for symbol, mood in coins.items()
        }


def _unknown(name: str, known: Mapping[str, object]) -> ServiceError:
    folded = {each.casefold(): each for each in sorted(known)}
    asked = name.casefold()
    holding = [each for key, each in folded.items() if asked in key]
    alike = [folded[key] for key in get_close_matches(asked, folded, n=MOST_CANDIDATES, cutoff=_LIKENESS)]
    candidates = list(dict.fromkeys([*holding, *alike]))[:MOST_CANDIDATES]
    hint = f"; did you mean {' or '.join(candidates)}" if candidates else ""
    return ServiceError(
        "UNKNOWN_CATEGORY", f"no category {name!r} is known{hint}; names are exact", details={"candidates": candidates}
    )

"""Answers narratives from stored news and transcripts."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Raw, Struct

from service.clock import DAY_MS, MINUTE_MS, Clock, iso
from service.errors import ServiceError
from service.market.categories.service import closest_names
from service.narratives.aggregation import (
    HALF_LIFE_HOURS,
    WINDOW_MS,
    MeasuredNarrative,
    NarrativeItem,
    NarrativeSnapshot,
    find_narratives,
)
from service.sentiment.aggregation import CoinMood, ScoredItem
from service.sentiment.service import SentimentService
from service.sentiment.store import NewsStore
from service.sentiment.views import item_of
from service.settings import Settings
from service.storage.database import Database
from service.transcripts.pages import TranscriptPages, Wanted
from service.transcripts.phrases import words_of
from service.transcripts.sources import FeedSource, sources_of
from service.transcripts.tagging import SpokenSectors
from service.wire.envelope import Answer, encode
from service.wire.sentiment import FreshnessConfig, NarrativeAttention, Narratives, OneSentiment
from service.wire.transcripts import Outlook

MAX_AGE_MS: Final = 5 * MINUTE_MS
MAX_PASSAGES: Final = 5_000
"""Passages that are read at most, the newest first."""

_FIRST_PAGE: Final = (2**63 - 1, 2**63 - 1)
_SCORES: Final[Mapping[Outlook, float]] = {"bullish": 1.0, "bearish": -1.0, "neutral": 0.0}


class _Cached(Struct, frozen=True):
    """A snapshot, when it was made, what it was made from, and its `as_of`."""

    snapshot: NarrativeSnapshot
    made_ms: int
    revisions: tuple[object, ...]
    as_of_ms: int


class NarrativeService:
    """Answers narratives.

    Args:
        clock: Ages of items and of the cache.
        sentiment: Stances of categories; its revision tells when news were added.
        news: Stored headlines.
        passages: Stored passages of episodes.
        sources: The feeds of episodes, with their kind.
        category_names: Names of all categories.
    """

    def __init__(
        self,
        clock: Clock,
        sentiment: SentimentService,
        news: NewsStore,
        passages: TranscriptPages,
        sources: Sequence[FeedSource],
        category_names: Callable[[], Sequence[str]],
    ) -> None:
        self._clock = clock
        self._sentiment = sentiment
        self._news = news
        self._passages = passages
        self._kinds = {source.id: source.kind for source in sources}
        self._category_names = category_names
        self._sectors: tuple[tuple[str, ...], SpokenSectors] | None = None
        self._cache: _Cached | None = None

    async def narratives(self) -> Answer:
        """All narratives; an empty list is an answer too.

        Returns:
            `Narratives`, as of the older of the last reading of news and of episodes.

        Raises:
            ServiceError: Upstream codes and `UNAVAILABLE` as `SentimentService.category`, or if the store fails.
        """
        known = await self._current()
        return Answer(
            Narratives(
                success=True,
                interval="1d",
                periods_back=WINDOW_MS // DAY_MS,
                total_count=len(known.snapshot.narratives),
                analysis_type="mentions",
                cache_age_minutes=(self._clock.now_ms() - known.made_ms) // MINUTE_MS,
                freshness_config=FreshnessConfig(HALF_LIFE_HOURS),
                surfaces=known.snapshot.surfaces,
                narratives=[each.row for each in known.snapshot.narratives],
            ),
            known.as_of_ms,
        )

    async def attention(self) -> Answer:
        """Narratives with the freshness of all together, and how many are rising or fading.

        Raises:
            ServiceError: As `narratives`.
        """
        known = await self._current()
        rows = [each.row for each in known.snapshot.narratives]
        return Answer(
            NarrativeAttention(
                success=True,
                interval="1d",
                total_count=len(rows),
                freshness_score=known.snapshot.freshness_score,
                sources=rows,
                attention_state=known.snapshot.attention,
            ),
            known.as_of_ms,
        )

    async def narrative(self, name: str) -> Answer:
        """One narrative. Case, punctuation and the other half of a bracketed name do not matter.

        Raises:
            ServiceError: `NOT_FOUND` with candidates if there is no such narrative now; as `narratives`.
        """
        known = await self._current()
        found = _find(name, known.snapshot.narratives)
        mood = CoinMood(
            found.row.stance, _summary(found), found.row.score, found.slope_24h, found.row.mentions, found.newest_ms
        )
        item = item_of("narrative", found.row.name, mood, iso(known.made_ms))
        return Answer(Raw(encode(OneSentiment(success=True, data=item))), known.as_of_ms)

    async def _current(self) -> _Cached:
        self._sentiment.standing()
        now_ms = self._clock.now_ms()
        since_ms = now_ms - WINDOW_MS - DAY_MS
        revisions = (self._sentiment.revision, await self._passages.revision(since_ms))
        cached = self._cache
        if cached is None or cached.revisions != revisions or not 0 <= now_ms - cached.made_ms < MAX_AGE_MS:
            cached = self._cache = await self._read(since_ms, now_ms, revisions)
        return cached

    async def _read(self, since_ms: int, now_ms: int, revisions: tuple[object, ...]) -> _Cached:
        state, (known, _) = self._sentiment.state, self._sentiment.standing()
        items: list[NarrativeItem] = []
        times: list[int] = []
        if known.news_ms is not None:
            times.append(known.news_ms)
            news = await self._news.read(state.origin, since_ms)
            items += await asyncio.to_thread(self._tag, news, tuple(self._category_names()))
        page = await self._passages.page(Wanted(since_ms=since_ms), _FIRST_PAGE, MAX_PASSAGES)
        if page is not None and page.fetched_ms is not None:
            times.append(page.fetched_ms)
            items.extend(
                NarrativeItem(
                    one.source,
                    self._kinds[one.source],
                    one.position[0],
                    _SCORES[one.said.stance],
                    one.said.sectors,
                    one.said.coins,
                )
                for one in page.passages
                if one.source in self._kinds
            )
        stances = {name: found.stance for name, found in known.categories.items()}
        return _Cached(find_narratives(items, stances, now_ms), now_ms, revisions, min(times, default=now_ms))

    def _tag(self, news: Sequence[ScoredItem], names: tuple[str, ...]) -> list[NarrativeItem]:
        """Add the categories that headlines speak of to those they name. Runs in a thread."""
        if self._sectors is None or self._sectors[0] != names:
            self._sectors = (names, SpokenSectors(names))
        sectors = self._sectors[1]
        return [
            NarrativeItem(
                one.source,
                "news",
                one.published_ms,
                one.score,
                tuple(dict.fromkeys((*one.categories, *sectors.find(words_of(one.title), one.coins)))),
                one.coins,
            )
            for one in news
        ]


def open_narratives(
    settings: Settings,
    database: Database,
    clock: Clock,
    sentiment: SentimentService,
    category_names: Callable[[], Sequence[str]],
) -> NarrativeService:
    """Open the service.

    Raises:
        SettingsError: If the list of feeds cannot be used.
    """
    news, passages = NewsStore(database), TranscriptPages(database)
    return NarrativeService(clock, sentiment, news, passages, sources_of(settings), category_names)


def _find(name: str, narratives: Sequence[MeasuredNarrative]) -> MeasuredNarrative:
    wanted = _letters(name)
    for each in narratives:
        whole = each.row.name
        head, _, inner = whole.partition("(")
        if wanted and wanted in {_letters(whole), _letters(head), _letters(inner)}:
            return each
    names = [each.row.name for each in narratives]
    candidates = closest_names(name, names) or names[:5]
    hint = f" The closest: {', '.join(candidates)}." if candidates else ""
    raise ServiceError(
        "NOT_FOUND",
        f"No narrative is called {name!r} in the last seven days.{hint}",
        details={"candidates": candidates},
    )


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _summary(found: MeasuredNarrative) -> str:
    row = found.row
    return (
        f"{row.mentions} items from {found.sources} sources in 7 days, mean sentiment {row.score:+z.2f}, "
        f"freshness {row.freshness_score:.2f}. Stance of the category's coins: {row.stance}."
    )

"""Answers pages of transcript highlights and the list of feeds, from the store."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NoReturn

from service.clock import SECOND_MS, Clock, iso
from service.errors import ServiceError
from service.market.loading import raise_unavailable
from service.transcripts.cleaning import escaped
from service.transcripts.pages import EpisodePassage, Stand, TranscriptPages, Wanted
from service.transcripts.sources import FeedSource
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.parameters import instant_ms
from service.wire.transcripts import (
    Highlight,
    Highlights,
    HighlightsMeta,
    TranscriptSource,
    TranscriptSources,
    TranscriptsQuery,
)

ROUTE: Final = "transcripts"
MOST_CANDIDATES: Final = 5
_NEWEST: Final = (2**63 - 1, 2**63 - 1)


class TranscriptService:
    """Answers what was said, and where it was heard.

    Args:
        clock: Now.
        pages: What is known.
        cursors: Writes and reads where pages begin.
        sources: The feeds that are read.
        find_coin: The canonical ticker of a coin, however it is spelled; refuses one that there is not.
        find_sector: Refuses a category that there is not.
    """

    def __init__(
        self,
        clock: Clock,
        pages: TranscriptPages,
        cursors: Cursors,
        sources: Sequence[FeedSource],
        find_coin: Callable[[str], str],
        find_sector: Callable[[str], object],
    ) -> None:
        self.tried = asyncio.Event()
        self._clock = clock
        self._pages = pages
        self._cursors = cursors
        self._sources = sources
        self._find_coin = find_coin
        self._find_sector = find_sector
        self._stands: Mapping[str, Stand] = {}

    def check(self, query: TranscriptsQuery) -> None:
        """Refuse what names something that there is not.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL`, `UNKNOWN_CATEGORY` or `NOT_FOUND` (a source), with candidates; as they do
                who know the coins and categories where these are not known yet.
        """
        if query.coin is not None:
            self._find_coin(query.coin)
        if query.sector is not None:
            self._find_sector(query.sector)
        if query.source is not None:
            _find_source(query.source, (source.id for source in self._sources))

    async def transcripts(self, query: TranscriptsQuery) -> Answer:
        """Answer from the store.

        New episodes come before those of a page, so a list that is read page by page neither repeats nor leaves out
        what was there when it was begun.

        Returns:
            Highlights or sources, as old as the newest answer of a feed, those of one source as its own. Where no feed
            is read, empty lists that cost nothing.

        Raises:
            ServiceError: As `check`; `BAD_REQUEST` naming `cursor`; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE`
                where no feed, or not the one asked for, has answered yet.
        """
        self.check(query)
        if query.action == "sources":
            return await self._list()
        since_ms = None if query.since is None else instant_ms(query.since, "since")
        coin = None if query.coin is None else str(self._find_coin(query.coin))
        wanted = Wanted(coin, query.sector, query.macro, query.source, since_ms)
        filters = {"coin": coin, "sector": wanted.sector, "macro": wanted.macro, "source": wanted.source}
        filters["since"] = None if since_ms is None else str(since_ms)
        after = _NEWEST if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)
        if not self._sources:
            return Answer(Highlights([], HighlightsMeta(0, {}, None)), self._clock.now_ms(), counted=False)
        page = await self._pages.page(wanted, after, query.limit + 1)
        if page is None or page.fetched_ms is None:
            await self._refuse(query.source)
        passages, more = page.passages[: query.limit], page.passages[query.limit :]
        cursor = self._cursors.write(ROUTE, filters, passages[-1].position) if more else None
        meta = HighlightsMeta(sum(page.by_source.values()), page.by_source, cursor)
        return Answer(Highlights([_tell(one) for one in passages], meta), page.fetched_ms)

    async def _list(self) -> Answer:
        stands = await self._pages.stands()
        fetched_ms = max(
            (stand.answered_ms for stand in stands.values() if stand.answered_ms is not None), default=None
        )
        if fetched_ms is None:
            fetched_ms = self._clock.now_ms()
        rows = [_describe(source, stands.get(source.id, _WAITING)) for source in self._sources]
        return Answer(TranscriptSources(rows), fetched_ms, counted=bool(rows))

    async def look(self) -> None:
        """See how the sources stand, for `readiness`.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        self._stands = await self._pages.stands()

    def readiness(self) -> Mapping[str, object]:
        """How each source stood when `look` last looked.

        Status, age of its last answer in seconds, episodes, and items of that answer that were left out.
        """
        now_ms = self._clock.now_ms()
        return {source.id: _stood(self._stands.get(source.id, _WAITING), now_ms) for source in self._sources}

    async def _refuse(self, source: str | None) -> NoReturn:
        stands = await self._pages.stands()
        asked = stands.items() if source is None else [(source, stands.get(source, _WAITING))]
        failed = next((item for item in asked if item[1].failure is not None), None)
        upstream, failure = ("a feed", None) if failed is None else (failed[0], failed[1].failure)
        raise_unavailable(upstream, failure, "transcripts")


_WAITING: Final = Stand("waiting", None, None, 0, None)


def _stood(stand: Stand, now_ms: int) -> Mapping[str, object]:
    age_s = None if stand.answered_ms is None else max(0, now_ms - stand.answered_ms) // SECOND_MS
    return {"status": stand.status, "age_seconds": age_s, "episodes": stand.episodes, "left_out": stand.lost}


def _find_source(asked: str, known: Iterable[str]) -> None:
    ids = list(known)
    if asked in ids:
        return
    candidates = get_close_matches(asked, ids, n=MOST_CANDIDATES, cutoff=0.0)
    hint = f" There are: {', '.join(candidates)}." if candidates else ""
    raise ServiceError("NOT_FOUND", f"No source is called {asked!r}.{hint}", details={"candidates": candidates})


def _tell(one: EpisodePassage) -> Highlight:
    said = one.said
    return Highlight(
        id=said.id,
        source=one.source,
        title=escaped(one.title),
        publishedAt=iso(one.position[0]),
        speaker=None if said.speaker is None else escaped(said.speaker),
        quote=escaped(said.quote),
        start_seconds=said.start_ms // SECOND_MS,
        url=one.url,
        coins=list(said.coins),
        sectors=list(said.sectors),
        macro=list(said.macro),
        stance=said.stance,
    )


def _describe(source: FeedSource, stand: Stand) -> TranscriptSource:
    return TranscriptSource(
        id=source.id,
        name=escaped(source.name),
        kind=source.kind,
        feed=source.url.partition("?")[0],  # a private feed has its key there
        language=source.language,
        lastEpisodeAt=None if stand.newest_ms is None else iso(stand.newest_ms),
        episodes=stand.episodes,
        status=stand.status,
    )

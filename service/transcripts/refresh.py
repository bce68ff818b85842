"""Keeping transcripts fresh: each feed every half an hour, each new episode once, each on its own."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, Literal

from msgspec import Struct

from service import __version__
from service.clock import MINUTE_MS, Clock
from service.feeds.dates import past_date
from service.sentiment.matcher import Known
from service.sentiment.scoring import lexicon_scorer
from service.storage.documents import FetchFailure
from service.transcripts.feed_reader import Channel, FeedReader
from service.transcripts.highlights import choose, outlook
from service.transcripts.segment import Segment, UnreadableError
from service.transcripts.sentences import Sentence, merge
from service.transcripts.sources import FeedSource
from service.transcripts.store import Episode, Said, SourceState, StoredTranscript, TranscriptStore
from service.transcripts.tagging import Tagger
from service.upstream.failures import UpstreamError
from service.upstream.feed_fetcher import UNSEEN, BlockedError
from service.wire.envelope import encode

EVERY_S: Final = 5.0
"""How often to call `round`; it does nothing while nothing is due."""

FEEDS_EVERY_MS: Final = 30 * MINUTE_MS
AGAIN_MS: Final = 5 * MINUTE_MS
"""After so long a feed is asked again that has failed."""

MOST_NEW: Final = 20
"""Transcripts that are asked for in one round of a feed."""

MOST_IN_VAIN: Final = 3
"""So many in a row that gave nothing end a round of a feed: its host is likely down."""

MOST_TAGGED: Final = 20
"""Episodes that are tagged again in one round."""

_LONGEST_WHY: Final = 200
_log: Final = logging.getLogger("verdict.transcripts")


class KnownMarket(Struct, frozen=True):
    """What comes from the market package, read in every round.

    Attributes:
        origin: The current dataset.
        coins: All coins; a title is empty where it is not known.
        categories: Names of all categories.
    """

    origin: Callable[[], str]
    coins: Callable[[], Sequence[Known]]
    categories: Callable[[], Sequence[str]]


class TranscriptRefresh:
    """Reads feeds and transcripts, tags what is said, and keeps it.

    Args:
        clock: When something is due.
        store: Where it is kept.
        reader: Who asks.
        sources: What is read.
        market: What is known of the market.
    """

    def __init__(
        self,
        clock: Clock,
        store: TranscriptStore,
        reader: FeedReader,
        sources: Sequence[FeedSource],
        market: KnownMarket,
    ) -> None:
        self._clock = clock
        self._store = store
        self._reader = reader
        self._sources = sources
        self._market = market
        self._origin: str | None = None
        self._shown: str | None = None
        self._states: dict[str, SourceState] = {}
        self._unread: set[str] = set()
        self._tagging: tuple[str, Tagger] | None = None

    async def round(self) -> None:
        """Do what is due: read feeds, then new episodes; tag again what was tagged when less was known.

        After a start, episodes that are known and were not read are read first thing. What another dataset has
        stands until this one's has been read. A feed's failure is its own: it is noted, and leaves the others.

        Nothing is read before there are coins to be named.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used.
        """
        origin = self._market.origin()
        if not self._market.coins():
            return
        if origin != self._origin:
            self._states = await self._store.standing(origin)
            self._shown = await self._store.shown_origin()
            self._unread = {source.id for source in self._sources}
            self._origin = origin
        due = [source for source in self._sources if self._is_due(source)]
        if due and not await self._read_feeds(origin, due):
            return
        unread = [source for source in self._sources if source.id in self._unread]
        await self._read_all(origin, unread)
        if self._shown != origin and any(state.answered_ms is not None for state in self._states.values()):
            await self._tell(origin)
        await self._retag(origin)

    def _is_due(self, source: FeedSource) -> bool:
        state = self._states.get(source.id)
        if state is None or state.feed != source.url:
            return True
        every_ms = AGAIN_MS if state.status == "failing" else FEEDS_EVERY_MS
        return not 0 <= self._clock.now_ms() - state.asked_ms < every_ms

    async def _read_feeds(self, origin: str, due: Sequence[FeedSource]) -> bool:
        """Ask all that are due, and store their episodes in the order in which they are listed.

        Returns:
            Whether the dataset is still the same; if not, nothing was stored.
        """
        answers = await asyncio.gather(*(self._ask(source) for source in due))
        if self._market.origin() != origin:
            return False
        for source, answer in zip(due, answers, strict=True):
            state = self._judge(source, answer)
            items = (answer.items or ()) if isinstance(answer, Channel) else ()
            await self._store.note(origin, state, items, self._clock.now_ms())
            self._states[source.id] = state
            self._unread.add(source.id)
        if self._shown in {None, origin}:
            await self._tell(origin)
        return True

    async def _ask(self, source: FeedSource) -> Channel | UpstreamError:
        state = self._states.get(source.id)
        known = UNSEEN if state is None or state.feed != source.url else state.validators
        try:
            return await self._reader.channel(source, known)
        except UpstreamError as error:
            return error

    def _judge(self, source: FeedSource, answer: Channel | UpstreamError) -> SourceState:
        now_ms, before = self._clock.now_ms(), self._states.get(source.id)
        if isinstance(answer, Channel):
            lost = None if before is None else before.lost  # of the last version, where it has not changed
            if answer.items is not None:
                lost = _lost(answer, now_ms)
            return SourceState(source.id, source.url, "ok", answer.validators, now_ms, answer.observed_ms, None, lost)
        status: Literal["blocked", "failing"] = "blocked" if isinstance(answer, BlockedError) else "failing"
        if before is None or before.status != status:
            _log.warning("A feed is %s.", status, extra={"source": source.id, "why": answer.body[:_LONGEST_WHY]})
        return SourceState(
            source=source.id,
            feed=source.url,
            status=status,
            validators=UNSEEN if before is None or before.feed != source.url else before.validators,
            asked_ms=now_ms,
            answered_ms=None if before is None else before.answered_ms,
            failure=FetchFailure(now_ms, answer.upstream_status, answer.body),
        )

    async def _tell(self, origin: str) -> None:
        await self._store.tell(origin, [source.id for source in self._sources], self._clock.now_ms())
        self._shown = origin

    async def _read_all(self, origin: str, unread: Sequence[FeedSource]) -> None:
        """Read new episodes of feeds side by side: a slow host holds up its own alone."""
        reads = (self._read_episodes(origin, source) for source in unread)
        for outcome in await asyncio.gather(*reads, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def _read_episodes(self, origin: str, source: FeedSource) -> None:
        in_vain = 0
        for episode in await self._store.pending(origin, source.id, self._clock.now_ms(), MOST_NEW):
            await self._store.attempt(episode, self._clock.now_ms())
            segments = await self._read_transcript(episode, source.language)
            in_vain = 0 if segments else in_vain + 1
            if segments:
                await self._store.keep(episode.episode, await self._tag(segments), self._clock.now_ms())
            if in_vain == MOST_IN_VAIN:
                break
        self._unread.discard(source.id)

    async def _read_transcript(self, episode: Episode, language: str | None) -> list[Segment]:
        """The first of an episode's transcripts that can be read; nothing where none can."""
        for link in episode.links:
            try:
                segments = await self._reader.transcript(link, language)
            except (UpstreamError, UnreadableError) as error:
                _log.debug("a transcript was not read", extra={"episode": episode.episode, "why": str(error)})
                continue
            if segments:
                return segments
        return []

    async def _tag(self, segments: Sequence[Segment]) -> StoredTranscript:
        tagged_with, tagger = await self._tagger()

        def read() -> StoredTranscript:
            sentences = merge(segments)
            spoken = "".join(letter for sentence in sentences for letter in sentence.text.lower() if letter.isalnum())
            digest = sha256(spoken.encode()).hexdigest()
            return StoredTranscript(digest, sentences, tagged_with, _passages(digest, sentences, tagger))

        return await asyncio.to_thread(read)

    async def _retag(self, origin: str) -> None:
        tagged_with, tagger = await self._tagger()
        outdated = await self._store.outdated(origin, tagged_with, MOST_TAGGED)
        for episode, digest, sentences in outdated:
            said = await asyncio.to_thread(_passages, digest, sentences, tagger)
            await self._store.retag(episode, tagged_with, said)

    async def _tagger(self) -> tuple[str, Tagger]:
        """Made in a thread: to lay out the names of 700 categories takes tens of milliseconds."""
        known, categories = self._market.coins(), list(self._market.categories())
        # Another version of the service may tag by other rules.
        tagged_with = sha256(encode([__version__, sorted(known), categories])).hexdigest()
        if self._tagging is None or self._tagging[0] != tagged_with:
            self._tagging = (tagged_with, await asyncio.to_thread(Tagger, known, categories))
        return self._tagging


def _lost(channel: Channel, now_ms: int) -> str | None:
    """What of an answer is left out, in words; null if nothing is."""
    undated = sum(past_date(item.published_ms, now_ms) is None for item in channel.items or ())
    counts = ((channel.lost, "unreadable"), (undated, "without a usable date"))
    return ", ".join(f"{count} {what}" for count, what in counts if count) or None


def _passages(digest: str, sentences: Sequence[Sentence], tagger: Tagger) -> list[Said]:
    return [
        Said(
            id=sha256(f"{digest} {passage.start_ms} {passage.quote}".encode()).hexdigest()[:24],
            start_ms=passage.start_ms,
            speaker=passage.speaker,
            quote=passage.quote,
            coins=passage.tags.coins,
            sectors=passage.tags.sectors,
            macro=passage.tags.macro,
            stance=outlook(passage.score),
        )
        for passage in choose(sentences, tagger, lexicon_scorer())
    ]

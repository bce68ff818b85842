"""What is known of feeds, episodes and what was said in them, in the database: the side that writes."""

import asyncio
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from service.clock import DAY_MS, MINUTE_MS
from service.feeds.dates import past_date
from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.storage.engine import Connection
from service.storage.rows import pack, unpack
from service.transcripts.feed import FeedItem, Link
from service.transcripts.sentences import Sentence
from service.upstream.feed_fetcher import Validators
from service.wire.envelope import encode
from service.wire.transcripts import Macro, Outlook

KEPT_MS: Final = 400 * DAY_MS
"""How long episodes are shown; a daily hour of talk takes some ten megabytes in that time."""

NEW_MS: Final = 90 * DAY_MS
"""Episodes that were published before are not taken up any more."""

MOST_ATTEMPTS: Final = 10
"""So often a transcript is tried, each time after twice as long, beginning with ten minutes: for three days and a half,
so that a host which is away over a weekend loses no episode."""

ENOUGH_ATTEMPTS: Final = 5
"""After so many in vain, another feed that has the episode reads and tells it."""

MOST_EPISODES: Final = 2_000
"""Episodes that are kept of a feed, five a day: one that renames its episodes every hour would fill the disk."""

MOST_HIGHLIGHTS: Final = 12
_FIRST_PAUSE_MS: Final = 10 * MINUTE_MS
_PLACES: Final = 16

_TELL: Final = """
    INSERT INTO transcript_told VALUES (1, ?) ON CONFLICT (place) DO UPDATE SET origin = excluded.origin
"""
_FORGET: Final = """
    DELETE FROM transcript_episodes WHERE origin <> ?1 OR published_ms < ?3
        OR source NOT IN (SELECT value FROM json_each(?2))
"""
_THIN_OUT: Final = """
    DELETE FROM transcript_episodes WHERE episode IN (
        SELECT episode FROM (
            SELECT episode, row_number() OVER (
                PARTITION BY source ORDER BY told_by IS NOT NULL, published_ms DESC, episode
            ) AS place FROM transcript_episodes WHERE origin = ?
        ) AS placed WHERE place > ?
    )
"""
_FORGET_SOURCES: Final = """
    DELETE FROM transcript_sources WHERE origin <> ?1 OR source NOT IN (SELECT value FROM json_each(?2))
"""
_STANDING: Final = """
    SELECT source, feed, status, etag, last_modified, asked_ms, answered_ms, failed_status, failed_body
    FROM transcript_sources WHERE origin = ?
"""
_NOTE: Final = """
    INSERT INTO transcript_sources (
        origin, source, feed, status, etag, last_modified, asked_ms, answered_ms, failed_status, failed_body
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (origin, source) DO UPDATE SET
        feed = excluded.feed, status = excluded.status, etag = excluded.etag, last_modified = excluded.last_modified,
        asked_ms = excluded.asked_ms, answered_ms = excluded.answered_ms, failed_status = excluded.failed_status,
        failed_body = excluded.failed_body
"""
_TWIN: Final = """
    SELECT episode FROM transcript_episodes
    WHERE origin = ?1 AND (key = ?2 OR enclosure = ?3) AND told_by IS NULL ORDER BY episode LIMIT 1
"""
_DISCOVER: Final = """
    INSERT INTO transcript_episodes (origin, source, key, enclosure, title, url, published_ms, links, told_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_PENDING: Final = """
    SELECT episode, published_ms, links, attempts FROM transcript_episodes
    WHERE origin = ?1 AND source = ?2 AND read_ms IS NULL AND told_by IS NULL AND attempts < ?3 AND next_ms <= ?4
    ORDER BY published_ms DESC, episode LIMIT ?5
"""
_ATTEMPT: Final = "UPDATE transcript_episodes SET attempts = attempts + 1, next_ms = ?2 WHERE episode = ?1"
_RELEASE: Final = """
    UPDATE transcript_episodes SET told_by = NULL
    WHERE told_by IN (SELECT episode FROM transcript_episodes WHERE read_ms IS NULL AND attempts >= ?)
"""
_FIRST: Final = """
    SELECT b.episode, (b.published_ms, b.episode) < (a.published_ms, a.episode)
    FROM transcript_episodes a JOIN transcript_episodes b ON b.origin = a.origin AND b.digest = ?2
    WHERE a.episode = ?1 AND b.episode <> a.episode AND b.told_by IS NULL ORDER BY b.episode LIMIT 1
"""
_KEEP: Final = """
    UPDATE transcript_episodes SET digest = ?2, sentences = ?3, tagged_with = ?4, read_ms = ?5, told_by = ?6
    WHERE episode = ?1
"""
_FOLD: Final = "UPDATE transcript_episodes SET told_by = ?2, tagged_with = '' WHERE episode = ?1 OR told_by = ?1"
_SILENCE: Final = "DELETE FROM transcript_highlights WHERE episode = ?"
_SAY: Final = "INSERT INTO transcript_highlights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OUTDATED: Final = """
    SELECT episode, digest, sentences FROM transcript_episodes
    WHERE origin = ? AND told_by IS NULL AND sentences IS NOT NULL AND tagged_with <> ?
    ORDER BY published_ms DESC, episode LIMIT ?
"""
_links: Final = msgspec.json.Decoder(tuple[Link, ...])
_sentences: Final = msgspec.json.Decoder(list[Sentence])


class SourceState(Struct, frozen=True):
    """A feed as it was last asked; see the migration.

    `failure` is there where that failed; `lost` says how many items of the newest answer were left out, null if none.
    """

    source: str
    feed: str
    status: Literal["ok", "failing", "blocked"]
    validators: Validators
    asked_ms: int
    answered_ms: int | None
    failure: FetchFailure | None
    lost: str | None = None


class Episode(Struct, frozen=True):
    """An episode whose transcript is still to be read."""

    episode: int
    published_ms: int
    links: tuple[Link, ...]
    attempts: int


class Said(Struct, frozen=True):
    """A passage as it is kept, in plain words."""

    id: str
    start_ms: int
    speaker: str | None
    quote: str
    coins: tuple[str, ...]
    sectors: tuple[str, ...]
    macro: tuple[Macro, ...]
    stance: Outlook


class StoredTranscript(Struct, frozen=True):
    """A transcript that was read.

    Attributes:
        digest: Of what is said in it.
        sentences: All of it.
        tagged_with: A digest of what was known when it was tagged.
        said: Its passages, the best first, twelve at the most.
    """

    digest: str
    sentences: Sequence[Sentence]
    tagged_with: str
    said: Sequence[Said]


class TranscriptStore:
    """The package's tables. Everything here raises `UNAVAILABLE` if the store cannot be used.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def shown_origin(self) -> str | None:
        """The dataset that is shown; null before the first round."""
        rows = await self._database.read("SELECT origin FROM transcript_told")
        return rows[0][0] if rows else None

    async def tell(self, origin: str, sources: Sequence[str], now_ms: int) -> None:
        """Show a dataset from now on, and delete other datasets, feeds that are not read any more, and old episodes.

        Of a feed the newest 2,000 episodes stay, of which those that another feed shows go first. An episode of two
        feeds whose transcript could not be read from one is read from the other.
        """
        ids = encode(list(sources)).decode()

        def work(connection: Connection) -> None:
            connection.execute(_TELL, (origin,))
            connection.execute(_FORGET, (origin, ids, now_ms - KEPT_MS))
            connection.execute(_FORGET_SOURCES, (origin, ids))
            connection.execute(_THIN_OUT, (origin, MOST_EPISODES))
            connection.execute(_RELEASE, (ENOUGH_ATTEMPTS,))

        await self._database.write(work)

    async def standing(self, origin: str) -> dict[str, SourceState]:
        """How the feeds of an origin stand, by id."""
        return {row[0]: _state(row) for row in await self._database.read(_STANDING, (origin,))}

    async def note(self, origin: str, state: SourceState, items: Sequence[FeedItem] = (), now_ms: int = 0) -> None:
        """Keep how a feed answered, and the episodes in it that are not known yet, all at once.

        An episode that another feed has had before, by its guid or its file, is shown by that one. Episodes without a
        certain date, or dated in the future, are left out.

        Args:
            origin: The history that was asked.
            state: Of the feed.
            items: What was in it, if it answered.
            now_ms: Episodes published more than 90 days before are left out.
        """
        failure = state.failure or FetchFailure(0, None, state.lost or "")
        values = (origin, state.source, state.feed, state.status, *msgspec.structs.astuple(state.validators))
        times = (state.asked_ms, state.answered_ms, failure.status, failure.body)

        def work(connection: Connection) -> None:
            connection.execute(_NOTE, (*values, *times))
            for item in items:
                published_ms = past_date(item.published_ms, now_ms)
                if published_ms is not None and published_ms >= now_ms - NEW_MS:
                    _discover(connection, origin, state, item, published_ms)

        await self._database.write(work)

    async def pending(self, origin: str, source: str, now_ms: int, most: int) -> list[Episode]:
        """Episodes whose transcripts may be asked for now, the newest first."""
        rows = await self._database.read(_PENDING, (origin, source, MOST_ATTEMPTS, now_ms, most))
        return [Episode(row[0], row[1], _links.decode(row[2]), row[3]) for row in rows]

    async def attempt(self, episode: Episode, now_ms: int) -> None:
        """Note that a transcript is about to be read: should that fail, however badly, it is put off."""
        next_ms = now_ms + _FIRST_PAUSE_MS * 2**episode.attempts

        def work(connection: Connection) -> None:
            connection.execute(_ATTEMPT, (episode.episode, next_ms))

        await self._database.write(work)

    async def keep(self, episode: int, reading: StoredTranscript, now_ms: int) -> None:
        """Keep a transcript; of episodes of two feeds in which the same was said, the one published first tells it."""
        packed = await asyncio.to_thread(_pack, reading.sentences)

        def work(connection: Connection) -> None:
            twin, is_first = connection.execute(_FIRST, (episode, reading.digest)).fetchone() or (None, False)
            duplicate_of = twin if is_first else None
            # What is told by another was tagged with nothing: it is tagged should that one go.
            tagged_with = reading.tagged_with if duplicate_of is None else ""
            connection.execute(_KEEP, (episode, reading.digest, packed, tagged_with, now_ms, duplicate_of))
            if duplicate_of is None:
                if twin is not None:
                    connection.execute(_FOLD, (twin, episode))
                    connection.execute(_SILENCE, (twin,))
                _say(connection, episode, reading.said)

        await self._database.write(work)

    async def outdated(self, origin: str, tagged_with: str, most: int) -> list[tuple[int, str, list[Sentence]]]:
        """Episodes that were tagged when something else was known: what is said in them, and its digest before it."""
        rows = await self._database.read(_OUTDATED, (origin, tagged_with, most))
        return [(episode, digest, await asyncio.to_thread(_unpack, packed)) for episode, digest, packed in rows]

    async def retag(self, episode: int, tagged_with: str, said: Sequence[Said]) -> None:
        """Replace the passages of an episode."""

        def work(connection: Connection) -> None:
            connection.execute(
                "UPDATE transcript_episodes SET tagged_with = ?2 WHERE episode = ?1", (episode, tagged_with)
            )
            connection.execute(_SILENCE, (episode,))
            _say(connection, episode, said)

        await self._database.write(work)


def _pack(sentences: Sequence[Sentence]) -> bytes:
    """In a thread: of the longest transcript it takes tens of milliseconds."""
    return pack(encode(sentences))


def _unpack(packed: bytes) -> list[Sentence]:
    return _sentences.decode(unpack(packed))


def _discover(connection: Connection, origin: str, state: SourceState, item: FeedItem, published_ms: int) -> None:
    twin = connection.execute(_TWIN, (origin, item.key, item.enclosure)).fetchone() or (None,)
    links, url = encode(item.links).decode(), item.url or state.feed
    connection.execute(
        _DISCOVER, (origin, state.source, item.key, item.enclosure, item.title, url, published_ms, links, *twin)
    )


def _say(connection: Connection, episode: int, said: Sequence[Said]) -> None:
    for rank, one in enumerate(said[:MOST_HIGHLIGHTS]):
        tags = (encode(names).decode() for names in (one.coins, one.sectors, one.macro))
        place = episode * _PLACES + _PLACES - 1 - rank
        connection.execute(_SAY, (place, episode, one.id, one.start_ms, one.speaker, one.quote, *tags, one.stance))


def _state(row: tuple[object, ...]) -> SourceState:
    source, feed, status, etag, last_modified, asked_ms, answered_ms, failed_status, failed_body = row
    failed = status != "ok"
    return msgspec.convert(
        {
            "source": source,
            "feed": feed,
            "status": status,
            "validators": {"etag": etag, "last_modified": last_modified},
            "asked_ms": asked_ms,
            "answered_ms": answered_ms,
            "failure": {"at_ms": asked_ms, "status": failed_status, "body": failed_body} if failed else None,
            "lost": None if failed else failed_body or None,
        },
        SourceState,
    )

"""What is known of feeds, episodes and what was said in them, in the database: the side that is asked."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from service.storage.database import Database
from service.storage.documents import FetchFailure
from service.transcripts.store import Said
from service.wire.cursor import Position
from service.wire.transcripts import Macro, SourceStatus

_PAGE: Final = """
    WITH found AS MATERIALIZED (
        SELECT h.*, e.source, e.title, e.url, e.published_ms
        FROM transcript_highlights h JOIN transcript_episodes e ON e.episode = h.episode
        WHERE e.origin = (SELECT origin FROM transcript_told) {filters}
    )
    SELECT
        (
            SELECT max(answered_ms) FROM transcript_sources s
            WHERE s.origin = t.origin AND s.source = coalesce(?4, s.source)
        ),
        (SELECT string_agg(source || ' ' || of_it, ',' ORDER BY source) FROM (
            SELECT source, count(*) AS of_it FROM found GROUP BY source
        ) AS counted),
        p.highlight, p.published_ms, p.source, p.title, p.url,
        p.id, p.start_ms, p.speaker, p.quote, p.coins, p.sectors, p.macro, p.stance
    FROM transcript_told t LEFT JOIN (
        SELECT * FROM found WHERE (published_ms, highlight) < (?6, ?7)
        ORDER BY published_ms DESC, highlight DESC LIMIT ?8
    ) p ON true ORDER BY p.published_ms DESC, p.highlight DESC
"""
_FILTERS: Final[Mapping[str, str]] = {
    "coin": "EXISTS (SELECT 1 FROM json_each(h.coins) WHERE value = ?1)",
    "sector": "EXISTS (SELECT 1 FROM json_each(h.sectors) WHERE value = ?2)",
    "macro": "EXISTS (SELECT 1 FROM json_each(h.macro) WHERE value = ?3)",
    "source": "e.source = ?4",
    "since_ms": "e.published_ms >= ?5",
}
_SOURCES: Final = """
    SELECT s.source, s.status, s.answered_ms, s.asked_ms, s.failed_status, s.failed_body,
        count(e.episode) FILTER (WHERE e.told_by IS NULL), max(e.published_ms)
    FROM transcript_told t CROSS JOIN transcript_sources s
    LEFT JOIN transcript_episodes e
        ON e.origin = s.origin AND e.source = s.source AND (e.read_ms IS NOT NULL OR e.told_by IS NOT NULL)
    WHERE s.origin = t.origin GROUP BY s.origin, s.source ORDER BY s.source
"""
_REVISION: Final = """
    SELECT (SELECT max(answered_ms) FROM transcript_sources s WHERE s.origin = t.origin),
        (
            SELECT count(*) FROM transcript_episodes e
            WHERE e.origin = t.origin AND e.published_ms >= ? AND e.read_ms IS NOT NULL
        )
    FROM transcript_told t
"""
_names: Final = msgspec.json.Decoder(tuple[str, ...])
_topics: Final = msgspec.json.Decoder(tuple[Macro, ...])


class Wanted(Struct, frozen=True):
    """Filters of a list; null leaves out nothing."""

    coin: str | None = None
    sector: str | None = None
    macro: str | None = None
    source: str | None = None
    since_ms: int | None = None


class EpisodePassage(Struct, frozen=True):
    """A passage and the episode that it is of; `position` is its place in the list."""

    position: Position
    source: str
    title: str
    url: str
    said: Said


class Page(Struct, frozen=True):
    """Passages, the newest episodes first, the best of each first; how many there are in all, by feed.

    `fetched_ms` is when a feed last answered, of one source that one; null where none has yet.
    """

    passages: list[EpisodePassage]
    by_source: Mapping[str, int]
    fetched_ms: int | None


class Stand(Struct, frozen=True):
    """State of a feed: how many of its episodes were read and are shown, and when the newest known was published.

    `lost` says how many items of its newest answer were left out, null if none.
    """

    status: SourceStatus
    answered_ms: int | None
    failure: FetchFailure | None
    episodes: int
    newest_ms: int | None
    lost: str | None = None


class TranscriptPages:
    """Reads the package's tables. Everything here raises `UNAVAILABLE` if the store cannot be used.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, wanted: Wanted, after: Position, most: int) -> Page | None:
        """A page of passages; null before the first round.

        Args:
            wanted: Filters.
            after: Where the page before ended.
            most: How many are returned at most.
        """
        given = msgspec.structs.asdict(wanted)
        filters = "".join(f" AND {said}" for name, said in _FILTERS.items() if given[name] is not None)
        rows = await self._database.read(_PAGE.format(filters=filters), (*given.values(), *after, most))
        if not rows:
            return None
        return Page([_passage(row[2:]) for row in rows if row[2] is not None], _counts(rows[0][1]), rows[0][0])

    async def revision(self, since_ms: int) -> tuple[object, ...]:
        """Another value after a feed answered, or an episode published since an instant was read."""
        return tuple(await self._database.read(_REVISION, (since_ms,)))

    async def stands(self) -> dict[str, Stand]:
        """How every feed stands that was asked, by id."""
        rows = await self._database.read(_SOURCES)
        return {
            source: Stand(
                status=status,
                answered_ms=answered_ms,
                failure=None if status == "ok" else FetchFailure(asked_ms, failed_status, failed_body),
                episodes=episodes,
                newest_ms=newest_ms,
                lost=(failed_body or None) if status == "ok" else None,
            )
            for source, status, answered_ms, asked_ms, failed_status, failed_body, episodes, newest_ms in rows
        }


def _counts(listed: str | None) -> dict[str, int]:
    """Read what the statement lists as `feed number,feed number`."""
    pairs = (pair.split() for pair in listed.split(",")) if listed else ()
    return {source: int(count) for source, count in pairs}


def _passage(row: tuple[object, ...]) -> EpisodePassage:
    highlight, published_ms, source, title, url, key, start_ms, speaker, quote, coins, sectors, macro, stance = row
    return msgspec.convert(
        {
            "position": (published_ms, highlight),
            "source": source,
            "title": title,
            "url": url,
            "said": {
                "id": key,
                "start_ms": start_ms,
                "speaker": speaker,
                "quote": quote,
                "coins": _names.decode(str(coins)),
                "sectors": _names.decode(str(sectors)),
                "macro": _topics.decode(str(macro)),
                "stance": stance,
            },
        },
        EpisodePassage,
    )

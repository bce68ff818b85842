"""The states of all streams in the database: appended by one process, read by all."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.market.watches import claim_watch, holds
from service.storage.database import Database
from service.storage.engine import Connection
from service.streams.state import State
from service.wire.envelope import encode
from service.wire.streams import StreamName

NAME: Final = "streams"
KEPT: Final = 360
"""States of each stream: half an hour of those that are taken every five seconds."""

WRITTEN_EVERY: Final = 60
"""What a state says is written out at least so often, also where it stays the same."""

_CLEARED: Final = ("stream_states", "stream_told")

_STANDING: Final = """
    SELECT w.through_ms, t.stream, t.id FROM market_watches w LEFT JOIN stream_told t ON true
    WHERE w.name = ? AND w.origin = ?
"""
_AFTER: Final = """
    SELECT s.stream, s.seq, s.at_ms, s.as_of_ms, coalesce(s.data, (
        SELECT data FROM stream_states
        WHERE stream = s.stream AND seq < s.seq AND data IS NOT NULL ORDER BY seq DESC LIMIT 1
    ))
    FROM json_each(?) k JOIN stream_states s ON s.stream = k.key AND s.seq > CAST(k.value AS INTEGER)
    ORDER BY s.stream, s.seq
"""
_NEXT: Final = """
    INSERT INTO stream_heads (stream, seq) VALUES (?, 1) ON CONFLICT (stream) DO UPDATE SET seq = stream_heads.seq + 1
    RETURNING seq
"""
_LAST_SAID: Final = """
    SELECT data FROM stream_states WHERE stream = ? AND data IS NOT NULL ORDER BY seq DESC LIMIT 1
"""
_PRUNE: Final = """
    DELETE FROM stream_states WHERE stream = ?1 AND seq < (
        SELECT max(seq) FROM stream_states WHERE stream = ?1 AND seq <= ?2 AND data IS NOT NULL
    )
"""


class Taken(Struct, frozen=True):
    """What a stream tells next: encoded JSON, and when the oldest of its inputs was observed, epoch milliseconds.

    `id` is a happening's own name, by which it is told once; `as_of_ms` is then when it happened.
    """

    stream: StreamName
    as_of_ms: int
    data: bytes
    id: str | None = None


class Standing(Struct, frozen=True):
    """Since when happenings are news (null: nobody has looked at this history yet), and which of them were told."""

    since_ms: int | None
    told: Collection[tuple[str, str]]


class StreamStore:
    """The room's tables.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def standing(self, origin: str) -> Standing:
        """What was told of a history; nothing where the tables tell of another one.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_STANDING, (NAME, origin))
        told = {(stream, name) for _, stream, name in rows if stream is not None}
        return Standing(rows[0][0] if rows else None, told)

    async def append(
        self, origin: str, at_ms: int, since_ms: int, taken: Sequence[Taken], past: Sequence[Taken] = ()
    ) -> None:
        """Number what was taken and keep it, in one transaction; nothing if the market's store holds another history.

        Args:
            origin: The history it tells of. Where the tables tell of another one, all but the numbers is cleared.
            at_ms: When it was taken.
            since_ms: Happenings up to then are not remembered any more: nobody takes them for news.
            taken: In the order in which it is to be told.
            past: Happenings that are remembered and not told.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> None:
            if not holds(connection, origin):
                return
            claim_watch(connection, NAME, origin, _CLEARED)
            connection.execute("UPDATE market_watches SET through_ms = ? WHERE name = ?", (since_ms, NAME))
            for each in taken:
                _keep(connection, at_ms, each)
            for each in (*taken, *past):
                _remember(connection, each)
            connection.execute("DELETE FROM stream_told WHERE happened_ms <= ?", (since_ms,))

        await self._database.write(work)

    async def after(self, known: Mapping[StreamName, int]) -> list[tuple[StreamName, State]]:
        """States that came after those known, of each stream in order.

        Args:
            known: The number of the newest state known, by stream; others than these are not read.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_AFTER, (encode(known).decode(),))
        return [(stream, State(*row)) for stream, *row in rows]


def _keep(connection: Connection, at_ms: int, taken: Taken) -> None:
    stream = taken.stream
    ((seq,),) = connection.execute(_NEXT, (stream,)).fetchall()
    same = connection.execute(_LAST_SAID, (stream,)).fetchone() == (taken.data,)
    data = None if same and seq % WRITTEN_EVERY else taken.data
    connection.execute("INSERT INTO stream_states VALUES (?, ?, ?, ?, ?)", (stream, seq, at_ms, taken.as_of_ms, data))
    connection.execute(_PRUNE, (stream, seq - KEPT + 1))


def _remember(connection: Connection, taken: Taken) -> None:
    if taken.id is not None:
        connection.execute("INSERT INTO stream_told VALUES (?, ?, ?)", (taken.stream, taken.id, taken.as_of_ms))

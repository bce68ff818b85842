"""The states of all streams in the database: appended by the leader, read by every process."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.market.tables import claim_watch, holds_dataset
from service.storage.database import Database
from service.storage.engine import Connection
from service.streams.state import StreamState
from service.wire.envelope import encode
from service.wire.streams import StreamName

NAME: Final = "streams"
KEPT: Final = 360
"""Stored states of each stream: half an hour of samples every five seconds."""

WRITTEN_EVERY: Final = 60
"""An unchanged state is written out again after this many samples."""

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
_LAST_DATA: Final = """
    SELECT data FROM stream_states WHERE stream = ? AND data IS NOT NULL ORDER BY seq DESC LIMIT 1
"""
_PRUNE: Final = """
    DELETE FROM stream_states WHERE stream = ?1 AND seq < (
        SELECT max(seq) FROM stream_states WHERE stream = ?1 AND seq <= ?2 AND data IS NOT NULL
    )
"""


class StreamSample(Struct, frozen=True):
    """A state or an event: encoded JSON, and the time of its oldest input (epoch ms UTC).

    An event has an `id`, under which it is sent once, and its own time in `as_of_ms`.
    """

    stream: StreamName
    as_of_ms: int
    data: bytes
    id: str | None = None


class SentEvents(Struct, frozen=True):
    """The instant after which events are sent (null: the dataset is new), and the events that were sent."""

    since_ms: int | None
    sent: Collection[tuple[str, str]]


class StreamStore:
    """The tables of the streams.

    Args:
        database: Holds the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sent_events(self, origin: str) -> SentEvents:
        """The events of a dataset that were sent; none if the tables hold another dataset.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_STANDING, (NAME, origin))
        sent = {(stream, name) for _, stream, name in rows if stream is not None}
        return SentEvents(rows[0][0] if rows else None, sent)

    async def append(
        self, origin: str, at_ms: int, since_ms: int, taken: Sequence[StreamSample], past: Sequence[StreamSample] = ()
    ) -> None:
        """Number samples and store them, in one transaction. Does nothing if the market holds another dataset.

        Args:
            origin: The dataset of the samples. If the tables hold another one, all but the numbers is cleared.
            at_ms: Time of the samples.
            since_ms: Events up to this instant are forgotten.
            taken: Samples in the order in which they are sent.
            past: Events that are remembered and not sent.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> None:
            if not holds_dataset(connection, origin):
                return
            claim_watch(connection, NAME, origin, _CLEARED)
            connection.execute("UPDATE market_watches SET through_ms = ? WHERE name = ?", (since_ms, NAME))
            for each in taken:
                _store_state(connection, at_ms, each)
            for each in (*taken, *past):
                _remember_event(connection, each)
            connection.execute("DELETE FROM stream_told WHERE happened_ms <= ?", (since_ms,))

        await self._database.write(work)

    async def after(self, known: Mapping[StreamName, int]) -> list[tuple[StreamName, StreamState]]:
        """States after the known ones, of each stream in order.

        Args:
            known: Number of the newest known state, by stream; other streams are not read.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_AFTER, (encode(known).decode(),))
        return [(stream, StreamState(*row)) for stream, *row in rows]


def _store_state(connection: Connection, at_ms: int, taken: StreamSample) -> None:
    stream = taken.stream
    ((seq,),) = connection.execute(_NEXT, (stream,)).fetchall()
    same = connection.execute(_LAST_DATA, (stream,)).fetchone() == (taken.data,)
    data = None if same and seq % WRITTEN_EVERY else taken.data
    connection.execute("INSERT INTO stream_states VALUES (?, ?, ?, ?, ?)", (stream, seq, at_ms, taken.as_of_ms, data))
    connection.execute(_PRUNE, (stream, seq - KEPT + 1))


def _remember_event(connection: Connection, taken: StreamSample) -> None:
    if taken.id is not None:
        connection.execute("INSERT INTO stream_told VALUES (?, ?, ?)", (taken.stream, taken.id, taken.as_of_ms))

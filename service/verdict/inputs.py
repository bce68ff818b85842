"""What was known when: the inputs of all coins, written down every quarter of an hour."""

import asyncio
import logging
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.desk import MarketDesk
from service.market.observed import BENCHMARK
from service.storage.database import Database
from service.storage.engine import Connection
from service.verdict.fanout import Observer
from service.verdict.recorded import Recorded
from service.wire.envelope import encode
from service.wire.verdict import Sources, VerdictInputs

RECORD_EVERY_S: Final = 60.0
"""How often it is looked whether a row is due."""

SLOT_MS: Final = 15 * MINUTE_MS
"""The rhythm of rows: one in each quarter of an hour."""

MOST_ROWS: Final = 4
"""In a quarter of an hour: sources that come and go do not fill the disk."""

KEPT_MS: Final = 100 * DAY_MS

_RECORD: Final = "INSERT INTO verdict_inputs (recorded_ms, origin, body) VALUES (?, ?, ?)"
_FORGET: Final = "DELETE FROM verdict_inputs WHERE recorded_ms < ?"
_COUNT: Final = "SELECT count(*) FROM verdict_inputs WHERE origin = ? AND recorded_ms BETWEEN ? AND ?"
_FIRST: Final = "SELECT min(recorded_ms) FROM verdict_inputs WHERE origin = ?"
_NEWEST: Final = """
    SELECT recorded_ms, body FROM verdict_inputs WHERE origin = ? AND recorded_ms <= ?
    ORDER BY recorded_ms DESC LIMIT 1
"""

_read: Final = msgspec.json.Decoder(list[VerdictInputs]).decode
_log: Final = logging.getLogger("verdict.verdict")


class InputStore:
    """The rows of inputs. Those of another origin than the one asked about are not read.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, origin: str, now_ms: int, inputs: Sequence[VerdictInputs]) -> None:
        """Write down what is known now, and forget what is too old.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        body = await asyncio.to_thread(_deflate, inputs)

        def work(connection: Connection) -> None:
            connection.execute(_RECORD, (now_ms, origin, body))
            connection.execute(_FORGET, (now_ms - KEPT_MS,))

        await self._database.write(work)

    async def newest(self, origin: str, symbol: str, at_ms: int) -> Recorded | None:
        """What was known of a coin when a row was last written, at or before an instant; null where it was not there.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

        def look(connection: Connection) -> Recorded | None:
            row = connection.execute(_NEWEST, (origin, at_ms)).fetchone()
            return None if row is None else _find(symbol, *row)

        return await self._database.inspect(look)

    async def count(self, origin: str, since_ms: int, until_ms: int) -> int:
        """How many rows were written between two instants, both included."""
        ((rows,),) = await self._database.read(_COUNT, (origin, since_ms, until_ms))
        return int(rows)

    async def since(self, origin: str) -> int | None:
        """When the first row was written that is still kept; null where there is none."""
        ((first_ms,),) = await self._database.read(_FIRST, (origin,))
        return None if first_ms is None else int(first_ms)


class Recorder:
    """Writes rows, in the process that leads.

    One is due in every quarter of an hour, and as soon as BTC's sources stand otherwise than in the row before: so that
    what was known while they were down, or had not told yet, is not taken for what was known once they were up.

    Args:
        clock: Dates rows.
        store: Where they are written.
        observer: Knows the inputs.
        market: Knows which history they tell of.
        origin: Which history the upstreams tell at this moment; a replay's changes at midnight.
    """

    def __init__(
        self, clock: Clock, store: InputStore, observer: Observer, market: MarketDesk, origin: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._store = store
        self._observer = observer
        self._market = market
        self._origin = origin
        self._stood: Sources | None = None

    async def round(self) -> None:
        """Write a row if one is due.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the row is due still.
        """
        origin, now_ms = self._origin(), self._clock.now_ms()
        if self._market.state.origin != origin:
            return
        rows = await self._store.count(origin, now_ms // SLOT_MS * SLOT_MS, now_ms)
        stands = (await self._observer.observe(BENCHMARK)).sources
        if rows and (rows >= MOST_ROWS or self._stood in {None, stands}):
            self._stood = self._stood or stands
            return
        inputs = await self._observer.observe_all()
        if self._market.state.origin == origin:  # what was observed is of the history that the market tells
            await self._store.record(origin, self._clock.now_ms(), inputs)
            self._stood = stands


def _deflate(inputs: Sequence[VerdictInputs]) -> bytes:
    return zlib.compress(encode(inputs))


def _find(symbol: str, recorded_ms: int, body: bytes) -> Recorded | None:
    """A coin in a row; null where it was not listed then, or where another version of this service wrote the row."""
    try:
        rows = _read(zlib.decompress(body))
    except msgspec.MsgspecError:
        _log.warning("inputs of another version are not read", extra={"recorded_ms": recorded_ms})
        return None
    return next((Recorded(recorded_ms, inputs) for inputs in rows if inputs.symbol == symbol), None)

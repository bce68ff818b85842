"""Inputs of all coins, stored every 15 minutes, for verdicts on the past."""

import asyncio
import logging
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from service.clock import DAY_MS, MINUTE_MS, Clock
from service.market.models import BENCHMARK
from service.market.service import MarketService
from service.storage.database import Database
from service.storage.engine import Connection
from service.verdict.ledger import RecordedInputs
from service.verdict.sources import InputCollector
from service.wire.envelope import encode
from service.wire.verdict import Sources, VerdictInputs

RECORD_EVERY_S: Final = 60.0
"""How often to check whether a row is due."""

SLOT_MS: Final = 15 * MINUTE_MS
"""One row in each 15 minutes."""

MOST_ROWS: Final = 4
"""Most rows in 15 minutes, so that sources that come and go do not fill the disk."""

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
    """Stored rows of inputs, each bound to a dataset (`origin`).

    Args:
        database: Holds the rows.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, origin: str, now_ms: int, inputs: Sequence[VerdictInputs]) -> None:
        """Store a row and delete those older than `KEPT_MS`.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        body = await asyncio.to_thread(_deflate, inputs)

        def work(connection: Connection) -> None:
            connection.execute(_RECORD, (now_ms, origin, body))
            connection.execute(_FORGET, (now_ms - KEPT_MS,))

        await self._database.write(work)

    async def newest(self, origin: str, symbol: str, at_ms: int) -> RecordedInputs | None:
        """The inputs of a coin in the newest row at or before an instant; null if it was not listed then.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

        def look(connection: Connection) -> RecordedInputs | None:
            row = connection.execute(_NEWEST, (origin, at_ms)).fetchone()
            return None if row is None else _find(symbol, *row)

        return await self._database.inspect(look)

    async def count(self, origin: str, since_ms: int, until_ms: int) -> int:
        """Number of rows between two instants, both included."""
        ((rows,),) = await self._database.read(_COUNT, (origin, since_ms, until_ms))
        return int(rows)

    async def since(self, origin: str) -> int | None:
        """Time of the first stored row; null if there is none."""
        ((first_ms,),) = await self._database.read(_FIRST, (origin,))
        return None if first_ms is None else int(first_ms)


class InputRecorder:
    """Writes rows. Runs in the leader.

    A row is due every 15 minutes, and as soon as the states of BTC's sources change: the inputs of an outage must not
    count for the minutes after it.

    Args:
        clock: The time.
        store: Rows are stored here.
        collector: Collects inputs.
        market: The dataset in memory.
        origin: The current dataset of the upstreams; that of a replay changes at midnight.
    """

    def __init__(
        self,
        clock: Clock,
        store: InputStore,
        collector: InputCollector,
        market: MarketService,
        origin: Callable[[], str],
    ) -> None:
        self._clock = clock
        self._store = store
        self._collector = collector
        self._market = market
        self._origin = origin
        self._last_sources: Sources | None = None

    async def round(self) -> None:
        """Write a row if one is due.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the row stays due.
        """
        origin, now_ms = self._origin(), self._clock.now_ms()
        if self._market.state.origin != origin:
            return
        rows = await self._store.count(origin, now_ms // SLOT_MS * SLOT_MS, now_ms)
        states = (await self._collector.collect(BENCHMARK)).sources
        if rows and (rows >= MOST_ROWS or self._last_sources in {None, states}):
            self._last_sources = self._last_sources or states
            return
        inputs = await self._collector.collect_all()
        if self._market.state.origin == origin:
            await self._store.record(origin, self._clock.now_ms(), inputs)
            self._last_sources = states


def _deflate(inputs: Sequence[VerdictInputs]) -> bytes:
    return zlib.compress(encode(inputs))


def _find(symbol: str, recorded_ms: int, body: bytes) -> RecordedInputs | None:
    """A coin in a row; null if it was not listed, or if another version of the service wrote the row."""
    try:
        rows = _read(zlib.decompress(body))
    except msgspec.MsgspecError:
        _log.warning("Stored inputs of another version were skipped", extra={"recorded_ms": recorded_ms})
        return None
    return next((RecordedInputs(recorded_ms, inputs) for inputs in rows if inputs.symbol == symbol), None)

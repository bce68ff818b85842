"""What coins were worth in the past: CoinGecko's market caps and volumes, in the database."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.clock import HOUR_MS
from service.market.sources.coingecko import Cap
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows

REACH_MS: Final = HOUR_MS
"""A market cap of another time than this close to the one asked for is not that time's."""

_CHARTS: Final = "SELECT gecko_id, read_ms FROM market_cap_charts WHERE origin = ?"
_NEAR: Final = """
    SELECT at_ms, market_cap, volume_usd FROM market_caps JOIN market_cap_charts USING (gecko_id)
    WHERE gecko_id = ?1 AND origin = ?2 AND at_ms BETWEEN ?3 - ?4 AND ?3 + ?4
    ORDER BY abs(at_ms - ?3), at_ms LIMIT 1
"""
_BETWEEN: Final = """
    SELECT at_ms, market_cap, volume_usd FROM market_caps JOIN market_cap_charts USING (gecko_id)
    WHERE gecko_id = ? AND origin = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms
"""


class CapStore:
    """The tables of past market caps.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_times(self, origin: str) -> dict[str, int]:
        """When the past of each coin was last read, by CoinGecko's id; that of another history does not count."""
        return dict(await self._database.read(_CHARTS, (origin,)))

    async def put(self, origin: str, gecko_id: str, caps: Sequence[Cap], read_ms: int) -> None:
        """Replace a coin's past. That of another history goes, every coin's.

        Args:
            origin: The history it belongs to.
            gecko_id: CoinGecko's id.
            caps: One a time.
            read_ms: When CoinGecko was asked.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        values = [(cap.at_ms, cap.market_cap, cap.volume_usd) for cap in caps]

        def work(connection: Connection) -> None:
            connection.execute("DELETE FROM market_cap_charts WHERE origin <> ? OR gecko_id = ?", (origin, gecko_id))
            connection.execute("INSERT INTO market_cap_charts VALUES (?, ?, ?)", (gecko_id, origin, read_ms))
            insert_rows(connection, "INSERT INTO market_caps", values, shared=(gecko_id,))

        await self._database.write(work)

    async def near(self, origin: str, gecko_id: str, at_ms: int) -> Cap | None:
        """The point of a coin's past that is nearest to an instant, an hour away at the most; null where none is.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_NEAR, (gecko_id, origin, at_ms, REACH_MS))
        return Cap(*rows[0]) if rows else None

    async def between(self, origin: str, gecko_id: str, since_ms: int, until_ms: int) -> list[Cap]:
        """The points of a coin's past in [`since_ms`, `until_ms`), oldest first.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        return [Cap(*row) for row in await self._database.read(_BETWEEN, (gecko_id, origin, since_ms, until_ms))]


class PastCaps:
    """Market caps of the past by the venue's tickers.

    Args:
        caps: Where they are.
        origin: Which history is told at this moment.
        identities: Ticker → CoinGecko's id, of the coins that are known there.
    """

    def __init__(self, caps: CapStore, origin: Callable[[], str], identities: Callable[[], Mapping[str, str]]) -> None:
        self._caps = caps
        self._origin = origin
        self._identities = identities

    async def near(self, symbol: str, at_ms: int) -> Cap | None:
        """What a coin was worth at an instant, give or take an hour: by the hour for 42 days, at 00:00 UTC for a year.

        Args:
            symbol: Canonical ticker.
            at_ms: Epoch milliseconds UTC.

        Returns:
            The nearest point, with its own time; null where CoinGecko does not know the coin, or told nothing of then.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        gecko_id = self._identities().get(symbol)
        return None if gecko_id is None else await self._caps.near(self._origin(), gecko_id, at_ms)

    async def between(self, symbol: str, since_ms: int, until_ms: int) -> list[Cap]:
        """Market caps and spot volumes of a coin in [`since_ms`, `until_ms`), oldest first; none where it is not known.

        By the hour for 42 days, at 00:00 UTC for a year.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        gecko_id = self._identities().get(symbol)
        return [] if gecko_id is None else await self._caps.between(self._origin(), gecko_id, since_ms, until_ms)

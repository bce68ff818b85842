"""Stored data of CoinGecko: coins, categories and members as documents, past market caps, the monthly call count."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from service.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Clock, iso, parse_iso
from service.market.sources.coingecko import GeckoCategory, GeckoCoin, PastCap
from service.storage.database import Database
from service.storage.documents import Document, DocumentState, DocumentStore, FetchFailure
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.upstream.failures import UpstreamError

UPSTREAM: Final = "coingecko"
"""Its name in errors."""


class GeckoCoins(Struct, frozen=True):
    """Ticker of the venue → its coin at CoinGecko, as last seen; matched by `identity`."""

    coins: dict[str, GeckoCoin]


class GeckoLargest(Struct, frozen=True):
    """The largest coins, whether or not the venue lists them, the largest first."""

    coins: tuple[GeckoCoin, ...]


class GeckoCategories(Struct, frozen=True):
    """All categories, the largest first."""

    categories: tuple[GeckoCategory, ...]


class Membership(Struct, frozen=True):
    """Ids of a category's coins whose tickers the venue lists, and when they were read."""

    ids: frozenset[str]
    read_ms: int


class GeckoMembers(Struct, frozen=True):
    """Category id → members; a category that is missing has not been read yet."""

    members: dict[str, Membership]


class GeckoDocuments(NamedTuple):
    """The four documents."""

    coins: Document[GeckoCoins]
    categories: Document[GeckoCategories]
    members: Document[GeckoMembers]
    largest: Document[GeckoLargest]

    @classmethod
    def on(cls, document_store: DocumentStore) -> "GeckoDocuments":
        """Open them in a document store, whose `refresh` reads them."""
        return cls(
            document_store.document("market.gecko.coins", GeckoCoins),
            document_store.document("market.gecko.categories", GeckoCategories),
            document_store.document("market.gecko.members", GeckoMembers),
            document_store.document("market.gecko.largest", GeckoLargest),
        )


def known_coins(current: DocumentState[GeckoCoins]) -> dict[str, GeckoCoin]:
    """Ticker of the venue → CoinGecko coin, whatever its age."""
    return {} if current.value is None else current.value.coins


def largest_coins(current: DocumentState[GeckoLargest]) -> Sequence[GeckoCoin]:
    """The largest coins, whatever their age."""
    return () if current.value is None else current.value.coins


def known_members(current: DocumentState[GeckoMembers]) -> dict[str, Membership]:
    """Category id → members, whatever their age."""
    return {} if current.value is None else current.value.members


async def note_failure(document: Document[Any], now_ms: int, error: UpstreamError) -> None:
    """Store in a document how its last request failed.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    await document.fail(FetchFailure(now_ms, error.upstream_status, error.body))


REACH_MS: Final = HOUR_MS + 10 * MINUTE_MS
"""A market cap older than this at an instant is not of that instant: points are hours and some minutes apart."""

_CHARTS: Final = "SELECT gecko_id, read_ms FROM market_cap_charts WHERE origin = ?"
_BEFORE: Final = """
    SELECT at_ms, market_cap, volume_usd FROM market_caps JOIN market_cap_charts USING (gecko_id)
    WHERE gecko_id = ?1 AND origin = ?2 AND at_ms BETWEEN ?3 - ?4 AND ?3
    ORDER BY at_ms DESC LIMIT 1
"""
_BETWEEN: Final = """
    SELECT at_ms, market_cap, volume_usd FROM market_caps JOIN market_cap_charts USING (gecko_id)
    WHERE gecko_id = ? AND origin = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms
"""


class CapStore:
    """The tables of past market caps.

    Args:
        database: Holds them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_times(self, origin: str) -> dict[str, int]:
        """When each coin's past was last read, by CoinGecko id; rows of another dataset do not count."""
        return dict(await self._database.read(_CHARTS, (origin,)))

    async def put(self, origin: str, gecko_id: str, caps: Sequence[PastCap], read_ms: int) -> None:
        """Replace a coin's past. Rows of another dataset are deleted, for every coin.

        Args:
            origin: Its dataset.
            gecko_id: CoinGecko's id.
            caps: One per time.
            read_ms: Time of the request.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        values = [(cap.at_ms, cap.market_cap, cap.volume_usd) for cap in caps]

        def work(connection: Connection) -> None:
            connection.execute("DELETE FROM market_cap_charts WHERE origin <> ? OR gecko_id = ?", (origin, gecko_id))
            connection.execute("INSERT INTO market_cap_charts VALUES (?, ?, ?)", (gecko_id, origin, read_ms))
            insert_rows(connection, "INSERT INTO market_caps", values, shared=(gecko_id,))

        await self._database.write(work)

    async def before(self, origin: str, gecko_id: str, at_ms: int) -> PastCap | None:
        """The last point of a coin's past at or before an instant, at most `REACH_MS` older; null if there is none.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_BEFORE, (gecko_id, origin, at_ms, REACH_MS))
        return PastCap(*rows[0]) if rows else None

    async def between(self, origin: str, gecko_id: str, since_ms: int, until_ms: int) -> list[PastCap]:
        """Points of a coin's past in [`since_ms`, `until_ms`), oldest first.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        return [PastCap(*row) for row in await self._database.read(_BETWEEN, (gecko_id, origin, since_ms, until_ms))]


class PastCaps:
    """Past market caps by the venue's tickers.

    Args:
        caps: The tables.
        origin: The current dataset.
        identities: Ticker → CoinGecko id of the matched coins.
    """

    def __init__(self, caps: CapStore, origin: Callable[[], str], identities: Callable[[], Mapping[str, str]]) -> None:
        self._caps = caps
        self._origin = origin
        self._identities = identities

    async def before(self, symbol: str, at_ms: int) -> PastCap | None:
        """Market cap that was known at an instant, of the hour before: hourly for 42 days, at 00:00 UTC for a year.

        Args:
            symbol: Canonical ticker.
            at_ms: Epoch milliseconds UTC.

        Returns:
            The last point until then with its own time; null if CoinGecko does not know the coin or the time.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        gecko_id = self._identities().get(symbol)
        return None if gecko_id is None else await self._caps.before(self._origin(), gecko_id, at_ms)

    async def between(self, symbol: str, since_ms: int, until_ms: int) -> list[PastCap]:
        """Market caps and spot volumes in [`since_ms`, `until_ms`), oldest first; empty if the coin is unknown.

        Hourly for 42 days, at 00:00 UTC for a year.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        gecko_id = self._identities().get(symbol)
        return [] if gecko_id is None else await self._caps.between(self._origin(), gecko_id, since_ms, until_ms)


SHARE: Final = 0.9
"""Planned share of a month's calls; retries and checks use the rest."""

FIRST_FILL: Final = 1_500
"""Calls allowed at once in a month: 1.5 times what reading everything once takes."""

CALLS: Final = "market.gecko.calls"
"""Name of the document with the count."""

_TOO_MANY: Final = 429
_DECEMBER: Final = 12


class GeckoCalls(Struct, frozen=True):
    """Number of calls in a UTC month (`2026-11`)."""

    month: str
    calls: int


class MonthlyCalls:
    """Limits calls by month. The count is stored, so a restart does not reset it.

    Args:
        clock: The month, and how much of it has passed.
        document: The count.
        most: Calls per month; null if unlimited.
    """

    def __init__(self, clock: Clock, document: Document[GeckoCalls], most: int | None) -> None:
        self._clock = clock
        self._document = document
        self._planned = None if most is None else int(most * SHARE)

    async def take(self) -> None:
        """Count a call.

        Raises:
            UpstreamError: If no call is left for now; `retry_after_s` is the time until the next.
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        if self._planned is None:
            return
        now_ms = self._clock.now_ms()
        month = iso(now_ms)[: len("2026-11")]
        current = self._document.current.value
        made = current.calls if current is not None and current.month == month else 0
        wait_ms = self._due_ms(month, made, self._planned) - now_ms
        if wait_ms > 0:
            message = (
                f"{made} of this month's {self._planned} calls are made. The next is due in {wait_ms // SECOND_MS} s."
            )
            raise UpstreamError("coingecko", _TOO_MANY, message.encode(), retry_after_s=wait_ms / SECOND_MS)
        await self._document.put("", GeckoCalls(month, made + 1), now_ms)  # of no dataset

    def _due_ms(self, month: str, made: int, planned: int) -> int:
        """When the next call of a month is due: the first ones at once, the others evenly until its end."""
        begin_ms, end_ms = _begin(month), _begin(_after(month))
        if made < FIRST_FILL:
            return begin_ms
        if made >= planned:
            return end_ms
        return begin_ms + (made + 1 - FIRST_FILL) * (end_ms - begin_ms) // (planned - FIRST_FILL)


def _begin(month: str) -> int:
    return parse_iso(f"{month}-01T00:00:00.000Z")


def _after(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year + 1}-01" if number == _DECEMBER else f"{year}-{number + 1:02}"

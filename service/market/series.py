"""Reads the market's series: listed coins, closed bars, funding payments.

Reads of the whole market use their own thread and connection, so that other reads do not wait.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar, cast

from msgspec import Struct

from service.analytics.funding import FUNDED_HOURS
from service.clock import DAY_MS
from service.market.daily_report.models import DAILY_REPORT
from service.market.models import Bar, PackedBars, PaymentRow, Row, VenueCoin
from service.storage.database import Database
from service.storage.engine import Connection
from service.units import Interval
from service.wire.envelope import encode

T = TypeVar("T")

_COINS: Final = "SELECT venue_symbol, symbol, listed FROM market_coins ORDER BY venue_symbol"

_WANTED: Final = "SELECT key, CAST(value AS INTEGER) FROM json_each(?1)"
_EVERY: Final = "SELECT venue_symbol, ?1 FROM market_coins"

_CLOSED: Final = """
    WITH wanted (venue_symbol, since_ms) AS MATERIALIZED ({wanted})
    SELECT c.venue_symbol, c.open_ms, c.open, c.high, c.low, c.close{volume} FROM wanted w CROSS JOIN candles c
    WHERE c.venue_symbol = w.venue_symbol AND c.interval = ?2 AND c.open_ms >= w.since_ms AND c.final = 1
    ORDER BY c.venue_symbol, c.open_ms
"""

_BARS: Final = """
    SELECT open_ms, open, high, low, close, volume, trades FROM candles
    WHERE venue_symbol = ? AND interval = ? AND open_ms >= ? AND final = 1 ORDER BY open_ms
"""

_USUAL: Final = """
    SELECT venue_symbol, total(volume * close) / count(*) FROM candles
    WHERE venue_symbol IN (SELECT venue_symbol FROM market_coins) AND interval = '1d' AND final = 1 AND open_ms >= ?
    GROUP BY venue_symbol ORDER BY venue_symbol
"""

_NEWEST: Final = """
    SELECT venue_symbol, newest_ms FROM (
        SELECT venue_symbol, (
            SELECT open_ms FROM candles
            WHERE venue_symbol = k.venue_symbol AND interval = ? AND final = 1 ORDER BY open_ms DESC LIMIT 1
        ) AS newest_ms FROM market_coins k
    ) AS closed WHERE newest_ms IS NOT NULL ORDER BY venue_symbol
"""

_PAID: Final = """
    WITH wanted (venue_symbol, since_ms) AS MATERIALIZED ({wanted})
    SELECT f.venue_symbol, f.paid_ms, f.rate, f.interval_hours FROM wanted w CROSS JOIN funding_rates f
    WHERE f.venue_symbol = w.venue_symbol AND f.paid_ms >= w.since_ms
    ORDER BY f.venue_symbol, f.paid_ms
"""

_PUBLISHED: Final = "SELECT observed_ms FROM documents WHERE name = ? AND origin = ?"

_DAYS: Final = """
    SELECT c.venue_symbol, c.open_ms, c.open, c.high, c.low, c.close, c.volume
    FROM market_coins k CROSS JOIN candles c
    WHERE c.venue_symbol = k.venue_symbol AND c.interval = '1d' AND c.final = 1 AND c.open_ms < ?1
    ORDER BY c.venue_symbol, c.open_ms
"""
_COUNT_DAYS: Final = """
    SELECT count(*) FROM market_coins k CROSS JOIN candles c
    WHERE c.venue_symbol = k.venue_symbol AND c.interval = '1d' AND c.final = 1 AND c.open_ms < ?1
"""
_COUNT_PAID: Final = """
    SELECT count(*) FROM market_coins k CROSS JOIN funding_days f
    WHERE f.venue_symbol = k.venue_symbol AND f.day < ?1 / ?2
"""
_PAID_DAYS: Final = """
    SELECT f.venue_symbol, f.day, f.paid, f.hours FROM market_coins k CROSS JOIN funding_days f
    WHERE f.venue_symbol = k.venue_symbol AND f.day < ?1 / ?2 ORDER BY f.venue_symbol, f.day
"""

_FUNDED: Final = """
    SELECT f.venue_symbol, f.day, f.paid FROM market_coins k CROSS JOIN funding_days f
    WHERE f.venue_symbol = k.venue_symbol AND f.hours >= ?1 ORDER BY f.venue_symbol, f.day
"""
_FUNDED_COUNT: Final = """
    SELECT count(*) FROM market_coins k CROSS JOIN funding_days f
    WHERE f.venue_symbol = k.venue_symbol AND f.hours >= ?
"""


class DayCounts(Struct, frozen=True, array_like=True):
    """Number of closed daily bars and of coin-days with payments of funding.

    Stored ones never change, so equal counts through the same day mean equal days.
    """

    bars: int
    funded: int


class ClosedDays(NamedTuple):
    """All closed days of every coin that was ever listed, by venue symbol, oldest first.

    Attributes:
        origin: The dataset; null if the store is empty.
        bars: Daily bars.
        funding: Days with payments: day (from 1970-01-01 UTC), the fraction of its notional that a long paid in the
            hours that were paid, and their number. The funding of a day is known with `FUNDED_HOURS` of them.
    """

    origin: str | None
    coins: list[VenueCoin]
    bars: dict[str, PackedBars]
    funding: dict[str, list[tuple[int, float, float]]]

    @property
    def counts(self) -> DayCounts:
        """How many there are, as `count_days` counts them in the store."""
        return DayCounts(sum(map(len, self.bars.values())), sum(map(len, self.funding.values())))


def count_days(connection: Connection, until_ms: int) -> DayCounts:
    """Count the days that had closed at an instant.

    Args:
        connection: Inside a transaction.
        until_ms: A midnight, epoch milliseconds UTC.
    """
    ((bars,),) = connection.execute(_COUNT_DAYS, (until_ms,)).fetchall()
    ((funded,),) = connection.execute(_COUNT_PAID, (until_ms, DAY_MS)).fetchall()
    return DayCounts(bars, funded)


def read_days(connection: Connection, until_ms: int) -> ClosedDays:
    """Read the days that had closed at an instant, with their dataset.

    Args:
        connection: Inside a transaction, so that all rows are of one moment.
        until_ms: A midnight, epoch milliseconds UTC.
    """
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    return ClosedDays(
        None if held is None else held[0],
        [VenueCoin(venue_symbol, symbol, bool(listed)) for venue_symbol, symbol, listed in connection.execute(_COINS)],
        _packed(connection.execute(_DAYS, (until_ms,))),
        _by_coin(connection.execute(_PAID_DAYS, (until_ms, DAY_MS))),
    )


class SeriesReader:
    """Reads the market's series.

    Args:
        database: Holds them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def coins(self) -> list[VenueCoin]:
        """Every coin that the venue's main market has ever listed."""
        rows = await self._database.read(_COINS)
        return [VenueCoin(venue_symbol, symbol, bool(listed)) for venue_symbol, symbol, listed in rows]

    async def held(self) -> str | None:
        """The dataset of the stored data; null if the store is empty."""
        rows = await self._database.read("SELECT origin FROM market_state")
        return rows[0][0] if rows else None

    async def published_through(self, origin: str) -> int | None:
        """Close of the last published day of a dataset, epoch milliseconds; null if none is."""
        rows = await self._database.read(_PUBLISHED, (DAILY_REPORT, origin))
        return rows[0][0] if rows else None

    async def closed_bars(
        self, coins: Collection[str] | None = None, interval: Interval = "1d", since_ms: int = 0
    ) -> dict[str, list[Row]]:
        """Closed bars, oldest first.

        Args:
            coins: Venue symbols; each is a key of the result. Null: every coin that was ever listed and has bars.
            interval: Length of a bar.
            since_ms: Open time of the first bar wanted.
        """
        if coins is None:
            return await self._read(_CLOSED.format(wanted=_EVERY, volume=""), since_ms, interval)
        return await self.closed_bars_after(dict.fromkeys(coins, since_ms), interval)

    async def closed_bars_after(self, since_ms: Mapping[str, int], interval: Interval = "1d") -> dict[str, list[Row]]:
        """Closed bars of coins, each from its own time, oldest first.

        Args:
            since_ms: Open time of the first bar wanted, by venue symbol.
            interval: Length of a bar.
        """
        bars: dict[str, list[Row]] = {coin: [] for coin in since_ms}
        wanted = encode(dict(since_ms)).decode()
        return bars | await self._read(_CLOSED.format(wanted=_WANTED, volume=""), wanted, interval)

    async def packed_after(self, since_ms: Mapping[str, int]) -> dict[str, PackedBars]:
        """Closed daily bars with volumes, each coin from its own time; coins without bars are left out.

        Args:
            since_ms: Open time of the first bar wanted, by venue symbol.
        """
        wanted = encode(dict(since_ms)).decode()

        def look(connection: Connection) -> dict[str, PackedBars]:
            return _packed(connection.execute(_CLOSED.format(wanted=_WANTED, volume=", c.volume"), (wanted, "1d")))

        return await self._database.inspect(look)

    async def bars(self, coin: str, interval: Interval, since_ms: int) -> list[Bar]:
        """Closed bars of one coin with volume and trades, oldest first."""
        return [Bar(*row) for row in await self._database.read(_BARS, (coin, interval, since_ms))]

    async def usual_volumes(self, since_ms: int) -> dict[str, float]:
        """Mean USD volume a day of each coin, over closed days that opened at or after an instant."""
        return dict(await self._database.read(_USUAL, (since_ms,)))

    async def funded_days(self) -> int:
        """Number of coin-days whose funding is known."""
        ((count,),) = await self._database.read(_FUNDED_COUNT, (FUNDED_HOURS,))
        return int(count)

    async def funding_days(self) -> dict[str, list[tuple[int, float]]]:
        """Funding that a long paid over each known day, a fraction of its notional, oldest first.

        Days count from 1970-01-01 UTC.
        """
        return await self._read(_FUNDED, FUNDED_HOURS)

    async def newest_closed(self, interval: Interval = "1d") -> dict[str, int]:
        """Open time of the newest closed bar of every coin that has one."""
        return dict(await self._database.read(_NEWEST, (interval,)))

    async def funding_since(self, coins: Collection[str] | None, since_ms: int) -> dict[str, list[PaymentRow]]:
        """Funding payments, oldest first.

        Args:
            coins: Venue symbols; each is a key of the result. Null: every coin that was ever listed and has payments.
            since_ms: First time wanted.
        """
        if coins is None:
            return await self._read(_PAID.format(wanted=_EVERY), since_ms)
        paid: dict[str, list[PaymentRow]] = {coin: [] for coin in coins}
        wanted = encode(dict.fromkeys(coins, since_ms)).decode()
        return paid | await self._read(_PAID.format(wanted=_WANTED), wanted)

    async def _read(self, sql: str, *parameters: str | int) -> dict[str, list[T]]:
        """Rows grouped by their first column, the coin."""

        def look(connection: Connection) -> dict[str, list[T]]:
            return _by_coin(connection.execute(sql, parameters))

        return await self._database.inspect(look)


def _packed(rows: Iterable[tuple[Any, ...]]) -> dict[str, PackedBars]:
    """Bars by coin, packed one by one: as tuples those of all coins would fill 25 MB."""
    return {coin: PackedBars(row[1:] for row in of_coin) for coin, of_coin in groupby(rows, itemgetter(0))}


def _by_coin(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[T]]:
    """Group rows by their first column; rows of one coin are adjacent."""
    return {coin: cast("list[T]", [row[1:] for row in of_coin]) for coin, of_coin in groupby(rows, itemgetter(0))}

"""Reading the market's series: who was listed, closed bars, payments of funding.

What a whole market holds is read on a thread and a connection of its own, so that nobody waits for it.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar, cast

from service.clock import DAY_MS, LATEST_MS
from service.market.conclusions.concluded import CONCLUSIONS
from service.market.observed import Bar, Coin, PaymentRow, Row
from service.market.packed import Bars, VolumeRow
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
    SELECT c.venue_symbol, c.open_ms / ?2, c.open, c.high, c.low, c.close, c.volume
    FROM market_coins k CROSS JOIN candles c
    WHERE c.venue_symbol = k.venue_symbol AND c.interval = '1d' AND c.final = 1 AND c.open_ms < ?1
    ORDER BY c.venue_symbol, c.open_ms
"""
_FUNDED: Final = """
    SELECT f.venue_symbol, f.day, f.paid FROM market_coins k CROSS JOIN funding_days f
    WHERE f.venue_symbol = k.venue_symbol AND f.day < ?1 / ?2 ORDER BY f.venue_symbol, f.day
"""

_FUNDED_COUNT: Final = (
    "SELECT count(*) FROM market_coins k CROSS JOIN funding_days f WHERE f.venue_symbol = k.venue_symbol"
)


class Days(NamedTuple):
    """All closed days of every coin that was ever listed, by venue symbol, oldest first.

    `bars` hold the day (from 1970-01-01 UTC), open, high, low, close in USD and the volume in base units; `funding` the
    day and the fraction of its notional that a long paid over it, where that is known.
    """

    origin: str | None
    coins: list[Coin]
    bars: dict[str, list[tuple[int, float, float, float, float, float]]]
    funding: dict[str, list[tuple[int, float]]]


def read_days(connection: Connection, until_ms: int) -> Days:
    """Read the days that had closed by an instant, and which history they belong to (null: the store is empty).

    Args:
        connection: Inside a transaction, so that all of it is of one moment.
        until_ms: A midnight, epoch milliseconds UTC.
    """
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    return Days(
        None if held is None else held[0],
        [Coin(venue_symbol, symbol, bool(listed)) for venue_symbol, symbol, listed in connection.execute(_COINS)],
        _by_coin(connection.execute(_DAYS, (until_ms, DAY_MS))),
        _by_coin(connection.execute(_FUNDED, (until_ms, DAY_MS))),
    )


class Series:
    """The market's series, read.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def coins(self) -> list[Coin]:
        """Every coin that the venue's main market ever listed."""
        rows = await self._database.read(_COINS)
        return [Coin(venue_symbol, symbol, bool(listed)) for venue_symbol, symbol, listed in rows]

    async def held(self) -> str | None:
        """Which history the store holds; null while it is empty."""
        rows = await self._database.read("SELECT origin FROM market_state")
        return rows[0][0] if rows else None

    async def published_through(self, origin: str) -> int | None:
        """The close of the last day of a history that was published, epoch milliseconds; null where none was."""
        rows = await self._database.read(_PUBLISHED, (CONCLUSIONS, origin))
        return rows[0][0] if rows else None

    async def closed_bars(
        self, coins: Collection[str] | None = None, interval: Interval = "1d", since_ms: int = 0
    ) -> dict[str, list[Row]]:
        """Closed bars, oldest first.

        Args:
            coins: Venue symbols, each of which is in the answer; null is every coin that was ever listed and has bars.
            interval: Length of a bar.
            since_ms: Opens of the bars wanted, from here on.
        """
        if coins is None:
            return await self._read(_CLOSED.format(wanted=_EVERY, volume=""), since_ms, interval)
        return await self.closed_bars_after(dict.fromkeys(coins, since_ms), interval)

    async def closed_bars_after(self, since_ms: Mapping[str, int], interval: Interval = "1d") -> dict[str, list[Row]]:
        """Closed bars of coins, each from its own time on, oldest first.

        Args:
            since_ms: Open of the first bar wanted, by venue symbol.
            interval: Length of a bar.
        """
        bars: dict[str, list[Row]] = {coin: [] for coin in since_ms}
        wanted = encode(dict(since_ms)).decode()
        return bars | await self._read(_CLOSED.format(wanted=_WANTED, volume=""), wanted, interval)

    async def packed_after(self, since_ms: Mapping[str, int]) -> dict[str, Bars]:
        """Closed daily bars of coins with their volumes, each from its own time on; of the coins that have any.

        Args:
            since_ms: Open of the first bar wanted, by venue symbol.
        """
        wanted = encode(dict(since_ms)).decode()

        def look(connection: Connection) -> dict[str, Bars]:
            closed = _CLOSED.format(wanted=_WANTED, volume=", c.volume")
            rows: dict[str, list[VolumeRow]] = _by_coin(connection.execute(closed, (wanted, "1d")))
            return {coin: Bars(of_coin) for coin, of_coin in rows.items()}

        return await self._database.inspect(look)

    async def bars(self, coin: str, interval: Interval, since_ms: int) -> list[Bar]:
        """Closed bars of one coin with what was traded in them, oldest first."""
        return [Bar(*row) for row in await self._database.read(_BARS, (coin, interval, since_ms))]

    async def usual_volumes(self, since_ms: int) -> dict[str, float]:
        """What was traded of each coin a day, in USD: the mean of closed days that opened at or after an instant."""
        return dict(await self._database.read(_USUAL, (since_ms,)))

    async def funded_days(self) -> int:
        """How many days of coins there are whose funding is known."""
        ((count,),) = await self._database.read(_FUNDED_COUNT)
        return int(count)

    async def funding_days(self) -> dict[str, list[tuple[int, float]]]:
        """What a long paid over each day whose funding is known, a fraction of its notional, oldest first.

        Days count from 1970-01-01 UTC.
        """
        return await self._read(_FUNDED, LATEST_MS, DAY_MS)

    async def newest_closed(self, interval: Interval = "1d") -> dict[str, int]:
        """Open of the newest closed bar of every coin that was ever listed and has one."""
        return dict(await self._database.read(_NEWEST, (interval,)))

    async def funding_since(self, coins: Collection[str] | None, since_ms: int) -> dict[str, list[PaymentRow]]:
        """Payments of funding, oldest first.

        Args:
            coins: Venue symbols, each of which is in the answer; null is every coin that was ever listed and has any.
            since_ms: The first time wanted.
        """
        if coins is None:
            return await self._read(_PAID.format(wanted=_EVERY), since_ms)
        paid: dict[str, list[PaymentRow]] = {coin: [] for coin in coins}
        wanted = encode(dict.fromkeys(coins, since_ms)).decode()
        return paid | await self._read(_PAID.format(wanted=_WANTED), wanted)

    async def _read(self, sql: str, *parameters: str | int) -> dict[str, list[T]]:
        """Rows by the coin that each begins with."""

        def look(connection: Connection) -> dict[str, list[T]]:
            return _by_coin(connection.execute(sql, parameters))

        return await self._database.inspect(look)


def _by_coin(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[T]]:
    """Rows by the coin that each begins with; those of a coin follow one another."""
    return {coin: cast("list[T]", [row[1:] for row in of_coin]) for coin, of_coin in groupby(rows, itemgetter(0))}

"""Stores the market: newest quotes, bars, payments, charts, and the result of the last refresh.

Every write is one transaction of few statements with many rows each. Every write names its dataset (`origin`): data of
another dataset than the stored one are dropped.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import astuple

from service.clock import DAY_MS
from service.market.alerts.store import ALERT_TABLES
from service.market.models import (
    VENUE,
    Bar,
    BarRow,
    CoinChart,
    MarketSnapshot,
    MarketState,
    PaymentRow,
    Quote,
    Quotes,
    SeriesProgress,
    VenueCoin,
)
from service.market.series import SeriesReader
from service.market.tables import (
    SERIES_TABLES,
    UPSERT_CANDLES,
    UPSERT_QUOTES,
    clear_other_source,
    delist,
    forget_unconfirmed,
    holds_dataset,
    insert_closed_bars,
    insert_payments,
    list_delisted,
)
from service.storage.backup import copy_tables
from service.storage.documents import FetchFailure
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.units import Interval
from service.wire.envelope import encode

_SNAPSHOT: Final = """
    SELECT s.origin, s.revision, s.quotes_ms, s.history_ms, s.failed_ms, s.failed_status, s.failed_body, s.venue,
        q.venue_symbol, q.symbol, q.volume_usd, q.price, q.price_ms, q.funding, q.funding_ms,
        q.open_interest, q.prev_price, q.venue, q.interval_hours,
        c.through_ms, c.trend_daily, c.trend_daily_since_ms, c.trend_weekly, c.trend_weekly_since_ms, c.btc_correlation
    FROM market_state s LEFT JOIN market_quotes q ON true LEFT JOIN market_charts c USING (venue_symbol)
    ORDER BY q.venue_symbol
"""
_DELISTED: Final = "SELECT venue_symbol, symbol FROM market_coins WHERE listed = 0 ORDER BY venue_symbol"
_QUOTE: Final = 8
_CHART: Final = _QUOTE + len(Quote.__struct_fields__)

_PROGRESS: Final = """
    SELECT k.venue_symbol, k.symbol, k.listed, (
        SELECT open_ms FROM candles
        WHERE venue_symbol = k.venue_symbol AND interval = ?1 AND final = 1 ORDER BY open_ms DESC LIMIT 1
    )
    FROM market_coins k LEFT JOIN market_quotes q USING (venue_symbol)
    WHERE (SELECT origin FROM market_state) = ?2 AND (k.listed = 1 OR k.settled = 0)
    ORDER BY k.listed DESC, q.volume_usd DESC NULLS LAST, k.venue_symbol
"""
_PAID: Final = """
    SELECT k.venue_symbol, k.symbol, k.listed, (
        SELECT paid_ms FROM funding_rates WHERE venue_symbol = k.venue_symbol ORDER BY paid_ms DESC LIMIT 1
    )
    FROM market_coins k LEFT JOIN market_quotes q USING (venue_symbol)
    WHERE (SELECT origin FROM market_state) = ? AND k.listed = 1
    ORDER BY q.volume_usd DESC NULLS LAST, k.venue_symbol
"""

_WITHOUT_BARS: Final = """
    SELECT value FROM json_each(?1) AS wanted
    WHERE NOT EXISTS (SELECT 1 FROM candles WHERE venue_symbol = wanted.value AND interval = ?2)
"""
_WITHOUT_PAYMENTS: Final = """
    SELECT value FROM json_each(?1) AS wanted
    WHERE NOT EXISTS (SELECT 1 FROM funding_rates WHERE venue_symbol = wanted.value)
"""

_DELETE_CHARTS: Final = "DELETE FROM market_charts WHERE venue_symbol IN (SELECT value FROM json_each(?))"

_LIST: Final = """
    INSERT INTO market_coins (venue_symbol, symbol, listed) SELECT venue_symbol, symbol, 1 FROM market_quotes WHERE true
    ON CONFLICT (venue_symbol) DO UPDATE SET listed = 1, settled = 0 WHERE market_coins.listed = 0
"""
_SETTLE: Final = "UPDATE market_coins SET settled = 1 WHERE venue_symbol = ? AND listed = 0"

_SUM_FUNDING: Final = """
    WITH wanted (venue_symbol, since_ms, until_ms) AS MATERIALIZED (
        SELECT value,
            (SELECT max(day) + 1 FROM funding_days WHERE venue_symbol = value) * ?2,
            (SELECT max(paid_ms) FROM funding_rates WHERE venue_symbol = value) / ?2 * ?2
        FROM json_each(?1)
    )
    INSERT INTO funding_days (venue_symbol, day, paid, hours)
    SELECT f.venue_symbol, (f.paid_ms - 1) / ?2 AS day, total(f.rate * f.interval_hours), total(f.interval_hours)
    FROM wanted w CROSS JOIN funding_rates f
    WHERE f.venue_symbol = w.venue_symbol AND f.paid_ms > coalesce(w.since_ms, 0) AND f.paid_ms <= w.until_ms
    GROUP BY f.venue_symbol, day
"""

PREPARED_TABLES: Final = (*SERIES_TABLES, *ALERT_TABLES)
"""Tables that another process may prepare in a file."""

_COINS_A_SUM: Final = 10
"""Three months of this many coins take a few milliseconds of the writer's time."""

_FORGET: Final = (
    """
    WITH RECURSIVE stored (venue_symbol) AS (
        SELECT min(venue_symbol) FROM candles
        UNION ALL
        SELECT (SELECT min(venue_symbol) FROM candles WHERE candles.venue_symbol > stored.venue_symbol) FROM stored
        WHERE stored.venue_symbol IS NOT NULL
    )
    DELETE FROM candles
    WHERE venue_symbol IN (SELECT venue_symbol FROM stored) AND interval = '1h' AND open_ms < ?
    """,
    """
    DELETE FROM funding_rates
    WHERE venue_symbol IN (SELECT venue_symbol FROM market_coins) AND paid_ms < ?
    """,
)
"""By symbol, so that the index is used. Bars are of real-world assets too, which are no `market_coins`."""

_TABLES: Final = (
    "market_coins", "market_quotes", "candles", "market_charts", "funding_rates", "funding_days", "price_snapshots",
)  # fmt: skip

_MARK_TRIED: Final = """
    UPDATE market_state SET history_ms = ?, revision = revision + 1 WHERE origin = ? AND history_ms IS NULL
"""
_REFRESHED: Final = """
    UPDATE market_state SET quotes_ms = ?, venue = ?, failed_ms = ?, failed_status = ?, failed_body = ?,
        revision = revision + 1
"""


class MarketStore(SeriesReader):
    """Reads and writes the market's tables."""

    async def claim(self, origin: str) -> None:
        """Bind the store to a dataset; data of another one are deleted, and of another source all documents.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        await self._database.write(lambda connection: _claim(connection, origin))

    async def revision(self) -> int:
        """A number that grows with every change of the store."""
        ((revision,),) = await self._database.read("SELECT revision FROM market_state")
        return int(revision)

    async def snapshot(self) -> MarketSnapshot:
        """Everything the market service answers from."""
        delisted = [VenueCoin(coin, symbol, listed=False) for coin, symbol in await self._database.read(_DELISTED)]
        rows = await self._database.read(_SNAPSHOT)
        origin, revision, quotes_ms, history_ms, failed_ms, status, body, venue = rows[0][:_QUOTE]
        failure = None if failed_ms is None else FetchFailure(failed_ms, status, body)
        return MarketSnapshot(
            MarketState(origin, revision, quotes_ms, history_ms, failure, venue),
            [(Quote(*row[_QUOTE:_CHART]), CoinChart(*row[_CHART:])) for row in rows if row[_QUOTE] is not None],
            delisted,
        )

    async def put_quotes(
        self, origin: str, found: Quotes, *, venue: str = VENUE, failure: FetchFailure | None = None
    ) -> None:
        """Store what a venue showed. Fields that it left out keep their last value.

        Args:
            origin: Their dataset. If the store holds another one, it is deleted in the same transaction, so prices
                pass from one to the other without a gap.
            found: The quotes. A coin that is missing keeps its values, and is removed if it has none. A coin that the
                first venue has flagged for an hour is delisted.
            venue: Source of the quotes.
            failure: The first venue's failure in this round, if any.
        """
        values = [astuple(quote) for quote in found.quotes]

        def work(connection: Connection) -> None:
            _claim(connection, origin)
            if found.delisted is not None and venue == VENUE:
                delist(connection, found.delisted, found.observed_ms)
                forget_unconfirmed(connection, [quote.venue_symbol for quote in found.quotes])
            insert_rows(connection, "INSERT INTO market_quotes", values, UPSERT_QUOTES)
            connection.execute(_LIST)
            connection.execute(_REFRESHED, (found.observed_ms, venue, *_columns(failure)))

        await self._database.write(work)

    async def put_failure(self, failure: FetchFailure, *, venue: str | None = None) -> None:
        """Store that the first venue's quotes could not be refreshed. Values stay unchanged.

        Args:
            failure: The failure.
            venue: Venue that provided quotes all the same (its WebSocket may); null if none did.
        """

        def work(connection: Connection) -> None:
            ((quotes_ms,),) = connection.execute("SELECT quotes_ms FROM market_state").fetchall()
            connection.execute(_REFRESHED, (quotes_ms, venue, *_columns(failure)))

        await self._database.write(work)

    async def progress(self, origin: str, interval: Interval = "1d") -> list[SeriesProgress]:
        """How far bars go: the most traded coin first, delisted coins without complete bars last.

        Empty if the store holds another dataset.
        """
        return _progress(await self._database.read(_PROGRESS, (interval, origin)))

    async def funding_progress(self, origin: str) -> list[SeriesProgress]:
        """How far payments of listed coins go, the most traded first; `last_ms` is the last payment's time."""
        return _progress(await self._database.read(_PAID, (origin,)))

    async def put_bars(
        self,
        origin: str,
        coin: str,
        bars: Sequence[Bar],
        last_closed_ms: int,
        *,
        interval: Interval = "1d",
        venue: str = VENUE,
    ) -> None:
        """Store a coin's bars. A final bar never changes; an open one is replaced.

        Args:
            origin: Their dataset.
            coin: Venue symbol.
            bars: One per interval.
            last_closed_ms: Bars that opened at or before this instant are closed.
            interval: Length of a bar.
            venue: Their source.
        """
        columns = "venue_symbol, interval, venue, open_ms, open, high, low, close, volume, trades, final"

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                values = [(*astuple(bar), int(bar.open_ms <= last_closed_ms)) for bar in bars]
                head = f"INSERT INTO candles ({columns})"
                insert_rows(connection, head, values, UPSERT_CANDLES, shared=(coin, interval, venue))

        await self._database.write(work)

    async def put_payments(self, origin: str, coin: str, rows: Sequence[PaymentRow]) -> None:
        """Store the first venue's funding payments of a coin. A payment that exists stays unchanged."""
        await self.put_all_payments(origin, {coin: rows})

    async def without_bars(self, coins: Sequence[str], interval: Interval) -> list[str]:
        """The coins that have no bar, in the given order."""
        return [coin for (coin,) in await self._database.read(_WITHOUT_BARS, (_names(coins), interval))]

    async def without_payments(self, coins: Sequence[str]) -> list[str]:
        """The coins that have no payment, in the given order."""
        return [coin for (coin,) in await self._database.read(_WITHOUT_PAYMENTS, (_names(coins),))]

    async def put_closed_bars(self, origin: str, interval: Interval, bars: Mapping[str, Sequence[BarRow]]) -> None:
        """Store closed bars of several coins in one transaction. A final bar that exists stays unchanged.

        Args:
            origin: Their dataset.
            interval: Length of a bar.
            bars: By venue symbol.
        """

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                insert_closed_bars(connection, interval, bars)

        await self._database.write(work)

    async def put_all_payments(self, origin: str, payments: Mapping[str, Sequence[PaymentRow]]) -> None:
        """Store payments of several coins in one transaction. A payment that exists stays unchanged."""

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                insert_payments(connection, payments)

        await self._database.write(work)

    async def adopt(self, origin: str, path: Path) -> None:
        """Copy the rows of a prepared file; rows that exist stay unchanged. SQLite only.

        Args:
            origin: Their dataset.
            path: A database with `PREPARED_TABLES`.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        await asyncio.to_thread(
            copy_tables,
            self._database.path,
            path,
            PREPARED_TABLES,
            lambda connection: holds_dataset(connection, origin),
        )

    async def put_delisted(self, origin: str, coins: Sequence[str]) -> None:
        """Store delisted coins of the main market whose bars are complete."""

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                list_delisted(connection, coins)
                connection.executemany(_SETTLE, [(coin,) for coin in coins])

        await self._database.write(work)

    async def sum_funding(self, origin: str) -> None:
        """Store what was paid on the days that have ended since the last stored one, and for how many hours."""
        coins = [coin.venue_symbol for coin in await self.coins()]
        for first in range(0, len(coins), _COINS_A_SUM):
            await self._sum_funding(origin, _names(coins[first : first + _COINS_A_SUM]))

    async def _sum_funding(self, origin: str, coins: str) -> None:
        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                connection.execute(_SUM_FUNDING, (coins, DAY_MS))

        await self._database.write(work)

    async def prune(self, before_ms: int) -> None:
        """Delete hourly bars and payments older than an instant."""

        async def forget(statement: str) -> None:
            await self._database.write(lambda connection: connection.execute(statement, (before_ms,)).rowcount)

        for statement in _FORGET:
            await forget(statement)

    async def settle(self, origin: str, coin: str) -> None:
        """Mark a delisted coin's bars as complete."""

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                connection.execute(_SETTLE, (coin,))

        await self._database.write(work)

    async def put_charts(self, origin: str, charts: Mapping[str, CoinChart]) -> None:
        """Store charts of coins.

        Args:
            origin: The dataset that they were computed from.
            charts: By venue symbol.
        """
        values = [(coin, *astuple(chart)) for coin, chart in charts.items()]

        def work(connection: Connection) -> None:
            if holds_dataset(connection, origin):
                connection.execute(_DELETE_CHARTS, (_names(charts),))
                insert_rows(connection, "INSERT INTO market_charts", values)
                connection.execute("UPDATE market_state SET revision = revision + 1")

        await self._database.write(work)

    async def mark_history_tried(self, origin: str, at_ms: int) -> None:
        """Store that history has been requested once, whatever the result."""
        await self._database.write(lambda connection: connection.execute(_MARK_TRIED, (at_ms, origin)).rowcount)


def _claim(connection: Connection, origin: str) -> None:
    if holds_dataset(connection, origin):
        return
    clear_other_source(connection, origin)
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(
        "INSERT INTO market_state (id, origin, revision) VALUES (1, ?, 1) ON CONFLICT (id) DO UPDATE SET "
        "origin = excluded.origin, revision = market_state.revision + 1, quotes_ms = NULL, history_ms = NULL, "
        "failed_ms = NULL, failed_status = NULL, failed_body = NULL, venue = NULL",
        (origin,),
    )


def _columns(failure: FetchFailure | None) -> tuple[int | None, int | None, str | None]:
    return (None, None, None) if failure is None else (failure.at_ms, failure.status, failure.body)


def _progress(rows: Iterable[tuple[str, str, int, int | None]]) -> list[SeriesProgress]:
    return [SeriesProgress(coin, symbol, bool(listed), last_ms) for coin, symbol, listed, last_ms in rows]


def _names(coins: Iterable[str]) -> str:
    """Venue symbols as one JSON parameter."""
    return encode(list(coins)).decode()

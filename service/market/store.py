"""The market in the database: the newest quotes, bars, payments, what the charts said, how the last refresh went.

Every write is one closure of few statements with many rows each, and every write names the origin it belongs to: what
was fetched from another history than the one the store now holds is dropped, never mixed in.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import astuple

from service.clock import DAY_MS
from service.market.alerts.store import ALERT_TABLES
from service.market.delisting import LIST_DELISTED, delist, forget_unconfirmed
from service.market.observed import (
    VENUE,
    Bar,
    BarRow,
    Chart,
    Coin,
    Failure,
    PaymentRow,
    Progress,
    Quote,
    Quotes,
    Snapshot,
    State,
)
from service.market.series import Series
from service.market.series_rows import SERIES_TABLES, UPSERT_CANDLES, insert_closed_bars, insert_payments
from service.market.watches import holds
from service.storage.copying import copy_tables
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
    INSERT INTO funding_days (venue_symbol, day, paid)
    SELECT f.venue_symbol, (f.paid_ms - 1) / ?2 AS day, total(f.rate * f.interval_hours)
    FROM wanted w CROSS JOIN funding_rates f
    WHERE f.venue_symbol = w.venue_symbol AND f.paid_ms > coalesce(w.since_ms, 0) AND f.paid_ms <= w.until_ms
    GROUP BY f.venue_symbol, day HAVING total(f.interval_hours) >= ?3
"""
FUNDED_HOURS: Final = 23
"""Of a day's 24 so many must be paid for: once in two years the venue itself left one out, for every coin."""

PREPARED_TABLES: Final = (*SERIES_TABLES, *ALERT_TABLES)
"""Tables that another process may prepare in a file."""

_COINS_A_SUM: Final = 10
"""Three months of so many coins are a few milliseconds of the writer's time."""

_FORGET: Final = (
    """
    DELETE FROM candles
    WHERE venue_symbol IN (SELECT venue_symbol FROM market_coins) AND interval = '1h' AND open_ms < ?
    """,
    """
    DELETE FROM funding_rates
    WHERE venue_symbol IN (SELECT venue_symbol FROM market_coins) AND paid_ms < ?
    """,
)
"""By coin, so that the index is used: without it a quarter of a second of every row there is, for whoever writes."""

_MARK_TRIED: Final = """
    UPDATE market_state SET history_ms = ?, revision = revision + 1 WHERE origin = ? AND history_ms IS NULL
"""
_REFRESHED: Final = """
    UPDATE market_state SET quotes_ms = ?, venue = ?, failed_ms = ?, failed_status = ?, failed_body = ?,
        revision = revision + 1
"""

_UPSERT_QUOTES: Final = """
    ON CONFLICT (venue_symbol) DO UPDATE SET
        volume_usd = excluded.volume_usd,
        price = coalesce(excluded.price, market_quotes.price),
        price_ms = coalesce(excluded.price_ms, market_quotes.price_ms),
        funding = coalesce(excluded.funding, market_quotes.funding),
        funding_ms = coalesce(excluded.funding_ms, market_quotes.funding_ms),
        open_interest = excluded.open_interest,
        prev_price = CASE WHEN excluded.price IS NULL THEN market_quotes.prev_price ELSE excluded.prev_price END,
        venue = CASE
            WHEN excluded.price IS NULL AND (excluded.funding IS NULL OR market_quotes.price IS NOT NULL)
            THEN market_quotes.venue
            ELSE excluded.venue
        END,
        interval_hours = CASE
            WHEN excluded.funding IS NULL THEN market_quotes.interval_hours ELSE excluded.interval_hours
        END
"""


class MarketStore(Series):
    """The room's tables, read and written."""

    async def claim(self, origin: str) -> None:
        """Make the store hold this history: whatever it holds of another one is cleared.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        await self._database.write(lambda connection: _claim(connection, origin))

    async def revision(self) -> int:
        """A number that grows with every change of the store."""
        ((revision,),) = await self._database.read("SELECT revision FROM market_state")
        return int(revision)

    async def snapshot(self) -> Snapshot:
        """Everything a desk answers from."""
        delisted = [Coin(coin, symbol, listed=False) for coin, symbol in await self._database.read(_DELISTED)]
        rows = await self._database.read(_SNAPSHOT)
        origin, revision, quotes_ms, history_ms, failed_ms, status, body, venue = rows[0][:_QUOTE]
        failure = None if failed_ms is None else Failure(failed_ms, status, body)
        return Snapshot(
            State(origin, revision, quotes_ms, history_ms, failure, venue),
            [(Quote(*row[_QUOTE:_CHART]), Chart(*row[_CHART:])) for row in rows if row[_QUOTE] is not None],
            delisted,
        )

    async def put_quotes(
        self, origin: str, found: Quotes, *, venue: str = VENUE, failure: Failure | None = None
    ) -> None:
        """Keep what a venue just showed; fields it left out keep their last value.

        Args:
            origin: The history it belongs to. Where the store holds another one, that is cleared in the same step, so
                that prices pass from one to the other without a gap.
            found: What it showed; a coin that is missing keeps what is known of it, and is forgotten if that is
                nothing. A coin that the first venue calls delisted is delisted once it has said so for an hour.
            venue: Who showed it.
            failure: How the first venue failed meanwhile, if so.
        """
        values = [astuple(quote) for quote in found.quotes]

        def work(connection: Connection) -> None:
            _claim(connection, origin)
            if found.delisted is not None and venue == VENUE:
                delist(connection, found.delisted, found.observed_ms)
                forget_unconfirmed(connection, [quote.venue_symbol for quote in found.quotes])
            insert_rows(connection, "INSERT INTO market_quotes", values, _UPSERT_QUOTES)
            connection.execute(_LIST)
            connection.execute(_REFRESHED, (found.observed_ms, venue, *_columns(failure)))

        await self._database.write(work)

    async def put_failure(self, failure: Failure, *, venue: str | None = None) -> None:
        """Note that the first venue's quotes could not be refreshed. What is known stays as it is.

        Args:
            failure: How it failed.
            venue: Who has brought quotes all the same (its own feed may); null where nobody has.
        """

        def work(connection: Connection) -> None:
            ((quotes_ms,),) = connection.execute("SELECT quotes_ms FROM market_state").fetchall()
            connection.execute(_REFRESHED, (quotes_ms, venue, *_columns(failure)))

        await self._database.write(work)

    async def progress(self, origin: str, interval: Interval = "1d") -> list[Progress]:
        """How far bars go, the most traded coin first, delisted ones that are not settled last.

        Nothing where the store holds another history.
        """
        return _progress(await self._database.read(_PROGRESS, (interval, origin)))

    async def funding_progress(self, origin: str) -> list[Progress]:
        """How far payments of funding of listed coins go, the most traded first; `last_ms` is that of the last."""
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
        """Keep a coin's bars. A final bar never changes again; an open one is replaced.

        Args:
            origin: The history they belong to.
            coin: Venue symbol.
            bars: One for each interval.
            last_closed_ms: Bars that opened until this instant are closed.
            interval: Length of a bar.
            venue: Where they were seen.
        """
        columns = "venue_symbol, interval, venue, open_ms, open, high, low, close, volume, trades, final"

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                values = [(*astuple(bar), int(bar.open_ms <= last_closed_ms)) for bar in bars]
                head = f"INSERT INTO candles ({columns})"
                insert_rows(connection, head, values, UPSERT_CANDLES, shared=(coin, interval, venue))

        await self._database.write(work)

    async def put_payments(self, origin: str, coin: str, rows: Sequence[PaymentRow]) -> None:
        """Keep payments of a coin's funding, the first venue's; one that is known stays as it is."""
        await self.put_all_payments(origin, {coin: rows})

    async def without_bars(self, coins: Sequence[str], interval: Interval) -> list[str]:
        """Those of some coins that have no bar, in their order."""
        return [coin for (coin,) in await self._database.read(_WITHOUT_BARS, (_names(coins), interval))]

    async def without_payments(self, coins: Sequence[str]) -> list[str]:
        """Those of some coins that have no payment, in their order."""
        return [coin for (coin,) in await self._database.read(_WITHOUT_PAYMENTS, (_names(coins),))]

    async def put_closed_bars(self, origin: str, interval: Interval, bars: Mapping[str, Sequence[BarRow]]) -> None:
        """Keep closed bars of several coins in one transaction; a final bar that is known stays as it is.

        Args:
            origin: The history they belong to.
            interval: Length of a bar.
            bars: By venue symbol.
        """

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                insert_closed_bars(connection, interval, bars)

        await self._database.write(work)

    async def put_all_payments(self, origin: str, payments: Mapping[str, Sequence[PaymentRow]]) -> None:
        """Keep payments of funding of several coins in one transaction; one that is known stays as it is."""

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                insert_payments(connection, payments)

        await self._database.write(work)

    async def adopt(self, origin: str, path: Path) -> None:
        """Take over what a file has that was written beside; rows that are known stay as they are.

        Args:
            origin: The history they belong to.
            path: A database of `PREPARED_TABLES`, as in this store; a SQLite store only.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        await asyncio.to_thread(
            copy_tables, self._database.path, path, PREPARED_TABLES, lambda connection: holds(connection, origin)
        )

    async def put_delisted(self, origin: str, coins: Sequence[str]) -> None:
        """Note coins of the main market that are delisted and whose bars are all there."""

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                connection.execute(LIST_DELISTED, (_names(coins),))
                connection.executemany(_SETTLE, [(coin,) for coin in coins])

        await self._database.write(work)

    async def sum_funding(self, origin: str) -> None:
        """Keep what funding came to on the days that have ended since the last one kept, and are known whole."""
        coins = [coin.venue_symbol for coin in await self.coins()]
        for first in range(0, len(coins), _COINS_A_SUM):
            await self._sum_funding(origin, _names(coins[first : first + _COINS_A_SUM]))

    async def _sum_funding(self, origin: str, coins: str) -> None:
        def work(connection: Connection) -> None:
            if holds(connection, origin):
                connection.execute(_SUM_FUNDING, (coins, DAY_MS, FUNDED_HOURS))

        await self._database.write(work)

    async def prune(self, before_ms: int) -> None:
        """Forget hourly bars and payments of funding from before an instant."""

        async def forget(statement: str) -> None:
            await self._database.write(lambda connection: connection.execute(statement, (before_ms,)).rowcount)

        for statement in _FORGET:
            await forget(statement)

    async def settle(self, origin: str, coin: str) -> None:
        """Note that a delisted coin's bars are all there."""

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                connection.execute(_SETTLE, (coin,))

        await self._database.write(work)

    async def put_charts(self, origin: str, charts: Mapping[str, Chart]) -> None:
        """Keep what the charts of coins said.

        Args:
            origin: The history they were made of.
            charts: By venue symbol.
        """
        values = [(coin, *astuple(chart)) for coin, chart in charts.items()]

        def work(connection: Connection) -> None:
            if holds(connection, origin):
                connection.execute(_DELETE_CHARTS, (_names(charts),))
                insert_rows(connection, "INSERT INTO market_charts", values)
                connection.execute("UPDATE market_state SET revision = revision + 1")

        await self._database.write(work)

    async def mark_history_tried(self, origin: str, at_ms: int) -> None:
        """Note that history has been asked for once, whatever came of it."""

        def work(connection: Connection) -> None:
            connection.execute(_MARK_TRIED, (at_ms, origin))

        await self._database.write(work)


def _claim(connection: Connection, origin: str) -> None:
    if holds(connection, origin):
        return
    for table in ("market_coins", "market_quotes", "candles", "market_charts", "funding_rates", "funding_days"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(
        "INSERT INTO market_state (id, origin, revision) VALUES (1, ?, 1) ON CONFLICT (id) DO UPDATE SET "
        "origin = excluded.origin, revision = market_state.revision + 1, quotes_ms = NULL, history_ms = NULL, "
        "failed_ms = NULL, failed_status = NULL, failed_body = NULL, venue = NULL",
        (origin,),
    )


def _columns(failure: Failure | None) -> tuple[int | None, int | None, str | None]:
    return (None, None, None) if failure is None else (failure.at_ms, failure.status, failure.body)


def _progress(rows: Iterable[tuple[str, str, int, int | None]]) -> list[Progress]:
    return [Progress(coin, symbol, bool(listed), last_ms) for coin, symbol, listed, last_ms in rows]


def _names(coins: Iterable[str]) -> str:
    """Venue symbols as one parameter."""
    return encode(list(coins)).decode()

"""The market in the database: the newest quotes, closed bars, what the charts said, and how the last refresh went.

Every write is one closure of few statements with many rows each, and every write names the origin it belongs to: what
was fetched from another history than the one the store now holds is dropped, never mixed in.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from service.market.observed import Bar, Chart, Failure, Progress, Quote, Row, Snapshot, State
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.wire.envelope import encode

_SNAPSHOT: Final = """
    SELECT s.origin, s.revision, s.quotes_ms, s.history_ms, s.failed_ms, s.failed_status, s.failed_body,
        q.venue_symbol, q.symbol, q.volume_usd, q.price, q.price_ms, q.funding, q.funding_ms,
        c.through_ms, c.trend_daily, c.trend_daily_since_ms, c.trend_weekly, c.trend_weekly_since_ms, c.btc_correlation
    FROM market_state s LEFT JOIN market_quotes q ON true LEFT JOIN market_charts c USING (venue_symbol)
"""

_PROGRESS: Final = """
    SELECT q.venue_symbol, (
        SELECT open_ms FROM candles
        WHERE venue_symbol = q.venue_symbol AND interval = '1d' AND final = 1 ORDER BY open_ms DESC LIMIT 1
    ), c.inputs_ms
    FROM market_quotes q LEFT JOIN market_charts c USING (venue_symbol)
    WHERE (SELECT origin FROM market_state) = ?
    ORDER BY q.volume_usd DESC, q.venue_symbol
"""

_CLOSED_BARS: Final = """
    SELECT venue_symbol, open_ms, open, high, low, close FROM candles
    WHERE venue_symbol IN (SELECT value FROM json_each(?)) AND interval = '1d' AND final = 1
    ORDER BY venue_symbol, open_ms
"""

_DELETE_UNLISTED: Final = "DELETE FROM market_quotes WHERE venue_symbol NOT IN (SELECT value FROM json_each(?))"
_DELETE_CHARTS: Final = "DELETE FROM market_charts WHERE venue_symbol IN (SELECT value FROM json_each(?))"

_MARK_TRIED: Final = """
    UPDATE market_state SET history_ms = ?, revision = revision + 1 WHERE origin = ? AND history_ms IS NULL
"""

_UPSERT_QUOTES: Final = """
    ON CONFLICT (venue_symbol) DO UPDATE SET
        volume_usd = excluded.volume_usd,
        price = coalesce(excluded.price, price),
        price_ms = coalesce(excluded.price_ms, price_ms),
        funding = coalesce(excluded.funding, funding),
        funding_ms = coalesce(excluded.funding_ms, funding_ms)
"""

_UPSERT_CANDLES: Final = """
    ON CONFLICT (venue_symbol, interval, open_ms) DO UPDATE SET
        open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
        volume = excluded.volume, trades = excluded.trades, final = excluded.final
    WHERE final = 0
"""


class MarketStore:
    """The room's tables.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

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
        """Everything a desk answers from, read at one instant of the store."""
        rows = await self._database.read(_SNAPSHOT)
        origin, revision, quotes_ms, history_ms, failed_ms, status, body = rows[0][:7]
        failure = None if failed_ms is None else Failure(failed_ms, status, body)
        return Snapshot(
            State(origin, revision, quotes_ms, history_ms, failure),
            [(Quote(*row[7:14]), Chart(*row[14:])) for row in rows if row[7] is not None],
        )

    async def put_quotes(self, origin: str, observed_ms: int, quotes: Sequence[Quote]) -> None:
        """Keep what the venue just showed; coins it no longer lists go, fields it left out keep their last value.

        Args:
            origin: The history it belongs to. Where the store holds another one, that is cleared in the same step, so
                that prices pass from one to the other without a gap.
            observed_ms: When the venue showed it.
            quotes: All listed coins.
        """
        values = [tuple(getattr(quote, field) for field in Quote.__struct_fields__) for quote in quotes]

        def work(connection: Connection) -> None:
            _claim(connection, origin)
            connection.execute(_DELETE_UNLISTED, (_names(quote.venue_symbol for quote in quotes),))
            insert_rows(connection, "INSERT INTO market_quotes", values, _UPSERT_QUOTES)
            connection.execute(
                "UPDATE market_state SET quotes_ms = ?, failed_ms = NULL, failed_status = NULL, failed_body = NULL",
                (observed_ms,),
            )
            _touch(connection)

        await self._database.write(work)

    async def put_failure(self, failure: Failure) -> None:
        """Note that quotes could not be refreshed. What is known stays as it is."""

        def work(connection: Connection) -> None:
            connection.execute(
                "UPDATE market_state SET failed_ms = ?, failed_status = ?, failed_body = ?",
                (failure.at_ms, failure.status, failure.body),
            )
            _touch(connection)

        await self._database.write(work)

    async def progress(self, origin: str) -> list[Progress]:
        """How far each coin's history goes, the most traded first; nothing where the store holds another history."""
        return [Progress(*row) for row in await self._database.read(_PROGRESS, (origin,))]

    async def put_bars(self, origin: str, coin: str, bars: Sequence[Bar], last_closed_ms: int) -> None:
        """Keep a coin's daily bars. A final bar never changes again; an open one is replaced.

        Args:
            origin: The history they belong to.
            coin: Venue symbol.
            bars: One a day.
            last_closed_ms: Bars that opened until this instant are closed.
        """
        values = [
            (coin, "1d", *(getattr(bar, field) for field in Bar.__struct_fields__), int(bar.open_ms <= last_closed_ms))
            for bar in bars
        ]

        def work(connection: Connection) -> None:
            if _holds(connection, origin):
                insert_rows(connection, "INSERT INTO candles", values, _UPSERT_CANDLES)

        await self._database.write(work)

    async def closed_bars(self, coins: Collection[str]) -> dict[str, list[Row]]:
        """Closed daily bars by venue symbol, oldest first."""
        bars: dict[str, list[Row]] = {coin: [] for coin in coins}
        for coin, opened_ms, opened, high, low, close in await self._database.read(_CLOSED_BARS, (_names(bars),)):
            bars[coin].append((opened_ms, opened, high, low, close))
        return bars

    async def put_charts(self, origin: str, charts: Mapping[str, tuple[int, Chart]]) -> None:
        """Keep what the charts of coins said.

        Args:
            origin: The history they were made of.
            charts: By venue symbol: `inputs_ms` and the chart.
        """
        fields = Chart.__struct_fields__
        values = [
            (coin, inputs_ms, *(getattr(chart, field) for field in fields))
            for coin, (inputs_ms, chart) in charts.items()
        ]

        def work(connection: Connection) -> None:
            if _holds(connection, origin):
                connection.execute(_DELETE_CHARTS, (_names(charts),))
                insert_rows(connection, "INSERT INTO market_charts", values)
                _touch(connection)

        await self._database.write(work)

    async def mark_history_tried(self, origin: str, at_ms: int) -> None:
        """Note that history has been asked for once, whatever came of it."""

        def work(connection: Connection) -> None:
            connection.execute(_MARK_TRIED, (at_ms, origin))

        await self._database.write(work)


def _claim(connection: Connection, origin: str) -> None:
    if _holds(connection, origin):
        return
    for table in ("market_quotes", "candles", "market_charts"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(
        "INSERT INTO market_state (id, origin, revision) VALUES (1, ?, 1) ON CONFLICT (id) DO UPDATE SET "
        "origin = excluded.origin, revision = revision + 1, quotes_ms = NULL, history_ms = NULL, "
        "failed_ms = NULL, failed_status = NULL, failed_body = NULL",
        (origin,),
    )


def _holds(connection: Connection, origin: str) -> bool:
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    return held == (origin,)


def _touch(connection: Connection) -> None:
    connection.execute("UPDATE market_state SET revision = revision + 1")


def _names(coins: Iterable[str]) -> str:
    """Venue symbols as one parameter."""
    return encode(list(coins)).decode()

"""SQL on the market's tables that several writers share: which dataset they hold, bars, payments, delisting.

A coin is delisted once the first venue has flagged it twice, an hour apart. A coin without any accepted value is
removed as soon as an accepted answer does not name it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.market.models import VENUE, BarRow, PaymentRow
from service.market.plausibility.rules import DELISTING_MS
from service.market.symbols import canonical
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.units import Interval
from service.wire.envelope import encode

_ORIGIN: Final = "SELECT origin FROM market_watches WHERE name = ?"
_BEGIN: Final = """
    INSERT INTO market_watches (name, origin) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET origin = ?2, through_ms = NULL
"""


def holds_dataset(connection: Connection, origin: str) -> bool:
    """Whether the market's tables hold this dataset."""
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    return held == (origin,)


def claim_watch(connection: Connection, name: str, origin: str, tables: Iterable[str]) -> None:
    """Bind a watch to a dataset: rows of another dataset are deleted.

    Args:
        connection: Inside a transaction.
        name: Name of the watch.
        origin: The dataset.
        tables: Names of its tables; constants, never user input.
    """
    if connection.execute(_ORIGIN, (name,)).fetchone() == (origin,):
        return
    for table in tables:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(_BEGIN, (name, origin))


_OF_SOURCE: Final = (
    "market_watches", "funding_events", "funding_watch", "market_samples", "stream_states", "stream_told",
    "transcript_told",
)  # fmt: skip
_CLEAR_DOCUMENTS: Final = """
    UPDATE documents SET origin = '', observed_ms = NULL, body = NULL, failed_ms = NULL, failed_status = NULL,
        failed_body = NULL, revision = revision + 1
    WHERE origin <> '' AND origin NOT LIKE ?
"""


def clear_other_source(connection: Connection, origin: str) -> None:
    """Empty documents, alerts, samples and streams where the tables hold a dataset of another source.

    So recorded data are never served as live ones, nor live ones as recorded. On another day of a recording they stay
    until they are replaced.
    """
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    source = origin.partition(":")[0]
    if held is None or held[0].partition(":")[0] == source:
        return
    for table in _OF_SOURCE:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(_CLEAR_DOCUMENTS, (f"{source}%",))


SERIES_TABLES: Final = ("candles", "funding_rates")

UPSERT_CANDLES: Final = """
    ON CONFLICT (venue_symbol, interval, open_ms) DO UPDATE SET
        open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
        volume = excluded.volume, trades = excluded.trades, final = excluded.final, venue = excluded.venue
    WHERE candles.final = 0
"""

UPSERT_QUOTES: Final = """
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

_BARS: Final = (
    "INSERT INTO candles (venue_symbol, interval, venue, final, open_ms, open, high, low, close, volume, trades)"
)
_PAYMENTS: Final = "INSERT INTO funding_rates (venue_symbol, venue, paid_ms, rate, interval_hours)"


def insert_closed_bars(connection: Connection, interval: Interval, bars: Mapping[str, Sequence[BarRow]]) -> None:
    """Insert closed bars by venue symbol. A final bar that exists stays unchanged."""
    for coin, rows in bars.items():
        insert_rows(connection, _BARS, rows, UPSERT_CANDLES, shared=(coin, interval, VENUE, 1))


def insert_payments(connection: Connection, payments: Mapping[str, Sequence[PaymentRow]]) -> None:
    """Insert funding payments by venue symbol. A payment that exists stays unchanged."""
    for coin, rows in payments.items():
        insert_rows(connection, _PAYMENTS, rows, "ON CONFLICT DO NOTHING", shared=(coin, VENUE))


_UNFLAG: Final = """
    UPDATE market_coins SET flagged_ms = NULL
    WHERE flagged_ms IS NOT NULL AND venue_symbol NOT IN (SELECT value FROM json_each(?))
"""
_FLAG: Final = """
    UPDATE market_coins SET flagged_ms = ?2
    WHERE listed = 1 AND flagged_ms IS NULL AND venue_symbol IN (SELECT value FROM json_each(?1))
"""
_DELIST: Final = "UPDATE market_coins SET listed = 0, flagged_ms = NULL WHERE flagged_ms <= ?"
_DELETE_DELISTED: Final = """
    DELETE FROM market_quotes
    WHERE venue_symbol IN (SELECT venue_symbol FROM market_coins WHERE flagged_ms <= ?)
"""
_UNCONFIRMED: Final = """
    SELECT venue_symbol FROM market_quotes
    WHERE price IS NULL AND funding IS NULL AND venue_symbol NOT IN (SELECT value FROM json_each(?))
"""


def list_delisted(connection: Connection, coins: Iterable[str]) -> None:
    """Insert delisted coins, by venue symbol. A coin that exists stays unchanged."""
    rows = [(coin, canonical(coin), 0) for coin in coins]
    insert_rows(connection, "INSERT INTO market_coins (venue_symbol, symbol, listed)", rows, "ON CONFLICT DO NOTHING")


def delist(connection: Connection, flagged: Sequence[str], observed_ms: int) -> None:
    """Delist coins that the first venue has flagged for an hour.

    Args:
        connection: Inside a transaction.
        flagged: Venue symbols that the answer flags as delisted.
        observed_ms: Time of the answer, epoch milliseconds.
    """
    names, since_ms = encode(list(flagged)).decode(), observed_ms - DELISTING_MS
    connection.execute(_UNFLAG, (names,))
    connection.execute(_FLAG, (names, observed_ms))
    connection.execute(_DELETE_DELISTED, (since_ms,))
    connection.execute(_DELIST, (since_ms,))
    list_delisted(connection, flagged)


def forget_unconfirmed(connection: Connection, named: Sequence[str]) -> None:
    """Delete coins without any accepted value that the first venue no longer names.

    Args:
        connection: Inside a transaction.
        named: Venue symbols in the answer.
    """
    found = connection.execute(_UNCONFIRMED, (encode(list(named)).decode(),)).fetchall()
    coins = encode([coin for (coin,) in found]).decode()
    for table in ("market_quotes", "market_coins"):
        statement = f"DELETE FROM {table} WHERE venue_symbol IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
        connection.execute(statement, (coins,))

"""Writing rows of closed bars and of funding payments, inside a transaction."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.market.observed import VENUE, BarRow, PaymentRow
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.units import Interval

SERIES_TABLES: Final = ("candles", "funding_rates")

UPSERT_CANDLES: Final = """
    ON CONFLICT (venue_symbol, interval, open_ms) DO UPDATE SET
        open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
        volume = excluded.volume, trades = excluded.trades, final = excluded.final, venue = excluded.venue
    WHERE candles.final = 0
"""

_BARS: Final = (
    "INSERT INTO candles (venue_symbol, interval, venue, final, open_ms, open, high, low, close, volume, trades)"
)
_PAYMENTS: Final = "INSERT INTO funding_rates (venue_symbol, venue, paid_ms, rate, interval_hours)"


def insert_closed_bars(connection: Connection, interval: Interval, bars: Mapping[str, Sequence[BarRow]]) -> None:
    """Insert closed bars by venue symbol; a final bar that is known stays as it is."""
    for coin, rows in bars.items():
        insert_rows(connection, _BARS, rows, UPSERT_CANDLES, shared=(coin, interval, VENUE, 1))


def insert_payments(connection: Connection, payments: Mapping[str, Sequence[PaymentRow]]) -> None:
    """Insert payments of funding by venue symbol; one that is known stays as it is."""
    for coin, rows in payments.items():
        insert_rows(connection, _PAYMENTS, rows, "ON CONFLICT DO NOTHING", shared=(coin, VENUE))

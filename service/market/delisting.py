"""Delisting: a coin is no longer listed once the first venue has called it delisted twice, an hour apart.

A coin of which nothing was ever accepted is forgotten as soon as an accepted answer does not name it.
"""

from collections.abc import Sequence
from typing import Final

from service.market.plausibility_rules import DELISTING_MS
from service.storage.engine import Connection
from service.wire.envelope import encode

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
LIST_DELISTED: Final = """
    INSERT INTO market_coins (venue_symbol, symbol, listed) SELECT value, upper(value), 0 FROM json_each(?) WHERE true
    ON CONFLICT (venue_symbol) DO NOTHING
"""


def delist(connection: Connection, flagged: Sequence[str], observed_ms: int) -> None:
    """Delist what the first venue has called delisted for an hour.

    Args:
        connection: Inside a transaction.
        flagged: Venue symbols that its answer calls delisted.
        observed_ms: When it said so, epoch milliseconds.
    """
    names, since_ms = encode(list(flagged)).decode(), observed_ms - DELISTING_MS
    connection.execute(_UNFLAG, (names,))
    connection.execute(_FLAG, (names, observed_ms))
    connection.execute(_DELETE_DELISTED, (since_ms,))
    connection.execute(_DELIST, (since_ms,))
    connection.execute(LIST_DELISTED, (names,))


def forget_unconfirmed(connection: Connection, named: Sequence[str]) -> None:
    """Forget coins of which no value was ever accepted, and that the first venue does not name any more.

    Args:
        connection: Inside a transaction.
        named: Venue symbols that its answer names.
    """
    found = connection.execute(_UNCONFIRMED, (encode(list(named)).decode(),)).fetchall()
    coins = encode([coin for (coin,) in found]).decode()
    for table in ("market_quotes", "market_coins"):
        statement = f"DELETE FROM {table} WHERE venue_symbol IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
        connection.execute(statement, (coins,))

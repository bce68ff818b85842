"""What the service watches itself: which history each watch tells of, and how its tables are begun anew."""

from collections.abc import Iterable
from typing import Final

from service.storage.engine import Connection

_ORIGIN: Final = "SELECT origin FROM market_watches WHERE name = ?"
_BEGIN: Final = """
    INSERT INTO market_watches (name, origin) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET origin = ?2, through_ms = NULL
"""


def holds(connection: Connection, origin: str) -> bool:
    """Whether the market's store holds this history."""
    held: tuple[str] | None = connection.execute("SELECT origin FROM market_state").fetchone()
    return held == (origin,)


def claim_watch(connection: Connection, name: str, origin: str, tables: Iterable[str]) -> None:
    """Make a watch tell of this history: what its tables hold of another one is cleared.

    Args:
        connection: Inside a transaction.
        name: Of the watch.
        origin: The history.
        tables: What it records in; names of the code, never a caller's.
    """
    if connection.execute(_ORIGIN, (name,)).fetchone() == (origin,):
        return
    for table in tables:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
    connection.execute(_BEGIN, (name, origin))

"""The responses of paid calls, as rows of `payment_answers`. Every function is part of a transaction."""

from collections.abc import Mapping
from typing import Final

from service.storage import response_store
from service.storage.engine import Connection
from service.storage.response_store import StoredResponse
from service.storage.rows import insert_rows

_SWEEP_ROWS: Final = 200

_INSERT: Final = "INSERT INTO payment_answers (kept_ms, payment_id, bytes, body)"
_OLDEST: Final = """
SELECT payment_id, kept_ms, bytes FROM payment_answers JOIN payments ON id = payment_id
WHERE due_ms IS NULL ORDER BY kept_ms LIMIT ?
"""


def store(connection: Connection, packed: Mapping[int, bytes], now_ms: int) -> None:
    """Store packed responses by the id of their payment."""
    rows = [(payment_id, len(body), body) for payment_id, body in packed.items()]
    insert_rows(connection, _INSERT, rows, shared=(now_ms,))


def renew(connection: Connection, payment_id: int, now_ms: int) -> None:
    """Restart the day for which a response is kept."""
    connection.execute("UPDATE payment_answers SET kept_ms = ? WHERE payment_id = ?", (now_ms, payment_id))


def read(connection: Connection, payment_id: int) -> StoredResponse | None:
    """Read the response of a payment; None if it is not kept."""
    row = connection.execute("SELECT body FROM payment_answers WHERE payment_id = ?", (payment_id,)).fetchone()
    return response_store.unpack(row[0]) if row else None


def delete(connection: Connection, payment_id: int) -> None:
    """Delete the response of a payment."""
    connection.execute("DELETE FROM payment_answers WHERE payment_id = ?", (payment_id,))


def prune(connection: Connection, now_ms: int) -> int:
    """Delete some responses that are too old or exceed the limit, oldest first. Open payments keep theirs.

    Returns:
        How many were deleted. If it is not zero, there may be more.
    """
    (total,) = connection.execute("SELECT CAST(coalesce(sum(bytes), 0) AS INTEGER) FROM payment_answers").fetchone()
    deleted = 0
    for payment_id, kept_ms, size in connection.execute(_OLDEST, (_SWEEP_ROWS,)).fetchall():
        if kept_ms > now_ms - response_store.KEPT_MS and total <= response_store.MAX_TOTAL_BYTES:
            break
        delete(connection, payment_id)
        total -= size
        deleted += 1
    return deleted

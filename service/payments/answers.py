"""Answers that were paid for, kept for whoever sends its payment again."""

from typing import Final

import msgspec

from service.clock import DAY_MS
from service.payments.payment import PaidAnswer
from service.storage import packing
from service.storage.engine import Connection

KEPT_MS: Final = DAY_MS
"""How long an answer is kept once it is known to be sold."""

LARGEST: Final = 512 * 2**10
"""What one answer may take, packed."""

MOST: Final = 256 * 2**20
"""What all of them may take."""

_PIECE: Final = 200

_OLDEST: Final = """
SELECT payment_id, kept_ms, bytes FROM payment_answers JOIN payments ON id = payment_id
WHERE due_ms IS NULL ORDER BY kept_ms LIMIT ?
"""


def pack(answer: PaidAnswer) -> bytes | None:
    """Pack an answer; null where it is too large to be kept."""
    packed = packing.pack(msgspec.msgpack.encode(answer))
    return packed if len(packed) <= LARGEST else None


def keep(connection: Connection, payment_id: int, packed: bytes, now_ms: int) -> None:
    """Keep a packed answer."""
    connection.execute(
        "INSERT INTO payment_answers (payment_id, kept_ms, bytes, body) VALUES (?, ?, ?, ?)",
        (payment_id, now_ms, len(packed), packed),
    )


def renew(connection: Connection, payment_id: int, now_ms: int) -> None:
    """Keep an answer, if it is there still, as long as one that was sold now."""
    connection.execute("UPDATE payment_answers SET kept_ms = ? WHERE payment_id = ?", (now_ms, payment_id))


def unpack(packed: bytes | None) -> PaidAnswer | None:
    """Unpack what was kept, if it was."""
    return None if packed is None else msgspec.msgpack.decode(packing.unpack(packed), type=PaidAnswer)


def read(connection: Connection, payment_id: int) -> PaidAnswer | None:
    """Read the answer of a payment, if it is kept."""
    row = connection.execute("SELECT body FROM payment_answers WHERE payment_id = ?", (payment_id,)).fetchone()
    return unpack(row[0]) if row else None


def forget(connection: Connection, payment_id: int) -> None:
    """Drop the answer of a payment that came to nothing."""
    connection.execute("DELETE FROM payment_answers WHERE payment_id = ?", (payment_id,))


def drop(connection: Connection, now_ms: int) -> int:
    """Drop some answers that are too old or too many, the oldest first; never one that may yet have to be given.

    Returns:
        How many. Where it is not zero there may be more.
    """
    (total,) = connection.execute("SELECT CAST(coalesce(sum(bytes), 0) AS INTEGER) FROM payment_answers").fetchone()
    dropped = 0
    for payment_id, kept_ms, size in connection.execute(_OLDEST, (_PIECE,)).fetchall():
        if kept_ms > now_ms - KEPT_MS and total <= MOST:
            break
        forget(connection, payment_id)
        total -= size
        dropped += 1
    return dropped

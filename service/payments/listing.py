"""Payments as an operator looks at them: all of them, whatever became of them."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from service.payments.payment import State
from service.storage.engine import Connection
from service.wire.payment import SettlementKind

_LIST: Final = """
SELECT receipt_id, state, user_id, offer_id, method, resource, price, network, asset, payer, pay_to, nonce, tx, reason,
    settlement, claimed_ms, settled_ms
FROM payments WHERE (CAST(?1 AS INTEGER) IS NULL OR user_id = ?1)
    AND (CAST(?2 AS TEXT) IS NULL OR state = ?2)
ORDER BY id DESC
"""
_ONE: Final = _LIST.replace("ORDER BY", "AND receipt_id = ?3 ORDER BY")
_OPEN: Final = "SELECT receipt_id, claimed_ms FROM payments WHERE state = 'settling' ORDER BY claimed_ms, id"


class PaymentRow(Struct, frozen=True):
    """A payment: what was signed, for what, and where it stands. `price` is in atomic units, times are epoch ms."""

    receipt_id: str
    state: State
    user_id: int
    offer_id: str
    method: str
    resource: str
    price: int
    network: str
    asset: str
    payer: str
    pay_to: str
    nonce: str
    transaction: str | None
    reason: str | None
    settlement: SettlementKind | None
    claimed_ms: int
    settled_ms: int | None


def read_payments(
    connection: Connection, user_id: int | None = None, state: State | None = None
) -> Iterator[PaymentRow]:
    """Read payments, newest first.

    Args:
        connection: To read with.
        user_id: Only this user's.
        state: Only those in this state.
    """
    for row in connection.execute(_LIST, (user_id, state)):
        yield PaymentRow(*row)


def find_payment(connection: Connection, receipt_id: str) -> PaymentRow | None:
    """Read one payment, if there is such."""
    row = connection.execute(_ONE, (None, None, receipt_id)).fetchone()
    return None if row is None else PaymentRow(*row)


def read_open(connection: Connection) -> list[tuple[str, int]]:
    """Payments of which nobody knows how they ended, oldest first: receipt id, and when it was claimed."""
    return [(receipt_id, claimed_ms) for receipt_id, claimed_ms in connection.execute(_OPEN)]

"""Payments as the operator inspects them: lists, and a check of payments against the usage.

A settled row is its receipt. Use with `Database.inspect`, which reads one snapshot.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from service.payments.records import State
from service.storage.engine import Connection
from service.wire.payment import SettlementKind

_WITHOUT_USAGE: Final = """
SELECT receipt_id, payments.user_id FROM payments LEFT JOIN usage_events AS event
    ON event.id = event_id AND bucket = 2 AND event.state = 1
    AND event.user_id = payments.user_id AND event.offer_id = payments.offer_id
WHERE settled_ms IS NOT NULL AND event.id IS NULL ORDER BY payments.id
"""


_SHARED_USAGE: Final = """
SELECT event_id, count(*) FROM payments WHERE settled_ms IS NOT NULL GROUP BY event_id HAVING count(*) > 1
"""


_WITHOUT_PAYMENT: Final = """
SELECT id, user_id FROM usage_events
WHERE bucket = 2 AND state <> 2 AND id NOT IN (SELECT event_id FROM payments WHERE settled_ms IS NOT NULL) ORDER BY id
"""

_OTHER_MONEY: Final = "SELECT receipt_id, value, price FROM payments WHERE settled_ms IS NOT NULL AND value <> price"

_LIST_PAYMENTS: Final = """
SELECT receipt_id, state, user_id, offer_id, method, resource, price, network, asset, payer, pay_to, nonce, tx, reason,
    settlement, claimed_ms, settled_ms
FROM payments WHERE (CAST(?1 AS INTEGER) IS NULL OR user_id = ?1)
    AND (CAST(?2 AS TEXT) IS NULL OR state = ?2)
ORDER BY id DESC
"""

_ONE_PAYMENT: Final = _LIST_PAYMENTS.replace("ORDER BY", "AND receipt_id = ?3 ORDER BY")
_UNSETTLED: Final = "SELECT receipt_id, claimed_ms FROM payments WHERE state = 'settling' ORDER BY claimed_ms, id"


def audit_payments(connection: Connection) -> list[str]:
    """Compare settled payments with paid usage events.

    Returns:
        One sentence for each mismatch.
    """
    return [
        *(
            f"User {user_id}: payment {receipt_id} is settled and not in the usage."
            for receipt_id, user_id in connection.execute(_WITHOUT_USAGE)
        ),
        *(
            f"Usage event {event_id} stands for {payments} payments."
            for event_id, payments in connection.execute(_SHARED_USAGE)
        ),
        *(
            f"User {user_id}: usage event {event_id} is paid, and there is no payment."
            for event_id, user_id in connection.execute(_WITHOUT_PAYMENT)
        ),
        *(
            f"Payment {receipt_id} moved {value} where the price was {price}."
            for receipt_id, value, price in connection.execute(_OTHER_MONEY)
        ),
    ]


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
    for row in connection.execute(_LIST_PAYMENTS, (user_id, state)):
        yield PaymentRow(*row)


def find_payment_row(connection: Connection, receipt_id: str) -> PaymentRow | None:
    """Read one payment, if there is such."""
    row = connection.execute(_ONE_PAYMENT, (None, None, receipt_id)).fetchone()
    return None if row is None else PaymentRow(*row)


def read_unsettled(connection: Connection) -> list[tuple[str, int]]:
    """Payments with an unknown outcome, oldest first: receipt id, and when it was claimed."""
    return [(receipt_id, claimed_ms) for receipt_id, claimed_ms in connection.execute(_UNSETTLED)]

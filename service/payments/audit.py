"""Looking at all payments and all that was entered as paid: money that moved, receipts and usage have to be the same.

A settled row is its receipt. For `Database.inspect`: one snapshot, in which a settlement is whole or not there.
"""

from typing import Final

from service.storage.engine import Connection

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


def audit_payments(connection: Connection) -> list[str]:
    """Compare what was settled with what was entered as paid.

    Returns:
        One sentence for each payment or event that does not have its counterpart.
    """
    return [
        *(
            f"user {user_id}: payment {receipt_id} is settled and not in the usage"
            for receipt_id, user_id in connection.execute(_WITHOUT_USAGE)
        ),
        *(
            f"event {event_id} of the usage stands for {payments} payments"
            for event_id, payments in connection.execute(_SHARED_USAGE)
        ),
        *(
            f"user {user_id}: event {event_id} of the usage is paid, and there is no payment"
            for event_id, user_id in connection.execute(_WITHOUT_PAYMENT)
        ),
        *(
            f"payment {receipt_id} moved {value} where the price was {price}"
            for receipt_id, value, price in connection.execute(_OTHER_MONEY)
        ),
    ]

"""How a payment stands in its row."""

import secrets
import string
from typing import Any, Final

from service.payments.payment import Entry, Order, Payment
from service.storage.engine import Connection

_DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ID_LENGTH: Final = 22

_PAYMENT: Final = Payment.__struct_fields__
_ORDER: Final = Order.__struct_fields__
_REST: Final = ("id", "receipt_id", "state", "claimed_ms", "settled_ms", "tx", "reason", "run_id")
_ORDER_AT: Final = len(_PAYMENT)
_REST_AT: Final = _ORDER_AT + len(_ORDER)

COLUMNS: Final = ", ".join((*_PAYMENT, *_ORDER, *_REST))
"""What `entry_of` reads, in its order; the last one is the run that last acted."""

_SELECT_KEY: Final = f"SELECT {COLUMNS} FROM payments WHERE network = ? AND asset = ? AND payer = ? AND nonce = ?"  # noqa: S608 -- names of columns
_CLAIMED: Final = ("receipt_id", "state", "claimed_ms", "due_ms", "run_id", *_PAYMENT, *_ORDER)
_INSERT: Final = f"INSERT INTO payments ({', '.join(_CLAIMED)}) VALUES ({', '.join('?' * len(_CLAIMED))}) RETURNING id"  # noqa: S608 -- the same
_CLAIM_AGAIN: Final = f"UPDATE payments SET {', '.join(f'{name} = ?' for name in _CLAIMED)} WHERE id = ?"  # noqa: S608 -- the same


def new_receipt_id() -> str:
    """Make the public name of a payment: `rcp_` and 22 base62 characters, 131 bits that nobody guesses."""
    number = secrets.randbelow(62**_ID_LENGTH)
    digits = []
    for _ in range(_ID_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "rcp_" + "".join(digits)


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Read a row of `COLUMNS`; its answer is kept elsewhere."""
    payment, order = (
        Payment(**dict(zip(_PAYMENT, row, strict=False))),
        Order(**dict(zip(_ORDER, row[_ORDER_AT:], strict=False))),
    )
    row_id, receipt_id, state, claimed_ms, settled_ms, transaction, reason, _ = row[_REST_AT:]
    return Entry(
        id=row_id,
        receipt_id=receipt_id,
        state=state,
        payment=payment,
        order=order,
        claimed_ms=claimed_ms,
        settled_ms=settled_ms,
        transaction=transaction,
        reason=reason,
    )


def find_payment(connection: Connection, payment: Payment) -> tuple[Entry, int] | None:
    """Find the row that a payment's nonce has, and the run that last acted on it."""
    key = (payment.network, payment.asset, payment.payer, payment.nonce)
    row = connection.execute(_SELECT_KEY, key).fetchone()
    return (entry_of(row), row[-1]) if row else None


def write_claim(
    connection: Connection, row_id: int | None, order: Order, payment: Payment, now_ms: int, due_ms: int, run_id: int
) -> Entry:
    """Write a claim, in a new row or in one that was released.

    Args:
        connection: Inside a transaction.
        row_id: The row to be claimed again, if there is one.
        order: What for.
        payment: What was signed.
        now_ms: The time.
        due_ms: When the claim's lease runs out.
        run_id: Whose claim it is.
    """
    receipt_id = new_receipt_id()
    values = (
        receipt_id,
        "claimed",
        now_ms,
        due_ms,
        run_id,
        *(getattr(payment, name) for name in _PAYMENT),
        *(getattr(order, name) for name in _ORDER),
    )
    if row_id is None:
        row_id = int(connection.execute(_INSERT, values).fetchone()[0])
    else:
        connection.execute(_CLAIM_AGAIN, (*values, row_id))
    return Entry(id=row_id, receipt_id=receipt_id, state="claimed", payment=payment, order=order, claimed_ms=now_ms)

"""Payments and purchases, and their row in the database."""

from collections.abc import Iterable
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import astuple

from service import base62
from service.clock import SECOND_MS
from service.payments.networks import ChainId
from service.storage.engine import Connection
from service.storage.response_store import StoredResponse
from service.storage.rows import insert_rows

State = Literal["claimed", "settling", "settled", "delivered", "failed"]
"""claimed (in this process only) → settling (stored from here on) → settled → delivered; or failed."""


MIN_REMAINING_S: Final = 6
"""What a chain with two-second blocks takes to settle; the official facilitators ask for as much."""

NO_ACCOUNT: Final = 0
"""In place of a user: the call was paid without an account, and the payer's address is who paid. Users start at 1."""


class Payment(Struct, frozen=True, kw_only=True):
    """A payment as it was decoded, in normalised form: addresses and nonce in lower case, numbers as integers.

    Attributes:
        version: Of x402, as the client spoke it.
        network: CAIP-2 id of the chain.
        asset: Address of the token.
        payer: Who signed.
        pay_to: Who is to get it.
        value: Atomic units.
        valid_after_s: Good from the second after this one on (epoch seconds).
        valid_before_s: Good until the second before this one.
        nonce: 0x and 64 digits.
        signature: 0x and hexadecimal digits.
    """

    version: Literal[1, 2]
    network: ChainId
    asset: str
    payer: str
    pay_to: str
    value: int
    valid_after_s: int
    valid_before_s: int
    nonce: str
    signature: str


class Purchase(Struct, frozen=True, kw_only=True):
    """One request to be paid for.

    Attributes:
        user_id: The user; `NO_ACCOUNT` without a token.
        offer_id: The route.
        method: HTTP method.
        resource: Absolute URL, as in challenges.
        request_hash: SHA-256, hex, of method, a space, path with query as sent, a line feed, and the body.
        price: Atomic units.
        key_hash: SHA-256, hex, of the Idempotency-Key and everything the answer depends on; None without one.
    """

    user_id: int
    offer_id: str
    method: str
    resource: str
    request_hash: str
    price: int
    key_hash: str | None = None


class PaymentRecord(Struct, frozen=True, kw_only=True):
    """A payment in the ledger.

    Attributes:
        id: Its row; 0 while it is only claimed.
        receipt_id: Public name of the payment, and of its receipt once there is one.
        state: Where it stands.
        payment: What was signed.
        purchase: What it was claimed for.
        claimed_ms: When it was claimed (this and all times: epoch milliseconds).
        settled_ms: When the settlement was recorded.
        transaction: What settled it, or may have.
        reason: Why it failed, or is not known yet.
        answer: What was bought, from `settling` on, as long as it is kept.
    """

    id: int
    receipt_id: str
    state: State
    payment: Payment
    purchase: Purchase
    claimed_ms: int
    settled_ms: int | None = None
    transaction: str | None = None
    reason: str | None = None
    answer: StoredResponse | None = None


_TIME_LENGTH: Final = 7
_RANDOM_LENGTH: Final = 15
_PAYMENT: Final = Payment.__struct_fields__
_PURCHASE: Final = Purchase.__struct_fields__
_REST: Final = ("id", "receipt_id", "state", "claimed_ms", "settled_ms", "tx", "reason", "run_id")
_PURCHASE_AT: Final = len(_PAYMENT)
_REST_AT: Final = _PURCHASE_AT + len(_PURCHASE)

COLUMNS: Final = ", ".join((*_PAYMENT, *_PURCHASE, *_REST))
"""What `record_of` reads, in its order; the last one is the run that last acted."""

OF_AUTHORIZATION: Final = "network = ? AND asset = ? AND payer = ? AND nonce = ?"
"""The condition that finds a payment by its `authorization`."""

_FIND: Final = f"SELECT {COLUMNS} FROM payments WHERE {OF_AUTHORIZATION}"  # noqa: S608 -- names of columns
_FIRST: Final = ("state", "due_ms", "run_id", "receipt_id", "claimed_ms", "response_hash", *_PAYMENT, *_PURCHASE)
_INSERT: Final = f"INSERT INTO payments ({', '.join(_FIRST)})"

Authorization = tuple[str, str, str, str]
"""What EIP-3009 spends once: network, asset, payer and nonce."""


def authorization(payment: Payment) -> Authorization:
    """What a payment spends."""
    return payment.network, payment.asset, payment.payer, payment.nonce


def new_claim(purchase: Purchase, payment: Payment, now_ms: int) -> PaymentRecord:
    """Make the record of a payment that is not stored yet."""
    return PaymentRecord(
        id=0, receipt_id=new_receipt_id(now_ms), state="claimed", payment=payment, purchase=purchase, claimed_ms=now_ms
    )


def new_receipt_id(now_ms: int) -> str:
    """Make the public id of a payment: `rcp_`, the time as 7 base62 characters, and 15 random ones (89 bits).

    Ids ascend with time, so a new one is written at the end of its index and not into a page of its own.
    """
    return f"rcp_{base62.encode(now_ms, _TIME_LENGTH)}{base62.random_text(_RANDOM_LENGTH)}"


def record_of(row: tuple[Any, ...]) -> PaymentRecord:
    """Read a row of `COLUMNS`. The response is stored elsewhere."""
    payment, purchase = (
        Payment(**dict(zip(_PAYMENT, row, strict=False))),
        Purchase(**dict(zip(_PURCHASE, row[_PURCHASE_AT:], strict=False))),
    )
    row_id, receipt_id, state, claimed_ms, settled_ms, transaction, reason, _ = row[_REST_AT:]
    return PaymentRecord(
        id=row_id,
        receipt_id=receipt_id,
        state=state,
        payment=payment,
        purchase=purchase,
        claimed_ms=claimed_ms,
        settled_ms=settled_ms,
        transaction=transaction,
        reason=reason,
    )


def has_time_left(payment: Payment, now_ms: int) -> bool:
    """Whether a payment's window is open long enough to settle it."""
    return payment.valid_before_s * SECOND_MS - now_ms >= MIN_REMAINING_S * SECOND_MS


def find_payment(connection: Connection, payment: Payment) -> PaymentRecord | None:
    """Find the row of a payment's authorization."""
    row = connection.execute(_FIND, authorization(payment)).fetchone()
    return record_of(row) if row else None


def insert_payments(
    connection: Connection, claims: Iterable[tuple[PaymentRecord, str]], due_ms: int, run_id: int
) -> dict[str, int]:
    """Store claimed payments as settling, unless their authorization is stored already.

    Args:
        connection: Inside a transaction.
        claims: Payments, each with the SHA-256, hex, of the body of its response.
        due_ms: When to look at those whose settlement has not ended, epoch milliseconds.
        run_id: This process.

    Returns:
        The ids of the new rows by receipt id.
    """
    rows = [
        (claim.receipt_id, claim.claimed_ms, response_hash, *astuple(claim.payment), *astuple(claim.purchase))
        for claim, response_hash in claims
    ]
    return dict(insert_rows(connection, _INSERT, rows, "RETURNING receipt_id, id", ("settling", due_ms, run_id)))

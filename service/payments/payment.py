"""What the rooms of this house say to each other about one payment."""

from typing import Final, Literal

from msgspec import Struct

from service.payments.networks import ChainId

State = Literal["claimed", "settling", "settled", "delivered", "released", "failed"]
"""claimed → settling → settled → delivered; or released, when nothing was asked of the facilitator; or failed."""


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


class Order(Struct, frozen=True, kw_only=True):
    """What somebody wants to buy: one request.

    Attributes:
        user_id: Whose request it is; `NO_ACCOUNT` where it came without a token.
        offer_id: The route.
        method: HTTP method.
        resource: Absolute URL, as challenges name it.
        request_hash: SHA-256, hex, of method, a space, path with query as sent, a line feed, and the body.
        price: Atomic units.
        key_hash: SHA-256, hex, of the request's Idempotency-Key and all that its answer depends on; null without one.
    """

    user_id: int
    offer_id: str
    method: str
    resource: str
    request_hash: str
    price: int
    key_hash: str | None = None


class PaidAnswer(Struct, frozen=True):
    """An answer as it is kept for whoever sends its payment again: status, header fields, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Entry(Struct, frozen=True, kw_only=True):
    """A payment in the ledger.

    Attributes:
        id: Its row.
        receipt_id: Public name of the payment, and of its receipt once there is one.
        state: Where it stands.
        payment: What was signed.
        order: What it was claimed for.
        claimed_ms: When it was first claimed (this and all times: epoch milliseconds).
        settled_ms: When the settlement was recorded.
        transaction: What settled it, or may have.
        reason: Why it failed, or is not known yet.
        answer: What was bought, from `settling` on, as long as it is kept.
    """

    id: int
    receipt_id: str
    state: State
    payment: Payment
    order: Order
    claimed_ms: int
    settled_ms: int | None = None
    transaction: str | None = None
    reason: str | None = None
    answer: PaidAnswer | None = None

"""The payment challenge (x402 v1 and v2), the gate block beside it, and what a caller sends and gets when it pays.

Source: x402 specification v1 and v2 (`PaymentRequired`, `PaymentRequirements`, `PaymentPayload`, `SettlementResponse`).
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Raw, Struct

from service.wire.access import Tier
from service.wire.envelope import ErrorBody

Period = Literal["lifetime", "day"]

_VERSIONS: Final = {"x402_version": "x402Version", "schema_version": "schemaVersion"}


class TokenExtra(Struct, frozen=True):
    """EIP-712 domain name and version of the asset."""

    name: str
    version: str


class RequirementsV1(Struct, frozen=True, rename="camel"):
    """A row of `accepts` for v1 clients: a v1 network name, an absolute `resource`, atomic units as a string."""

    scheme: str
    network: str
    max_amount_required: str
    resource: str
    description: str
    mime_type: str
    pay_to: str
    max_timeout_seconds: int
    asset: str
    extra: TokenExtra


class RequirementsV2(Struct, frozen=True, rename="camel"):
    """A row of `accepts` for v2 clients: a CAIP-2 network, atomic units as a string."""

    scheme: str
    network: str
    amount: str
    asset: str
    pay_to: str
    max_timeout_seconds: int
    extra: TokenExtra


class Resource(Struct, frozen=True, rename="camel"):
    """What is being bought (v2)."""

    url: str
    description: str
    mime_type: str


QuotaWall = Literal["grant", "drip"]
"""Which quota is spent: questions granted once, or those of a UTC day."""


class Quota(Struct, frozen=True):
    """What is left of the free questions; `limit` and `remaining` are null where there is no limit."""

    used: int
    limit: int | None
    remaining: int | None
    period: Period
    wall: QuotaWall


class ThisQuery(Struct, frozen=True):
    """The call that was refused and what it costs, in USDC."""

    route: str
    price_usdc: str


class Unlock(Struct, frozen=True, omit_defaults=True):
    """One way on: pay `price_usdc` for this call by x402, wait until `at`, ask for a higher tier, or log in."""

    method: Literal["x402", "wait", "upgrade", "login"]
    label: str
    price_usdc: str | None = None
    at: str | None = None


class Gate(Struct, frozen=True):
    """Why the gate is shut, when it opens, and what opens it now."""

    tier: Tier
    used: int
    limit: int | None
    quota: Quota
    reset_at: str | None
    upgrade_url: str | None
    this_query: ThisQuery
    unlock: list[Unlock]


class PaymentRequired(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The `PAYMENT-REQUIRED` header of v2, base64 of this as JSON."""

    x402_version: Literal[2]
    error: str
    resource: Resource
    accepts: list[RequirementsV2]
    extensions: dict[str, Any]


class ChallengeV1(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a 402 as v1 clients read it, beside the error envelope."""

    schema_version: Literal[1]
    error: ErrorBody
    x402_version: Literal[1]
    accepts: list[RequirementsV1]
    gate: Gate


class ChallengeV2(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a 402 for a request that says `X-X402-Max-Version: 2`."""

    schema_version: Literal[1]
    error: ErrorBody
    x402_version: Literal[2]
    resource: Resource
    accepts: list[RequirementsV2]
    gate: Gate


class BareChallengeV1(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a question's 402 as v1 clients read it: `error` is a sentence."""

    error: str
    x402_version: Literal[1]
    accepts: list[RequirementsV1]
    gate: Gate


class BareChallengeV2(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a question's 402 for a request that says `X-X402-Max-Version: 2`."""

    error: str
    x402_version: Literal[2]
    resource: Resource
    accepts: list[RequirementsV2]
    gate: Gate


AddressText = Annotated[str, Meta(pattern=r"^0x[0-9A-Fa-f]{40}\Z", description="0x and 40 hexadecimal digits")]
UintText = Annotated[str, Meta(pattern=r"^(?:0|[1-9][0-9]{0,77})\Z", description="A whole number in digits, as text")]
"""A uint256 in decimal digits, without sign, space, underscore or leading zero."""

NonceText = Annotated[str, Meta(pattern=r"^0x[0-9A-Fa-f]{64}\Z", description="0x and 64 hexadecimal digits")]
SignatureText = Annotated[
    str,
    Meta(
        pattern=r"^0x(?:[0-9A-Fa-f]{2}){65,4096}\Z",
        description="0x and 65 to 4,096 bytes in hexadecimal digits",
    ),
]
"""65 bytes of a key's own signature, or the longer ones of contract wallets (EIP-1271, EIP-6492)."""


_AUTHORIZATION: Final = {"from_": "from", "valid_after": "validAfter", "valid_before": "validBefore"}


class Authorization(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=_AUTHORIZATION):
    """What is signed: `TransferWithAuthorization` of EIP-3009; times are epoch seconds."""

    from_: AddressText
    to: AddressText
    value: UintText
    valid_after: UintText
    valid_before: UintText
    nonce: NonceText


class ExactPayload(Struct, frozen=True, forbid_unknown_fields=True):
    """The `exact` scheme on EVM chains."""

    signature: SignatureText
    authorization: Authorization


class PaymentPayloadV1(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=_VERSIONS):
    """What a v1 client sends in `X-PAYMENT`; `payload` is an `ExactPayload` if the scheme and the network are ours."""

    x402_version: Literal[1]
    scheme: str
    network: str
    payload: Raw


class Accepted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The row that a v2 client says it chose: of a scheme, and with an `extra`, that need not be ours."""

    scheme: str
    network: str
    amount: str
    asset: str
    pay_to: str
    max_timeout_seconds: int
    extra: dict[str, Any] = {}


class PaymentPayloadV2(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=_VERSIONS):
    """What a v2 client sends in `PAYMENT-SIGNATURE` or `X-PAYMENT`.

    `resource` and `extensions` are what the challenge said, sent back. Neither is signed, so neither proves anything.
    """

    x402_version: Literal[2]
    accepted: Accepted
    payload: Raw
    resource: dict[str, Any] | None = None
    extensions: Raw = Raw(b"null")


class PaymentResponse(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """`PAYMENT-RESPONSE` (CAIP-2 network) and `X-PAYMENT-RESPONSE` (v1 network name), base64 of this as JSON."""

    success: bool
    transaction: str
    network: str
    payer: str
    error_reason: str | None = None


SettlementKind = Literal["ledger", "remote", "chain"]
"""How payments are settled: only recorded, by somebody else's facilitator, or by this service on the chain."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What was bought, by whom, for how much: everything that the service signs.

    `amount` is in atomic units (millionths of a USDC) and `price_usdc` the same in decimal. `request_hash` is the
    SHA-256 of the request: method, one space, path with query as they were sent, one line feed, body; `response_hash`
    that of the answer's body. `transaction` is the settling transaction, or for `ledger` a mark that stands for it.
    `user_id` is 0 where the payer has no account: `payer` is who paid.
    """

    id: str
    route: str
    method: str
    resource: str
    request_hash: str
    response_hash: str
    price_usdc: str
    amount: str
    asset: str
    network: str
    payer: str
    pay_to: str
    nonce: str
    transaction: str
    settlement: SettlementKind
    claimed_at: str
    settled_at: str
    user_id: int
    schema: Literal["verdict-receipt/1"] = "verdict-receipt/1"


class SignedReceipt(Struct, frozen=True):
    """A receipt and who stands for it: `signature` is `personal_sign` (EIP-191) over the receipt's RFC 8785 text."""

    receipt: Receipt
    signer: str
    signature: str


class ReceiptList(Struct, frozen=True):
    """The caller's receipts, newest first; `next_cursor` is null on the last page."""

    receipts: list[Receipt]
    next_cursor: str | None


def reading_message(receipt_id: str, at_s: int) -> str:
    """The text that a payer without an account signs (`personal_sign`, EIP-191) to read a receipt.

    It names the receipt, whose id is random, so it opens nothing else, here or at another service.

    Args:
        receipt_id: The receipt's name, as `X-Receipt-Id` gave it.
        at_s: When it is signed, epoch seconds.
    """
    return f"Read receipt {receipt_id}\nTime: {at_s}"

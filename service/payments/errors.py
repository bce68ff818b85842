"""Errors of payments, and the response headers that report an outcome."""

from base64 import b64encode
from typing import Final

from service.errors import ServiceError
from service.payments.networks import NETWORKS
from service.payments.records import Payment, PaymentRecord
from service.wire.envelope import encode
from service.wire.payment import PaymentResponse

Headers = list[tuple[bytes, bytes]]
NONCE_USED: Final = "invalid_exact_evm_nonce_already_used"

_SENTENCES: Final = {
    "expired_unsettled": "The payment was not settled before the authorization expired.",
    "insufficient_funds": "The payer's token balance is below the price.",
    "invalid_exact_evm_payload_authorization_valid_before": "The authorization has expired.",
    "invalid_exact_evm_payload_authorization_valid_after": "The authorization is not valid yet.",
    "invalid_exact_evm_payload_signature": "The token does not accept the authorization's signature.",
}
"""Why a payment was not settled, for people."""

_RETRY_AFTER_S: Final = "2"


class PaymentRefusedError(ServiceError):
    """The payment is refused. The caller may sign another one.

    Args:
        reason: An x402 reason code.
        message: A sentence.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__("PAYMENT_REQUIRED", message, details={"reason": reason})
        self.reason = reason


def not_settled_message(reason: str) -> str:
    """Message for a refused payment whose authorization is unused."""
    return f"{_SENTENCES.get(reason, f'The payment was not settled ({reason}).')} Nothing was charged."


def authorization_used_message(payment: Payment, transaction: str | None) -> str:
    """Message for an authorization that was used, but not for this request.

    Args:
        payment: What was signed.
        transaction: The transaction that paid this payee; None if the authorization went elsewhere or was cancelled.
    """
    if transaction:
        return (
            f"Transaction {transaction} used this authorization before this request and paid {payment.value} atomic "
            f"units to {payment.pay_to}. It cannot pay for this request as well. Sign a new authorization."
        )
    return (
        "This authorization was already used elsewhere, or its payer cancelled it. It does not pay for this request. "
        "Sign a new authorization."
    )


class NotSettledError(PaymentRefusedError):
    """A payment that passed the checks was not settled.

    Args:
        record: The failed payment.

    Attributes:
        fields: Response headers that report the outcome.
    """

    def __init__(self, record: PaymentRecord) -> None:
        reason = record.reason or "unexpected_settle_error"
        used = reason == NONCE_USED
        super().__init__(
            reason,
            authorization_used_message(record.payment, record.transaction) if used else not_settled_message(reason),
        )
        self.fields = outcome_headers(record)


def outcome_headers(record: PaymentRecord) -> Headers:
    """The outcome of a payment in the headers of x402 v2 and v1, and its receipt id.

    Args:
        record: Settled or failed.
    """
    network = NETWORKS[record.payment.network]
    success = record.state != "failed"

    def said(name: str) -> bytes:
        response = PaymentResponse(
            success=success,
            transaction=(record.transaction or "") if success else "",
            network=name,
            payer=record.payment.payer,
            error_reason=None if success else record.reason,
        )
        return b64encode(encode(response))

    fields = [(b"payment-response", said(network.chain_id)), (b"x-payment-response", said(network.v1_name))]
    return [*fields, (b"x-receipt-id", record.receipt_id.encode("ascii"))] if success else fields


def payment_pending(record: PaymentRecord | None = None) -> ServiceError:
    """The error for an unknown outcome. It is never a 402: clients answer a 402 by paying again.

    Args:
        record: The payment; None if it was not looked up.
    """
    named = {} if record is None else {"payment": record.receipt_id, "transaction": record.transaction}
    details = {name: value for name, value in named.items() if value is not None}
    return ServiceError(
        "PAYMENT_PENDING",
        "The payment's outcome is not known yet. Send the same payment again. You are not charged twice.",
        details=details or None,
        headers={"Retry-After": _RETRY_AFTER_S},
    )

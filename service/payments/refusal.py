"""A payment that was read, and is not good."""

from typing import Final

from service.errors import ServiceError
from service.payments.payment import Payment

_SENTENCES: Final = {
    "expired_unsettled": "The payment was not settled before the authorization expired.",
    "insufficient_funds": "The payer's token balance is below the price.",
    "invalid_exact_evm_payload_authorization_valid_before": "The authorization has expired.",
    "invalid_exact_evm_payload_authorization_valid_after": "The authorization is not valid yet.",
    "invalid_exact_evm_payload_signature": "The token does not accept the authorization's signature.",
}
"""Why a payment was not settled, for people."""


class PaymentRefusedError(ServiceError):
    """This payment buys nothing here: the caller may sign another one.

    Args:
        reason: An x402 reason code.
        message: The same for a person.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__("PAYMENT_REQUIRED", message, details={"reason": reason})
        self.reason = reason


def unused(reason: str) -> str:
    """Say why a payment was refused whose authorization is not used."""
    return f"{_SENTENCES.get(reason, f'The payment was not settled ({reason}).')} Nothing was charged."


def used_before(payment: Payment, transaction: str | None) -> str:
    """Say that an authorization was used, and not for this request.

    Args:
        payment: What was signed.
        transaction: The one that paid this payee; null if the authorization went elsewhere or was cancelled.
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

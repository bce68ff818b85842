"""Checks whether a payment matches what a route asks for: terms, time, signature.

The facilitator checks everything again. These checks avoid useless work and name the x402 reason.
"""

from typing import Final

from msgspec import to_builtins

from service.clock import SECOND_MS
from service.ethereum.signatures import SIGNATURE_BYTES, recover_address_bytes
from service.ethereum.typed_data import domain_separator, transfer_digest
from service.payments.challenge import SCHEME
from service.payments.decode import DecodedPayment, decode_exact
from service.payments.errors import PaymentRefusedError
from service.payments.networks import NETWORKS, ChainId
from service.payments.records import MIN_REMAINING_S, Payment, has_time_left
from service.wire.payment import Accepted, RequirementsV2

CLOCK_SKEW_S: Final = 60
"""How far a caller's clock may run ahead of ours before its window is called too long."""

_KEY_SIGNATURE_CHARS: Final = 2 + 2 * SIGNATURE_BYTES
_LAST_BYTES: Final = ("1b", "1c")
"""27 and 28. Other libraries write 0 and 1, but the token reverts on them."""

_AUTHORIZATION: Final = "invalid_exact_evm_payload_authorization_"
EXPIRED: Final = f"{_AUTHORIZATION}valid_before"


def check_payment(presented: DecodedPayment, row: RequirementsV2, chain: ChainId, now_ms: int) -> Payment:
    """Hold a payment against what is asked for.

    Args:
        presented: Of `decode`.
        row: What the challenge of this route asks for.
        chain: Where.
        now_ms: Epoch milliseconds.

    Returns:
        The payment in its normal form: the same for two writings of the same payment.

    Raises:
        PaymentRefusedError: With the x402 reason code of the first thing that is not right.
        ServiceError: BAD_REQUEST if the scheme and the network are ours and what is signed is not of their shape.
    """
    _check_kind(presented, row, chain)
    if presented.accepted is not None:
        _check_accepted(presented.accepted, row)
    payment = _normalise(presented, chain)
    if payment.pay_to != row.pay_to.lower():
        raise PaymentRefusedError(
            "invalid_exact_evm_payload_recipient_mismatch", f"The payment's authorization.to must be {row.pay_to}."
        )
    if payment.value != int(row.amount):
        raise PaymentRefusedError(
            f"{_AUTHORIZATION}value_mismatch",
            f"The payment's authorization.value must be {row.amount}, no less and no more.",
        )
    _check_window(payment, row.max_timeout_seconds, now_ms)
    _check_signature(payment, row)
    return payment


def is_key_signature(payment: Payment) -> bool:
    """Whether a key signed the payment, not a contract (EIP-1271, EIP-6492)."""
    return len(payment.signature) == _KEY_SIGNATURE_CHARS


def normalised_payment(presented: DecodedPayment) -> Payment | None:
    """Say which payment was presented, be it good or not: the same one may have bought something while it was.

    Returns:
        The payment; null if it is of a scheme or a chain that was never ours.

    Raises:
        ServiceError: BAD_REQUEST if what is signed is not of their shape.
    """
    for chain in NETWORKS:
        if (presented.scheme, presented.network) == (SCHEME, _name_of(chain, presented)):
            return _normalise(presented, chain)
    return None


def _check_kind(presented: DecodedPayment, row: RequirementsV2, chain: ChainId) -> None:
    if presented.scheme != row.scheme:
        raise PaymentRefusedError("unsupported_scheme", f"The scheme must be {row.scheme}.")
    network = _name_of(chain, presented)
    if presented.network != network:
        raise PaymentRefusedError("invalid_network", f"The network must be {network}.")


def _name_of(chain: ChainId, presented: DecodedPayment) -> str:
    return NETWORKS[chain].v1_name if presented.version == 1 else chain


def _check_accepted(accepted: Accepted, row: RequirementsV2) -> None:
    """Refuse a row that is not the offered one. A member added to `extra` can change what a signature means."""
    same = (
        ("amount", accepted.amount == row.amount),
        ("asset", accepted.asset.lower() == row.asset.lower()),
        ("payTo", accepted.pay_to.lower() == row.pay_to.lower()),
        ("maxTimeoutSeconds", accepted.max_timeout_seconds == row.max_timeout_seconds),
        ("extra", accepted.extra == to_builtins(row.extra)),
    )
    for name, right in same:
        if not right:
            raise PaymentRefusedError(
                "invalid_payment_requirements",
                f"The payment's accepted.{name} differs from the offer. Send a row of `accepts` unchanged as "
                "`accepted`.",
            )


def _normalise(presented: DecodedPayment, chain: ChainId) -> Payment:
    exact = decode_exact(presented)
    signed = exact.authorization
    return Payment(
        version=presented.version,
        network=chain,
        asset=NETWORKS[chain].usdc.lower(),
        payer=signed.from_.lower(),
        pay_to=signed.to.lower(),
        value=int(signed.value),
        valid_after_s=int(signed.valid_after),
        valid_before_s=int(signed.valid_before),
        nonce=signed.nonce.lower(),
        signature=exact.signature.lower(),
    )


def _check_window(payment: Payment, longest_s: int, now_ms: int) -> None:
    now_s = now_ms // SECOND_MS
    if payment.valid_after_s > now_s:
        raise PaymentRefusedError(
            f"{_AUTHORIZATION}valid_after",
            f"The payment is not valid yet. The service's time is {now_s} (epoch seconds).",
        )
    if not has_time_left(payment, now_ms):
        raise expired(now_ms)
    if payment.valid_before_s > now_s + longest_s + CLOCK_SKEW_S:
        raise PaymentRefusedError(
            EXPIRED,
            f"The payment is valid for longer than {longest_s} s. The service's time is {now_s} (epoch seconds).",
        )


def expired(now_ms: int) -> PaymentRefusedError:
    """The refusal of a payment that has too little time left, at an instant (epoch milliseconds)."""
    return PaymentRefusedError(
        EXPIRED,
        f"The payment has expired, or has less than {MIN_REMAINING_S} s left. The service's time is "
        f"{now_ms // SECOND_MS} (epoch seconds).",
    )


def _check_signature(payment: Payment, row: RequirementsV2) -> None:
    if not is_key_signature(payment):
        return  # A contract's signature: only its chain can tell.
    domain = domain_separator(
        row.extra.name, row.extra.version, int(row.network.removeprefix("eip155:")), row.asset.lower()
    )
    digest = transfer_digest(
        domain,
        sender=payment.payer,
        receiver=payment.pay_to,
        value=payment.value,
        valid_after_s=payment.valid_after_s,
        valid_before_s=payment.valid_before_s,
        nonce=payment.nonce,
    )
    if not payment.signature.endswith(_LAST_BYTES) or _signer(digest, payment.signature) != payment.payer:
        raise PaymentRefusedError(
            "invalid_exact_evm_payload_signature",
            f"The signature is not by authorization.from for {row.extra.name} (version {row.extra.version}) "
            f"at {row.asset} on {row.network}.",
        )


def _signer(digest: bytes, signature: str) -> str | None:
    try:
        return "0x" + recover_address_bytes(digest, bytes.fromhex(signature[2:])).hex()
    except ValueError:
        return None

"""The dollar token: calls, events and errors of EIP-3009.

Sources: https://eips.ethereum.org/EIPS/eip-3009, Circle's FiatTokenV2_2.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from service.ethereum.addresses import keccak256
from service.ethereum.signatures import SIGNATURE_BYTES
from service.payments.errors import NONCE_USED
from service.payments.facilitators.rpc import EventLog
from service.payments.records import Payment
from service.upstream.json_rpc import RevertedError

_HEAD: Final = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,"
_WITH_KEY_SIGNATURE: Final = keccak256(f"{_HEAD}uint8,bytes32,bytes32)".encode())[:4]
_WITH_WALLET_SIGNATURE: Final = keccak256(f"{_HEAD}bytes)".encode())[:4]
_STATE: Final = keccak256(b"authorizationState(address,bytes32)")[:4]
_BALANCE: Final = keccak256(b"balanceOf(address)")[:4]
_WORD: Final = 32
_FIRST_V: Final = 27

USED: Final = "0x" + keccak256(b"AuthorizationUsed(address,bytes32)").hex()
CANCELED: Final = "0x" + keccak256(b"AuthorizationCanceled(address,bytes32)").hex()
_TRANSFER: Final = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()

EXPIRED: Final = "invalid_exact_evm_payload_authorization_valid_before"
NOT_YET: Final = "invalid_exact_evm_payload_authorization_valid_after"
NO_SIGNATURE: Final = "invalid_exact_evm_payload_signature"
NO_FUNDS: Final = "insufficient_funds"
FAILED: Final = "invalid_exact_evm_transaction_simulation_failed"

_REFUSALS: Final = (
    ("authorization is used", NONCE_USED),
    ("authorization is expired", EXPIRED),
    ("authorization is not yet valid", NOT_YET),
    ("transfer amount exceeds balance", NO_FUNDS),
    ("invalid signature", NO_SIGNATURE),
)
"""Words of Circle's token."""

_CUSTOM_REFUSALS: Final = {
    keccak256(error.encode())[:4]: code
    for error, code in (
        ("ERC3009ConsumedAuthorization(address,bytes32)", NONCE_USED),
        ("ERC3009InvalidAuthorizationTime(uint256,uint256)", EXPIRED),
        ("ERC3009InvalidSignature()", NO_SIGNATURE),
        ("ERC20InsufficientBalance(address,uint256,uint256)", NO_FUNDS),
    )
}
"""Custom errors of OpenZeppelin's tokens, by selector."""


def encode_transfer(payment: Payment) -> bytes:
    """The call that moves the money: with r, s and v for a key, with bytes for a contract wallet."""
    signature = bytes.fromhex(payment.signature[2:])
    head = b"".join(
        (
            _address(payment.payer),
            _address(payment.pay_to),
            payment.value.to_bytes(_WORD),
            payment.valid_after_s.to_bytes(_WORD),
            payment.valid_before_s.to_bytes(_WORD),
            bytes.fromhex(payment.nonce[2:]),
        )
    )
    if len(signature) == SIGNATURE_BYTES:
        v = signature[64] if signature[64] >= _FIRST_V else signature[64] + _FIRST_V
        return _WITH_KEY_SIGNATURE + head + v.to_bytes(_WORD) + signature[:64]
    padding = bytes(-len(signature) % _WORD)
    return (
        _WITH_WALLET_SIGNATURE
        + head
        + (7 * _WORD).to_bytes(_WORD)
        + len(signature).to_bytes(_WORD)
        + signature
        + padding
    )


def encode_authorization_state(payment: Payment) -> bytes:
    """The call that returns whether the payer's nonce is used."""
    return _STATE + _address(payment.payer) + bytes.fromhex(payment.nonce[2:])


def encode_balance_of(payment: Payment) -> bytes:
    """The call that returns the payer's balance, atomic units."""
    return _BALANCE + _address(payment.payer)


def authorization_topics(payment: Payment) -> Sequence[str | Sequence[str]]:
    """Topics of the event that ends an authorization: used or cancelled."""
    return [[USED, CANCELED], "0x" + _address(payment.payer).hex(), payment.nonce]


def transfer_outcome(payment: Payment, logs: Iterable[EventLog]) -> Literal["here", "elsewhere"] | None:
    """Where the events of one transaction say that an authorization's money went: to us as was signed, or elsewhere.

    The token tells of the transfer right after the use. Any other transfer, even of the same amount between the same
    two, belongs to another authorization that was spent in the same transaction.

    Returns:
        Nothing if they do not tell of its use, or not of what came of it.
    """
    by_index = {int(log.log_index, 16): log for log in logs if log.address.lower() == payment.asset and not log.removed}
    payer = "0x" + _address(payment.payer).hex()
    place = next((place for place, log in by_index.items() if _topics(log) == [USED, payer, payment.nonce]), None)
    after = None if place is None else by_index.get(place + 1)
    if after is None or _topics(after)[:2] != [_TRANSFER, payer]:
        return None
    ours = _topics(after)[2:] == ["0x" + _address(payment.pay_to).hex()]
    return "here" if ours and after.data.lower() == "0x" + payment.value.to_bytes(_WORD).hex() else "elsewhere"


def refusal_reason(error: RevertedError) -> str:
    """The x402 reason code of a revert of the token."""
    words = error.reason.lower()
    return next((code for said, code in _REFUSALS if said in words), _CUSTOM_REFUSALS.get(error.data[:4], FAILED))


def _topics(log: EventLog) -> list[str]:
    return [topic.lower() for topic in log.topics]


def _address(address: str) -> bytes:
    return bytes.fromhex(address[2:]).rjust(_WORD, b"\0")

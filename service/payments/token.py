"""What is said to the dollar token and what it says: EIP-3009 by its selectors, topics and refusals.

Sources: https://eips.ethereum.org/EIPS/eip-3009, Circle's FiatTokenV2_2.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from service.ethereum.addresses import keccak256
from service.ethereum.signatures import LENGTH
from service.payments.payment import Payment
from service.payments.rpc import Log
from service.upstream.json_rpc import RevertedError

_HEAD: Final = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,"
_BY_KEY: Final = keccak256(f"{_HEAD}uint8,bytes32,bytes32)".encode())[:4]
_BY_WALLET: Final = keccak256(f"{_HEAD}bytes)".encode())[:4]
_STATE: Final = keccak256(b"authorizationState(address,bytes32)")[:4]
_BALANCE: Final = keccak256(b"balanceOf(address)")[:4]
_WORD: Final = 32
_FIRST_V: Final = 27

USED: Final = "0x" + keccak256(b"AuthorizationUsed(address,bytes32)").hex()
CANCELED: Final = "0x" + keccak256(b"AuthorizationCanceled(address,bytes32)").hex()
_TRANSFER: Final = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()

NONCE_USED: Final = "invalid_exact_evm_nonce_already_used"
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


def transfer_of(payment: Payment) -> bytes:
    """The call that moves the money: by r, s and v where a key signed, by bytes where a contract wallet did."""
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
    if len(signature) == LENGTH:
        v = signature[64] if signature[64] >= _FIRST_V else signature[64] + _FIRST_V
        return _BY_KEY + head + v.to_bytes(_WORD) + signature[:64]
    padding = bytes(-len(signature) % _WORD)
    return _BY_WALLET + head + (7 * _WORD).to_bytes(_WORD) + len(signature).to_bytes(_WORD) + signature + padding


def state_of(payment: Payment) -> bytes:
    """The question whether the payer's nonce is spent."""
    return _STATE + _address(payment.payer) + bytes.fromhex(payment.nonce[2:])


def balance_of(payment: Payment) -> bytes:
    """The question what the payer has, atomic units."""
    return _BALANCE + _address(payment.payer)


def end_of(payment: Payment) -> Sequence[str | Sequence[str]]:
    """Topics of the one event that ends an authorization: used or cancelled."""
    return [[USED, CANCELED], "0x" + _address(payment.payer).hex(), payment.nonce]


def spent(payment: Payment, logs: Iterable[Log]) -> Literal["here", "elsewhere"] | None:
    """Where the events of one transaction say that an authorization's money went: to us as was signed, or elsewhere.

    The token tells of the transfer right after the use. Any other transfer, even of the same amount between the same
    two, belongs to another authorization that was spent in the same transaction.

    Returns:
        Nothing if they do not tell of its use, or not of what came of it.
    """
    told = {int(log.log_index, 16): log for log in logs if log.address.lower() == payment.asset and not log.removed}
    payer = "0x" + _address(payment.payer).hex()
    place = next((place for place, log in told.items() if _topics(log) == [USED, payer, payment.nonce]), None)
    after = None if place is None else told.get(place + 1)
    if after is None or _topics(after)[:2] != [_TRANSFER, payer]:
        return None
    ours = _topics(after)[2:] == ["0x" + _address(payment.pay_to).hex()]
    return "here" if ours and after.data.lower() == "0x" + payment.value.to_bytes(_WORD).hex() else "elsewhere"


def refusal(error: RevertedError) -> str:
    """The x402 reason code of what the token reverts with."""
    words = error.reason.lower()
    return next((code for said, code in _REFUSALS if said in words), _CUSTOM_REFUSALS.get(error.data[:4], FAILED))


def _topics(log: Log) -> list[str]:
    return [topic.lower() for topic in log.topics]


def _address(address: str) -> bytes:
    return bytes.fromhex(address[2:]).rjust(_WORD, b"\0")

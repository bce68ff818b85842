"""What a wallet signs when it authorizes a transfer: the EIP-712 digest of EIP-3009's `TransferWithAuthorization`."""

from functools import lru_cache
from typing import Final

from service.ethereum.addresses import keccak256

_DOMAIN: Final = keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
_TRANSFER: Final = keccak256(
    b"TransferWithAuthorization(address from,address to,uint256 value,"
    b"uint256 validAfter,uint256 validBefore,bytes32 nonce)"
).hex()
_ADDRESS_PADDING: Final = "0" * 24


@lru_cache(maxsize=8)
def domain_separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    """Hash what ties a signature to one token on one chain (EIP-712).

    Args:
        name: Of the token, as its contract says it.
        version: Of its signing domain, likewise.
        chain_id: EIP-155 number of the chain.
        contract: Address of the token.

    Returns:
        32 bytes.
    """
    words = (_DOMAIN, keccak256(name.encode()), keccak256(version.encode()), chain_id.to_bytes(32), _word(contract))
    return keccak256(b"".join(words))


def transfer_digest(
    domain: bytes,
    *,
    sender: str,
    receiver: str,
    value: int,
    valid_after_s: int,
    valid_before_s: int,
    nonce: str,
) -> bytes:
    """Hash a transfer as its sender signs it.

    Args:
        domain: Of `domain_separator`.
        sender: Whose money it is: an address.
        receiver: Who gets it: an address.
        value: Atomic units, as all numbers here from 0 to 2**256 - 1.
        valid_after_s: Good after this second (epoch).
        valid_before_s: Good before this second (epoch).
        nonce: 0x and 64 hexadecimal digits.

    Returns:
        32 bytes.
    """
    words = bytes.fromhex(
        f"{_TRANSFER}{_ADDRESS_PADDING}{sender[2:]}{_ADDRESS_PADDING}{receiver[2:]}"
        f"{value:064x}{valid_after_s:064x}{valid_before_s:064x}{nonce[2:]}"
    )
    return keccak256(b"\x19\x01" + domain + keccak256(words))


def _word(address: str) -> bytes:
    return bytes.fromhex(_ADDRESS_PADDING + address[2:])

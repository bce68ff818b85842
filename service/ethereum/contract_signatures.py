"""Signatures of contract wallets: what a node is asked, and what counts as yes.

Sources: https://eips.ethereum.org/EIPS/eip-1271, https://eips.ethereum.org/EIPS/eip-6492.
"""

from typing import Final, NamedTuple

WRAPPED: Final = bytes.fromhex("6492" * 16)
"""What a signature of ERC-6492 ends in."""

ACCEPTED: Final = bytes.fromhex("1626ba7e").ljust(32, b"\0")
"""What `isValidSignature` returns for yes: its own selector, padded. The padding matters: a contract that returns its
input (the identity precompile) returns the selector too."""

_SELECTOR: Final = ACCEPTED[:4]
_WORD: Final = 32
_ADDRESS_BYTES: Final = 20
_FACTORY_WORDS: Final = 3


class Undeployed(NamedTuple):
    """A signature of a wallet whose contract may not exist yet (ERC-6492).

    Attributes:
        factory: Address of the contract that creates it, 20 bytes.
        preparation: Input of the call to the factory.
        signature: What `isValidSignature` is given.
    """

    factory: bytes
    preparation: bytes
    signature: bytes


def unwrap(signature: bytes) -> Undeployed | None:
    """Read a signature of ERC-6492; null if it is another one.

    Raises:
        ValueError: If it ends like one and is not ABI-encoded as one.
    """
    if not signature.endswith(WRAPPED):
        return None
    encoded = signature[: -len(WRAPPED)]
    head = [encoded[at : at + _WORD] for at in range(0, _FACTORY_WORDS * _WORD, _WORD)]
    if len(encoded) < _FACTORY_WORDS * _WORD or any(head[0][:-_ADDRESS_BYTES]):
        raise ValueError("it ends as an ERC-6492 signature does, and is not encoded as one")
    return Undeployed(head[0][-_ADDRESS_BYTES:], _bytes_at(encoded, head[1]), _bytes_at(encoded, head[2]))


def question(digest: bytes, signature: bytes) -> bytes:
    """Input of a call to `isValidSignature(bytes32,bytes)`.

    Args:
        digest: 32 bytes.
        signature: Of any length.
    """
    padded = signature.ljust(-(-len(signature) // _WORD) * _WORD, b"\0")
    return _SELECTOR + digest + (2 * _WORD).to_bytes(_WORD) + len(signature).to_bytes(_WORD) + padded


def deployment(wallet: bytes, digest: bytes, undeployed: Undeployed) -> bytes:
    """Init code that asks a wallet after its creation, for an `eth_call` without `to`.

    It calls the factory, whatever comes of that, then `isValidSignature` of the wallet, and returns 32 bytes:
    `ACCEPTED`, or something else. Nothing of it stays on the chain. Like the validator of ERC-6492's text, without its
    check of keys.

    Args:
        wallet: Address, 20 bytes.
        digest: 32 bytes.
        undeployed: The signature.
    """
    asked = question(digest, undeployed.signature)
    answer = max(len(undeployed.preparation), len(asked))
    code = b""
    # The code names the places of the two inputs behind it; its length does not depend on them.
    for _ in range(2):
        preparation_at = len(code)
        code = (
            _load(len(undeployed.preparation), preparation_at)
            + _push(0, 1) * 2  # no output of the factory is read
            + _push(len(undeployed.preparation))
            + _push(0, 1) * 2  # input at 0, no ether
            + _PUSH20
            + undeployed.factory
            + _GAS_CALL_POP
            + _load(len(asked), preparation_at + len(undeployed.preparation))
            + _push(_WORD, 1)
            + _push(answer)
            + _push(len(asked))
            + _push(0, 1)
            + _PUSH20
            + wallet
            + _GAS_STATICCALL
            + _push(_WORD - 1, 1)
            + _RETURNDATASIZE_GT_MUL  # 1 if the call succeeded and returned a word
            + _push(answer)
            + _MLOAD_MUL
            + _push(0, 1)
            + _MSTORE
            + _push(_WORD, 1)
            + _push(0, 1)
            + _RETURN
        )
    return code + undeployed.preparation + asked


_PUSH20: Final = b"\x73"
_GAS_CALL_POP: Final = b"\x5a\xf1\x50"
_GAS_STATICCALL: Final = b"\x5a\xfa"
_RETURNDATASIZE_GT_MUL: Final = b"\x3d\x11\x02"
_MLOAD_MUL: Final = b"\x51\x02"
_MSTORE: Final = b"\x52"
_RETURN: Final = b"\xf3"
_CODECOPY: Final = b"\x39"
_PUSH: Final = 0x5F


def _push(value: int, size: int = 3) -> bytes:
    return bytes([_PUSH + size]) + value.to_bytes(size)


def _load(size: int, place: int) -> bytes:
    """Copy bytes of the code to the start of the memory."""
    return _push(size) + _push(place) + _push(0, 1) + _CODECOPY


def _bytes_at(encoded: bytes, offset: bytes) -> bytes:
    start = int.from_bytes(offset) + _WORD
    end = start + int.from_bytes(encoded[start - _WORD : start])
    if end > len(encoded):
        raise ValueError("it ends as an ERC-6492 signature does, and is not encoded as one")
    return encoded[start:end]

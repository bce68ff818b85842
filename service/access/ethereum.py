"""Ethereum addresses and personal signatures: EIP-55, EIP-191."""

import re
from typing import Final

from coincurve import PublicKey
from Crypto.Hash import keccak

ADDRESS: Final = re.compile(r"0x[0-9A-Fa-f]{40}\Z")
_HALF_ORDER: Final = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half of secp256k1's order. A signature with a larger `s` is the malleated twin of another (EIP-2)."""

_SIGNATURE_LENGTH: Final = 65
_RECOVERY_IDS: Final = {0: 0, 1: 1, 27: 0, 28: 1}
_HEX_SHIFT: Final = 8


def keccak256(data: bytes) -> bytes:
    """Ethereum's hash: Keccak-256 with the original padding, not SHA3-256's."""
    return keccak.new(digest_bits=256, data=data).digest()


def checksum_address(address: str) -> str:
    """Write an address in EIP-55's mixed case.

    Raises:
        ValueError: If the text is not 0x and 40 hexadecimal digits.
    """
    if not ADDRESS.match(address):
        raise ValueError("an address is 0x and 40 hexadecimal digits")
    digits = address[2:].lower()
    guide = keccak256(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(nibble, 16) >= _HEX_SHIFT else digit for digit, nibble in zip(digits, guide, strict=False)
    )


def read_address(text: str) -> str:
    """Read an address a person typed: one case throughout, or the right mixed case.

    Returns:
        The address in EIP-55's form.

    Raises:
        ValueError: If it is not an address, or its mixed case does not match: then a character is wrong.
    """
    address = checksum_address(text)
    if text[2:] not in {address[2:], text[2:].lower(), text[2:].upper()}:
        raise ValueError("the address's capital letters do not match its EIP-55 checksum; is a character wrong?")
    return address


def recover_personal(message: str, signature: bytes) -> str:
    """Find who signed a text with `personal_sign` (EIP-191, version 0x45).

    Args:
        message: The exact text.
        signature: r, s, v; v is 0, 1, 27 or 28.

    Returns:
        The signer's address in EIP-55's form.

    Raises:
        ValueError: If the signature has another length or v, a high s, or belongs to no key.
    """
    if len(signature) != _SIGNATURE_LENGTH or signature[64] not in _RECOVERY_IDS:
        raise ValueError("a signature is 65 bytes and ends in 0, 1, 27 or 28")
    if int.from_bytes(signature[32:64]) > _HALF_ORDER:
        raise ValueError("the signature's s is high")
    content = message.encode()
    digest = keccak256(b"\x19Ethereum Signed Message:\n%d%b" % (len(content), content))
    compact = signature[:64] + bytes([_RECOVERY_IDS[signature[64]]])
    key = PublicKey.from_signature_and_message(compact, digest, hasher=None)
    return checksum_address("0x" + keccak256(key.format(compressed=False)[1:])[-20:].hex())

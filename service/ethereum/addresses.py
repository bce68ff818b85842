"""Keccak-256 and addresses as people and programs write them (EIP-55)."""

import importlib.util
import re
from typing import Any, Final

ADDRESS: Final = re.compile(r"0x[0-9A-Fa-f]{40}\Z")
_HEX_SHIFT: Final = 8


def _fastest() -> Any:
    """A hash object of some bytes: of `safe-pysha3` where it is installed, which takes a sixth of the time."""
    if importlib.util.find_spec("sha3") is None:
        from Crypto.Hash import keccak  # noqa: PLC0415 -- it brings a C parser: 50 ms of a start

        return lambda data: keccak.new(digest_bits=256, data=data)
    import sha3  # noqa: PLC0415 -- wheels of it exist for Linux only

    return sha3.keccak_256


_hash: Final = _fastest()


def keccak256(data: bytes) -> bytes:
    """Ethereum's hash: Keccak-256 with the original padding, not SHA3-256's."""
    digest: bytes = _hash(data).digest()
    return digest


def checksum_address(address: str) -> str:
    """Write an address in EIP-55's mixed case.

    Raises:
        ValueError: If the text is not 0x and 40 hexadecimal digits.
    """
    if not ADDRESS.match(address):
        raise ValueError("An address is 0x and 40 hexadecimal digits.")
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
        raise ValueError("The capital letters do not match the EIP-55 checksum of the address. Is a character wrong?")
    return address

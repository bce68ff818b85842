"""Receipts: what was bought, by whom, for how much, signed so that whoever holds one can prove it."""

from typing import Final

from msgspec import Struct

from service.clock import iso
from service.errors import ServiceError
from service.ethereum.addresses import checksum_address
from service.ethereum.signatures import address_of, private_key, recover_personal, sign_personal
from service.units import MicroUsd, usdc
from service.wire.canonical import canonical
from service.wire.payment import Receipt, SignedReceipt


class ReceiptSigner:
    """Stands for receipts with the service's own key.

    Args:
        key: 32 bytes: the private key.

    Attributes:
        address: Its address in EIP-55's form, as the manifest publishes it.
    """

    def __init__(self, key: bytes) -> None:
        self._key = private_key(key)
        self.address = address_of(self._key.public_key)

    def sign(self, receipt: Receipt) -> SignedReceipt:
        """Sign a receipt: `personal_sign` (EIP-191) over its RFC 8785 text."""
        signature = sign_personal(canonical(receipt).decode(), self._key)
        return SignedReceipt(receipt, self.address, f"0x{signature.hex()}")


def signer_of(receipt: object, signature: str) -> str:
    """Find who signed a receipt; needs nothing but the two.

    Args:
        receipt: The receipt, or what JSON made of it.
        signature: 0x and 130 hexadecimal digits.

    Returns:
        The signer's address in EIP-55's form. Whether that is the service's is for the caller to compare.

    Raises:
        ValueError: If the signature is none, or belongs to no key.
    """
    if not signature.startswith("0x"):
        raise ValueError("a signature begins with 0x")
    return recover_personal(canonical(receipt).decode(), bytes.fromhex(signature[2:]))

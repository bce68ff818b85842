"""secp256k1 recovery and personal signatures (EIP-191)."""

from typing import Final

from coincurve import PrivateKey, PublicKey

from service.ethereum.addresses import checksum_address, keccak256

SIGNATURE_BYTES: Final = 65
"""Bytes of a signature: r, s, v."""

_HALF_ORDER: Final = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half of secp256k1's order. A signature with a larger `s` is the malleated twin of another (EIP-2)."""

_RECOVERY_IDS: Final = {0: 0, 1: 1, 27: 0, 28: 1}
_FIRST_V: Final = 27


def recover(digest: bytes, signature: bytes) -> str:
    """Find who signed a digest.

    Args:
        digest: 32 bytes.
        signature: r, s, v; v is 0, 1, 27 or 28.

    Returns:
        The signer's address in EIP-55's form.

    Raises:
        ValueError: As `signer`.
    """
    return checksum_address("0x" + recover_address_bytes(digest, signature).hex())


def recover_address_bytes(digest: bytes, signature: bytes) -> bytes:
    """Find who signed a digest, without the hash that writing an address takes.

    Args:
        digest: 32 bytes.
        signature: r, s, v; v is 0, 1, 27 or 28.

    Returns:
        The 20 bytes of the signer's address.

    Raises:
        ValueError: If the signature has another length or v, a high s, or belongs to no key.
    """
    if len(signature) != SIGNATURE_BYTES or signature[64] not in _RECOVERY_IDS:
        raise ValueError("a signature is 65 bytes and ends in 0, 1, 27 or 28")
    if int.from_bytes(signature[32:64]) > _HALF_ORDER:
        raise ValueError("the signature's s is high")
    compact = signature[:64] + bytes([_RECOVERY_IDS[signature[64]]])
    return _address_bytes(PublicKey.from_signature_and_message(compact, digest, hasher=None))


def private_key(secret: bytes) -> PrivateKey:
    """The key that 32 bytes are.

    Raises:
        ValueError: If they are no number from 1 to the order of secp256k1: random ones are, but for one in 2^128.
    """
    return PrivateKey(secret)


def sign(digest: bytes, key: PrivateKey) -> bytes:
    """Sign a digest of 32 bytes: r, s, v, where s is low and v is 27 or 28."""
    compact: bytes = key.sign_recoverable(digest, hasher=None)
    return compact[:64] + bytes([compact[64] + _FIRST_V])


def address_of(key: PublicKey) -> str:
    """The address of a public key, in EIP-55's form."""
    return checksum_address("0x" + _address_bytes(key).hex())


def _address_bytes(key: PublicKey) -> bytes:
    return keccak256(key.format(compressed=False)[1:])[-20:]


def personal_digest(message: str) -> bytes:
    """What `personal_sign` signs (EIP-191, version 0x45)."""
    content = message.encode()
    return keccak256(b"\x19Ethereum Signed Message:\n%d%b" % (len(content), content))


def recover_personal(message: str, signature: bytes) -> str:
    """Find who signed a text with `personal_sign`.

    Args:
        message: The exact text.
        signature: r, s, v.

    Returns:
        The signer's address in EIP-55's form.

    Raises:
        ValueError: As `recover`.
    """
    return recover(personal_digest(message), signature)


def sign_personal(message: str, key: PrivateKey) -> bytes:
    """Sign a text as `personal_sign` does: r, s, v."""
    return sign(personal_digest(message), key)

"""Keystore files: a private key behind a password, as geth and other wallets write it (Web3 Secret Storage, version 3).

Source: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage/
"""

from hashlib import pbkdf2_hmac, scrypt
from hmac import compare_digest
from typing import Final, Literal

import msgspec
from Crypto.Cipher import AES
from msgspec import Struct

from service.ethereum.addresses import keccak256

_WIDTH: Final = 32
_MOST_MEMORY: Final = 2**30
_MOST_ROUNDS: Final = 10_000_000
_MOST_BLOCKS: Final = 2**25
"""Of scrypt, n times r times p: sixteen times what geth writes. The limit of its memory alone lets p ask for hours."""


class ScryptParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """How scrypt stretches the password."""

    n: int
    r: int
    p: int
    dklen: int
    salt: str


class Pbkdf2Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """How PBKDF2 stretches it."""

    c: int
    dklen: int
    prf: Literal["hmac-sha256"]
    salt: str


class CipherParameters(Struct, frozen=True):
    """Where the cipher's counter begins."""

    iv: str


class EncryptedKey(Struct, frozen=True):
    """The encrypted private key and how it was encrypted."""

    cipher: Literal["aes-128-ctr"]
    cipherparams: CipherParameters
    ciphertext: str
    kdf: Literal["scrypt", "pbkdf2"]
    kdfparams: msgspec.Raw
    mac: str


class Keystore(Struct, frozen=True):
    """The file; some write `Crypto`, whose letters do not matter here."""

    version: Literal[3]
    crypto: EncryptedKey


def open_keystore(content: bytes, password: str) -> bytes:
    """Take the private key out. As slow as the file wants it: a second or so.

    Args:
        content: Of the file.
        password: Its own.

    Returns:
        32 bytes.

    Raises:
        ValueError: If it is no such file, wants more than a gigabyte or a minute or so, or the password is not its own.
    """
    sealed = _read(content).crypto
    try:
        stretched = _derive_key(sealed, password.encode())
        ciphertext, mac = bytes.fromhex(sealed.ciphertext), bytes.fromhex(sealed.mac)
        # eth_account writes it as a number: one in 256 is shorter, and then by its zeros in front.
        start = bytes.fromhex(sealed.cipherparams.iv).rjust(AES.block_size, b"\0")
        cipher = AES.new(stretched[:16], AES.MODE_CTR, nonce=b"", initial_value=start)
    except (ValueError, msgspec.MsgspecError, MemoryError, OverflowError) as error:
        raise ValueError("The keystore's parameters cannot be used.") from error
    if len(ciphertext) != _WIDTH:
        raise ValueError("The keystore's parameters cannot be used.")
    if not compare_digest(mac, keccak256(stretched[16:] + ciphertext)):
        raise ValueError("The password does not open the keystore.")
    return bytes(cipher.decrypt(ciphertext))


def _read(content: bytes) -> Keystore:
    try:
        fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        lower = {name.lower(): value for name, value in fields.items()}
        return msgspec.json.decode(msgspec.json.encode(lower), type=Keystore)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"This is not a keystore file of version 3: {error}.") from error


def _derive_key(sealed: EncryptedKey, password: bytes) -> bytes:
    if sealed.kdf == "scrypt":
        by = msgspec.json.decode(sealed.kdfparams, type=ScryptParameters)
        _check_cost(by.dklen, by.n * by.r * by.p, _MOST_BLOCKS)
        salt = bytes.fromhex(by.salt)
        return scrypt(password, salt=salt, n=by.n, r=by.r, p=by.p, maxmem=_MOST_MEMORY, dklen=by.dklen)
    with_ = msgspec.json.decode(sealed.kdfparams, type=Pbkdf2Parameters)
    _check_cost(with_.dklen, with_.c, _MOST_ROUNDS)
    return pbkdf2_hmac("sha256", password, bytes.fromhex(with_.salt), with_.c, with_.dklen)


def _check_cost(length: int, work: int, most: int) -> None:
    """Before anything is computed: it cannot be interrupted, and takes as much memory as the key that is wanted."""
    if length != _WIDTH or work > most:
        raise ValueError("The keystore asks for another key length, or for too much work.")

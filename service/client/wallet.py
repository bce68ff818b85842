"""The wallet that signs: a keystore file with its password, or a private key from the environment."""

import sys
from collections.abc import Mapping
from getpass import getpass
from pathlib import Path
from typing import Final, Self

from service.client.config import PRIVATE_KEY
from service.client.errors import RefusalError
from service.ethereum.keystore import open_keystore
from service.ethereum.signatures import address_of, private_key, sign, sign_personal

KEY: Final = "VERDICT_WALLET_KEY"
PASSWORD: Final = "VERDICT_KEYSTORE_PASSWORD"  # noqa: S105 - the name of a variable
_LONGEST: Final = 8_192
_MOST_BYTES: Final = 65_536


def read_secret(prompt: str, environment: Mapping[str, str], variable: str = "") -> str:
    """Read a secret from a variable, a prompt without echo, or standard input. `RefusalError` if there is none."""
    text = (variable and environment.get(variable)) or _typed(prompt)
    if not text:
        other = f", or set {variable}" if variable else ""
        raise RefusalError(f"{prompt}: Nothing was entered. Type it, or pipe it in as one line{other}.")
    return text


def _typed(prompt: str) -> str:
    try:
        if sys.stdin.closed or not sys.stdin.isatty():
            return sys.stdin.readline(_LONGEST).rstrip("\r\n")
        return getpass(f"{prompt}: ", sys.stderr)
    except UnicodeDecodeError:
        raise RefusalError(f"{prompt}: The piped input is not text.") from None
    except EOFError:
        return ""


class Wallet:
    """A private key of 32 bytes (else `ValueError`) that is never shown; `address` is in EIP-55's form."""

    def __init__(self, key: bytes) -> None:
        self._key = private_key(key)
        self.address = address_of(self._key.public_key)

    @classmethod
    def from_key(cls, text: str) -> Self:
        """A wallet of a private key: 64 hexadecimal digits, perhaps after 0x; `ValueError` that does not repeat it."""
        try:
            return cls(bytes.fromhex(text.removeprefix("0x") if PRIVATE_KEY.match(text) else ""))
        except ValueError:
            raise ValueError(
                "This is not a private key. Write it as 64 hexadecimal digits, with or without 0x before them."
            ) from None

    @classmethod
    def from_keystore(cls, path: str | Path, password: str) -> Self:
        """A wallet of a keystore file (Web3 Secret Storage, version 3). Takes about a second.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is not a keystore, or the password is wrong.
        """
        return cls(open_keystore(_read(Path(path).expanduser()), password))

    def __repr__(self) -> str:
        """The address only: this may end up in a log."""
        return f"Wallet({self.address})"

    def sign_text(self, text: str) -> str:
        """Sign a text as `personal_sign` does (EIP-191): 0x and 130 hexadecimal digits."""
        return "0x" + sign_personal(text, self._key).hex()

    def sign_digest(self, digest: bytes) -> bytes:
        """Sign 32 bytes: r, s, v."""
        return sign(digest, self._key)


def open_wallet(environment: Mapping[str, str], keystore: str | None) -> Wallet:
    """Open the wallet: the keystore file at a path, else the key in `VERDICT_WALLET_KEY`. Takes about a second.

    The password of the file is `VERDICT_KEYSTORE_PASSWORD`, else it is asked for.

    Raises:
        RefusalError: If there is no wallet, or it cannot be opened.
    """
    if keystore and PRIVATE_KEY.match(keystore):
        raise RefusalError(
            "--keystore takes the path of a file, not a private key. Anyone who saw the command line can spend with "
            f"this key: move its funds to another wallet, and set {KEY} to the key of that wallet."
        )
    if keystore:
        return _open_file(Path(keystore).expanduser(), environment)
    written = environment.get(KEY, "").strip()
    if not written:
        raise RefusalError(f"There is no wallet. Name a keystore with --keystore FILE, or set {KEY}.")
    try:
        return Wallet.from_key(written)
    except ValueError as error:
        raise RefusalError(f"{KEY}: {error}") from None


def _open_file(path: Path, environment: Mapping[str, str]) -> Wallet:
    try:
        content = _read(path)
    except OSError as error:
        raise RefusalError(f"Cannot read {path}: {error.strerror}.") from None
    password = read_secret("Password of the keystore", environment, PASSWORD)
    try:
        return Wallet(open_keystore(content, password))
    except ValueError as error:
        raise RefusalError(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)

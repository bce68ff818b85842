"""The wallet a command signs with: a keystore file behind its password, or a key of the environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from service.clients.cli.refusal import RefusalError
from service.clients.signin.secret import secret
from service.ethereum.keystore import open_keystore
from service.ethereum.signatures import address_of, private_key, sign, sign_personal

KEY: Final = "VERDICT_WALLET_KEY"
PASSWORD: Final = "VERDICT_KEYSTORE_PASSWORD"  # noqa: S105 - the name of a variable
_WRITTEN: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}\Z")
_MOST_BYTES: Final = 65_536


class Wallet:
    """Somebody who signs; what it signs with is not shown.

    Args:
        key: The private key, 32 bytes.

    Attributes:
        address: In EIP-55's form.

    Raises:
        ValueError: If that is no private key.
    """

    def __init__(self, key: bytes) -> None:
        self._key = private_key(key)
        self.address = address_of(self._key.public_key)

    def __repr__(self) -> str:
        """Its address alone: this may end up in a log."""
        return f"Wallet({self.address})"

    def sign_text(self, text: str) -> str:
        """Sign a text as `personal_sign` does (EIP-191): 0x and 130 hexadecimal digits."""
        return "0x" + sign_personal(text, self._key).hex()

    def sign_digest(self, digest: bytes) -> bytes:
        """Sign 32 bytes: r, s, v."""
        return sign(digest, self._key)


def open_wallet(environment: Mapping[str, str], keystore: str | None) -> Wallet:
    """The wallet that is meant: a keystore that is named, else the key in `VERDICT_WALLET_KEY`.

    Its password is `VERDICT_KEYSTORE_PASSWORD`, else it is asked for. Opening takes as long as the file wants, a second
    or so.

    Args:
        environment: Of the process.
        keystore: Path of a file (Web3 Secret Storage, version 3), if there is one.

    Raises:
        RefusalError: If there is no wallet, or it cannot be opened.
    """
    if keystore and _WRITTEN.match(keystore):
        raise RefusalError(
            "--keystore takes the path of a file, not a key; whoever saw it on the command line can spend with it: "
            f"move what it holds to another wallet, and set {KEY} to that one's"
        )
    if keystore:
        return _of_file(Path(keystore).expanduser(), environment)
    written = environment.get(KEY, "").strip()
    if not written:
        raise RefusalError(f"there is no wallet: name a keystore (--keystore FILE), or set {KEY}")
    if not _WRITTEN.match(written):
        raise RefusalError(f"{KEY} is no private key: it takes 64 hexadecimal digits, with or without 0x before them")
    return _of(bytes.fromhex(written.removeprefix("0x")), KEY)


def _of_file(path: Path, environment: Mapping[str, str]) -> Wallet:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as error:
        raise RefusalError(f"the keystore {path} cannot be read ({error.strerror})") from None
    password = secret("Password of the keystore", environment, PASSWORD)
    try:
        opened = open_keystore(content, password)
    except ValueError as error:
        raise RefusalError(f"{path}: {error}") from None
    return _of(opened, str(path))


def _of(opened: bytes, where: str) -> Wallet:
    try:
        return Wallet(opened)
    except ValueError:
        raise RefusalError(f"{where} holds a number that is no private key") from None

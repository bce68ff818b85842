"""`secrets.toml`: the pepper of the keys and the key of the sessions, made at the first start."""

import hmac
import os
import re
import secrets
import stat
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.storage.full_disk import start_refusal
from service.storage.lost_store import SECRETS

FILE_NAME: Final = SECRETS
_SECRET_BYTES: Final = 32
_MARK_BYTES: Final = 16
_HEX: Final = re.compile(rf"[0-9a-f]{{{2 * _SECRET_BYTES}}}\Z")
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_HEADING: Final = (
    "# Secrets of this service. Whoever has them can make sessions; losing them ends every key and session.\n"
)


class SecretsError(Exception):
    """The secrets cannot be used; the message says what to do."""


class Secrets(Struct, frozen=True):
    """32 bytes each: under which keys are fingerprinted, and with which sessions and nonces are signed."""

    key_pepper: bytes
    session_key: bytes

    @property
    def mark(self) -> bytes:
        """Tells one pepper from another without giving anything of it away."""
        return hmac.digest(self.key_pepper, b"mark", "sha256")[:_MARK_BYTES]

    @property
    def cursor_key(self) -> bytes:
        """Under which the cursors of paged routes are written."""
        return hmac.digest(self.session_key, b"cursors", "sha256")

    @property
    def visitor_key(self) -> bytes:
        """Under which devices and networks are hashed that ask without a token."""
        return hmac.digest(self.key_pepper, b"visitors", "sha256")

    @property
    def receipt_key(self) -> bytes:
        """A secp256k1 key: with it receipts are signed. Its address is public, and lives as long as the secrets."""
        return hmac.digest(self.session_key, b"receipts", "sha256")

    def __repr__(self) -> str:
        return "Secrets(…)"


def open_secrets(data_dir: Path) -> Secrets:
    """Read the secrets of a data folder, making them (and the folder, 0700) at the first start.

    Several processes may start at once: exactly one set is made, whole, and all of them read it.

    Raises:
        SecretsError: If the file is readable by others, damaged, or cannot be read or made.
    """
    path = data_dir / FILE_NAME
    try:
        if not path.exists():
            _create(path)
        return _read(path)
    except OSError as error:
        if full := start_refusal(data_dir, error):
            raise SecretsError(full) from error
        raise SecretsError(
            f"cannot use {path}: {error.strerror}; let this user write there or set VERDICT_DATA_DIR"
        ) from error


def _create(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
    text = _HEADING + "".join(f'{name} = "{secrets.token_hex(_SECRET_BYTES)}"\n' for name in Secrets.__struct_fields__)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        with suppress(FileExistsError):  # another process was first, and its secrets are the ones
            os.link(draft, path)  # unlike a rename, a link never replaces what is there
    finally:
        draft.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> Secrets:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        content = file.read()
    if mode & _FOR_OTHERS:
        raise SecretsError(f"{path} can be read by others; run: chmod 600 {path}")
    try:
        values = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _damaged(path) from error
    if values.keys() != set(Secrets.__struct_fields__):
        raise _damaged(path)
    return Secrets(*(_secret(path, values[name]) for name in Secrets.__struct_fields__))


def _secret(path: Path, value: object) -> bytes:
    if not isinstance(value, str) or not _HEX.match(value):
        raise _damaged(path)
    return bytes.fromhex(value)


def _damaged(path: Path) -> SecretsError:
    return SecretsError(
        f"{path} is damaged: it must hold {' and '.join(Secrets.__struct_fields__)}, 64 hexadecimal digits each; "
        "restore it from a backup, or delete it (which ends every key and session)"
    )

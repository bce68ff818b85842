"""`secrets.toml`: the secrets of API keys and sessions, made at the first start."""

import hmac
import logging
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.full_disk import start_refusal
from service.storage.lost_store import SECRETS

FILE_NAME: Final = SECRETS
_SECRET_BYTES: Final = 32
_MARK_BYTES: Final = 16
_HEX: Final = re.compile(rf"[0-9a-f]{{{2 * _SECRET_BYTES}}}\Z")
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_HEADING: Final = (
    "# Secrets of this service. Anyone who has them can make sessions. Without them, every key and session ends.\n"
)
KEY_SECRET_REMEDY: Final = (
    f"Stop the service and put the {FILE_NAME} kept with the backup back in its place. If it is lost, revoke these "
    "keys with `verdict admin keys revoke` and make new ones."
)
_NEWEST_CREDENTIAL: Final = (
    "CASE WHEN EXISTS (SELECT 1 FROM peppers) THEN (SELECT coalesce(max(id), 0) FROM credentials) ELSE 0 END"
)

_INSERT_DIGEST: Final = f"""
INSERT INTO peppers (mark, after_credential, seen_ms) VALUES (?, {_NEWEST_CREDENTIAL}, ?) ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants only


_COUNT_UNVERIFIABLE: Final = f"""
SELECT count(*) FROM credentials
WHERE kind = 'api_key' AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?)
    AND id <= coalesce((SELECT after_credential FROM peppers WHERE mark = ?), {_NEWEST_CREDENTIAL})
"""  # noqa: S608 - constants only

_log = logging.getLogger("verdict.access")


class SecretsError(Exception):
    """The secrets cannot be used; the message says what to do."""


class Secrets(Struct, frozen=True):
    """32 bytes each: the key of fingerprints, and the key that signs sessions and nonces."""

    key_pepper: bytes
    session_key: bytes

    @property
    def key_secret_digest(self) -> bytes:
        """Identifies the key secret without revealing it."""
        return hmac.digest(self.key_pepper, b"mark", "sha256")[:_MARK_BYTES]

    @property
    def cursor_key(self) -> bytes:
        """Signs page cursors."""
        return hmac.digest(self.session_key, b"cursors", "sha256")

    @property
    def anonymous_key(self) -> bytes:
        """Key of the hashes of devices and networks."""
        return hmac.digest(self.key_pepper, b"visitors", "sha256")

    @property
    def receipt_key(self) -> bytes:
        """The secp256k1 key that signs receipts."""
        return hmac.digest(self.session_key, b"receipts", "sha256")

    @property
    def alert_key(self) -> bytes:
        """Key of the secrets that sign alerts to webhooks."""
        return hmac.digest(self.session_key, b"alerts", "sha256")

    def __repr__(self) -> str:
        return "Secrets(…)"


def open_secrets(data_dir: Path) -> Secrets:
    """Read the secrets of a data folder, making them (and the folder, 0700) at the first start.

    Several processes may start at once: exactly one set is made, whole, and all of them read it.

    Raises:
        SecretsError: If the file is readable by others, damaged, or cannot be read or made.
    """
    path = data_dir / FILE_NAME
    with _errors_named(path):
        if not path.exists():
            new = (f'{name} = "{secrets.token_hex(_SECRET_BYTES)}"\n' for name in Secrets.__struct_fields__)
            with suppress(FileExistsError):  # another process was first, and its secrets are the ones
                _write(path, _HEADING + "".join(new))
        return _read(path)


def copy_secrets(source: Path, target: Path) -> None:
    """Copy the secrets of a data folder to one that has none.

    Raises:
        FileExistsError: If `target` has secrets; they stay.
        SecretsError: If the file cannot be read or made.
    """
    path = target / FILE_NAME
    with _errors_named(path):
        _write(path, (source / FILE_NAME).read_text())


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    """Say what to do about an error of the operating system, except for a file that exists."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise SecretsError(
            start_refusal(path.parent, error)
            or f"{path} cannot be used: {error.strerror}. Let this user write there, or set VERDICT_DATA_DIR."
        ) from error


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
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
        raise SecretsError(f"Other users can read {path}. Run `chmod 600 {path}`.")
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
        f"{path} is damaged: it must contain {' and '.join(Secrets.__struct_fields__)}, 64 hexadecimal digits each. "
        "Restore it from a backup, or delete it, which ends every key and session."
    )


def count_unverifiable_keys(connection: Connection, secrets: Secrets, now_ms: int) -> int:
    """Count working keys that were made with other secrets."""
    (strange,) = connection.execute(_COUNT_UNVERIFIABLE, (now_ms, secrets.key_secret_digest)).fetchone()
    return int(strange)


async def check_key_secret(db: Database, secrets: Secrets, clock: Clock) -> None:
    """Record the secrets in use, and warn if working keys were made with others.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    now_ms = clock.now_ms()

    def enter(connection: Connection) -> int:
        connection.execute(_INSERT_DIGEST, (secrets.key_secret_digest, now_ms))
        return count_unverifiable_keys(connection, secrets, now_ms)

    strange = await db.write(enter)
    if strange:
        _log.warning(
            "%s is not the one that working keys were made with: this service does not know them. %s",
            FILE_NAME,
            KEY_SECRET_REMEDY,
            extra={"keys": strange},
        )

"""API keys: their format, and how they are issued and rotated."""

import hmac
import re
import zlib
from typing import Final

from msgspec import Struct

from service import base62
from service.access import change_log
from service.access.caller import bad_parameter, invalid_credential
from service.access.credentials import CredentialOwner, get_key
from service.errors import ServiceError
from service.storage.engine import Connection

SECRET_LENGTH: Final = 30
CHECKSUM_LENGTH: Final = 6
SHOWN_LENGTH: Final = 8

MAX_KEYS: Final = 100
"""Keys a user may have that work; those in the grace of a rotation do not count."""


_COUNT_KEYS: Final = """
SELECT count(*) FROM credentials
WHERE kind = 'api_key' AND user_id = ? AND revoked_ms IS NULL AND rotated_ms IS NULL
    AND (expires_ms IS NULL OR expires_ms > ?)
"""


class ApiKeyFormat:
    """The API keys of one service.

    Args:
        prefix: Prefix of every key; ends in `_sk_`.
        pepper: Secret of the fingerprints. A copy of the database alone cannot test guesses.
    """

    def __init__(self, prefix: str, pepper: bytes) -> None:
        self.prefix: Final = prefix
        self._pepper = pepper
        length = SECRET_LENGTH + CHECKSUM_LENGTH
        self._form = re.compile(rf"{re.escape(prefix)}[0-9A-Za-z]{{{length}}}\Z")

    def draw(self) -> str:
        """Generate a key with 178 bits."""
        body = self.prefix + base62.random_text(SECRET_LENGTH)
        return body + _checksum(body)

    def check(self, token: str) -> None:
        """Check form and checksum, so that typing errors and guesses cost no lookup.

        Raises:
            ServiceError: `AUTH_INVALID` if form or checksum is wrong.
        """
        if not self._form.match(token):
            raise invalid_credential(
                f"The API key is malformed: it is {self.prefix} and {SECRET_LENGTH + CHECKSUM_LENGTH} characters."
            )
        if not hmac.compare_digest(_checksum(token[:-CHECKSUM_LENGTH]), token[-CHECKSUM_LENGTH:]):
            raise invalid_credential("The API key is malformed: its checksum does not match. Was it copied whole?")

    def fingerprint(self, key: str) -> bytes:
        """The stored form of a key: HMAC-SHA256 under the pepper, 32 bytes."""
        return hmac.digest(self._pepper, key.encode(), "sha256")

    def display_prefix(self, key: str) -> str:
        """The part of a key that may be displayed."""
        return key[: len(self.prefix) + SHOWN_LENGTH]


def _checksum(body: str) -> str:
    return base62.encode(zlib.crc32(body.encode()), CHECKSUM_LENGTH)


class NewApiKey(Struct, frozen=True):
    """A new key. It is displayed once."""

    key: str
    prefix: str
    name: str
    created_ms: int
    expires_ms: int | None


def issue_key(
    connection: Connection, form: ApiKeyFormat, holder: CredentialOwner, name: str, expires_ms: int | None, now_ms: int
) -> NewApiKey:
    """Generate and store a key.

    Raises:
        ServiceError: `BAD_REQUEST` if the user has too many working keys.
    """
    (working,) = connection.execute(_COUNT_KEYS, (holder.user_id, now_ms)).fetchone()
    if working >= MAX_KEYS:
        raise ServiceError("BAD_REQUEST", f"A user may have {MAX_KEYS} keys that work. Revoke one first.")
    while True:
        key = form.draw()
        prefix = form.display_prefix(key)
        made = connection.execute(
            "INSERT INTO credentials (kind, user_id, wallet, fingerprint, prefix, name, created_ms, expires_ms) "
            "VALUES ('api_key', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (holder.user_id, holder.wallet, form.fingerprint(key), prefix, name, now_ms, expires_ms),
        )
        if made.rowcount:  # else the display prefix is another key's, and the next draw will differ
            return NewApiKey(key, prefix, name, now_ms, expires_ms)


def rotate_key(
    connection: Connection, form: ApiKeyFormat, user_id: int, prefix: str, grace_ms: int, now_ms: int
) -> NewApiKey:
    """Replace a key: the new one works now, the old one until the end of the grace.

    Raises:
        ServiceError: `NOT_FOUND` if the user has no such key; `BAD_REQUEST` if it has ended or was rotated before.
    """
    old = get_key(connection, prefix, user_id)
    ended = old.revoked_ms is not None or (old.ends_ms is not None and now_ms >= old.ends_ms)
    if ended or old.rotated_ms is not None:
        raise bad_parameter("prefix", "The key cannot be rotated: it has ended or was rotated before.")
    ends_ms = now_ms + grace_ms if old.expires_ms is None else min(now_ms + grace_ms, old.expires_ms)
    connection.execute(
        "UPDATE credentials SET rotated_ms = ?, expires_ms = ?, revoked_ms = ? WHERE id = ?",
        (now_ms, ends_ms, None if grace_ms else now_ms, old.id),
    )
    change_log.record_credential_end(connection, user_id, old.id, ends_ms if grace_ms else change_log.AT_ONCE, now_ms)
    return issue_key(connection, form, CredentialOwner(user_id, old.wallet), str(old.name), old.expires_ms, now_ms)

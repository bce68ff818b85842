"""Beginning and end of credentials. Every function here is a part of one write transaction."""

from typing import Final

from msgspec import Struct

from service.access import changes
from service.access.credentials import Credential, key_of_prefix
from service.access.keys import KeyForm
from service.access.refusal import bad_parameter
from service.errors import ServiceError
from service.storage.engine import Connection

MOST_KEYS: Final = 100
"""Keys a user may have that work; those in the grace of a rotation do not count."""

_COUNT: Final = """
SELECT count(*) FROM credentials
WHERE kind = 'api_key' AND user_id = ? AND revoked_ms IS NULL AND rotated_ms IS NULL
    AND (expires_ms IS NULL OR expires_ms > ?)
"""


class Holder(Struct, frozen=True):
    """Whose a credential is: the user, and the wallet it was made with, if any."""

    user_id: int
    wallet: str | None


class Issued(Struct, frozen=True):
    """A key at the one moment it can be shown."""

    key: str
    prefix: str
    name: str
    created_ms: int
    expires_ms: int | None


def open_session(connection: Connection, holder: Holder, jti: str, expires_ms: int, now_ms: int) -> None:
    """Record a session."""
    connection.execute(
        "INSERT INTO credentials (kind, user_id, wallet, fingerprint, created_ms, expires_ms) "
        "VALUES ('session', ?, ?, ?, ?, ?)",
        (holder.user_id, holder.wallet, jti.encode(), now_ms, expires_ms),
    )


def issue_key(
    connection: Connection, form: KeyForm, holder: Holder, name: str, expires_ms: int | None, now_ms: int
) -> Issued:
    """Draw a key and record what is kept of it.

    Raises:
        ServiceError: `BAD_REQUEST` if the user has as many working keys as one may have.
    """
    (working,) = connection.execute(_COUNT, (holder.user_id, now_ms)).fetchone()
    if working >= MOST_KEYS:
        raise ServiceError("BAD_REQUEST", f"A user may have {MOST_KEYS} keys that work. Revoke one first.")
    while True:
        key = form.draw()
        prefix = form.display_prefix(key)
        made = connection.execute(
            "INSERT INTO credentials (kind, user_id, wallet, fingerprint, prefix, name, created_ms, expires_ms) "
            "VALUES ('api_key', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (holder.user_id, holder.wallet, form.fingerprint(key), prefix, name, now_ms, expires_ms),
        )
        if made.rowcount:  # else the display prefix is another key's, and the next draw will differ
            return Issued(key, prefix, name, now_ms, expires_ms)


def rotate_key(connection: Connection, form: KeyForm, user_id: int, prefix: str, grace_ms: int, now_ms: int) -> Issued:
    """Replace a key: the new one works now, the old one until the end of the grace.

    Raises:
        ServiceError: `NOT_FOUND` if the user has no such key; `BAD_REQUEST` if it has ended or was rotated before.
    """
    old = key_of_prefix(connection, prefix, user_id)
    ended = old.revoked_ms is not None or (old.ends_ms is not None and now_ms >= old.ends_ms)
    if ended or old.rotated_ms is not None:
        raise bad_parameter("prefix", "The key cannot be rotated: it has ended or was rotated before.")
    ends_ms = now_ms + grace_ms if old.expires_ms is None else min(now_ms + grace_ms, old.expires_ms)
    connection.execute(
        "UPDATE credentials SET rotated_ms = ?, expires_ms = ?, revoked_ms = ? WHERE id = ?",
        (now_ms, ends_ms, None if grace_ms else now_ms, old.id),
    )
    changes.credential_ends(connection, user_id, old.id, ends_ms if grace_ms else changes.AT_ONCE, now_ms)
    return issue_key(connection, form, Holder(user_id, old.wallet), str(old.name), old.expires_ms, now_ms)


def revoke(connection: Connection, credential: Credential, now_ms: int) -> None:
    """End a credential at once and for ever; doing it again changes nothing."""
    connection.execute(
        "UPDATE credentials SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", (now_ms, credential.id)
    )
    changes.credential_ends(connection, credential.user_id, credential.id, changes.AT_ONCE, now_ms)

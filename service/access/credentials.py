"""API keys and sessions as stored: one table, so that a credential id means the same everywhere."""

from typing import Any, Final

from msgspec import Struct

from service.access import change_log
from service.access.caller import Caller, invalid_credential
from service.access.grants import TierGrant, active_tier
from service.access.sessions import LEEWAY_MS
from service.clock import iso
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.access import CredentialKind

_COLUMNS: Final = (
    "c.id, c.kind, c.user_id, c.wallet, c.prefix, c.name, "
    "c.created_ms, c.expires_ms, c.rotated_ms, c.revoked_ms, c.last_used_ms"
)

_FIND_CREDENTIAL: Final = f"""
SELECT {_COLUMNS}, {change_log.LATEST_CHANGE}, (SELECT free FROM users WHERE id = c.user_id),
    g.tier, CASE WHEN g.wallet IS NULL THEN 'grant' ELSE 'wallet' END, g.expires_ms
FROM credentials c LEFT JOIN grants g ON g.revoked_ms IS NULL AND (
    g.user_id = c.user_id OR g.wallet IN (SELECT address FROM wallets WHERE user_id = c.user_id)
)
WHERE c.fingerprint = ?
"""  # noqa: S608 - constants only


_LIST_CREDENTIALS: Final = f"""
SELECT {_COLUMNS} FROM credentials c
WHERE c.kind = ?1 AND (CAST(?2 AS INTEGER) IS NULL OR c.user_id = ?2)
ORDER BY c.revoked_ms IS NULL AND coalesce(c.expires_ms > ?3, TRUE) DESC, c.id DESC
LIMIT 1000
"""  # noqa: S608 - constants only


class Credential(Struct, frozen=True):
    """A stored key or session; times are epoch milliseconds."""

    id: int
    kind: CredentialKind
    user_id: int
    wallet: str | None
    prefix: str | None
    name: str | None
    created_ms: int
    expires_ms: int | None
    rotated_ms: int | None
    revoked_ms: int | None
    last_used_ms: int | None

    @property
    def ends_ms(self) -> int | None:
        """When it stops being accepted: expiry, plus the clock leeway for sessions."""
        leeway_ms = LEEWAY_MS if self.kind == "session" else 0
        return None if self.expires_ms is None else self.expires_ms + leeway_ms

    def check(self, now_ms: int) -> None:
        """Check that the credential is accepted.

        Raises:
            ServiceError: `AUTH_INVALID` saying whether it expired, was rotated, revoked or logged out, and when.
        """
        if self.revoked_ms is not None:
            raise invalid_credential(self._ending("was revoked", self.revoked_ms))
        if self.ends_ms is not None and now_ms >= self.ends_ms:
            raise invalid_credential(self._ending("expired", self.ends_ms))

    def _ending(self, how: str, at_ms: int) -> str:
        if self.kind == "session":
            return f"The session {how} at {iso(at_ms)}. Run `verdict login`."
        if self.rotated_ms is not None:
            return f"The API key was rotated and stopped working at {iso(at_ms)}. Use the key that replaced it."
        return f"The API key {how} at {iso(at_ms)}."


class ResolvedCredential(Struct, frozen=True):
    """A credential with the grants that affect it, their epoch, and whether its user has free questions."""

    credential: Credential
    grants: list[TierGrant]
    epoch: int
    free: bool = True

    def caller(self, now_ms: int) -> Caller:
        """The caller at an instant."""
        entitled = active_tier(self.grants, now_ms)
        return Caller(
            user_id=self.credential.user_id,
            kind=self.credential.kind,
            credential_id=self.credential.id,
            tier=entitled.tier,
            source=entitled.source,
            entitlement_ends_ms=entitled.ends_ms,
            wallet=self.credential.wallet,
            expires_ms=self.credential.ends_ms,
            free=self.free,
        )


async def find_credential(db: Database, fingerprint: bytes) -> ResolvedCredential | None:
    """Look up a credential and everything its tier depends on, in one statement."""
    return _resolve(await db.read(_FIND_CREDENTIAL, (fingerprint,)))


def find_credential_now(db: Database, fingerprint: bytes) -> ResolvedCredential | None:
    """As `find_credential`, on the event loop."""
    return _resolve(db.read_now(_FIND_CREDENTIAL, (fingerprint,)))


def _resolve(rows: list[tuple[Any, ...]]) -> ResolvedCredential | None:
    if not rows:
        return None
    width = len(Credential.__struct_fields__)
    epoch, free = rows[0][width : width + 2]
    grants = [TierGrant(*row[width + 2 :]) for row in rows if row[width + 2] is not None]
    return ResolvedCredential(Credential(*rows[0][:width]), grants, epoch, bool(free))


async def list_credentials(db: Database, kind: CredentialKind, user_id: int | None, now_ms: int) -> list[Credential]:
    """Keys or sessions of one user or of all, newest first; beyond a thousand, ended ones are left out first."""
    rows = await db.read(_LIST_CREDENTIALS, (kind, user_id, now_ms))
    return sorted((Credential(*row) for row in rows), key=lambda credential: -credential.id)


def get_key(connection: Connection, prefix: str, user_id: int | None = None) -> Credential:
    """Find a key by its display prefix.

    Args:
        connection: Inside a transaction.
        prefix: Unique in the store.
        user_id: Required owner; None accepts any.

    Raises:
        ServiceError: `NOT_FOUND`.
    """
    row = connection.execute(f"SELECT {_COLUMNS} FROM credentials c WHERE c.prefix = ?", (prefix,)).fetchone()  # noqa: S608
    if row is None or user_id not in {None, row[2]}:
        command = "verdict admin keys list" if user_id is None else "verdict keys list"
        raise ServiceError("NOT_FOUND", f"There is no key {prefix}. `{command}` shows the prefixes.")
    return Credential(*row)


def get_session(connection: Connection, credential_id: int) -> Credential:
    """Find a session by its id.

    Raises:
        ServiceError: `NOT_FOUND`.
    """
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM credentials c WHERE c.kind = 'session' AND c.id = ?",  # noqa: S608
        (credential_id,),
    ).fetchone()
    if row is None:
        raise ServiceError("NOT_FOUND", f"There is no session {credential_id}.")
    return Credential(*row)


class CredentialOwner(Struct, frozen=True):
    """The owner of a credential: the user, and the wallet it was made with, if any."""

    user_id: int
    wallet: str | None


def open_session(connection: Connection, holder: CredentialOwner, jti: str, expires_ms: int, now_ms: int) -> None:
    """Record a session."""
    connection.execute(
        "INSERT INTO credentials (kind, user_id, wallet, fingerprint, created_ms, expires_ms) "
        "VALUES ('session', ?, ?, ?, ?, ?)",
        (holder.user_id, holder.wallet, jti.encode(), now_ms, expires_ms),
    )


def revoke_credential(connection: Connection, credential: Credential, now_ms: int) -> None:
    """End a credential permanently. Revoking it again changes nothing.

    It takes effect in this process by `Authenticator.catch_up`, which the caller awaits, and in other processes by
    `Authenticator.watch`: within a second on SQLite, at once on PostgreSQL.
    """
    connection.execute(
        "UPDATE credentials SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", (now_ms, credential.id)
    )
    change_log.record_credential_end(connection, credential.user_id, credential.id, change_log.AT_ONCE, now_ms)

"""What is stored of keys and sessions: one table, so that a credential id means one thing everywhere."""

from typing import Final

from msgspec import Struct

from service.access import changes
from service.access.caller import Caller
from service.access.grants import Granted, resolve
from service.access.refusal import invalid
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

_FIND: Final = f"""
SELECT {_COLUMNS}, {changes.LATEST}, (SELECT free FROM users WHERE id = c.user_id),
    g.tier, CASE WHEN g.wallet IS NULL THEN 'grant' ELSE 'wallet' END, g.expires_ms
FROM credentials c LEFT JOIN grants g ON g.revoked_ms IS NULL AND (
    g.user_id = c.user_id OR g.wallet IN (SELECT address FROM wallets WHERE user_id = c.user_id)
)
WHERE c.fingerprint = ?
"""  # noqa: S608 - constants only

_LIST: Final = f"""
SELECT {_COLUMNS} FROM credentials c
WHERE c.kind = ?1 AND (CAST(?2 AS INTEGER) IS NULL OR c.user_id = ?2)
ORDER BY c.revoked_ms IS NULL AND coalesce(c.expires_ms > ?3, TRUE) DESC, c.id DESC
LIMIT 1000
"""  # noqa: S608 - constants only


class Credential(Struct, frozen=True):
    """A key or a session as it is stored; times are epoch milliseconds."""

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
        """When it stops being accepted: to a session's expiry comes the leeway between nodes."""
        leeway_ms = LEEWAY_MS if self.kind == "session" else 0
        return None if self.expires_ms is None else self.expires_ms + leeway_ms

    def check(self, now_ms: int) -> None:
        """Make sure that it is accepted.

        Raises:
            ServiceError: `AUTH_INVALID` saying whether it expired, was rotated, revoked or logged out, and when.
        """
        if self.revoked_ms is not None:
            raise invalid(self._ending("was revoked", self.revoked_ms))
        if self.ends_ms is not None and now_ms >= self.ends_ms:
            raise invalid(self._ending("expired", self.ends_ms))

    def _ending(self, how: str, at_ms: int) -> str:
        if self.kind == "session":
            return f"The session {how} at {iso(at_ms)}. Run `verdict login`."
        if self.rotated_ms is not None:
            return f"The API key was rotated and stopped working at {iso(at_ms)}. Use the key that replaced it."
        return f"The API key {how} at {iso(at_ms)}."


class Found(Struct, frozen=True):
    """A credential with the grants that bear on it, the epoch of both, and whether its user has free questions."""

    credential: Credential
    grants: list[Granted]
    epoch: int
    free: bool = True

    def caller(self, now_ms: int) -> Caller:
        """Who it resolves to at an instant."""
        entitled = resolve(self.grants, now_ms)
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


async def find(db: Database, fingerprint: bytes) -> Found | None:
    """Look a credential up, with everything its tier depends on, in one statement: one state of the store."""
    rows = await db.read(_FIND, (fingerprint,))
    if not rows:
        return None
    width = len(Credential.__struct_fields__)
    epoch, free = rows[0][width : width + 2]
    grants = [Granted(*row[width + 2 :]) for row in rows if row[width + 2] is not None]
    return Found(Credential(*rows[0][:width]), grants, epoch, bool(free))


async def list_credentials(db: Database, kind: CredentialKind, user_id: int | None, now_ms: int) -> list[Credential]:
    """Keys or sessions of one user or of all, newest first; beyond a thousand, ended ones are left out first."""
    rows = await db.read(_LIST, (kind, user_id, now_ms))
    return sorted((Credential(*row) for row in rows), key=lambda credential: -credential.id)


def key_of_prefix(connection: Connection, prefix: str, user_id: int | None = None) -> Credential:
    """A key by its display prefix.

    Args:
        connection: Inside a transaction.
        prefix: Unique in the store.
        user_id: Whose it has to be; somebody else's is as good as none. The operator asks for anybody's.

    Raises:
        ServiceError: `NOT_FOUND`.
    """
    row = connection.execute(f"SELECT {_COLUMNS} FROM credentials c WHERE c.prefix = ?", (prefix,)).fetchone()  # noqa: S608
    if row is None or user_id not in {None, row[2]}:
        raise ServiceError("NOT_FOUND", f"There is no key {prefix}. `verdict keys list` shows the prefixes.")
    return Credential(*row)


def session_of_id(connection: Connection, credential_id: int) -> Credential:
    """A session by its number.

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

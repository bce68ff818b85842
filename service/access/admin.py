"""Users, keys, sessions and grants as the operator manages them, also while the service runs.

Changes are written to the store. A running service reads them within a second.
"""

from service.access import api_keys, credentials, grants, users
from service.access.api_keys import ApiKeyFormat
from service.access.caller import bad_parameter
from service.access.credentials import (
    Credential,
    CredentialOwner,
    find_credential,
    get_key,
    get_session,
    list_credentials,
)
from service.access.grants import GrantRow
from service.access.users import create_user, link_wallet, owner_of, require_user
from service.clock import Clock, iso
from service.ethereum.addresses import read_address
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.access import IssuedKey, Tier

_GRANTS = """
SELECT id, user_id, wallet, tier, created_ms, expires_ms, revoked_ms FROM grants ORDER BY id DESC LIMIT 1000
"""


class AccessAdmin:
    """Manages users, keys, sessions and grants of all users.

    Args:
        db: The store.
        clock: Time.
        keys: Format of this service's API keys.
    """

    def __init__(self, db: Database, clock: Clock, keys: ApiKeyFormat) -> None:
        self._db = db
        self._clock = clock
        self._keys = keys

    async def create_user(self) -> int:
        """Add a user who has nothing yet."""
        now_ms = self._clock.now_ms()
        return await self._db.write(lambda connection: create_user(connection, now_ms))

    async def create_key(
        self,
        name: str,
        *,
        user_id: int | None = None,
        wallet: str | None = None,
        tier: Tier = "free",
        expires_ms: int | None = None,
    ) -> IssuedKey:
        """Make a key. Its user has free questions, whatever network it signed in from before.

        Args:
            name: What it is for.
            user_id: Whose it is; without it, the wallet's owner's, and without that a new user's.
            wallet: A wallet the operator vouches for; becomes the user's own.
            tier: Other than `free`, it is granted to the user for as long as the key lasts.
            expires_ms: When the key ends, epoch milliseconds.

        Raises:
            ServiceError: `NOT_FOUND` if there is no such user; `BAD_REQUEST` if the wallet is not an address or is
                somebody else's, or the user has too many keys.
        """
        now_ms = self._clock.now_ms()
        address = None if wallet is None else _address(wallet)

        def make(connection: Connection) -> tuple[api_keys.NewApiKey, int]:
            owner = _owner_id(connection, user_id, address, now_ms)
            users.grant_free_questions(connection, owner, now_ms)
            if tier != "free":
                grants.add_grant(connection, owner, tier, expires_ms, now_ms)
            holder = CredentialOwner(owner, address)
            return api_keys.issue_key(connection, self._keys, holder, name, expires_ms, now_ms), owner

        issued, owner = await self._db.write(make)
        found = await find_credential(self._db, self._keys.fingerprint(issued.key))
        applied = found.caller(now_ms).tier if found else tier
        return IssuedKey(issued.key, issued.prefix, owner, applied, None if expires_ms is None else iso(expires_ms))

    async def list_keys(self, user_id: int | None = None) -> list[Credential]:
        """Everybody's keys, or one user's, newest first."""
        return await list_credentials(self._db, "api_key", user_id, self._clock.now_ms())

    async def revoke_key(self, prefix: str) -> None:
        """End a key at once, by its display prefix.

        Raises:
            ServiceError: `NOT_FOUND`.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: credentials.revoke_credential(connection, get_key(connection, prefix), now_ms)
        )

    async def list_sessions(self, user_id: int | None = None) -> list[Credential]:
        """Everybody's sessions, or one user's, newest first."""
        return await list_credentials(self._db, "session", user_id, self._clock.now_ms())

    async def end_session(self, credential_id: int) -> None:
        """End a session at once, by its number.

        Raises:
            ServiceError: `NOT_FOUND`.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: credentials.revoke_credential(connection, get_session(connection, credential_id), now_ms)
        )

    async def add_grant(self, holder: int | str, tier: grants.GrantedTier, expires_ms: int | None = None) -> GrantRow:
        """Grant a tier to a user (a number) or to the owner of a wallet (an address).

        Raises:
            ServiceError: `NOT_FOUND` if the user does not exist; `BAD_REQUEST` if the address is not valid.
        """
        now_ms = self._clock.now_ms()
        checked = _address(holder) if isinstance(holder, str) else holder
        return await self._db.write(lambda connection: grants.add_grant(connection, checked, tier, expires_ms, now_ms))

    async def list_grants(self) -> list[GrantRow]:
        """All grants, newest first, a thousand at the most."""
        return [GrantRow(*row) for row in await self._db.read(_GRANTS)]

    async def revoke_grant(self, grant_id: int) -> None:
        """Take a grant back.

        Raises:
            ServiceError: `NOT_FOUND`.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(lambda connection: grants.revoke_grant(connection, grant_id, now_ms))


def _owner_id(connection: Connection, user_id: int | None, address: str | None, now_ms: int) -> int:
    if user_id is None:
        return create_user(connection, now_ms) if address is None else owner_of(connection, address, now_ms)
    require_user(connection, user_id)
    if address is not None:
        link_wallet(connection, user_id, address, now_ms)
    return user_id


def _address(text: str) -> str:
    try:
        return read_address(text)
    except ValueError as error:
        raise bad_parameter("wallet", f"{text} is not a wallet. {error}") from error

"""The room's front for routes: everything a caller may ask about who it is."""

from service.access import base62, free_accounts, issuing, signin
from service.access.caller import Caller
from service.access.credentials import Credential, key_of_prefix, list_credentials, session_of_id
from service.access.doorkeeper import Doorkeeper
from service.access.issuing import Holder, Issued
from service.access.keys import KeyForm
from service.access.refusal import bad_parameter
from service.access.sessions import SESSION_MS, SessionForm
from service.access.signin import SignIn
from service.clock import SECOND_MS, Clock, iso, parse_iso
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire import access as wire

_JTI_LENGTH = 22
_NO_FREE_QUESTIONS = (
    "This account has no free questions: your network has made as many accounts with free questions as it may today. "
    "You can pay for calls. To get free questions, sign in again on another UTC day or from another network."
)


class AccessDesk:
    """Sign-in, keys and entitlement. What it changes holds in this process when it returns, in others a second later.

    Args:
        db: The store.
        clock: Time.
        keys: The form of this service's keys.
        sessions: The form of its sessions.
        sign_in: Nonces and the check of signed messages.
        doorkeeper: Told of every change.
        free_a_day: Accounts with free questions that a network may make a UTC day.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        *,
        keys: KeyForm,
        sessions: SessionForm,
        sign_in: SignIn,
        doorkeeper: Doorkeeper,
        free_a_day: int,
    ) -> None:
        self._db = db
        self._clock = clock
        self._keys = keys
        self._sessions = sessions
        self._sign_in = sign_in
        self._doorkeeper = doorkeeper
        self._free_a_day = free_a_day

    def entitlement(self, caller: Caller) -> wire.Entitlement:
        """The tier the gate applies to a credential."""
        identity = wire.Identity(caller.kind, caller.user_id, caller.wallet)
        return wire.Entitlement(caller.tier, caller.source, _iso(caller.entitlement_ends_ms), identity)

    def nonce(self) -> wire.NewNonce:
        """A nonce for one sign-in within five minutes. Nothing is stored."""
        nonce, expires_ms = self._sign_in.nonce()
        return wire.NewNonce(nonce, iso(expires_ms))

    async def login(self, login: wire.Login, network: bytes) -> wire.Session:
        """Exchange a signed message for a session; a wallet seen for the first time becomes a new user.

        Args:
            login: The message.
            network: Keyed hash of the network that it came from: `free_accounts` says what it is for.

        Raises:
            ServiceError: `BAD_REQUEST` if the message cannot be read; `AUTH_INVALID`, with the reason, if it is not
                good.
        """
        proof = self._sign_in.check(login)
        now_ms = self._clock.now_ms()
        jti = base62.draw(_JTI_LENGTH)
        expires_ms = (now_ms + SESSION_MS) // SECOND_MS * SECOND_MS

        def enter(connection: Connection) -> tuple[int, bool]:
            signin.spend(connection, proof, now_ms)
            user_id, free = free_accounts.sign_in(connection, proof.address, network, self._free_a_day, now_ms)
            issuing.open_session(connection, Holder(user_id, proof.address), jti, expires_ms, now_ms)
            return user_id, free

        user_id, free = await self._db.write(enter)
        await self._doorkeeper.catch_up()
        token = self._sessions.sign(user_id, jti, now_ms, expires_ms)
        return wire.Session(token, proof.address, iso(expires_ms), None if free else _NO_FREE_QUESTIONS)

    async def logout(self, caller: Caller) -> wire.Done:
        """End the session a caller came with.

        Raises:
            ServiceError: `NOT_FOUND` if it came with a key.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: issuing.revoke(connection, session_of_id(connection, caller.credential_id), now_ms)
        )
        await self._doorkeeper.catch_up()
        return wire.Done()

    async def create_key(self, caller: Caller, wanted: wire.NewKey) -> wire.CreatedKey:
        """Make a key of the caller's own; it is shown this once.

        Raises:
            ServiceError: `BAD_REQUEST` if the expiry cannot be read or has passed, or the caller has too many keys.
        """
        now_ms = self._clock.now_ms()
        expires_ms = _future(wanted.expires_at, now_ms)
        holder = Holder(caller.user_id, caller.wallet)
        issued = await self._db.write(
            lambda connection: issuing.issue_key(connection, self._keys, holder, wanted.name, expires_ms, now_ms)
        )
        return _created(issued)

    async def list_keys(self, caller: Caller) -> wire.KeyList:
        """The caller's own keys, newest first."""
        keys = await list_credentials(self._db, "api_key", caller.user_id, self._clock.now_ms())
        return wire.KeyList([key_row(key) for key in keys])

    async def revoke_key(self, caller: Caller, prefix: str) -> wire.Done:
        """End one of the caller's own keys at once.

        Raises:
            ServiceError: `NOT_FOUND` if it has no such key.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: issuing.revoke(connection, key_of_prefix(connection, prefix, caller.user_id), now_ms)
        )
        await self._doorkeeper.catch_up()
        return wire.Done()

    async def rotate_key(self, caller: Caller, wanted: wire.RotateKey) -> wire.CreatedKey:
        """Replace one of the caller's own keys; the old one works until the grace is over.

        Raises:
            ServiceError: `NOT_FOUND` if it has no such key; `BAD_REQUEST` if that one has ended or was rotated before.
        """
        now_ms = self._clock.now_ms()
        grace_ms = wanted.grace_seconds * SECOND_MS
        issued = await self._db.write(
            lambda connection: issuing.rotate_key(
                connection, self._keys, caller.user_id, wanted.prefix, grace_ms, now_ms
            )
        )
        await self._doorkeeper.catch_up()
        return _created(issued)


def key_row(key: Credential) -> wire.KeyRow:
    """A key as it is listed."""
    return wire.KeyRow(
        prefix=str(key.prefix),
        name=str(key.name),
        created_at=iso(key.created_ms),
        expires_at=_iso(key.expires_ms),
        revoked_at=_iso(key.revoked_ms),
        last_used_at=_iso(key.last_used_ms),
    )


def _created(issued: Issued) -> wire.CreatedKey:
    return wire.CreatedKey(issued.key, issued.prefix, issued.name, iso(issued.created_ms), _iso(issued.expires_ms))


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def _future(text: str | None, now_ms: int) -> int | None:
    if text is None:
        return None
    try:
        at_ms = parse_iso(text)
    except ValueError as error:
        raise bad_parameter("expiresAt", f"expiresAt cannot be read: {error}.") from error
    if at_ms <= now_ms:
        raise bad_parameter("expiresAt", f"expiresAt has passed: it is {iso(now_ms)} now.")
    return at_ms

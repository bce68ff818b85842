"""Sign-in, API keys and entitlement: what the account routes call."""

from service import base62
from service.access import api_keys, credentials, sign_in, users
from service.access.api_keys import ApiKeyFormat, NewApiKey
from service.access.authenticator import Authenticator
from service.access.caller import Caller, bad_parameter
from service.access.contract_wallets import ContractWallets
from service.access.credentials import Credential, CredentialOwner, get_key, get_session, list_credentials
from service.access.sessions import SESSION_MS, SessionTokens
from service.access.sign_in import NotByKeyError, SignIn, WalletProof
from service.clock import SECOND_MS, Clock, iso, parse_iso
from service.ethereum.signatures import personal_digest
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire import access as wire

_JTI_LENGTH = 22
_NO_FREE_QUESTIONS = (
    "This account has no free questions: your network has made as many accounts with free questions as it may today. "
    "You can pay for calls. To get free questions, sign in again on another UTC day or from another network."
)


class AccountService:
    """Sign-in, keys and entitlement. Changes apply in this process on return, in other processes within a second.

    Args:
        db: The store.
        clock: Time.
        keys: Format of this service's API keys.
        sessions: Signs session tokens.
        sign_in: Issues nonces and checks signed messages.
        authenticator: Reads every change before a method returns.
        contracts: Asks the contracts of wallets; null without a node.
        free_a_day: Accounts with free questions that one network may create in a UTC day.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        *,
        keys: ApiKeyFormat,
        sessions: SessionTokens,
        sign_in: SignIn,
        authenticator: Authenticator,
        contracts: ContractWallets | None,
        free_a_day: int,
    ) -> None:
        self._db = db
        self._clock = clock
        self._keys = keys
        self._sessions = sessions
        self._sign_in = sign_in
        self._authenticator = authenticator
        self._contracts = contracts
        self._free_a_day = free_a_day

    def entitlement(self, caller: Caller) -> wire.Entitlement:
        """The tier the gate applies to a credential."""
        identity = wire.Identity(caller.kind, caller.user_id, caller.wallet)
        return wire.Entitlement(caller.tier, caller.source, _iso_or_none(caller.entitlement_ends_ms), identity)

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
                good; `UNAVAILABLE` if a node does not tell whether a wallet's contract accepts it.
        """
        proof = await self._prove(login)
        now_ms = self._clock.now_ms()
        jti = base62.random_text(_JTI_LENGTH)
        expires_ms = (now_ms + SESSION_MS) // SECOND_MS * SECOND_MS

        def enter(connection: Connection) -> tuple[int, bool]:
            sign_in.spend_nonce(connection, proof, now_ms)
            user_id, free = users.find_or_create_account(connection, proof.address, network, self._free_a_day, now_ms)
            credentials.open_session(connection, CredentialOwner(user_id, proof.address), jti, expires_ms, now_ms)
            return user_id, free

        user_id, free = await self._db.write(enter)
        await self._authenticator.catch_up()
        token = self._sessions.sign(user_id, jti, now_ms, expires_ms)
        return wire.Session(token, proof.address, iso(expires_ms), None if free else _NO_FREE_QUESTIONS)

    async def _prove(self, login: wire.Login) -> WalletProof:
        try:
            return self._sign_in.check(login)
        except NotByKeyError as error:
            if self._contracts is None:
                raise
            digest, signature = personal_digest(login.message), bytes.fromhex(login.signature[2:])
            await self._contracts.check(error.proof.address, digest, signature)
            return error.proof

    async def logout(self, caller: Caller) -> wire.Ended:
        """End the session a caller came with.

        Raises:
            ServiceError: `NOT_FOUND` if it came with a key.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: credentials.revoke_credential(
                connection, get_session(connection, caller.credential_id), now_ms
            )
        )
        await self._authenticator.catch_up()
        return wire.Ended()

    async def create_key(self, caller: Caller, wanted: wire.NewKey) -> wire.CreatedKey:
        """Make a key of the caller's own; it is shown this once.

        Raises:
            ServiceError: `BAD_REQUEST` if the expiry cannot be read or has passed, or the caller has too many keys.
        """
        now_ms = self._clock.now_ms()
        expires_ms = _parse_expiry(wanted.expires_at, now_ms)
        holder = CredentialOwner(caller.user_id, caller.wallet)
        issued = await self._db.write(
            lambda connection: api_keys.issue_key(connection, self._keys, holder, wanted.name, expires_ms, now_ms)
        )
        return _created_key(issued)

    async def list_keys(self, caller: Caller) -> wire.KeyList:
        """The caller's own keys, newest first."""
        keys = await list_credentials(self._db, "api_key", caller.user_id, self._clock.now_ms())
        return wire.KeyList([key_row(key) for key in keys])

    async def revoke_key(self, caller: Caller, prefix: str) -> wire.Ended:
        """End one of the caller's own keys at once.

        Raises:
            ServiceError: `NOT_FOUND` if it has no such key.
        """
        now_ms = self._clock.now_ms()
        await self._db.write(
            lambda connection: credentials.revoke_credential(
                connection, get_key(connection, prefix, caller.user_id), now_ms
            )
        )
        await self._authenticator.catch_up()
        return wire.Ended()

    async def rotate_key(self, caller: Caller, wanted: wire.RotateKey) -> wire.CreatedKey:
        """Replace one of the caller's own keys; the old one works until the grace is over.

        Raises:
            ServiceError: `NOT_FOUND` if it has no such key; `BAD_REQUEST` if that one has ended or was rotated before.
        """
        now_ms = self._clock.now_ms()
        grace_ms = wanted.grace_seconds * SECOND_MS
        issued = await self._db.write(
            lambda connection: api_keys.rotate_key(
                connection, self._keys, caller.user_id, wanted.prefix, grace_ms, now_ms
            )
        )
        await self._authenticator.catch_up()
        return _created_key(issued)


def key_row(key: Credential) -> wire.KeyRow:
    """A key as it is listed."""
    return wire.KeyRow(
        prefix=str(key.prefix),
        name=str(key.name),
        created_at=iso(key.created_ms),
        expires_at=_iso_or_none(key.expires_ms),
        revoked_at=_iso_or_none(key.revoked_ms),
        last_used_at=_iso_or_none(key.last_used_ms),
    )


def _created_key(issued: NewApiKey) -> wire.CreatedKey:
    return wire.CreatedKey(
        issued.key, issued.prefix, issued.name, iso(issued.created_ms), _iso_or_none(issued.expires_ms)
    )


def _iso_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def _parse_expiry(text: str | None, now_ms: int) -> int | None:
    if text is None:
        return None
    try:
        at_ms = parse_iso(text)
    except ValueError as error:
        raise bad_parameter("expiresAt", f"The time in expiresAt cannot be read: {error}.") from error
    if at_ms <= now_ms:
        raise bad_parameter("expiresAt", f"The time in expiresAt has passed: it is {iso(now_ms)} now.")
    return at_ms

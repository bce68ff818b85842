"""Authenticates tokens. A result is cached until something about the token changes."""

import asyncio
import logging
from functools import partial
from hashlib import sha256
from typing import Final, TypeVar

import msgspec

from service.access import change_log
from service.access.api_keys import ApiKeyFormat
from service.access.caller import Caller, UnknownTokenError, invalid_credential
from service.access.credentials import Credential, ResolvedCredential, find_credential, find_credential_now
from service.access.key_index import KeyIndex
from service.access.sessions import SessionTokens
from service.clock import LATEST_MS, MINUTE_MS, Clock, sleep_or_wake
from service.errors import ServiceError
from service.storage.database import Database

K = TypeVar("K")
V = TypeVar("V")

MAX_CACHED: Final = 100_000
"""Tokens, and endings, that are remembered: about 60 MB at the most."""

_MAX_ENDED: Final = 10_000
"""Credentials that were refused because they have ended, and are remembered: about 5 MB at the most."""

_WATCH_S: Final = 1.0
_READS_PER_WRITE: Final = 10

_RECORD_USE: Final = """
UPDATE credentials SET last_used_ms = max(coalesce(last_used_ms, 0), used.at_ms)
FROM (SELECT CAST(key AS INTEGER) AS id, CAST(value AS INTEGER) AS at_ms FROM json_each(?)) AS used
WHERE credentials.id = used.id
"""

_log = logging.getLogger("verdict.access")


class _CachedToken:
    """A cached token. Mutable, so that recording its use is cheap."""

    __slots__ = ("caller", "noted_ms", "until_ms", "used_ms")

    def __init__(self, caller: Caller, until_ms: int, noted_ms: int, used_ms: int) -> None:
        self.caller = caller
        self.until_ms = until_ms
        self.noted_ms = noted_ms
        self.used_ms = used_ms


class Authenticator:
    """Authenticates tokens. Belongs to one event loop.

    Args:
        db: The store.
        clock: Time.
        keys: Format of this service's API keys.
        sessions: Reads session tokens.
        index: Which keys exist.
        epoch: The newest change at start.
    """

    def __init__(
        self, db: Database, clock: Clock, *, keys: ApiKeyFormat, sessions: SessionTokens, index: KeyIndex, epoch: int
    ) -> None:
        self._db = db
        self._clock = clock
        self._now_ms = clock.now_ms
        self._keys = keys
        self._sessions = sessions
        self._index = index
        self._epoch = epoch
        self._known: dict[bytes, _CachedToken] = {}
        self._tokens_of: dict[int, set[bytes]] = {}
        self._endings: dict[int, int] = {}
        self._ended: dict[bytes, Credential] = {}
        self._unnoted: dict[int, int] = {}
        self._finding: dict[bytes, tuple[int, asyncio.Task[ResolvedCredential | None]]] = {}

    def cached(self, token: str) -> Caller | None:
        """The caller of a cached token; None if it must be authenticated. Takes less than a microsecond."""
        return self.cached_by_digest(token_digest(token))

    def cached_by_digest(self, mark: bytes) -> Caller | None:
        """The caller of a cached token, by its `token_digest`."""
        known = self._known.get(mark)
        if known is None:
            return None
        now_ms = self._now_ms()
        if now_ms >= known.until_ms:
            return None
        known.used_ms = now_ms
        return known.caller

    def authenticate_now(self, token: str) -> Caller | None:
        """Authenticate a token with one read on the event loop: a valid key's first call needs no task.

        Returns:
            The caller; None if this cannot decide or the token is refused. `authenticate` then decides.
        """
        try:
            fingerprint = self._fingerprint(token)
            may_exist = not token.startswith(self._keys.prefix) or self._index.holds(fingerprint)
            if not may_exist or fingerprint in self._ended:
                return None
            found = find_credential_now(self._db, fingerprint)
            return None if found is None else self._accept(token, fingerprint, found)
        except ServiceError:
            return None

    async def authenticate(self, token: str) -> Caller:
        """Check a token in full and cache the result.

        Tokens that are malformed, unknown or known to have ended need no lookup of their own, so a flood of bad tokens
        does not delay lookups of good ones.

        Raises:
            UnknownTokenError: If the token was never issued.
            ServiceError: `AUTH_INVALID` if it is malformed, expired, rotated or revoked; `UNAVAILABLE` if the store
                cannot be read.
        """
        fingerprint = self._fingerprint(token)
        if fingerprint in self._ended:
            self._ended[fingerprint].check(self._now_ms())
        may_exist = not token.startswith(self._keys.prefix) or await self._index.has(fingerprint)
        found = await self._find(fingerprint) if may_exist else None
        if found is None:
            raise UnknownTokenError
        return self._accept(token, fingerprint, found)

    def _accept(self, token: str, fingerprint: bytes, found: ResolvedCredential) -> Caller:
        now_ms = self._now_ms()
        try:
            found.credential.check(now_ms)
        except ServiceError:
            self._ended[fingerprint] = found.credential
            _trim(self._ended, _MAX_ENDED)
            raise
        caller = found.caller(now_ms)
        if found.epoch >= self._epoch:  # else it changed while it was being read
            self._remember(token, caller, found, now_ms)
        return caller

    async def _find(self, fingerprint: bytes) -> ResolvedCredential | None:
        """Read a credential once for all concurrent calls. A call after a change reads again."""
        reading = self._finding.get(fingerprint)
        if reading is None or reading[0] != self._epoch:
            task = asyncio.ensure_future(find_credential(self._db, fingerprint))
            reading = self._finding[fingerprint] = self._epoch, task
            task.add_done_callback(partial(self._found, fingerprint))
        return await asyncio.shield(reading[1])

    def _found(self, fingerprint: bytes, task: asyncio.Task[ResolvedCredential | None]) -> None:
        if self._finding.get(fingerprint, (0, None))[1] is task:
            del self._finding[fingerprint]
        if not task.cancelled():
            task.exception()  # marks the exception as retrieved: perhaps no caller waits any more

    def is_valid(self, caller: Caller) -> bool:
        """Whether the credential of a caller is still valid, for responses that take long.

        Costs two comparisons and a lookup. Changes by other processes arrive within a second.
        """
        now_ms = self._now_ms()
        if caller.expires_ms is not None and now_ms >= caller.expires_ms:
            return False
        return now_ms < self._endings.get(caller.credential_id, LATEST_MS)

    def clear_cache(self) -> None:
        """Empty the cache. Each token is authenticated again."""
        for digest in list(self._known):
            self._drop(digest)

    async def catch_up(self) -> None:
        """Read changes by this and other processes, and drop the tokens of the users concerned.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        for row in await self._db.read(change_log.CHANGES_SINCE, (self._epoch,)):
            change = change_log.CredentialChange(*row)
            self._epoch = max(self._epoch, change.epoch)
            for digest in list(self._tokens_of.get(change.user_id, ())):
                self._drop(digest)
            if change.credential_id is not None and change.ends_ms is not None:
                self._endings[change.credential_id] = change.ends_ms
                _trim(self._endings, MAX_CACHED)

    def record_use(self, *, least_ms: int = MINUTE_MS) -> None:
        """Store when credentials were last used. Failures are logged; those times are lost.

        Args:
            least_ms: Minimum age of the stored time. With 1, as before the store closes, every use is stored.
        """
        due, self._unnoted = self._unnoted, {}
        for known in self._known.values():
            if known.used_ms - known.noted_ms >= least_ms:
                due[known.caller.credential_id] = known.noted_ms = known.used_ms
        if due:
            used = msgspec.json.encode(due).decode()
            self._db.submit(lambda connection: connection.execute(_RECORD_USE, (used,)).rowcount, _log_failure)

    async def watch(self) -> None:
        """Read changes every second, and at once when the store signals them. Runs until cancelled.

        If the store cannot be read, the cache is emptied, so that no revocation is missed. Uses are stored every ten
        seconds.
        """
        look, news = 0, asyncio.Event()
        with self._db.listening(news.set):
            while True:
                look += 1
                await sleep_or_wake(self._clock, _WATCH_S, news)
                try:
                    await self.catch_up()
                except ServiceError as error:
                    _log.warning(
                        "Changes of credentials cannot be read. Every token is checked again.",
                        extra={"reason": error.message},
                    )
                    self.clear_cache()
                if look % _READS_PER_WRITE == 0:
                    self.record_use()

    def _fingerprint(self, token: str) -> bytes:
        if token.startswith(self._keys.prefix):
            self._keys.check(token)
            return self._keys.fingerprint(token)
        if token.startswith("ey"):
            return self._sessions.read(token, self._now_ms()).jti.encode()
        raise invalid_credential(
            f"The token is malformed: it is neither an API key ({self._keys.prefix}…) nor a session token."
        )

    def _remember(self, token: str, caller: Caller, found: ResolvedCredential, now_ms: int) -> None:
        ends = (caller.expires_ms, caller.entitlement_ends_ms, LATEST_MS)
        until_ms = min(end for end in ends if end is not None)
        digest = token_digest(token)
        self._known[digest] = _CachedToken(caller, until_ms, found.credential.last_used_ms or 0, now_ms)
        self._tokens_of.setdefault(caller.user_id, set()).add(digest)
        if len(self._known) > MAX_CACHED:
            self._drop(next(iter(self._known)))

    def _drop(self, digest: bytes) -> None:
        known = self._known.pop(digest)
        tokens = self._tokens_of[known.caller.user_id]
        tokens.discard(digest)
        if not tokens:
            del self._tokens_of[known.caller.user_id]
        if known.used_ms > known.noted_ms:
            self._unnoted[known.caller.credential_id] = known.used_ms


def token_digest(token: str) -> bytes:
    """SHA-256 of a token, the key of the cache."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _log_failure(_: int | None, error: BaseException | None) -> None:
    if error is not None:
        _log.warning("The last use of credentials could not be stored.", extra={"reason": str(error)})


def _trim(remembered: dict[K, V], most: int) -> None:
    if len(remembered) > most:
        del remembered[next(iter(remembered))]


async def open_authenticator(db: Database, clock: Clock, keys: ApiKeyFormat, sessions: SessionTokens) -> Authenticator:
    """Create an authenticator that follows changes from now on.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    ((epoch,),) = await db.read(f"SELECT {change_log.LATEST_CHANGE}")
    index = KeyIndex(db)
    await index.catch_up()
    return Authenticator(db, clock, keys=keys, sessions=sessions, index=index, epoch=epoch)

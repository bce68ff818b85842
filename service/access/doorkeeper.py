"""Who a token is: asked of the store once, remembered until something about it changes."""

import asyncio
import logging
from functools import partial
from hashlib import sha256
from typing import Final, TypeVar

import msgspec

from service.access import changes
from service.access.caller import Caller
from service.access.credentials import Credential, Found, find
from service.access.key_index import KeyIndex
from service.access.keys import KeyForm
from service.access.refusal import UnknownTokenError, invalid
from service.access.sessions import SessionForm
from service.clock import LATEST_MS, MINUTE_MS, Clock, sleep_or_wake
from service.errors import ServiceError
from service.storage.database import Database

K = TypeVar("K")
V = TypeVar("V")

MOST_KNOWN: Final = 100_000
"""Tokens, and endings, that are remembered: about 60 MB at the most."""

_MOST_ENDED: Final = 10_000
"""Credentials that were refused because they have ended, and are remembered: about 5 MB at the most."""

_WATCH_S: Final = 1.0
_LOOKS_PER_NOTE: Final = 10

_NOTE: Final = """
UPDATE credentials SET last_used_ms = max(coalesce(last_used_ms, 0), used.at_ms)
FROM (SELECT CAST(key AS INTEGER) AS id, CAST(value AS INTEGER) AS at_ms FROM json_each(?)) AS used
WHERE credentials.id = used.id
"""

_log = logging.getLogger("verdict.access")


class _Known:
    """A remembered token. Mutable, because noting its use has to be free."""

    __slots__ = ("caller", "noted_ms", "until_ms", "used_ms")

    def __init__(self, caller: Caller, until_ms: int, noted_ms: int, used_ms: int) -> None:
        self.caller = caller
        self.until_ms = until_ms
        self.noted_ms = noted_ms
        self.used_ms = used_ms


class Doorkeeper:
    """Admits tokens. Belongs to one event loop.

    Args:
        db: The store.
        clock: Time.
        keys: The form of this service's keys.
        sessions: The form of its sessions.
        index: Which keys exist.
        epoch: The newest change when it starts; nobody is known yet, so older ones concern nobody.
    """

    def __init__(
        self, db: Database, clock: Clock, *, keys: KeyForm, sessions: SessionForm, index: KeyIndex, epoch: int
    ) -> None:
        self._db = db
        self._clock = clock
        self._now_ms = clock.now_ms
        self._keys = keys
        self._sessions = sessions
        self._index = index
        self._epoch = epoch
        self._known: dict[bytes, _Known] = {}
        self._tokens_of: dict[int, set[bytes]] = {}
        self._endings: dict[int, int] = {}
        self._ended: dict[bytes, Credential] = {}
        self._unnoted: dict[int, int] = {}
        self._finding: dict[bytes, tuple[int, asyncio.Task[Found | None]]] = {}

    def recall(self, token: str) -> Caller | None:
        """The caller of a token admitted before; `None` if it has to be admitted (again). Under a microsecond."""
        return self.recall_marked(mark_of(token))

    def recall_marked(self, mark: bytes) -> Caller | None:
        """As `recall`, by what `mark_of` made of the token."""
        known = self._known.get(mark)
        if known is None:
            return None
        now_ms = self._now_ms()
        if now_ms >= known.until_ms:
            return None
        known.used_ms = now_ms
        return known.caller

    async def admit(self, token: str) -> Caller:
        """Check a token in full and remember it.

        A token that is malformed, unknown, or was refused before because it has ended causes no look-up of its own. So
        bad tokens, however many, do not delay the look-ups of good ones.

        Raises:
            UnknownTokenError: If it was never issued.
            ServiceError: `AUTH_INVALID` saying whether it is malformed, unknown, expired, rotated or revoked;
                `UNAVAILABLE` if the store cannot be read.
        """
        fingerprint = self._fingerprint(token)
        if fingerprint in self._ended:
            self._ended[fingerprint].check(self._now_ms())
        may_exist = not token.startswith(self._keys.prefix) or await self._index.has(fingerprint)
        found = await self._find(fingerprint) if may_exist else None
        if found is None:
            raise UnknownTokenError
        now_ms = self._now_ms()
        try:
            found.credential.check(now_ms)
        except ServiceError:
            self._ended[fingerprint] = found.credential
            _trim(self._ended, _MOST_ENDED)
            raise
        caller = found.caller(now_ms)
        if found.epoch >= self._epoch:  # else it changed while it was being read: it is not to be remembered
            self._remember(token, caller, found, now_ms)
        return caller

    async def _find(self, fingerprint: bytes) -> Found | None:
        """Read a credential once for all who ask for it at the same time; who comes after a change reads anew.

        A client's hundred connections would else be a hundred readings, and a store on another machine has few readers.
        """
        reading = self._finding.get(fingerprint)
        if reading is None or reading[0] != self._epoch:
            task = asyncio.ensure_future(find(self._db, fingerprint))
            reading = self._finding[fingerprint] = self._epoch, task
            task.add_done_callback(partial(self._found, fingerprint))
        return await asyncio.shield(reading[1])

    def _found(self, fingerprint: bytes, task: asyncio.Task[Found | None]) -> None:
        if self._finding.get(fingerprint, (0, None))[1] is task:
            del self._finding[fingerprint]
        if not task.cancelled():
            task.exception()  # whoever waits is told; perhaps nobody does any more

    def valid(self, caller: Caller) -> bool:
        """Whether the credential behind a caller still stands: for whoever answers for longer than a moment.

        It costs two comparisons and a look-up, and lags behind other processes by a second.
        """
        now_ms = self._now_ms()
        if caller.expires_ms is not None and now_ms >= caller.expires_ms:
            return False
        return now_ms < self._endings.get(caller.credential_id, LATEST_MS)

    def forget(self) -> None:
        """Forget every token; each is admitted anew when it comes again."""
        for digest in list(self._known):
            self._drop(digest)

    async def catch_up(self) -> None:
        """Learn what has changed since last time, here or in another process, and forget whom it concerns.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        for row in await self._db.read(changes.SINCE, (self._epoch,)):
            change = changes.Change(*row)
            self._epoch = max(self._epoch, change.epoch)
            for digest in list(self._tokens_of.get(change.user_id, ())):
                self._drop(digest)
            if change.credential_id is not None and change.ends_ms is not None:
                self._endings[change.credential_id] = change.ends_ms
                _trim(self._endings, MOST_KNOWN)

    def note_use(self, *, least_ms: int = MINUTE_MS) -> None:
        """Have it written down when credentials were last used; what cannot be written is logged and lost.

        Args:
            least_ms: How much later than noted a use has to be: by default, each is noted at most once a minute. With
                1, as before the store closes, every use is.
        """
        due, self._unnoted = self._unnoted, {}
        for known in self._known.values():
            if known.used_ms - known.noted_ms >= least_ms:
                due[known.caller.credential_id] = known.noted_ms = known.used_ms
        if due:
            used = msgspec.json.encode(due).decode()
            self._db.submit(lambda connection: connection.execute(_NOTE, (used,)).rowcount, _noted)

    async def watch(self) -> None:
        """Follow the changes of other processes for ever, and note uses beside.

        It looks once a second, and at once where the store tells that there is something to see. If the store cannot be
        read, nobody is remembered: a revocation may not be missed.
        """
        look, news = 0, asyncio.Event()
        with self._db.listening(news.set):
            while True:
                look += 1
                await sleep_or_wake(self._clock, _WATCH_S, news)
                try:
                    await self.catch_up()
                except ServiceError as error:
                    _log.warning("changes cannot be read: every token is checked anew", extra={"reason": error.message})
                    self.forget()
                if look % _LOOKS_PER_NOTE == 0:
                    self.note_use()

    def _fingerprint(self, token: str) -> bytes:
        if token.startswith(self._keys.prefix):
            self._keys.check(token)
            return self._keys.fingerprint(token)
        if token.startswith("ey"):
            return self._sessions.read(token, self._now_ms()).jti.encode()
        raise invalid(f"The token is malformed: it is neither an API key ({self._keys.prefix}…) nor a session token.")

    def _remember(self, token: str, caller: Caller, found: Found, now_ms: int) -> None:
        ends = (caller.expires_ms, caller.entitlement_ends_ms, LATEST_MS)
        until_ms = min(end for end in ends if end is not None)
        digest = mark_of(token)
        self._known[digest] = _Known(caller, until_ms, found.credential.last_used_ms or 0, now_ms)
        self._tokens_of.setdefault(caller.user_id, set()).add(digest)
        if len(self._known) > MOST_KNOWN:
            self._drop(next(iter(self._known)))

    def _drop(self, digest: bytes) -> None:
        known = self._known.pop(digest)
        tokens = self._tokens_of[known.caller.user_id]
        tokens.discard(digest)
        if not tokens:
            del self._tokens_of[known.caller.user_id]
        if known.used_ms > known.noted_ms:
            self._unnoted[known.caller.credential_id] = known.used_ms


def mark_of(token: str) -> bytes:
    """What a token is remembered by, in its place."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _noted(_: int | None, error: BaseException | None) -> None:
    if error is not None:
        _log.warning("the last use of credentials was not noted", extra={"reason": str(error)})


def _trim(remembered: dict[K, V], most: int) -> None:
    if len(remembered) > most:
        del remembered[next(iter(remembered))]


async def open_doorkeeper(db: Database, clock: Clock, keys: KeyForm, sessions: SessionForm) -> Doorkeeper:
    """A doorkeeper that follows changes from now on.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    ((epoch,),) = await db.read(f"SELECT {changes.LATEST}")
    index = KeyIndex(db)
    await index.catch_up()
    return Doorkeeper(db, clock, keys=keys, sessions=sessions, index=index, epoch=epoch)

"""The Idempotency-Key: each request is answered once, and a repeated request gets the stored response.

A key belongs to its owner. The first request claims it; concurrent requests wait for its response. The response is
stored in the transaction that counts it, before its first byte leaves. A request that fails returns the key. A claim
whose process died, or whose lease expired, can be taken over.
"""

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import Final, TypeAlias

from msgspec import Struct

from service.access.usage_ledger import LEASE_MS, UsageLedger
from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.storage import response_store
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.response_store import KEPT_MS, StoredResponse
from service.storage.runs import Runs

MAX_KEYS_PER_OWNER: Final = 10_000
"""Keys an owner may have in use."""

MAX_WAIT_S: Final = 10.0
"""How long a request waits for the one that came with its key first."""

POLL_EVERY_S: Final = 0.05

_CLAIM_BYTES: Final = 16
_PIECE: Final = 200

_FIND: Final = "SELECT request_hash, run_id, claimed_ms, answered_ms, body FROM repeats WHERE owner = ? AND key = ?"
_HELD: Final = "SELECT claim FROM repeats WHERE owner = ? AND key = ? AND answered_ms IS NULL"
_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM repeats WHERE owner = ? LIMIT ?) AS owned"
_FIRST: Final = "SELECT min(answered_ms) FROM repeats WHERE owner = ?"
_CLAIM: Final = """
INSERT INTO repeats (owner, key, request_hash, claim, run_id, claimed_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (owner, key) DO UPDATE SET request_hash = excluded.request_hash, claim = excluded.claim,
    run_id = excluded.run_id, claimed_ms = excluded.claimed_ms, answered_ms = NULL, bytes = 0, body = NULL
"""
_KEEP: Final = "UPDATE repeats SET answered_ms = ?, bytes = ?, body = ? WHERE claim = ? AND answered_ms IS NULL"
_RELEASE: Final = "DELETE FROM repeats WHERE claim = ? AND answered_ms IS NULL"
_FORGET: Final = """
DELETE FROM repeats WHERE claim IN (
    SELECT claim FROM repeats WHERE answered_ms <= ?1 OR answered_ms IS NULL AND claimed_ms < ?2 LIMIT ?3
)
"""
_OLDEST: Final = (
    "SELECT claim, bytes FROM repeats WHERE bytes > 0 AND answered_ms IS NOT NULL ORDER BY answered_ms LIMIT ?"
)

_log: Final = logging.getLogger("verdict.access")


class IdempotentRequest(Struct, frozen=True):
    """A request with a key: its owner, and SHA-256 of the key and of everything the answer depends on."""

    owner: str
    key: bytes
    request_hash: bytes


class IdempotencyClaim(Struct, frozen=True):
    """The exclusive right to answer a request."""

    id: bytes


class _InProgress(Struct, frozen=True):
    """Another call is answering the request."""


class _StoredBody(Struct, frozen=True):
    """The request was answered. `body` is None if the response is no longer stored."""

    body: bytes | None


_ClaimResult: TypeAlias = IdempotencyClaim | _StoredBody | _InProgress | ServiceError


class IdempotencyStore:
    """Claims keys and stores responses for one process.

    Args:
        database: Where responses are stored.
        clock: Time.
        ledger: Counts stored responses; knows this process.
    """

    def __init__(self, database: Database, clock: Clock, ledger: UsageLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._runs = Runs(database)

    async def claim(self, request: IdempotentRequest) -> IdempotencyClaim | StoredResponse:
        """Claim a request or return its stored response; wait while another call answers it.

        Returns:
            A claim, to be ended by `store` or `release`; or the stored response.

        Raises:
            ServiceError: `IDEMPOTENCY_CONFLICT` if the key was used for another request, its response is no longer
                stored, or
                the wait takes too long; `RATE_LIMITED` if the owner has too many keys; `UNAVAILABLE` if the claim could
                not be
                made durable.
        """
        give_up_s = self._clock.monotonic() + MAX_WAIT_S
        while True:
            stand = await self._try_claim(request)
            if isinstance(stand, ServiceError):
                raise stand
            if isinstance(stand, IdempotencyClaim):
                return stand
            if isinstance(stand, _StoredBody):
                return _unpacked(stand)
            await self._wait(request, give_up_s)

    async def find(self, request: IdempotentRequest) -> StoredResponse | None:
        """The stored response of a request, if there is one; claims nothing.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        for request_hash, _, _, answered_ms, body in await self._database.read(_FIND, (request.owner, request.key)):
            is_stored = answered_ms is not None and answered_ms > self._clock.now_ms() - KEPT_MS and body is not None
            if is_stored and request_hash == request.request_hash:
                return response_store.unpack(body)
        return None

    async def store(self, claim: IdempotencyClaim, answer: StoredResponse, event_id: int | None) -> None:
        """Store a response and count it, in one transaction. Send it only afterwards.

        A response that is too large to store is sent once; its key stays used.

        Args:
            claim: From `claim`.
            answer: The response.
            event_id: The reserved question; None if the response costs none.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable, or the claim or reservation was lost. Do not
                answer.
        """
        kept = await response_store.pack(answer)
        await self._database.write(lambda connection: self._store(connection, claim, kept, event_id))

    async def release(self, claim: IdempotencyClaim, event_id: int | None) -> None:
        """Return a key and its reserved question. Does nothing if the response is stored.

        Never raises: if the write fails, the claim expires with its lease.
        """
        try:
            await self._database.write(lambda connection: self._release(connection, claim, event_id))
        except ServiceError as error:
            _log.warning(
                "An Idempotency-Key could not be released. It is released when its lease expires.",
                extra={"reason": error.message},
            )

    async def prune(self) -> None:
        """Delete expired keys and claims, and the oldest responses above the size limit."""
        while await self._database.write(self._forget):
            pass
        while await self._database.write(self._delete_oldest):
            pass

    async def _try_claim(self, request: IdempotentRequest) -> _ClaimResult:
        claim = IdempotencyClaim(secrets.token_bytes(_CLAIM_BYTES))
        try:
            return await self._database.write(lambda connection: self._find(connection, request, claim))
        except (asyncio.CancelledError, ServiceError):
            # Closures are run in order: by then it is known whether there is anything to be given back.
            # There may be, too, where the answer to a commit was lost.
            with suppress(ServiceError):
                self._database.submit(lambda connection: self._release(connection, claim, None), _ignore_result)
            raise

    async def _wait(self, request: IdempotentRequest, give_up_s: float) -> None:
        """Wait until the claim on the key changes."""
        held = now = await self._database.read(_HELD, (request.owner, request.key))
        while now and now == held:
            if self._clock.monotonic() >= give_up_s:
                raise _conflict(
                    "The first request with this Idempotency-Key is still being answered. Try again in 1 s.", retry_s=1
                )
            await self._clock.sleep(POLL_EVERY_S)
            now = await self._database.read(_HELD, (request.owner, request.key))

    def _find(self, connection: Connection, request: IdempotentRequest, claim: IdempotencyClaim) -> _ClaimResult:
        now_ms = self._clock.now_ms()
        row = connection.execute(_FIND, (request.owner, request.key)).fetchone()
        if row is not None:
            request_hash, run_id, claimed_ms, answered_ms, body = row
            if not self._is_over(connection, run_id, claimed_ms, answered_ms, now_ms):
                if request_hash != request.request_hash:
                    return _conflict("This Idempotency-Key was used for another request. Use a new key.")
                return _InProgress() if answered_ms is None else _StoredBody(body)
        elif (full := _too_many_keys(connection, request.owner, now_ms)) is not None:
            return full
        values = (request.owner, request.key, request.request_hash, claim.id, self._ledger.run_id, now_ms)
        connection.execute(_CLAIM, values)
        return claim

    def _is_over(
        self, connection: Connection, run_id: int, claimed_ms: int, answered_ms: int | None, now_ms: int
    ) -> bool:
        """Whether a row can be taken over: its day or lease is over, or its process died."""
        if answered_ms is not None:
            return answered_ms <= now_ms - KEPT_MS
        if claimed_ms < now_ms - LEASE_MS:
            return True
        return run_id != self._ledger.run_id and run_id not in self._runs.alive(connection)

    def _store(
        self, connection: Connection, claim: IdempotencyClaim, packed: bytes | None, event_id: int | None
    ) -> None:
        values = (self._clock.now_ms(), len(packed or b""), packed, claim.id)
        if not connection.execute(_KEEP, values).rowcount:
            raise ServiceError(
                "UNAVAILABLE", "The answer took too long and was not counted. Ask again.", headers={"Retry-After": "1"}
            )
        if event_id is not None:
            self._ledger.commit_stored(connection, event_id)

    def _release(self, connection: Connection, claim: IdempotencyClaim, event_id: int | None) -> None:
        connection.execute(_RELEASE, (claim.id,))
        if event_id is not None:
            self._ledger.release(connection, event_id)

    def _forget(self, connection: Connection) -> int:
        now_ms = self._clock.now_ms()
        return connection.execute(_FORGET, (now_ms - KEPT_MS, now_ms - LEASE_MS, _PIECE)).rowcount

    def _delete_oldest(self, connection: Connection) -> int:
        """Delete some of the oldest bodies if all of them exceed the limit. Their keys stay used."""
        (total,) = connection.execute("SELECT CAST(coalesce(sum(bytes), 0) AS INTEGER) FROM repeats").fetchone()
        dropped = 0
        for held, size in (
            connection.execute(_OLDEST, (_PIECE,)).fetchall() if total > response_store.MAX_TOTAL_BYTES else ()
        ):
            if total <= response_store.MAX_TOTAL_BYTES:
                break
            connection.execute("UPDATE repeats SET body = NULL, bytes = 0 WHERE claim = ?", (held,))
            total -= size
            dropped += 1
        return dropped


def _ignore_result(_: None, __: BaseException | None) -> None:
    """Ignore the result: an unreleased claim expires."""


def _unpacked(packed: _StoredBody) -> StoredResponse:
    if packed.body is None:
        raise _conflict(
            "The answer to this Idempotency-Key is no longer stored. Use a new key to repeat the request; it is "
            "charged again."
        )
    return response_store.unpack(packed.body)


def _too_many_keys(connection: Connection, owner: str, now_ms: int) -> ServiceError | None:
    (count,) = connection.execute(_COUNT, (owner, MAX_KEYS_PER_OWNER)).fetchone()
    if count < MAX_KEYS_PER_OWNER:
        return None
    (oldest_ms,) = connection.execute(_FIRST, (owner,)).fetchone()
    seconds = 1 if oldest_ms is None else max(1, -((now_ms - oldest_ms - KEPT_MS) // SECOND_MS))
    return ServiceError(
        "RATE_LIMITED",
        f"{MAX_KEYS_PER_OWNER} responses with an Idempotency-Key are stored for you. Send requests without one, or try "
        f"again in {seconds} s.",
        headers={"Retry-After": str(seconds)},
    )


def _conflict(message: str, retry_s: int | None = None) -> ServiceError:
    headers = {} if retry_s is None else {"Retry-After": str(retry_s)}
    return ServiceError("IDEMPOTENCY_CONFLICT", message, headers=headers)

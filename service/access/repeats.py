"""Requests that carry an Idempotency-Key: each is answered once, and its answer given again to whoever sends it again.

A key belongs to its owner. The first request with it holds a claim while it is worked on; others wait for what becomes
of it. The answer is kept in the transaction that counts it, before its first byte leaves: so there is never an answer
that can be had and is not counted, nor one that is counted and cannot be had. What comes to nothing gives the key back.
A claim whose process has died, or which has outlived its lease, is anybody's.
"""

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from service.access.ledger import LEASE_MS, Ledger
from service.clock import DAY_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.storage import packing
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.runs import Runs

KEPT_MS: Final = DAY_MS
"""How long an answer is kept, and its key used."""

LARGEST: Final = 512 * 2**10
"""What one answer may take, packed."""

MOST: Final = 256 * 2**20
"""What all of them may take."""

MOST_KEYS: Final = 1_000
"""Keys an owner may have in use."""

PATIENCE_S: Final = 10.0
"""How long a request waits for the one that came with its key first."""

LOOK_EVERY_S: Final = 0.05

_SMALL: Final = 64 * 2**10
_CLAIM_BYTES: Final = 16
_PIECE: Final = 200

_FIND: Final = "SELECT request_hash, run_id, claimed_ms, answered_ms, body FROM repeats WHERE owner = ? AND key = ?"
_HELD: Final = "SELECT claim FROM repeats WHERE owner = ? AND key = ? AND answered_ms IS NULL"
_COUNT: Final = "SELECT count(*), min(answered_ms) FROM repeats WHERE owner = ?"
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


class Request(Struct, frozen=True):
    """A request with a key: whose it is, and SHA-256 of the key and of all that its answer depends on."""

    owner: str
    key: bytes
    request_hash: bytes


class KeptAnswer(Struct, frozen=True):
    """An answer as it is kept: status, header fields, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Claim(Struct, frozen=True):
    """The right to answer a request, which nobody else has at the same time."""

    id: bytes


class _Running(Struct, frozen=True):
    """Somebody is answering the request."""


class _Packed(Struct, frozen=True):
    """The request was answered; null: its answer is not kept any more."""

    body: bytes | None


_Stand: TypeAlias = Claim | _Packed | _Running | ServiceError


class Repeats:
    """The requests with keys, as one process answers them.

    Args:
        database: Where they are kept.
        clock: Time.
        ledger: Counts what is kept, and knows this process.
    """

    def __init__(self, database: Database, clock: Clock, ledger: Ledger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._runs = Runs(database)

    async def take(self, request: Request) -> Claim | KeptAnswer:
        """Claim a request, or find its answer; wait while somebody else is answering it.

        Returns:
            A claim, which must end in `keep` or `release`; or the answer, to be given again.

        Raises:
            ServiceError: `IDEMPOTENCY_CONFLICT` if the key was used for another request, if the answer is not kept any
                more, or if it takes too long; `RATE_LIMITED` if the owner has too many keys in use; `UNAVAILABLE` if
                the claim could not be made durable.
        """
        give_up_s = self._clock.monotonic() + PATIENCE_S
        while True:
            stand = await self._claim(request)
            if isinstance(stand, ServiceError):
                raise stand
            if isinstance(stand, Claim):
                return stand
            if isinstance(stand, _Packed):
                return _unpacked(stand)
            await self._wait(request, give_up_s)

    async def keep(self, claim: Claim, answer: KeptAnswer, event_id: int | None) -> None:
        """Keep an answer and count it, in one transaction. It may leave then, and not before.

        One that is too large to be kept leaves once; its key stays used.

        Args:
            claim: As `take` gave it.
            answer: What is to be given, now and again.
            event_id: The reserved question that it costs; null where it costs none of this meter's.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be made durable, or the claim or the question was lost: do not
                answer. Nothing is counted or kept then; or, where a commit's answer was lost, both: the key has it.
        """
        encoded = msgspec.msgpack.encode(answer)
        packed = packing.pack(encoded) if len(encoded) <= _SMALL else await asyncio.to_thread(packing.pack, encoded)
        kept = packed if len(packed) <= LARGEST else None
        await self._database.write(lambda connection: self._keep(connection, claim, kept, event_id))

    async def release(self, claim: Claim, event_id: int | None) -> None:
        """Give a key back, and the question that was reserved for it. Does nothing to what was kept.

        Never raises: what cannot be written now is dropped when its lease runs out.
        """
        try:
            await self._database.write(lambda connection: self._release(connection, claim, event_id))
        except ServiceError as error:
            _log.warning("a key waits for its lease to run out", extra={"reason": error.message})

    async def prune(self) -> None:
        """Forget keys whose day is over, claims that outlived their lease, and answers there is no room for."""
        while await self._database.write(self._forget):
            pass
        while await self._database.write(self._make_room):
            pass

    async def _claim(self, request: Request) -> _Stand:
        claim = Claim(secrets.token_bytes(_CLAIM_BYTES))
        try:
            return await self._database.write(lambda connection: self._find(connection, request, claim))
        except (asyncio.CancelledError, ServiceError):
            # Closures are run in order: by then it is known whether there is anything to be given back.
            # There may be, too, where the answer to a commit was lost.
            with suppress(ServiceError):
                self._database.submit(lambda connection: self._release(connection, claim, None), _nothing)
            raise

    async def _wait(self, request: Request, give_up_s: float) -> None:
        """Wait until the claim is not what it was."""
        held = now = await self._database.read(_HELD, (request.owner, request.key))
        while now and now == held:
            if self._clock.monotonic() >= give_up_s:
                raise _conflict("the first request with this Idempotency-Key is still being answered", retry_s=1)
            await self._clock.sleep(LOOK_EVERY_S)
            now = await self._database.read(_HELD, (request.owner, request.key))

    def _find(self, connection: Connection, request: Request, claim: Claim) -> _Stand:
        now_ms = self._clock.now_ms()
        row = connection.execute(_FIND, (request.owner, request.key)).fetchone()
        if row is not None:
            request_hash, run_id, claimed_ms, answered_ms, body = row
            if not self._is_over(connection, run_id, claimed_ms, answered_ms, now_ms):
                if request_hash != request.request_hash:
                    return _conflict("this Idempotency-Key was used for another request: make a new one")
                return _Running() if answered_ms is None else _Packed(body)
        elif (full := _full(connection, request.owner, now_ms)) is not None:
            return full
        values = (request.owner, request.key, request.request_hash, claim.id, self._ledger.run_id, now_ms)
        connection.execute(_CLAIM, values)
        return claim

    def _is_over(
        self, connection: Connection, run_id: int, claimed_ms: int, answered_ms: int | None, now_ms: int
    ) -> bool:
        """Whether a row is as good as none: its day or its lease is over, or its process has died."""
        if answered_ms is not None:
            return answered_ms <= now_ms - KEPT_MS
        if claimed_ms < now_ms - LEASE_MS:
            return True
        return run_id != self._ledger.run_id and run_id not in self._runs.alive(connection)

    def _keep(self, connection: Connection, claim: Claim, packed: bytes | None, event_id: int | None) -> None:
        values = (self._clock.now_ms(), len(packed or b""), packed, claim.id)
        if not connection.execute(_KEEP, values).rowcount:
            raise ServiceError(
                "UNAVAILABLE", "The answer took too long and was not counted; ask again.", headers={"Retry-After": "1"}
            )
        if event_id is not None:
            self._ledger.commit_kept(connection, event_id)

    def _release(self, connection: Connection, claim: Claim, event_id: int | None) -> None:
        connection.execute(_RELEASE, (claim.id,))
        if event_id is not None:
            self._ledger.release(connection, event_id)

    def _forget(self, connection: Connection) -> int:
        now_ms = self._clock.now_ms()
        return connection.execute(_FORGET, (now_ms - KEPT_MS, now_ms - LEASE_MS, _PIECE)).rowcount

    def _make_room(self, connection: Connection) -> int:
        """Drop some of the oldest answers where all of them take too much; their keys stay used."""
        (total,) = connection.execute("SELECT CAST(coalesce(sum(bytes), 0) AS INTEGER) FROM repeats").fetchone()
        dropped = 0
        for held, size in connection.execute(_OLDEST, (_PIECE,)).fetchall() if total > MOST else ():
            if total <= MOST:
                break
            connection.execute("UPDATE repeats SET body = NULL, bytes = 0 WHERE claim = ?", (held,))
            total -= size
            dropped += 1
        return dropped


def _nothing(_: None, __: BaseException | None) -> None:
    """Whether it was released: a claim that could not be has a lease."""


def _unpacked(packed: _Packed) -> KeptAnswer:
    if packed.body is None:
        raise _conflict(
            "this Idempotency-Key was answered, and the answer is not kept any more; make a new key to ask, and be "
            "charged, once more"
        )
    return msgspec.msgpack.decode(packing.unpack(packed.body), type=KeptAnswer)


def _full(connection: Connection, owner: str, now_ms: int) -> ServiceError | None:
    count, oldest_ms = connection.execute(_COUNT, (owner,)).fetchone()
    if count < MOST_KEYS:
        return None
    seconds = 1 if oldest_ms is None else max(1, -((now_ms - oldest_ms - KEPT_MS) // SECOND_MS))
    return ServiceError(
        "RATE_LIMITED",
        f"{MOST_KEYS} requests with an Idempotency-Key are kept for you; ask without one, or in {seconds} s",
        headers={"Retry-After": str(seconds)},
    )


def _conflict(message: str, retry_s: int | None = None) -> ServiceError:
    headers = {} if retry_s is None else {"Retry-After": str(retry_s)}
    return ServiceError("IDEMPOTENCY_CONFLICT", message, headers=headers)

"""Which API keys exist, in memory: a key that was never made is refused without a look-up of its own.

The checksum of a key is no secret, so anybody can invent keys that are well formed. If each were looked up, a flood of
them would delay the look-ups of valid keys. So the fingerprints of all keys are kept here, 8 bytes each. They are
loaded when the service starts.

A key that is not found here may have been made a moment ago, by another process. Before it is refused, the rows that
were added since are read. All who wait share this read. So a flood of unknown keys costs one short read at a time,
however fast it comes, and a new key is accepted after at most two of these reads: one under way, and its own.

Rows of credentials are never deleted and their numbers only grow, so nothing is ever taken out. Whether a key has
expired or was revoked is not known here.
"""

import asyncio
from array import array
from bisect import bisect_left, insort
from typing import Final

from service.storage.database import Database

_PAGE: Final = 20_000
_FEW: Final = 100
_DIGEST_BYTES: Final = 8
_SINCE: Final = "SELECT id, kind, fingerprint FROM credentials WHERE id > ? ORDER BY id LIMIT ?"


class KeyIndex:
    """The fingerprints of one store's keys. Belongs to one event loop.

    Args:
        db: The store.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._last_id = 0
        self._digests: array[int] = array("Q")
        self._reading: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def has(self, fingerprint: bytes) -> bool:
        """Say whether a key with this fingerprint exists.

        Two keys share 8 bytes once in 10¹⁹ pairs: then the store decides.

        Raises:
            ServiceError: `UNAVAILABLE` if the key is not found and the store cannot be read.
        """
        if self._holds(fingerprint):
            return True
        await self.catch_up()
        return self._holds(fingerprint)

    async def catch_up(self) -> None:
        """Wait for a read that begins after this call; calls that wait share it.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        if self._next is None or self._next.done():  # done: it was cancelled while it waited
            self._next = asyncio.ensure_future(self._read_after(self._reading))
            self._next.add_done_callback(_observe)
        await asyncio.shield(self._next)

    async def _read_after(self, reading: "asyncio.Task[None] | None") -> None:
        if reading is not None:
            await asyncio.wait([reading])
        self._reading, self._next = self._next, None
        await self._read()

    async def _read(self) -> None:
        found, last_id, rows = array("Q"), self._last_id, _PAGE
        while rows == _PAGE:
            page = await self._db.read(_SINCE, (last_id, _PAGE))
            found.extend(_digest(fingerprint) for _, kind, fingerprint in page if kind == "api_key")
            last_id, rows = page[-1][0] if page else last_id, len(page)
        self._add(found)
        self._last_id = last_id

    def _add(self, found: "array[int]") -> None:
        if len(found) > _FEW:
            self._digests = array("Q", sorted((*self._digests, *found)))
            return
        for digest in found:
            insort(self._digests, digest)

    def _holds(self, fingerprint: bytes) -> bool:
        digest = _digest(fingerprint)
        place = bisect_left(self._digests, digest)
        return place < len(self._digests) and self._digests[place] == digest


def _digest(fingerprint: bytes) -> int:
    return int.from_bytes(fingerprint[:_DIGEST_BYTES])


def _observe(task: "asyncio.Task[None]") -> None:
    """Note that a failure was seen: all who waited may have left."""
    if not task.cancelled():
        task.exception()

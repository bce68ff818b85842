"""Which API keys exist, in memory, so that unknown keys need no lookup of their own.

The checksum of a key is no secret, so well-formed keys can be invented. If each were looked up, a flood of them would
delay lookups of valid keys. The index holds 8 bytes of each fingerprint, loaded at start. Before an unknown key is
refused, rows added since are read, because another process may have made it; concurrent calls share this read.

Rows of credentials are never deleted, so nothing is removed. `Credential.check` checks expiry and revocation.
"""

import asyncio
from array import array
from bisect import bisect_left, insort
from typing import Final

from service.storage.database import Database

_PAGE_ROWS: Final = 20_000
_MERGE_ABOVE: Final = 100
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
        """Whether a key with this fingerprint may exist.

        Two keys share 8 bytes once in 10¹⁹ pairs. Then the store decides.

        Raises:
            ServiceError: `UNAVAILABLE` if the key is not found and the store cannot be read.
        """
        if self.holds(fingerprint):
            return True
        await self.catch_up()
        return self.holds(fingerprint)

    async def catch_up(self) -> None:
        """Wait for a read that begins after this call; calls that wait share it.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        if self._next is None or self._next.done():  # done: it was cancelled while it waited
            self._next = asyncio.ensure_future(self._read_after(self._reading))
            self._next.add_done_callback(_observe_failure)
        await asyncio.shield(self._next)

    async def _read_after(self, reading: "asyncio.Task[None] | None") -> None:
        if reading is not None:
            await asyncio.wait([reading])
        self._reading, self._next = self._next, None
        await self._read()

    async def _read(self) -> None:
        found, last_id, rows = array("Q"), self._last_id, _PAGE_ROWS
        while rows == _PAGE_ROWS:
            page = await self._db.read(_SINCE, (last_id, _PAGE_ROWS))
            found.extend(_digest(fingerprint) for _, kind, fingerprint in page if kind == "api_key")
            last_id, rows = page[-1][0] if page else last_id, len(page)
        self._add(found)
        self._last_id = last_id

    def _add(self, found: "array[int]") -> None:
        if len(found) > _MERGE_ABOVE:
            self._digests = array("Q", sorted((*self._digests, *found)))
            return
        for digest in found:
            insort(self._digests, digest)

    def holds(self, fingerprint: bytes) -> bool:
        """Whether a key with this fingerprint was there at the last read."""
        digest = _digest(fingerprint)
        place = bisect_left(self._digests, digest)
        return place < len(self._digests) and self._digests[place] == digest


def _digest(fingerprint: bytes) -> int:
    return int.from_bytes(fingerprint[:_DIGEST_BYTES])


def _observe_failure(task: "asyncio.Task[None]") -> None:
    """Note that a failure was seen: all who waited may have left."""
    if not task.cancelled():
        task.exception()

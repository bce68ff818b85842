"""Limits the streams of a credential to three, over all processes and machines of a store.

Opening a stream writes a lease, closing it deletes the lease, and a process renews its leases every 20 s in one write.
Leases of a dead process on the same data folder stop counting at once; those of another machine expire within a minute.
A process that was suspended longer than a lease renews the streams it still serves, even beyond three.
"""

import asyncio
import logging
import secrets
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from service.access.usage_ledger import UsageLedger
from service.clock import MINUTE_MS, Clock
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.runs import Runs

MAX_STREAMS: Final = 3
"""Streams a credential."""

LEASE_MS: Final = MINUTE_MS
RENEW_S: Final = 20.0
_ID_BITS: Final = 62

_OPEN: Final = "SELECT run_id FROM stream_leases WHERE credential_id = ? AND lease_until_ms > ?"
_FORGET: Final = "DELETE FROM stream_leases WHERE lease_until_ms <= ?"
_LEASE: Final = """
INSERT INTO stream_leases (id, credential_id, run_id, lease_until_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET lease_until_ms = excluded.lease_until_ms
"""
_RELEASE: Final = "DELETE FROM stream_leases WHERE id = ?"

_log: Final = logging.getLogger("verdict.access")


class StreamLimit:
    """The streams that one process serves.

    Args:
        database: Where leases are kept.
        clock: Time.
        ledger: Knows which run this process is.
    """

    def __init__(self, database: Database, clock: Clock, ledger: UsageLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._runs = Runs(database)
        self._held: dict[int, int] = {}

    async def acquire(self, credential_id: int) -> int | None:
        """Take a lease for one more stream. It must be released.

        Args:
            credential_id: Whose stream.

        Returns:
            The lease; null where the credential has as many streams open as it may.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        lease_id = secrets.randbits(_ID_BITS)
        try:
            granted = await self._database.write(partial(self._take, lease_id, credential_id))
        except (asyncio.CancelledError, ServiceError):  # it may have been written all the same
            self.release(lease_id)
            raise
        if not granted:
            return None
        self._held[lease_id] = credential_id
        return lease_id

    def release(self, lease_id: int) -> None:
        """Give a lease back. Never raises: what cannot be deleted runs out."""
        self._held.pop(lease_id, None)
        with suppress(ServiceError):
            self._database.submit(lambda connection: connection.execute(_RELEASE, (lease_id,)).rowcount, _ignore_result)

    async def watch(self) -> None:
        """Renew the leases of open streams, for ever."""
        while True:
            await self._clock.sleep(RENEW_S)
            if self._held:
                try:
                    await self._database.write(partial(self._renew, tuple(self._held.items())))
                except ServiceError as error:
                    _log.warning("Leases of streams could not be renewed.", extra={"reason": error.message})

    def _take(self, lease_id: int, credential_id: int, connection: Connection) -> bool:
        now_ms = self._clock.now_ms()
        served_by = [run_id for (run_id,) in connection.execute(_OPEN, (credential_id, now_ms))]
        if len(served_by) >= MAX_STREAMS:
            alive = {*self._runs.alive(connection), self._ledger.run_id}
            if sum(run_id in alive for run_id in served_by) >= MAX_STREAMS:
                return False
        connection.execute(_FORGET, (now_ms,))
        self._renew([(lease_id, credential_id)], connection)
        return True

    def _renew(self, held: Iterable[tuple[int, int]], connection: Connection) -> None:
        until_ms = self._clock.now_ms() + LEASE_MS
        rows = [(lease_id, credential_id, self._ledger.run_id, until_ms) for lease_id, credential_id in held]
        connection.executemany(_LEASE, rows)


def _ignore_result(_: int | None, __: BaseException | None) -> None:
    """Whether a lease was deleted does not matter: it runs out."""

"""Leader election: which of the processes that share a store fetches from upstreams."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.storage.database import Database
from service.storage.port import LEADER, ProcessClaim

_PAUSE_S: Final = 1.0

_log: Final = logging.getLogger("verdict.wiring")


class LeaderElection:
    """This process's part in the election; opened by `elect_leader`.

    On one machine the leader leads until it ends, and the kernel releases its claim. On several machines the claim
    belongs to a database connection and is lost with it.

    Args:
        claim: The claim, tried once already.
    """

    def __init__(self, claim: ProcessClaim) -> None:
        self._claim = claim
        self._led = False
        self._log_change()
        if not self._led:
            self._log("Another process is the leader and fetches from upstreams.")

    def held(self) -> bool:
        """Whether this process is the leader now."""
        return self._claim.held()

    async def watch(self, clock: Clock) -> None:
        """Renew the claim or try to take it, once a second until cancelled."""
        while True:
            await clock.sleep(_PAUSE_S)
            await self._claim.contend()
            self._log_change()

    def _log_change(self) -> None:
        leads = self._claim.held()
        if leads != self._led:
            self._log("This process is the leader and fetches from upstreams." if leads else "Lost the leadership.")
        self._led = leads

    def _log(self, text: str) -> None:
        _log.info(text, extra={"process_id": os.getpid()})


@asynccontextmanager
async def elect_leader(database: Database) -> AsyncIterator[LeaderElection]:
    """Take part in the leader election of a store until the block ends.

    Args:
        database: The store.

    Yields:
        The claim, tried once already.
    """
    async with database.claim(LEADER) as claim:
        yield LeaderElection(claim)

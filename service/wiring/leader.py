"""Which of the processes that share a store fetches from upstreams."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.clock import Clock
from service.storage.database import Database
from service.storage.port import LEADER, Claim

_PAUSE_S: Final = 1.0

_log: Final = logging.getLogger("verdict.wiring")


class Leadership:
    """This process's claim to lead; opened by `stand_for_lead`.

    On one machine the kernel gives a claim back when its holder dies, and a process that leads does so to its end. Over
    several the claim rests on a connection, and the lead is lost with it.

    Args:
        claim: The claim, tried once already.
    """

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._led = False
        self._tell()

    def held(self) -> bool:
        """Whether this process leads at this moment."""
        return self._claim.held()

    async def watch(self, clock: Clock) -> None:
        """Once a second, prove that this process leads, or try to; until cancelled."""
        while True:
            await clock.sleep(_PAUSE_S)
            await self._claim.contend()
            self._tell()

    def _tell(self) -> None:
        leads = self._claim.held()
        if leads != self._led:
            said = "this process fetches from upstreams" if leads else "this process does not fetch any more"
            _log.info(said, extra={"process_id": os.getpid()})
        self._led = leads


@asynccontextmanager
async def stand_for_lead(database: Database) -> AsyncIterator[Leadership]:
    """Stand for the lead among the processes of a store until leaving.

    Args:
        database: The store.

    Yields:
        The claim, tried once already.
    """
    async with database.claim(LEADER) as claim:  # which tries it once
        yield Leadership(claim)

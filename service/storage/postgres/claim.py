"""A cluster-wide claim: an advisory lock on a connection of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from service.settings import Secret
from service.storage.engine import DatabaseError
from service.storage.postgres.connection import dial
from service.storage.postgres.errors import as_database_errors

_BEAT_S: Final = 1.0
"""Timeout of one check."""

_PROOF_S: Final = 5.0
"""How long a successful check counts."""

_SILENT: Final = {"idle_session_timeout": "10000", "statement_timeout": "1000"}
"""The server ends a session that has been silent for longer than its proof has held: never do two hold the claim."""

_TAKE: Final = "SELECT pg_try_advisory_lock(hashtext('verdict claim'), hashtext($1::TEXT))"
_PROVE: Final = "SELECT 1"


class ServerClaim:
    """A claim on a server.

    Args:
        address: The server's address.
        name: What is claimed.
    """

    def __init__(self, address: Secret, name: str) -> None:
        self._address = address
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._connection: Any = None
        self._proven_s: float | None = None

    def held(self) -> bool:
        """Whether it is held: proven within the last five seconds, over a connection that still stands."""
        if self._connection is None or self._connection.is_closed() or self._proven_s is None:
            return False
        return self._loop.time() < self._proven_s + _PROOF_S

    async def contend(self) -> bool:
        """Prove that it is held, or try to take it. To be called once a second, also while it is held.

        Returns:
            Whether it is held; False where the server does not answer.
        """
        try:
            with as_database_errors():
                return await self._contend()
        except DatabaseError:
            self.let_go()
            return False

    def let_go(self) -> None:
        """Release the claim and close its connection."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = self._proven_s = None

    async def _contend(self) -> bool:
        if self._connection is None or self._connection.is_closed():
            self._proven_s = None
            self._connection = await dial(self._address, "claim", _SILENT, _BEAT_S)
        asked_s = self._loop.time()
        if self._proven_s is not None:
            await self._connection.execute(_PROVE, timeout=_BEAT_S)
        elif not await self._connection.fetchval(_TAKE, self._name, timeout=_BEAT_S):
            return False
        self._proven_s = asked_s
        return True


@asynccontextmanager
async def claim_on(address: Secret, name: str) -> AsyncIterator[ServerClaim]:
    """A claim, tried once already; released when the block ends."""
    claim = ServerClaim(address, name)
    try:
        await claim.contend()
        yield claim
    finally:
        claim.let_go()

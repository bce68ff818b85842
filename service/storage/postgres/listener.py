"""An ear for what other machines change."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from service.settings import Secret
from service.storage.engine import DatabaseError, error_name
from service.storage.postgres.connection import dial
from service.storage.postgres.failures import told_as_ours

CHANNEL: Final = "verdict_access"
_LONGEST_PAUSE_S: Final = 1.0
_FIRST_PAUSE_S: Final = 0.05

_log = logging.getLogger("verdict.storage")


class Listener:
    """Follows a channel over a connection of its own, which is opened anew when it was lost.

    Args:
        address: The server's address.
    """

    def __init__(self, address: Secret) -> None:
        self._address = address
        self._told: list[Callable[[], None]] = []

    def add(self, told: Callable[[], None]) -> None:
        """Have somebody told of every change, and whenever one may have been missed."""
        self._told.append(told)

    def remove(self, told: Callable[[], None]) -> None:
        """Have somebody told no more."""
        self._told.remove(told)

    async def follow(self) -> None:
        """Listen for ever."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                with told_as_ours():
                    await self._listen()
                pause_s = _FIRST_PAUSE_S
            except DatabaseError as error:
                _log.warning("changes of other machines are not heard", extra={"reason": error_name(error)})
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            self._tell()
            await asyncio.sleep(pause_s)

    async def _listen(self) -> None:
        """Listen until the connection is lost."""
        gone = asyncio.Event()
        connection = await dial(self._address, "listener", {})
        try:
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(CHANNEL, self._hear)
            self._tell()
            await gone.wait()
        finally:
            connection.terminate()

    def _hear(self, *_: Any) -> None:
        self._tell()

    def _tell(self) -> None:
        for told in tuple(self._told):
            told()

"""Threads for what blocks: a call waits for the service for a minute at the longest, and holds nobody else up.

They are not those that the loop lends out, of which reading standard input takes one: as many calls as there are of
them, to a service that is silent, would make this server deaf. They are daemons: whoever closes standard input has
left, and a call that still waits must not keep the process. A payment that is out then is kept (`clients/paying`).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Final, TypeVar

MOST: Final = 16
"""Calls that are under way at once; the next ones wait."""

T = TypeVar("T")


class Threads:
    """Runs what blocks."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST)

    async def run(self, work: Callable[[], T]) -> T:
        """Run it, and give what it gives, or raise what it raises. Who stops waiting leaves it to its end."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            self._free.release()
            if not done.done():
                settle()

        def begin() -> None:
            settle: Callable[[], None]
            try:
                settle = partial(done.set_result, work())
            except Exception as error:  # noqa: BLE001 - whoever waits for it hears of it
                settle = partial(done.set_exception, error)
            with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
                loop.call_soon_threadsafe(finish, settle)

        Thread(target=begin, daemon=True).start()
        return await done

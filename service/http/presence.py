"""Work that is done for a peer, and not for one that has left."""

import asyncio
from collections.abc import Coroutine
from typing import cast

from starlette.types import Receive

from service.http.body import PeerGoneError


async def while_there(receive: Receive, work: Coroutine[object, object, None]) -> None:
    """Do a piece of work; cancel it when the peer leaves before it is done.

    The work is not given a task of its own: of a thousand streams that would be three megabytes.

    Args:
        receive: The ASGI channel, its request read already.
        work: What is to be done.

    Raises:
        PeerGoneError: If the peer left.
    """
    watch = _Watch(cast("asyncio.Task[object]", asyncio.current_task()))
    leaving = asyncio.get_running_loop().create_task(_left(receive))
    leaving.add_done_callback(watch.leave)
    try:
        await work
    except asyncio.CancelledError:
        if watch.has_seen_it_leave():
            raise PeerGoneError from None
        raise
    finally:
        watch.over = True
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


class _Watch:
    """Cancels a task once, when the peer leaves before the work is over."""

    def __init__(self, working: asyncio.Task[object]) -> None:
        self.over = False
        self._working = working
        self._gone = False

    def leave(self, _: asyncio.Task[None]) -> None:
        if not self.over:
            self._gone = self._working.cancel()

    def has_seen_it_leave(self) -> bool:
        """Whether that alone is why the task was cancelled; it is not, then, any more."""
        return self._gone and self._working.uncancel() == 0


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

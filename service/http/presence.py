"""Work that is done for a peer, and not for one that has left."""

import asyncio
from collections.abc import Coroutine

from starlette.types import Receive

from service.http.body import PeerGoneError


async def while_there(receive: Receive, work: Coroutine[object, object, None]) -> None:
    """Do a piece of work; cancel it when the peer leaves before it is done.

    Args:
        receive: The ASGI channel, its request read already.
        work: What is to be done.

    Raises:
        PeerGoneError: If the peer left.
    """
    loop = asyncio.get_running_loop()
    tasks = working, leaving = loop.create_task(work), loop.create_task(_left(receive))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise PeerGoneError
        working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

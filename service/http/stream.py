"""The end of a stream's way: lines leave as they come, until one of both has enough.

What waits is taken only when all that was taken before has left: a reader that is slow holds a position in the stream,
not a queue here. One that takes nothing at all is parted with by its connection, whose deadline that is.
"""

import asyncio
from functools import partial
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from service.access.oversight import Oversight
from service.http.body import PeerGoneError
from service.http.errors import NO_STORE, Fields
from service.http.exchange import Exchange
from service.http.presence import while_there
from service.routes.call import Call, Following, Watching
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending

_FIELDS: Final[Fields] = [
    (b"content-type", b"application/x-ndjson"),
    NO_STORE,
    (b"x-accel-buffering", b"no"),  # has nginx, and what is built on it, pass lines on as they come
    (b"connection", b"close"),  # what was set up for a stream is not for another request
]
LAST_WORDS_S: Final = 2.0
"""How long a reader that may not have its stream any longer may take what it was sent before."""

_NOTHING_MORE: Final[Message] = {"type": "http.response.body", "body": b"", "more_body": True}


class Stream:
    """Sends a stream.

    Args:
        endpoint: The bound route.
        oversight: Ends it when its reader may not have it any longer.
        source: Where data comes from, for `X-Data-Source`.
    """

    def __init__(self, endpoint: Watching, oversight: Oversight, source: str) -> None:
        self._endpoint = endpoint
        self._oversight = oversight
        self._fields: Final = [*_FIELDS, (b"x-data-source", source.encode("ascii"))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines to the last one; HEAD has the head of them alone.

        Raises:
            ServiceError: UNAVAILABLE if it cannot be counted.
            PeerGoneError: If the peer left first, or takes nothing though it was told to go.
        """
        head: Message = {"type": "http.response.start", "status": 200, "headers": self._fields}
        if scope["method"] == "HEAD":
            await send(head)
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._follow(scope["verdict"], head, receive, send)

    async def _follow(self, exchange: Exchange, head: Message, receive: Receive, send: Send) -> None:
        call = Call(exchange.parameters, None, exchange.caller)
        following = self._endpoint.join(call)
        head["parting"] = partial(_part, following)
        try:
            async with asyncio.timeout(None) as patience:
                with self._oversight.over(_Watched(following, patience), call.known_caller()):
                    await while_there(receive, _pass_on(following, head, send))
        except TimeoutError:
            raise PeerGoneError from None
        finally:
            following.close()


class _Watched:
    """A stream that is not only ended by its oversight: it is over soon after, also where its reader takes nothing."""

    def __init__(self, following: Following, patience: asyncio.Timeout) -> None:
        self._following = following
        self._patience = patience

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """Say why no more is sent; once, for it is asked every second."""
        if self._patience.when() is None:
            self._following.end(reason, error)
            self._patience.reschedule(asyncio.get_running_loop().time() + LAST_WORDS_S)


async def _pass_on(following: Following, head: Message, send: Send) -> None:
    await send(head)
    while not following.ended:
        lines = following.take()
        await send({"type": "http.response.body", "body": lines, "more_body": not following.ended})
        if not following.ended:
            await following.wait()
            await send(_NOTHING_MORE)  # which takes as long as something that was sent before still waits


def _part(following: Following) -> bytes:
    """The last words to a reader that takes nothing."""
    following.end("slow-reader")
    return following.take()

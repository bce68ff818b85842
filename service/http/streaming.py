"""The endpoint of streams: sends lines as they come, until the stream ends or its reader leaves.

Lines are taken only when all earlier ones have left: a slow reader holds a position in the stream, not a queue here.
The connection drops a reader that takes nothing at all.
"""

import asyncio
from functools import partial
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from service.access.stream_expiry import StreamExpiry
from service.http.gate import RouteEndpoint
from service.http.request import PeerGoneError, RequestContext, run_until_disconnect
from service.http.response import NO_STORE, HeaderFields
from service.routes.call import Call, OpenStream, StreamRoute
from service.wire.envelope import ErrorBody
from service.wire.streams import Ending

_FIELDS: Final[HeaderFields] = [
    (b"content-type", b"application/x-ndjson"),
    NO_STORE,
    (b"x-accel-buffering", b"no"),  # tells nginx to pass lines on as they come
    (b"connection", b"close"),  # the connection is set up for this stream only
]
END_S: Final = 2.0
"""How long a reader whose stream was ended may take what was sent before."""

_NOTHING_MORE: Final[Message] = {"type": "http.response.body", "body": b"", "more_body": True}


class StreamEndpoint(RouteEndpoint):
    """Sends a stream.

    Args:
        endpoint: The bound route.
        stream_expiry: Ends the stream when its credential expires or is revoked.
        source: Where data comes from, for `X-Data-Source`.
    """

    waits = True

    def __init__(self, endpoint: StreamRoute, stream_expiry: StreamExpiry, source: str) -> None:
        self._endpoint = endpoint
        self._stream_expiry = stream_expiry
        self._fields: Final = [*_FIELDS, (b"x-data-source", source.encode("ascii"))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all lines; to HEAD the head only.

        Raises:
            ServiceError: UNAVAILABLE if it cannot be counted.
            PeerGoneError: If the peer left first, or takes nothing after its stream was ended.
        """
        head: Message = {"type": "http.response.start", "status": 200, "headers": self._fields}
        if scope["method"] == "HEAD":
            await send(head)
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._follow(scope["verdict"], head, receive, send)

    async def _follow(self, request: RequestContext, head: Message, receive: Receive, send: Send) -> None:
        call = Call(request.parameters, None, request.caller)
        following = self._endpoint.join(call)
        request.delivery.last_piece = partial(_last_piece, following)
        try:
            async with asyncio.timeout(None) as deadline:
                with self._stream_expiry.track(_SupervisedStream(following, deadline), call.known_caller()):
                    await run_until_disconnect(receive, _pass_on(following, head, send))
        except TimeoutError:
            raise PeerGoneError from None
        finally:
            following.close()


class _SupervisedStream:
    """A stream that is cut off soon after its expiry has ended it, even if its reader takes nothing."""

    def __init__(self, following: OpenStream, deadline: asyncio.Timeout) -> None:
        self._following = following
        self._deadline = deadline

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """End the stream; repeated calls change nothing."""
        if self._deadline.when() is None:
            self._following.end(reason, error)
            self._deadline.reschedule(asyncio.get_running_loop().time() + END_S)


async def _pass_on(following: OpenStream, head: Message, send: Send) -> None:
    await send(head)
    while not following.ended:
        lines = following.take()
        await send({"type": "http.response.body", "body": lines, "more_body": not following.ended})
        if not following.ended:
            await following.wait()
            await send(_NOTHING_MORE)  # waits while earlier bytes are still buffered


def _last_piece(following: OpenStream) -> bytes:
    """The last line for a reader that takes nothing."""
    following.end("slow-reader")
    return following.take()

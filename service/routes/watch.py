"""GET /api/cli/watch/{stream}: what is new, line by line."""

from functools import partial
from typing import cast

from service.errors import ServiceError
from service.market.symbols import closest
from service.routes.call import Call, Following, Watching
from service.streams.hub import Hub
from service.streams.lines import Source
from service.streams.state import Terms
from service.wire.streams import STREAMS, StreamName, WatchQuery


def watching(hub: Hub, source: Source) -> Watching:
    """Bind the route.

    Args:
        hub: Where the streams are.
        source: What the open line says of where data comes from.
    """
    return Watching(partial(check, hub), partial(join, hub, source))


def check(hub: Hub, query: WatchQuery) -> None:
    """Refuse what cannot be followed.

    Raises:
        ServiceError: UNKNOWN_STREAM with candidates; BAD_REQUEST for a cursor that is not one of this stream.
    """
    if query.stream not in STREAMS:
        candidates = closest(query.stream, STREAMS) or list(STREAMS)
        raise ServiceError(
            "UNKNOWN_STREAM",
            f"there is no stream {query.stream!r}; there are {', '.join(STREAMS)}",
            details={"candidates": candidates},
        )
    if query.cursor is not None:
        hub.read_cursor(query.stream, query.cursor)


def join(hub: Hub, source: Source, call: Call[WatchQuery, None]) -> Following:
    """Begin to follow a stream that was checked before."""
    query = call.parameters
    terms = Terms(query.interval, query.diff == 1, query.max)
    return hub.join(cast("StreamName", query.stream), terms, query.cursor, source)

"""Routes that answer piece by piece: questions and watched streams."""

from functools import partial
from typing import cast

from service.ask.questions import Inquiry, QuestionService
from service.errors import ServiceError
from service.market.symbols import closest
from service.routes.call import Call, OpenStream, StreamRoute
from service.streams.broker import StreamBroker
from service.streams.lines import Source
from service.streams.state import SubscriptionOptions
from service.wire.ask import Question
from service.wire.queries import NoParameters
from service.wire.streams import STREAMS, StreamName, WatchQuery


async def question(service: QuestionService, call: Call[NoParameters, Question]) -> Inquiry:
    """POST /api/cli: start to answer a question.

    Raises:
        ServiceError: The error of the first tool, if all tools failed.
    """
    return await service.ask(call.body, call.caller)


def watch(broker: StreamBroker, source: Source) -> StreamRoute:
    """GET /api/cli/watch/{stream}, bound to its broker.

    Args:
        broker: The streams.
        source: Data source named in the stream's first line.
    """
    return StreamRoute(partial(check_watch, broker), partial(join_stream, broker, source))


def check_watch(broker: StreamBroker, query: WatchQuery) -> None:
    """Refuse an unknown stream or a cursor of another stream.

    Raises:
        ServiceError: UNKNOWN_STREAM with candidates; BAD_REQUEST for a cursor that is not one of this stream.
    """
    if query.stream not in STREAMS:
        candidates = closest(query.stream, STREAMS) or list(STREAMS)
        raise ServiceError(
            "UNKNOWN_STREAM",
            f"There is no stream {query.stream!r}. Streams: {', '.join(STREAMS)}.",
            details={"candidates": candidates},
        )
    if query.cursor is not None:
        broker.read_cursor(query.stream, query.cursor)


def join_stream(broker: StreamBroker, source: Source, call: Call[WatchQuery, None]) -> OpenStream:
    """Join a stream whose query `check_watch` has accepted."""
    query = call.parameters
    terms = SubscriptionOptions(query.interval, query.diff == 1, query.max)
    return broker.join(cast("StreamName", query.stream), terms, query.cursor, source)

"""The Python client: typed calls, pages, live streams. `docs/python.md` shows how to use it.

A `Client` is for one thread at a time. An `AsyncClient` sends each call on a thread and a connection of its own, at
most 16 at once.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from importlib import import_module
from threading import Event
from typing import Any, Final, Generic, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.inspect import ListType, StructType, type_info

from service.client.answer import CallerQuota, RawAnswer, UnreachableError, UnreadableAnswerError, read_quota
from service.client.calls import OFFER_OF, ApiCall, request_of
from service.client.connection import TIMEOUT_S, ApiConnection
from service.client.pool import CallThreads, ConnectionPool
from service.client.stream import StreamClient, StreamLine
from service.validation_errors import explain_invalid
from service.wire.market import Crossing, FundingAlert
from service.wire.regime import RegimePosition
from service.wire.streams import EventLine, EventMeta, FundingState, GapLine, PricesState, SentimentState, StreamName

T = TypeVar("T")

EVENT_DATA: Final[dict[StreamName, Any]] = {
    "funding": FundingState,
    "regime": list[RegimePosition],
    "sentiment": SentimentState,
    "prices": PricesState,
    "alerts": FundingAlert,
    "crossings": Crossing,
}
"""Type of an event's data, by stream."""

_COMPLETE: Final = frozenset({"end", "limit"})
"""Reasons for which a stream ends as it should."""


class AnswerMeta(Struct, frozen=True):
    """When an answer was produced (`ts`), the time and age of its data. ISO 8601 UTC; None if an answer has none."""

    ts: str | None = None
    as_of: str | None = None
    data_age_seconds: int | None = None


class _Envelope(Struct, Generic[T], frozen=True):
    data: T
    meta: AnswerMeta


class ApiResult(Struct, Generic[T], frozen=True):
    """The answer to a call.

    Attributes:
        data: The typed data.
        meta: Time and age of the data.
        quota: Questions that are left; None if the call was not counted.
    """

    data: T
    meta: AnswerMeta
    quota: CallerQuota | None

    @property
    def rows(self) -> list[Any]:
        """Entries of an answer that is a list; an answer that is one object is the only entry."""
        kind: Any = type(self.data)
        lists = [field.name for field in msgspec.structs.fields(kind) if _is_list_of_structs(field.type)]
        return list(getattr(self.data, lists[0])) if len(lists) == 1 else [self.data]

    @property
    def next_cursor(self) -> str | None:
        """Cursor of the next page; None if this is the last one."""
        return getattr(getattr(self.data, "meta", self.data), "next_cursor", None)

    def to_frame(self) -> Any:
        """The entries as a `pandas.DataFrame`.

        Raises:
            ImportError: If pandas is not installed.
        """
        return import_module("pandas").DataFrame(msgspec.to_builtins(self.rows))


def _is_list_of_structs(kind: Any) -> bool:
    found = type_info(kind)
    return isinstance(found, ListType) and isinstance(found.item_type, StructType)


class StreamEvent(Struct, frozen=True):
    """An event of a live stream: its data (see `EVENT_DATA`), its time, and the cursor that resumes after it."""

    stream: StreamName
    data: Any
    meta: EventMeta


class StreamEndedError(Exception):
    """A stream ended early.

    Args:
        reason: `revoked`, `quota`, `shutdown` or `slow-reader`; None if the connection broke again and again.
        cursor: Resumes the stream; None if nothing came.
    """

    def __init__(self, reason: str | None, cursor: object) -> None:
        super().__init__(f"The stream ended: {reason or 'the connection broke'}. Open it again at its cursor.")
        self.reason = reason
        self.cursor = cursor


class Client:
    """A caller of one service.

    Args:
        url: http or https, a host, perhaps a port.
        token: API key or session; None for public routes.
        timeout_s: Longest wait for the next bytes.

    Raises:
        ValueError: If the token is not valid.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self._connection = ApiConnection(url, token, timeout_s=timeout_s)
        self.close = self._connection.close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, call: ApiCall[T]) -> ApiResult[T]:
        """Send a call. It uses up a question if its route is priced.

        Raises:
            RefusedError: If the service refuses; it has `status`, `code`, `message` and `details`.
            UnreachableError: If no complete answer arrived.
            UnreadableAnswerError: If the answer is not of the call's type.
        """
        return result_of(call, self._connection.ask(*request_of(call.offer, call.values)))

    def pages(self, call: ApiCall[T]) -> Iterator[ApiResult[T]]:
        """Send a call for each page, from the first to the last. Each page uses up a question.

        Raises:
            RefusedError: As `send`; so do the others.
        """
        following: ApiCall[T] | None = call
        while following is not None:
            result = self.send(following)
            yield result
            following = _next_page(following, result)

    def watch(
        self,
        stream: StreamName,
        *,
        interval: int = 30,
        max_events: int = 0,
        cursor: str | None = None,
        on_reconnect: Callable[[str], object] = lambda _message: None,
    ) -> Iterator[StreamEvent | GapLine]:
        """Follow a live stream. Opening it uses up a question, also opening it again after a broken connection.

        Args:
            stream: Its name.
            interval: Seconds between events, 10 to 300.
            max_events: End after so many events; 0 for no end but the service's limit of one hour.
            cursor: Resume after this cursor.
            on_reconnect: Receives a message before each attempt to open it again.

        Yields:
            Events, and a `GapLine` where events are lost because they are no longer stored.

        Raises:
            StreamEndedError: If it ends early.
            RefusedError: If the service refuses to open it.
            UnreachableError: If it cannot be opened.
            UnreadableAnswerError: If an event is not of the stream's type.
        """
        return _events(self._connection, stream, interval, max_events, cursor, on_reconnect, Event())


class AsyncClient:
    """A caller of one service, for asyncio. Arguments and errors are those of `Client`."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        self._open = partial(ApiConnection, url, token, timeout_s=timeout_s)
        self._token = self._open().token
        self._pool = ConnectionPool(url, timeout_s)
        self._threads = CallThreads()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    async def send(self, call: ApiCall[T]) -> ApiResult[T]:
        """Send a call, as `Client.send`."""

        def ask() -> RawAnswer:
            with self._pool.connection(self._token) as connection:
                return connection.ask(*request_of(call.offer, call.values))

        return result_of(call, await self._threads.run(ask))

    async def pages(self, call: ApiCall[T]) -> AsyncIterator[ApiResult[T]]:
        """Send a call for each page, as `Client.pages`."""
        following: ApiCall[T] | None = call
        while following is not None:
            result = await self.send(following)
            yield result
            following = _next_page(following, result)

    async def watch(
        self,
        stream: StreamName,
        *,
        interval: int = 30,
        max_events: int = 0,
        cursor: str | None = None,
        on_reconnect: Callable[[str], object] = lambda _message: None,
    ) -> AsyncIterator[StreamEvent | GapLine]:
        """Follow a live stream, as `Client.watch`. `on_reconnect` is called on another thread."""
        connection, closed = self._open(), Event()
        lines = _events(connection, stream, interval, max_events, cursor, on_reconnect, closed)
        try:
            while (event := await self._threads.run(partial(next, lines, None))) is not None:
                yield event
        finally:
            closed.set()
            connection.interrupt()


def result_of(call: ApiCall[T], answer: RawAnswer) -> ApiResult[T]:
    """Decode the answer to a call.

    Raises:
        UnreadableAnswerError: If it is not of the call's type.
    """
    kind: Any = call.result
    try:
        if OFFER_OF[call.offer].envelope:
            whole = msgspec.json.decode(answer.body, type=_Envelope[kind])
        else:
            whole = _Envelope(msgspec.json.decode(answer.body, type=kind), AnswerMeta())
    except msgspec.MsgspecError as error:
        raise UnreadableAnswerError(
            f"The answer does not have the expected form: {explain_invalid(error).sentence('it')}."
        ) from None
    return ApiResult(whole.data, whole.meta, read_quota(answer.headers))


def _next_page(call: ApiCall[T], result: ApiResult[T]) -> ApiCall[T] | None:
    cursor = result.next_cursor
    return None if cursor is None else ApiCall(call.offer, call.result, {**call.values, "cursor": cursor})


def _events(
    connection: ApiConnection,
    stream: StreamName,
    interval: int,
    max_events: int,
    cursor: str | None,
    on_reconnect: Callable[[str], object],
    closed: Event,
) -> Iterator[StreamEvent | GapLine]:
    def pause(seconds: float) -> None:
        if closed.wait(seconds):
            raise UnreachableError("The stream was closed.")

    def tell(message: str) -> None:
        if not closed.is_set():
            on_reconnect(message)

    query: dict[str, object] = {"interval": interval, "max": max_events or None, "cursor": cursor}
    reader = StreamClient(connection, stream, query, pause, tell)
    for line in reader.lines():
        event = _event_of(line)
        if event is not None:
            yield event
    if reader.reason not in _COMPLETE:
        raise StreamEndedError(reader.reason, reader.cursor)


def _event_of(line: StreamLine) -> StreamEvent | GapLine | None:
    kind = line.kind
    try:
        if kind == "gap":
            return msgspec.json.decode(line.raw, type=GapLine)
        if kind != "event":
            return None
        event = msgspec.json.decode(line.raw, type=EventLine)
        return StreamEvent(event.stream, msgspec.json.decode(event.data, type=EVENT_DATA[event.stream]), event.meta)
    except msgspec.MsgspecError as error:
        raise UnreadableAnswerError(
            f"An event does not have the expected form: {explain_invalid(error).sentence('it')}."
        ) from None

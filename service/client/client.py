"""The Python client: `Verdict` for threads, `AsyncVerdict` for asyncio. `docs/python.md` shows how to use it.

A `Verdict` is for one thread at a time. An `AsyncVerdict` sends each call on a thread and a connection of its own, at
most 16 at once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from http import HTTPStatus
from threading import Event
from typing import Any, Final, Self, TypeVar

from msgspec import Struct

from service.client.address import read_address
from service.client.answer import RawAnswer, RefusedError, UnreachableError
from service.client.calls import ApiCall, ApiResult, decode, request_of, result_of
from service.client.connection import TIMEOUT_S, ApiConnection, RequestParts
from service.client.errors import VerdictError
from service.client.methods import ApiMethods
from service.client.paying.buyer import MAX_DAY_USDC, MAX_PRICE_USDC, library_buyer
from service.client.paying.terms import UnpaidError, terms_of
from service.client.pool import CallThreads, ConnectionPool
from service.client.stream import StreamClient, StreamLine
from service.client.wallet import Wallet
from service.wire.market import Crossing, FundingAlert
from service.wire.regime import RegimePosition
from service.wire.streams import EventLine, EventMeta, FundingState, GapLine, PricesState, SentimentState, StreamName

T = TypeVar("T")

LONGEST_WAIT_S: Final = 10
"""Longest `Retry-After` of a 503 after which a GET is sent once more."""

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


class StreamEvent(Struct, frozen=True):
    """An event of a live stream: its data (see `EVENT_DATA`), its time, and the cursor that resumes after it."""

    stream: StreamName
    data: Any
    meta: EventMeta


class StreamEndedError(VerdictError):
    """A stream ended early; `cursor` resumes it, None if nothing came.

    `reason` is `revoked`, `quota`, `shutdown` or `slow-reader`; None if the connection broke again and again.
    """

    def __init__(self, reason: str | None, cursor: object) -> None:
        super().__init__(f"The stream ended: {reason or 'the connection broke'}. Open it again at its cursor.")
        self.reason = reason
        self.cursor = cursor


class _Client(ApiMethods):
    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        wallet: Wallet | None = None,
        max_price_usdc: str = MAX_PRICE_USDC,
        max_day_usdc: str = MAX_DAY_USDC,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._open = partial(ApiConnection, str(read_address(url)), token, timeout_s=timeout_s)
        self._connection = self._open()
        self._pool = ConnectionPool(self._connection.url, timeout_s)
        self._threads = CallThreads()
        self._buyer = None if wallet is None else library_buyer(wallet, max_price_usdc, max_day_usdc)

    def _ask(self, connection: ApiConnection, call: ApiCall[T], cancelled: Event) -> ApiResult[T]:
        request = request_of(call.offer, call.values)
        try:
            answer = self._pay(connection, request, cancelled)
        except RefusedError as error:
            wait_s = error.retry_after_s
            if request.method != "GET" or error.code != "UNAVAILABLE" or wait_s is None or wait_s > LONGEST_WAIT_S:
                raise
            cancelled.wait(wait_s)
            answer = self._pay(connection, request, cancelled)
        return result_of(call, answer)

    def _pay(self, connection: ApiConnection, request: RequestParts, cancelled: Event) -> RawAnswer:
        if cancelled.is_set():
            raise UnreachableError("The call was cancelled before it was sent.")
        if self._buyer is not None:
            return self._buyer._replace(is_cancelled=cancelled.is_set).ask(connection, request)
        try:
            return connection.ask(*request)
        except RefusedError as error:
            if error.status != HTTPStatus.PAYMENT_REQUIRED:
                raise
            terms = terms_of(error)
            price = "" if terms is None else f" {terms.price_usdc} USDC"
            unpaid = UnpaidError(f"{error} Pass `wallet=` to pay{price} for it.")
            unpaid.terms = terms
            raise unpaid from error


class Verdict(_Client):
    """A caller of one service, by an API key or session; without one for public routes, and to pay without an account.

    `wallet` pays for calls once the free questions are spent: at most `max_price_usdc` (decimal USDC) for a call and
    `max_day_usdc` for a UTC day, over all services and processes of this user. Nothing is ever paid without a wallet.
    `timeout_s` is the longest wait for the next bytes. Arguments that are not valid raise `ValueError`; methods raise
    `VerdictError` if there is no answer.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._connection.close()

    def _send(self, call: ApiCall[T]) -> ApiResult[T]:
        return self._ask(self._connection, call, Event())

    def pages(self, first: ApiResult[T]) -> Iterator[ApiResult[T]]:
        """The page that a call returned, and those after it to the last. Each page uses up a question."""
        page: ApiResult[T] | None = first
        while page is not None:
            yield page
            page = None if page.next_call is None else self._send(page.next_call)

    def watch(
        self,
        stream: StreamName,
        *,
        interval: int = 30,
        max_events: int = 0,
        cursor: str | None = None,
        on_reconnect: Callable[[str], object] = lambda _message: None,
    ) -> Iterator[StreamEvent | GapLine]:
        """Follow a live stream, with 10 to 300 seconds between events; a `GapLine` says that events are lost.

        Opening it uses up a question, also opening it again after a broken connection: `on_reconnect` receives a
        message before. It ends after `max_events`; with 0 at the service's limit of one hour. It resumes at `cursor`.

        Raises:
            VerdictError: `StreamEndedError` if it ends early; or as a call.
        """
        return _events(self._open(), stream, interval, max_events, cursor, on_reconnect, Event())


class AsyncVerdict(_Client):
    """A caller of one service, for asyncio. Arguments and errors are those of `Verdict`.

    A cancelled call that was not sent yet is neither sent nor paid; one that was sent is finished in the background.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    async def _send(self, call: ApiCall[T]) -> ApiResult[T]:
        cancelled = Event()

        def ask() -> ApiResult[T]:
            with self._pool.connection(self._connection.token) as connection:
                return self._ask(connection, call, cancelled)

        try:
            return await self._threads.run(ask)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def pages(self, first: Awaitable[ApiResult[T]]) -> AsyncIterator[ApiResult[T]]:
        """The page that a call returns, and those after it, as `Verdict.pages`."""
        page: ApiResult[T] | None = await first
        while page is not None:
            yield page
            page = None if page.next_call is None else await self._send(page.next_call)

    async def watch(
        self,
        stream: StreamName,
        *,
        interval: int = 30,
        max_events: int = 0,
        cursor: str | None = None,
        on_reconnect: Callable[[str], object] = lambda _message: None,
    ) -> AsyncIterator[StreamEvent | GapLine]:
        """Follow a live stream, as `Verdict.watch`. `on_reconnect` is called on another thread."""
        connection, closed = self._open(), Event()
        lines = _events(connection, stream, interval, max_events, cursor, on_reconnect, closed)
        try:
            while (event := await self._threads.run(partial(next, lines, None))) is not None:
                yield event
        finally:
            closed.set()
            connection.interrupt()


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
        if closed.is_set():
            return
        event = _event_of(line)
        if event is not None:
            yield event
    if reader.reason not in _COMPLETE:
        raise StreamEndedError(reader.reason, reader.cursor)


def _event_of(line: StreamLine) -> StreamEvent | GapLine | None:
    if line.kind == "gap":
        return decode(line.raw, GapLine, "An event")  # type: ignore[no-any-return]
    if line.kind != "event":
        return None
    event: EventLine = decode(line.raw, EventLine, "An event")
    return StreamEvent(event.stream, decode(event.data, EVENT_DATA[event.stream], "An event"), event.meta)

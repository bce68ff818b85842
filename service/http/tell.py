"""The end of the question route's way: tell the answer as it is found out, in the form that the caller wants.

Text and events leave piece by piece, the head as soon as there is an answer to come; JSON leaves whole. Text that was
begun and cannot be finished is broken off, so that nobody takes it for whole; events say so in their last one.
"""

from collections.abc import Callable, Sequence
from typing import Final, cast

from starlette.types import Receive, Scope, Send

from service.errors import ServiceError
from service.http import errors
from service.http.accept import MEDIA, Form, form_of
from service.http.errors import NO_STORE, Fields
from service.http.exchange import Exchange
from service.http.presence import while_there
from service.routes.call import Asking, Call, Inquiry
from service.wire.ask import Classified, Done, Event, Failed, Findings, Plan, Question, Source, Step, Text, Told
from service.wire.envelope import encode

_NAMES: Final[dict[type, bytes]] = {
    Classified: b"classification",
    Plan: b"plan",
    Step: b"step",
    Text: b"text",
    Done: b"done",
    Failed: b"error",
}
_UNBUFFERED: Final = (b"x-accel-buffering", b"no")
"""Has nginx, and what is built on it, pass pieces on as they come."""


class Tell:
    """Answers questions.

    Args:
        endpoint: The bound route.
        source: Where data comes from, for `X-Data-Source`.
        default: The form for callers that name none.
    """

    def __init__(self, endpoint: Asking, source: str, default: Form) -> None:
        self._endpoint = endpoint
        self._source = (b"x-data-source", source.encode("ascii"))
        self._default = default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. For a peer that leaves the work ends, unless its answer is kept for it.

        Raises:
            ServiceError: What the route fails with; nothing has left then, or text that is to be broken off.
            PeerGoneError: If the peer left.
        """
        exchange: Exchange = scope["verdict"]
        telling = self._tell(exchange, form_of(scope, self._default), send)
        if exchange.kept:
            await telling
        else:
            await while_there(receive, telling)

    async def _tell(self, exchange: Exchange, form: Form, send: Send) -> None:
        question = cast("Question", exchange.body)
        inquiry = await self._endpoint.ask(Call(exchange.parameters, question, exchange.caller))
        last = b""
        try:
            exchange.counted = inquiry.counted
            if form == "sse":
                await self._stream(exchange, inquiry, _without_text if question.raw else _event, send)
            elif form == "text" and not question.raw:
                await self._begin("text", [_UNBUFFERED], send)
                await _pass_on(inquiry, _prose, send)
            else:
                last = _whole([_checked(event) async for event in inquiry.events()], raw=question.raw)
                await self._begin("json", [(b"content-length", b"%d" % len(last))], send)
        finally:
            await inquiry.close()
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _begin(self, form: Form, further: Fields, send: Send) -> None:
        media = MEDIA[form] + ("; charset=utf-8" if form == "text" else "")
        headers = [(b"content-type", media.encode("ascii")), NO_STORE, self._source, *further]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _stream(self, exchange: Exchange, inquiry: Inquiry, write: Callable[[Event], bytes], send: Send) -> None:
        """Send events. What is kept must be whole, so what cannot be finished is no answer there."""
        await self._begin("sse", [_UNBUFFERED], send)
        try:
            await _pass_on(inquiry, write, send)
        except Exception as error:
            if exchange.kept:
                raise
            told = error.message if isinstance(error, ServiceError) else errors.internal(exchange.request_id).message
            await send({"type": "http.response.body", "body": _event(Failed(told)), "more_body": True})
            if not isinstance(error, ServiceError):
                raise


async def _pass_on(inquiry: Inquiry, write: Callable[[Event], bytes], send: Send) -> None:
    """Send the head, which need not wait, then each event that has something to say in this form."""
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    async for event in inquiry.events():
        piece = write(_checked(event))
        if piece:
            await send({"type": "http.response.body", "body": piece, "more_body": True})


def _checked(event: Event) -> Event:
    """Let an event pass, unless it says that the answer ends here unfinished."""
    if isinstance(event, Failed):
        raise ServiceError("INTERNAL", event.error)
    return event


def _prose(event: Event) -> bytes:
    return event.text.encode() if isinstance(event, Text) else b""


def _event(event: Event) -> bytes:
    data = event.understanding if isinstance(event, Classified) else event
    return b"event: %b\ndata: %b\n\n" % (_NAMES[type(event)], encode(data))


def _without_text(event: Event) -> bytes:
    return b"" if isinstance(event, Text) else _event(event)


def _whole(events: Sequence[Event], *, raw: bool) -> bytes:
    """An answer as one JSON object."""
    steps = tuple(event for event in events if isinstance(event, Step))
    if raw:
        (classification,) = (event for event in events if isinstance(event, Classified))
        (plan,) = (event for event in events if isinstance(event, Plan))
        return encode(Findings(classification.understanding, plan, steps))
    text = "".join(event.text for event in events if isinstance(event, Text))
    sources: tuple[Source, ...] = next((event.sources for event in events if isinstance(event, Done)), ())
    return encode(Told(text, steps, sources))

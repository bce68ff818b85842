"""The endpoint of the question route: sends the answer as it is found, in the form that the caller prefers.

Text and events leave piece by piece, JSON as a whole. Text that cannot be finished is cut off, so that a client can
notice; a stream of events ends with an `error` event.
"""

from collections.abc import Callable, Sequence
from typing import Final, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from service.errors import ServiceError
from service.http.gate import RouteEndpoint
from service.http.gates.payment import PaymentGate
from service.http.negotiation import MEDIA, Form, form_of
from service.http.request import RequestContext, run_until_disconnect
from service.http.response import NO_STORE, HeaderFields, internal_error
from service.routes.call import Call, PendingAnswer, QuestionRoute
from service.wire.ask import (
    Classified,
    Done,
    Event,
    Failed,
    Findings,
    Plan,
    Question,
    QuestionAnswer,
    Source,
    Step,
    Text,
)
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
"""Tells nginx to pass pieces on as they come."""


class QuestionEndpoint(RouteEndpoint):
    """Answers questions.

    Args:
        endpoint: The bound route.
        source: Where data comes from, for `X-Data-Source`.
        default: The form for callers without a preference.
    """

    waits = True

    def __init__(self, endpoint: QuestionRoute, source: str, default: Form) -> None:
        self._endpoint = endpoint
        self._source = (b"x-data-source", source.encode("ascii"))
        self._default = default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. When the peer leaves, the work is cancelled unless the response is stored.

        Raises:
            ServiceError: The route's error; nothing was sent, or text that is cut off.
            PeerGoneError: If the peer left.
        """
        request: RequestContext = scope["verdict"]
        sending = self._send(request, form_of(scope, self._default), send)
        if request.buffered:
            await sending
        else:
            await run_until_disconnect(receive, sending)

    async def _send(self, request: RequestContext, form: Form, send: Send) -> None:
        question = cast("Question", request.body)
        inquiry = await self._endpoint.ask(Call(request.parameters, question, request.caller))
        last = b""
        try:
            request.counted = inquiry.counted
            if form == "sse":
                await self._stream(request, inquiry, _without_text if question.raw else _event, send)
            elif form == "text" and not question.raw:
                await self._begin("text", [_UNBUFFERED], send)
                await _pass_on(inquiry, _prose, send)
            else:
                last = _whole([_checked(event) async for event in inquiry.events()], raw=question.raw)
                await self._begin("json", [(b"content-length", b"%d" % len(last))], send)
        finally:
            await inquiry.close()
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _begin(self, form: Form, further: HeaderFields, send: Send) -> None:
        media = MEDIA[form] + ("; charset=utf-8" if form == "text" else "")
        headers = [(b"content-type", media.encode("ascii")), NO_STORE, self._source, *further]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _stream(
        self, request: RequestContext, inquiry: PendingAnswer, write: Callable[[Event], bytes], send: Send
    ) -> None:
        """Send events. A stored response must be complete, so a failure is raised there."""
        await self._begin("sse", [_UNBUFFERED], send)
        try:
            await _pass_on(inquiry, write, send)
        except Exception as error:
            if request.buffered:
                raise
            failure = error if isinstance(error, ServiceError) else internal_error(request.request_id)
            await send({"type": "http.response.body", "body": _event(Failed(failure.message)), "more_body": True})
            if not isinstance(error, ServiceError):
                raise


async def _pass_on(inquiry: PendingAnswer, write: Callable[[Event], bytes], send: Send) -> None:
    """Send the head at once, then each event that has bytes in this form."""
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    async for event in inquiry.events():
        piece = write(_checked(event))
        if piece:
            await send({"type": "http.response.body", "body": piece, "more_body": True})


def _checked(event: Event) -> Event:
    """Return the event; raise if it says that the answer failed."""
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
    return encode(QuestionAnswer(text, steps, sources))


class TokenBranch(RouteEndpoint):
    """Sends a request with a token one way and one without a token another.

    Args:
        with_token: The stack for callers with a token.
        without_token: The stack for callers without one.
    """

    waits = True

    def __init__(self, with_token: ASGIApp, without_token: ASGIApp) -> None:
        self._with_token = with_token
        self._without_token = without_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call one of the stacks."""
        request: RequestContext = scope["verdict"]
        app = self._without_token if request.caller is None else self._with_token
        await app(scope, receive, send)


class AnonymousPaymentBranch:
    """For callers without a token under `VERDICT_ANONYMOUS=pay`: a device's free question, or a payment.

    Args:
        free: The stack of a device's free question.
        payment: The stack of the payment gate, which answers with the challenge if a request carries no payment.
    """

    def __init__(self, free: ASGIApp, payment: ASGIApp) -> None:
        self._free = free
        self._payment = payment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with 402 if there is neither a payment nor a free question.

        Raises:
            ServiceError: RATE_LIMITED, or the route's error.
            PeerGoneError: If the peer left.
        """
        if not PaymentGate.has_payment(scope["verdict"]):
            try:
                await self._free(scope, receive, send)
            except ServiceError as error:
                if error.code != "AUTH_REQUIRED":
                    raise
            else:
                return
        await self._payment(scope, receive, send)

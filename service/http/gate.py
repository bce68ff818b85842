"""Gates and endpoints: the two kinds of ASGI application that a route is built of."""

from collections.abc import Coroutine
from inspect import iscoroutinefunction
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.clock import Clock
from service.http.request import RequestContext
from service.http.response import JSON, NO_STORE, Response, response
from service.routes.call import Call, Endpoint, WaitingRoute
from service.wire.envelope import Answer, encode, success
from service.wire.offer import Offer

Outcome = Response | Coroutine[Any, Any, Response | None] | None
"""What a gate decides: None lets the request pass, a response answers it, a coroutine has to wait for either."""


class RequestGate:
    """One check that a request must pass, as a pure ASGI middleware.

    Args:
        app: The application behind the gate.

    Attributes:
        wraps: Whether the gate also handles the response of the application, in `wrap`.
    """

    wraps = False

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def check(self, request: RequestContext) -> Outcome:
        """Let the request pass (None), answer it, or raise a `ServiceError`.

        The fast path calls it too. When the same head comes again on a connection, it calls the gates of the route
        again but not those of the whole application (`App`): those may depend on the head alone. No side effect may
        come before a coroutine is returned.
        """
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request, then answer it or pass it on."""
        request: RequestContext = scope["verdict"]
        outcome = self.check(request)
        response = await outcome if isinstance(outcome, Coroutine) else outcome
        if response is not None:
            await response(scope, receive, send)
        else:
            await self.pass_on(request, receive, send)

    async def pass_on(self, request: RequestContext, receive: Receive, send: Send) -> None:
        """Go on with a request that has passed."""
        if self.wraps:
            await self.wrap(request, receive, send)
        else:
            await self.app(request.scope, receive, send)

    async def wrap(self, request: RequestContext, receive: Receive, send: Send) -> None:
        """Call the application and handle its response."""
        raise NotImplementedError


class RouteEndpoint:
    """The end of a route: makes the response.

    Attributes:
        waits: Whether `respond` returns a coroutine, or the endpoint sends its response itself.
    """

    waits = False

    def respond(self, request: RequestContext) -> Response | Coroutine[Any, Any, Response]:
        """Make the response, or a coroutine of it."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        result = self.respond(scope["verdict"])
        response = await result if isinstance(result, Coroutine) else result
        await response(scope, receive, send)


_OK: Final = 200


class AnswerEndpoint(RouteEndpoint):
    """Runs one route function.

    Args:
        offer: The route.
        endpoint: Its bound function.
        clock: Time.
        source: Where data comes from, for `X-Data-Source`.

    Attributes:
        waits: Whether the route function waits for something before it can answer.
        known: Raises for parameters that name something that does not exist; None if the route function checks them.
    """

    def __init__(self, offer: Offer, endpoint: Endpoint, clock: Clock, source: str) -> None:
        self.waits = isinstance(endpoint, WaitingRoute) or iscoroutinefunction(endpoint)
        self.known = endpoint.known if isinstance(endpoint, WaitingRoute) else None
        self._enveloped = offer.envelope
        self._endpoint = endpoint
        self._clock = clock
        self._headers: Final = (JSON, NO_STORE, (b"x-data-source", source.encode("ascii")))
        self._last: tuple[Answer | None, int, Response] = (None, 0, response(_OK, (), b""))

    def respond(self, request: RequestContext) -> Response | Coroutine[Any, Any, Response]:
        """Call the route function; its errors pass as they are."""
        call = Call(request.parameters, request.body, request.caller, request.payer, request.network)
        result = self._endpoint(call)
        return self._encode(request, result) if isinstance(result, Answer) else self._wait(request, result)

    async def _wait(self, request: RequestContext, result: Coroutine[object, object, Answer]) -> Response:
        return self._encode(request, await result)

    def _encode(self, request: RequestContext, answer: Answer) -> Response:
        """Encode an answer; the same answer in the same millisecond is encoded once."""
        request.counted = answer.counted
        now_ms = self._clock.now_ms()
        last, at_ms, encoded = self._last
        if answer is not last or now_ms != at_ms:
            encoded = response(_OK, self._headers, success(answer, now_ms) if self._enveloped else encode(answer.data))
            self._last = answer, now_ms, encoded
        return encoded

"""The end of the way: run the route function, wrap what it returns, answer."""

from inspect import iscoroutinefunction
from typing import Final, cast

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from service.clock import Clock
from service.http.errors import JSON, NO_STORE
from service.http.exchange import Exchange
from service.http.whole import Whole, whole
from service.routes.call import Call, Endpoint, Waiting
from service.wire.envelope import Answer, encode, success
from service.wire.offers import Offer

_OK: Final = 200


class Serve:
    """Runs one route.

    Args:
        offer: The route.
        endpoint: Its bound function.
        clock: Time.
        source: Where data comes from, for `X-Data-Source`.

    Attributes:
        waits: Whether the route function has to wait for something before it can answer.
        known: Refuses parameters of which the route knows without waiting that it has no answer.
    """

    def __init__(self, offer: Offer, endpoint: Endpoint, clock: Clock, source: str) -> None:
        self.waits = isinstance(endpoint, Waiting) or iscoroutinefunction(endpoint)
        self.known = endpoint.known if isinstance(endpoint, Waiting) else _anything
        self._enveloped = offer.envelope
        self._endpoint = endpoint
        self._clock = clock
        self._fields: Final = (JSON, NO_STORE, (b"x-data-source", source.encode("ascii")))
        self._last: tuple[Answer | None, int, Whole] = (None, 0, whole(_OK, (), b""))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer with what the route function returns; its failures cross as they are."""
        exchange: Exchange = scope["verdict"]
        call = Call(exchange.parameters, exchange.body, exchange.caller, exchange.payer, exchange.network)
        result = self._endpoint(call)
        answer = result if isinstance(result, Answer) else await result
        exchange.counted = answer.counted
        await self.written(answer).send(send, bodiless=scope["method"] == "HEAD")

    def answer(self, exchange: Exchange) -> Answer:
        """What a route that answers from memory returns; its failures cross as they are."""
        return cast("Answer", self._endpoint(Call(exchange.parameters, exchange.body, exchange.caller)))

    def written(self, answer: Answer) -> Whole:
        """An answer with its envelope; who asks in the same millisecond for what a desk keeps gets the same bytes."""
        now_ms = self._clock.now_ms()
        last, at_ms, written = self._last
        if answer is not last or now_ms != at_ms:
            written = whole(_OK, self._fields, success(answer, now_ms) if self._enveloped else encode(answer.data))
            self._last = answer, now_ms, written
        return written


def _anything(_: Struct) -> None:
    """Nothing can be refused before the route runs."""

"""The gate of the quota: a counted call uses up one question, exactly once, when its answer exists.

A route that answers from memory runs first and is charged at the first byte of its success, reserve and commit in one
transaction. A route that has to wait reserves, runs, and commits or releases. Nothing that is counted is answered
before its count is durable; what is refused is answered by `due` instead. A caller whose last questions are only
reserved for calls under way gets a 429 to be repeated in a second: its quota is not spent, so nothing is due.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.caller import Caller
from service.access.meter import Meter, Waiter
from service.access.standing import Decision, Standing
from service.clock import Clock
from service.errors import ServiceError
from service.http import quota
from service.http.exchange import Exchange
from service.http.reservation import Reservation, is_counted
from service.http.whole import Whole
from service.wire.offers import Offer


class Due(Protocol):
    """Answers a call whose quota is spent: the challenge of a priced route, a 429 for a stream."""

    def __call__(self, scope: Scope, receive: Receive, send: Send, standing: Standing, /) -> Awaitable[None]:
        """Send the answer."""

    def written(self, scope: Scope, standing: Standing) -> Whole:
        """The answer, for GET; or its failure, raised."""


class Metered:
    """Counts the calls of one route.

    The connection tells the meter right before an answer leaves (`delivered` in the message of its head), so that a
    process killed between count and answer can give the question back.

    Args:
        app: What stands behind the gate.
        offer: The route.
        meter: Keeps the quotas.
        clock: Time.
        due: Answers when the quota is spent.
        waits: Whether the route has to wait for something before it can answer.
    """

    def __init__(self, app: ASGIApp, offer: Offer, meter: Meter, clock: Clock, due: Due, *, waits: bool) -> None:
        self.app = app
        self._offer_id = offer.id
        self._meter = meter
        self._clock = clock
        self._due = due
        self._way = self._reserve if waits else self._charge

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve a call for a question; HEAD, and what a payment stands for, for none."""
        exchange: Exchange = scope["verdict"]
        if exchange.paid:
            return self.app(scope, receive, send)
        way = self._look if scope["method"] == "HEAD" else self._way
        return way(exchange, exchange.known_caller, scope, receive, send)

    async def _look(self, exchange: Exchange, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        standing = await self._meter.standing(caller)
        self._show(exchange, standing)
        if standing.remaining == 0:
            await self._refuse(scope, receive, send, standing)
        else:
            await self.app(scope, receive, send)

    async def _charge(self, exchange: Exchange, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        spent: Standing | None = None

        async def charging(message: Message) -> None:
            nonlocal spent
            if spent is not None:
                return
            if message["type"] == "http.response.start" and is_counted(message, exchange):
                decision = await self._meter.charge(caller, self._offer_id)
                delivered = self.settle(exchange, decision)
                if delivered is None:
                    spent = decision.standing
                    return
                message["delivered"] = delivered
            await send(message)

        await self.app(scope, receive, charging)
        if spent is not None:
            await self._refuse(scope, receive, send, spent)

    def spent(self, exchange: Exchange) -> Standing | None:
        """How the caller stands if it is known to have no question free; noted on the answer then."""
        standing = self._meter.spent(exchange.known_caller)
        if standing is not None:
            self._show(exchange, standing)
        return standing

    def refusal(self, scope: Scope, standing: Standing) -> Whole:
        """What a caller with no free question is answered, for GET.

        Raises:
            ServiceError: RATE_LIMITED where its last questions are only reserved, or as the route refuses.
        """
        _check_spent(standing)
        return self._due.written(scope, standing)

    def ask(self, exchange: Exchange, waiter: Waiter) -> None:
        """Charge for an answer that exists, without awaiting: the waiter is told."""
        self._meter.ask(exchange.known_caller, self._offer_id, waiter)

    def settle(self, exchange: Exchange, decision: Decision) -> Callable[[], None] | None:
        """Note on an answer what the meter decided.

        Returns:
            What is to be called right before the answer leaves, if it is counted; else None.
        """
        self._show(exchange, decision.standing)
        return None if decision.event_id is None else partial(self._meter.delivered, decision.event_id)

    async def _reserve(self, exchange: Exchange, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        spent = self.spent(exchange)
        if spent is not None:
            await self._refuse(scope, receive, send, spent)
            return
        decision = await self._meter.reserve(caller, self._offer_id)
        event_id = decision.event_id
        if event_id is None:
            self._show(exchange, decision.standing)
            await self._refuse(scope, receive, send, decision.standing)
            return
        reservation = Reservation(self._meter, event_id, exchange)

        async def settling(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Before the caller is told what is left: an answer that costs nothing shows nothing spent.
                counted = await reservation.settle(message)
                self._show(exchange, decision.standing if counted else await self._meter.standing(caller))
            await send(message)

        try:
            await self.app(scope, receive, settling)
        finally:
            await reservation.end()

    def _refuse(self, scope: Scope, receive: Receive, send: Send, standing: Standing) -> Awaitable[None]:
        _check_spent(standing)
        return self._due(scope, receive, send, standing)

    def _show(self, exchange: Exchange, standing: Standing) -> None:
        exchange.fields += quota.fields(standing, self._clock)


def _check_spent(standing: Standing) -> None:
    """Refuse a caller whose quota is not spent, but whose last questions are reserved for calls under way.

    Raises:
        ServiceError: RATE_LIMITED with `Retry-After: 1`.
    """
    if standing.busy:
        raise ServiceError(
            "RATE_LIMITED",
            "Your remaining questions are reserved for calls that are still being answered. Try again in 1 s.",
            headers={"Retry-After": "1"},
        )

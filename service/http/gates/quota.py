"""The quota gates: a counted call uses one question, exactly once, when its response exists.

A route that answers from memory runs first and is charged at the head of its success, in one transaction. A route that
waits reserves a question, runs, and commits or releases; so does a route whose response is stored. No counted response
leaves before its count is durable. A caller whose last questions are only reserved for calls under way gets a 429 with
`Retry-After: 1`: its quota is not spent, so no payment is required.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Send

from service.access.meter import DecisionWaiter, Meter
from service.access.quota import ChargeDecision, QuotaStatus
from service.clock import Clock
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.quota_response import quota_details, quota_headers
from service.http.request import RequestContext
from service.http.response import Response
from service.wire.offer import Offer

_FIRST_ERROR: Final = 400

Refusal = Callable[[RequestContext, QuotaStatus], Response]
"""Answers a call whose quota is spent: the challenge of a priced route, or the 429 of a stream, raised."""


class QuotaGate(RequestGate):
    """Counts the calls of one route.

    `Meter.delivered` is called directly before a response leaves, so that the next start can return the question of a
    process that was killed between count and response.

    Args:
        app: The application behind the gate.
        offer: The route.
        meter: Keeps the quotas.
        clock: Time.
        refuse: Answers when the quota is spent.
        waits: Whether the route waits for something before it can answer.
    """

    wraps = True

    def __init__(self, app: ASGIApp, offer: Offer, meter: Meter, clock: Clock, refuse: Refusal, *, waits: bool) -> None:
        super().__init__(app)
        self._offer_id = offer.id
        self._meter = meter
        self._clock = clock
        self._refuse = refuse
        self._waits = waits

    def check(self, request: RequestContext) -> Coroutine[None, None, Response | None] | None:
        """Refuse a HEAD whose GET would be refused. A paid request passes; GET and POST are charged by `wrap`."""
        return None if request.paid or request.scope["method"] != "HEAD" else self._check_head(request)

    async def _check_head(self, request: RequestContext) -> Response | None:
        standing = await self._meter.quota_status(request.known_caller)
        if standing.remaining == 0:
            return self.refusal(request, standing)
        self._show(request, standing)
        return None

    async def wrap(self, request: RequestContext, receive: Receive, send: Send) -> None:
        """Run the route for a question; HEAD and a paid request use none."""
        if request.paid or request.scope["method"] == "HEAD":
            await self.app(request.scope, receive, send)
        elif self._waits or request.buffered:
            await self._reserve(request, receive, send)
        else:
            await self._charge(request, receive, send)

    async def _charge(self, request: RequestContext, receive: Receive, send: Send) -> None:
        spent: QuotaStatus | None = None

        async def charge(message: Message) -> None:
            nonlocal spent
            if spent is not None:
                return
            if message["type"] == "http.response.start" and _is_counted(message, request):
                decision = await self._meter.charge(request.known_caller, self._offer_id)
                before_write = self.show_decision(request, decision)
                if before_write is None:
                    spent = decision.quota_status
                    return
                request.delivery.before_write = before_write
            await send(message)

        await self.app(request.scope, receive, charge)
        if spent is not None:
            await self.refusal(request, spent)(request.scope, receive, send)

    async def _reserve(self, request: RequestContext, receive: Receive, send: Send) -> None:
        spent = self._meter.exhausted_status(request.known_caller)
        if spent is not None:
            await self.refusal(request, spent)(request.scope, receive, send)
            return
        decision = await self._meter.reserve(request.known_caller, self._offer_id)
        if decision.event_id is None:
            await self.refusal(request, decision.quota_status)(request.scope, receive, send)
            return
        reservation = _Reservation(self._meter, decision.event_id, request)

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Before the headers are written: a response that costs nothing shows nothing used.
                counted = await reservation.commit_or_release(message)
                left = decision.quota_status if counted else await self._meter.quota_status(request.known_caller)
                self._show(request, left)
            await send(message)

        try:
            await self.app(request.scope, receive, send_counted)
        finally:
            await reservation.end()

    def refusal(self, request: RequestContext, standing: QuotaStatus) -> Response:
        """The response to a caller with no free question, with the quota in its headers.

        Raises:
            ServiceError: RATE_LIMITED with `Retry-After: 1` if its last questions are only reserved for open calls;
                or the route's refusal.
        """
        self._show(request, standing)
        if standing.busy:
            raise ServiceError(
                "RATE_LIMITED",
                "Your remaining questions are reserved for calls that are still being answered. Try again in 1 s.",
                details=quota_details(standing, None),
                headers={"Retry-After": "1"},
            )
        return self._refuse(request, standing)

    def charge_nowait(self, request: RequestContext, waiter: DecisionWaiter) -> Response | None:
        """Charge for a response that exists; the waiter gets the decision.

        Returns:
            The refusal, if the quota is known to be spent: nothing is charged.

        Raises:
            ServiceError: As `refusal`.
        """
        caller = request.known_caller
        spent = self._meter.exhausted_status(caller)
        if spent is not None:
            return self.refusal(request, spent)
        self._meter.charge_nowait(caller, self._offer_id, waiter)
        return None

    def show_decision(self, request: RequestContext, decision: ChargeDecision) -> Callable[[], None] | None:
        """Show the quota of a counted call in the response headers.

        Returns:
            The callback for directly before the response leaves; None if the call is refused.
        """
        if decision.event_id is None:
            return None
        self._show(request, decision.quota_status)
        return partial(self._meter.delivered, decision.event_id)

    def _show(self, request: RequestContext, standing: QuotaStatus) -> None:
        request.response_headers += quota_headers(standing, self._clock)


class QuotaHeadersGate(RequestGate):
    """Shows the quota in the headers of a free route.

    Args:
        app: The application behind the gate.
        meter: Keeps the quotas.
        clock: Time.
    """

    def __init__(self, app: ASGIApp, meter: Meter, clock: Clock) -> None:
        super().__init__(app)
        self._meter = meter
        self._clock = clock

    def check(self, request: RequestContext) -> Coroutine[None, None, None] | None:
        """Look the quota up, on the event loop if the store can be read at once."""
        status = self._meter.quota_status_now(request.known_caller)
        if status is None:
            return self._wait(request)
        request.response_headers += quota_headers(status, self._clock)
        return None

    async def _wait(self, request: RequestContext) -> None:
        request.response_headers += quota_headers(await self._meter.quota_status(request.known_caller), self._clock)


class DeviceQuotaGate(RequestGate):
    """Reserves and counts a device's one free question. Stands behind the anonymous gate and the body gate.

    Args:
        app: The application behind the gate.
        offer: The route.
        meter: Keeps the questions.
    """

    wraps = True

    def __init__(self, app: ASGIApp, offer: Offer, meter: Meter) -> None:
        super().__init__(app)
        self._offer_id = offer.id
        self._meter = meter

    def check(self, request: RequestContext) -> None:
        """Require a device.

        Raises:
            RuntimeError: If the anonymous gate is missing.
        """
        if request.device is None:
            raise RuntimeError("The device quota gate must stand behind the anonymous gate.")

    async def wrap(self, request: RequestContext, receive: Receive, send: Send) -> None:
        """Run the route for the device's question.

        Raises:
            ServiceError: AUTH_REQUIRED, RATE_LIMITED, UNAVAILABLE.
        """
        assert request.device is not None  # noqa: S101 - checked
        event_id = await self._meter.anonymous.reserve(request.device, self._offer_id)
        reservation = _Reservation(self._meter, event_id, request)

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                await reservation.commit_or_release(message)
            await send(message)

        try:
            await self.app(request.scope, receive, send_counted)
        finally:
            await reservation.end()


class _Reservation:
    """One reserved question: committed before the first byte of its response, or released."""

    def __init__(self, meter: Meter, event_id: int, request: RequestContext) -> None:
        self._meter = meter
        self._event_id = event_id
        self._request = request
        self._open = True

    async def commit_or_release(self, head: Message) -> bool:
        """Commit or release the question, depending on the response's head.

        A buffered response is committed in the transaction that stores it: that gate commits the question.

        Returns:
            Whether the response is counted.

        Raises:
            ServiceError: UNAVAILABLE if it cannot be counted; the response must not leave.
        """
        counted = _is_counted(head, self._request)
        if not counted:
            await self._meter.release(self._event_id)
        elif self._request.buffered:
            self._request.reserved = self._event_id
        else:
            await self._meter.commit(self._event_id)
            self._request.delivery.before_write = partial(self._meter.delivered, self._event_id)
        self._open = False
        return counted

    async def end(self) -> None:
        """Release the question unless it was committed or released. Never raises."""
        if self._open:
            await self._meter.release(self._event_id)


def _is_counted(head: Message, request: RequestContext) -> bool:
    return head["status"] < _FIRST_ERROR and request.counted

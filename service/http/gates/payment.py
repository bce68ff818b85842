"""The payment gate of priced routes.

It stands before the quota gate: a paid request never uses the free quota. The route runs first, its response is held
back, the payment is settled, and only then does the response leave. A response that fails or costs nothing is not
charged.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from hashlib import sha256
from typing import Final

from msgspec import Struct
from starlette.types import ASGIApp, Message

from service.access.caller import Caller
from service.access.meter import Meter
from service.access.quota import QuotaStatus
from service.clock import Clock
from service.errors import ServiceError
from service.http.gate import RequestGate, RouteEndpoint
from service.http.quota_response import quota_headers
from service.http.request import RequestContext
from service.http.response import Response, exact_response
from service.payments.checkout import Checkout
from service.payments.checks import is_key_signature
from service.payments.decode import PaymentHeader
from service.payments.errors import NotSettledError, PaymentRefusedError, outcome_headers, payment_pending
from service.payments.records import NO_ACCOUNT, PaymentRecord, Purchase
from service.storage.response_store import KEPT_MS, StoredResponse
from service.wire.offer import Offer

_CARRIERS: Final[dict[bytes, PaymentHeader]] = {b"payment-signature": "payment-signature", b"x-payment": "x-payment"}
_FIRST_ERROR: Final = 400
_PENDING: Final = payment_pending()

ChallengeResponse = Callable[[RequestContext, QuotaStatus | None, ServiceError | None], Response]
"""The route's 402: the caller's quota, and why a payment was refused if one came."""


class PaymentSetup(Struct, frozen=True):
    """What every payment gate needs: the checkout, and for challenges the caller's quota.

    `public_url` is the scheme and host that callers use, if the service stands behind a proxy. `anonymous` is whether
    callers without an account may pay.
    """

    checkout: Checkout
    meter: Meter
    clock: Clock
    public_url: str | None
    anonymous: bool


class PaymentGate(RequestGate):
    """Sells one route's responses. A caller with an account and no payment passes, to be charged by the quota.

    Args:
        app: The application behind the gate.
        offer: The route.
        setup: What every payment gate needs.
        challenge: Makes the route's 402.
        endpoint: The route's endpoint, if it answers from memory: it is called before the payment is looked up, which
            would take longer.
    """

    def __init__(
        self,
        app: ASGIApp,
        offer: Offer,
        setup: PaymentSetup,
        challenge: ChallengeResponse,
        endpoint: RouteEndpoint | None = None,
    ) -> None:
        super().__init__(app)
        self._offer = offer
        self._setup = setup
        self._checkout = setup.checkout
        self._challenge = challenge
        self._endpoint = endpoint

    @staticmethod
    def has_payment(request: RequestContext) -> bool:
        """Whether the request carries a payment."""
        return not _CARRIERS.keys().isdisjoint(request.headers)

    def check(self, request: RequestContext) -> Coroutine[None, None, Response | None] | Response | None:
        """Sell the response to a request with a payment; HEAD is served as if it came without one.

        Raises:
            ServiceError: BAD_REQUEST for two payments or one that cannot be read; PAYMENT_REUSED; PAYMENT_PENDING; or
                the route's error, unpaid.
        """
        if request.key_hash is not None:
            return self._find(request, request.key_hash)
        if request.caller is not None and _CARRIERS.keys().isdisjoint(request.headers):
            return None  # the common case, without another call
        return self._serve(request)

    def _serve(self, request: RequestContext) -> Coroutine[None, None, Response] | Response | None:
        if request.scope["method"] != "HEAD" and self.has_payment(request):
            return self._sell(request)
        return self._challenge(request, None, None) if self._caller(request) is None else None

    async def _find(self, request: RequestContext, key_hash: str) -> Response | None:
        """Give the response that this request's key has bought already, if a crash kept it from being stored."""
        since_ms = self._setup.clock.now_ms() - KEPT_MS
        record = await self._checkout.find_bought(self._user_id(request), key_hash, since_ms)
        if record is not None and record.answer is not None:
            request.paid = True
            return self._hand_over(request, record, record.answer)
        outcome = self._serve(request)
        return await outcome if isinstance(outcome, Coroutine) else outcome

    async def _sell(self, request: RequestContext) -> Response:
        carrier, value = _payment_of(request)
        body = b"" if self._offer.body is None else await request.read_body()
        request.doubt = _PENDING
        request.paid = request.buffered = True
        try:
            checked = self._checkout.check(carrier, value, self._offer)
            answer = self._answer_now(request) if checked.refusal is None else None
            record = await self._checkout.claim(self._purchase(request, body), checked, look=answer is None)
            if record.answer is not None:
                return self._hand_over(request, record, record.answer)
            if answer is None:
                answer = await self._run(request, record)
            if _is_sold(answer.status, request):
                record = await self._checkout.settle(record, answer)
        except PaymentRefusedError as error:
            if isinstance(error, NotSettledError):
                request.response_headers += error.fields
            return await self._refuse(request, error)
        return self._hand_over(request, record, record.answer or answer)

    def _answer_now(self, request: RequestContext) -> StoredResponse | None:
        """The response of a route that answers from memory; None if the route waits, or has nothing to sell.

        A route that has nothing to sell runs again after the payment was looked up: it may have paid for a response.
        """
        if self._endpoint is None:
            return None
        try:
            response = self._endpoint.respond(request)
        except Exception:  # noqa: BLE001 - the route runs again, and fails again
            return None
        if isinstance(response, Coroutine) or not _is_sold(response.status, request):
            return None
        return StoredResponse(response.status, response.headers, response.body)

    async def _run(self, request: RequestContext, record: PaymentRecord) -> StoredResponse:
        """Run the route and hold its response back; release the payment if the response costs nothing."""
        held = _HeldResponse()
        sold = False
        try:
            await self.app(request.scope, request.receive, held)
            sold = _is_sold(held.status, request)
        finally:
            if not sold:
                self._checkout.release(record)
        return StoredResponse(held.status, tuple(held.headers), bytes(held.body))

    def _hand_over(self, request: RequestContext, record: PaymentRecord, answer: StoredResponse) -> Response:
        if record.state == "claimed":
            return exact_response(answer.status, answer.headers, answer.body)
        request.delivery.before_write = partial(self._checkout.ledger.delivered, record)
        return exact_response(answer.status, (*answer.headers, *outcome_headers(record)), answer.body)

    async def _refuse(self, request: RequestContext, refused: ServiceError) -> Response:
        standing = None
        caller = self._caller(request)
        if caller is not None:
            standing = await self._setup.meter.committed_quota_status(caller)
            request.response_headers += quota_headers(standing, self._setup.clock)
        return self._challenge(request, standing, refused)

    def _caller(self, request: RequestContext) -> Caller | None:
        """Who pays; None if callers without an account may, and this one has none."""
        return request.caller if self._setup.anonymous else request.known_caller

    def _user_id(self, request: RequestContext) -> int:
        caller = self._caller(request)
        return NO_ACCOUNT if caller is None else caller.user_id

    def _purchase(self, request: RequestContext, body: bytes) -> Purchase:
        method: str = request.scope["method"]
        return Purchase(
            user_id=self._user_id(request),
            offer_id=self._offer.id,
            method=method,
            resource=request.url(self._setup.public_url),
            request_hash=sha256(b"%b %b\n%b" % (method.encode("ascii"), request.target, body)).hexdigest(),
            price=self._offer.price,
            key_hash=request.key_hash,
        )


def payer_of(checkout: Checkout, offer: Offer, request: RequestContext) -> str | None:
    """The address that signed the payment of a request, in lower case.

    Returns:
        The address. None if there is no payment, or it does not buy this route, or a contract signed it: only its chain
        can verify that.

    Raises:
        ServiceError: BAD_REQUEST for two payments or one that cannot be read.
    """
    if not PaymentGate.has_payment(request):
        return None
    try:
        checked = checkout.check(*_payment_of(request), offer)
    except PaymentRefusedError:
        return None
    return checked.payment.payer if checked.refusal is None and is_key_signature(checked.payment) else None


class _HeldResponse:
    """The route's response, until its payment is settled."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = message["headers"]
        else:
            self.body += message["body"]


def _is_sold(status: int, request: RequestContext) -> bool:
    """Whether a response of the route costs its price."""
    return status < _FIRST_ERROR and request.counted


def _payment_of(request: RequestContext) -> tuple[PaymentHeader, bytes]:
    found = [(carrier, request.headers[name]) for name, carrier in _CARRIERS.items() if name in request.headers]
    if len(found) > 1:
        raise ServiceError("BAD_REQUEST", "A request may have one payment header: PAYMENT-SIGNATURE or X-PAYMENT.")
    return found[0]

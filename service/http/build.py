"""Builds the application: every route with its gates.

The order, from the outside: CORS and the limits of a request (they depend on its head alone); authentication, so that
the rate limit knows the caller; rate limit; parameters, so that a wrong request is never charged; the number of open
streams; a repeated request (`Idempotency-Key`), which is charged once; payment; quota; the body.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from service.access.factory import Access
from service.access.meter import Meter
from service.access.rate_limiter import FailedTokens, RateLimiter, RequestLimiter
from service.clock import Clock
from service.http.app import App
from service.http.browser import MissingPageEndpoint, Site
from service.http.browser import routes as browser_routes
from service.http.documents import DocumentEndpoint, PublicDocument
from service.http.gate import AnswerEndpoint
from service.http.gates.anonymous import AnonymousGate, NetworkGate, PayerSignatureGate
from service.http.gates.authentication import AuthenticationGate
from service.http.gates.body import BodyGate
from service.http.gates.cors import CorsGate
from service.http.gates.idempotency import Form, IdempotencyGate
from service.http.gates.limits import RateLimitGate, RequestLimitsGate
from service.http.gates.parameters import ParameterGate
from service.http.gates.payment import PaymentGate, PaymentSetup, payer_of
from service.http.gates.quota import DeviceQuotaGate, QuotaGate, QuotaHeadersGate, Refusal
from service.http.gates.stream_limit import StreamLimitGate
from service.http.health import LIVE, READY, Health
from service.http.negotiation import Form as MediaForm
from service.http.negotiation import form_of
from service.http.question_response import AnonymousPaymentBranch, QuestionEndpoint, TokenBranch
from service.http.quota_response import PaymentRequiredResponse, StreamRefusal
from service.http.request import RequestContext
from service.http.streaming import StreamEndpoint
from service.payments.factory import Payments
from service.routes.call import Bound, Endpoint, QuestionRoute, StreamRoute
from service.settings import Settings
from service.wire.ask import Question
from service.wire.offer import Offer


class Public(Struct, frozen=True):
    """Routes that need no token and are not offers: documents by path, the probes, and pages if they are served."""

    documents: Mapping[str, PublicDocument]
    health: Health
    site: Site | None = None


_SHOWS_QUOTA: Final = "billing.tier"
_TOKEN_OPTIONAL: Final = frozenset({"question", "payer"})
"""Offers whose route accepts requests without a token, each by its own rules."""
_SIGNS_IN: Final = "auth.login"


class _Routes:
    """Builds each route: its gates, in the order above, and its endpoint."""

    def __init__(self, settings: Settings, clock: Clock, access: Access, meter: Meter, payments: Payments) -> None:
        self._settings = settings
        self._clock = clock
        self._authenticator = access.authenticator
        self.limiter = RequestLimiter(access.rate_limiter, settings.trusted_proxies)
        rate = partial(RateLimiter, clock, settings.rate_per_minute, settings.rate_burst)
        self._failed = FailedTokens(rate(), rate(), self.limiter.host_of)
        self._visitors = access.anonymous
        self._meter = meter
        self._challenges = payments.challenges
        anonymous = settings.anonymous == "pay"
        self._payment = PaymentSetup(payments.checkout, meter, clock, settings.public_url, anonymous=anonymous)
        self._checkout = payments.checkout
        self._stream_expiry = access.stream_expiry

    def route(self, offer: Offer, endpoint: Bound) -> Route:
        """The route of an offer, whatever kind of endpoint it has."""
        if isinstance(endpoint, QuestionRoute):
            return self._question(offer, endpoint)
        if isinstance(endpoint, StreamRoute):
            return self._stream(offer, endpoint)
        return self._answer(offer, endpoint)

    def _question(self, offer: Offer, endpoint: QuestionRoute) -> Route:
        ask = QuestionEndpoint(endpoint, self._settings.source, self._settings.ask_default)
        body = Middleware(BodyGate, Question)
        form = partial(_form, self._settings.ask_default)
        idempotency = self._idempotency(offer, form)
        anonymous = Middleware(AnonymousGate, self.limiter, self._visitors)
        free = _stacked([anonymous, idempotency, body, Middleware(DeviceQuotaGate, offer, self._meter)], ask)
        if self._settings.anonymous == "pay":
            payment = PaymentGate(_stacked([body], ask), offer, self._payment, self._challenge(offer))
            free = AnonymousPaymentBranch(free, _stacked([idempotency], payment))
        known = _stacked([idempotency, *self._payment_and_quota_gates(offer), body], ask)
        gates = [*self._entrance(offer), Middleware(ParameterGate, offer)]
        return Route(offer.path, TokenBranch(known, free), methods=[offer.method], name=offer.id, middleware=gates)

    def _stream(self, offer: Offer, endpoint: StreamRoute) -> Route:
        gates = [
            *self._entrance(offer),
            Middleware(ParameterGate, offer, endpoint.known),
            Middleware(StreamLimitGate, self._meter.streams),
            *self._payment_and_quota_gates(offer),  # before the stream is joined
        ]
        stream = StreamEndpoint(endpoint, self._stream_expiry, self._settings.source)
        return Route(offer.path, stream, methods=[offer.method], name=offer.id, middleware=gates)

    def _answer(self, offer: Offer, function: Endpoint) -> Route:
        endpoint = AnswerEndpoint(offer, function, self._clock, self._settings.source)
        gates = [*self._entrance(offer), Middleware(ParameterGate, offer, endpoint.known)]
        if offer.gate == "payer":
            gates.append(Middleware(PayerSignatureGate, self._clock))
        if offer.payable:
            gates.append(self._idempotency(offer))
        gates += self._payment_and_quota_gates(offer, endpoint if not endpoint.waits and offer.body is None else None)
        if offer.body is not None:
            gates.append(Middleware(BodyGate, offer.body))
        if offer.id == _SIGNS_IN:
            gates.append(Middleware(NetworkGate, self.limiter, self._visitors))
        return Route(offer.path, endpoint, methods=[offer.method], name=offer.id, middleware=gates)

    def _entrance(self, offer: Offer) -> list[Middleware]:
        rate = Middleware(RateLimitGate, self.limiter)
        if offer.gate == "public":
            return [rate]
        optional = offer.gate in _TOKEN_OPTIONAL or (offer.payable and self._settings.anonymous == "pay")
        session_only = offer.gate == "session"
        known = {"session_only": session_only, "optional": optional}
        return [Middleware(AuthenticationGate, self._authenticator, self._failed, **known), rate]

    def _idempotency(self, offer: Offer, form: Form | None = None) -> Middleware:
        payer = partial(payer_of, self._checkout, offer)
        return Middleware(IdempotencyGate, offer, self._meter.idempotency, payer, form)

    def _payment_and_quota_gates(self, offer: Offer, endpoint: AnswerEndpoint | None = None) -> list[Middleware]:
        """The gates of payment and quota; `endpoint` is the route's if it answers from memory."""
        if not offer.counted:
            shows = offer.id == _SHOWS_QUOTA
            return [Middleware(QuotaHeadersGate, self._meter, self._clock)] if shows else []
        refuse: Refusal = StreamRefusal(self._clock)
        payment: list[Middleware] = []
        if offer.payable:
            refuse = challenge = self._challenge(offer)
            payment = [Middleware(PaymentGate, offer, self._payment, challenge, endpoint)]
        return [*payment, Middleware(QuotaGate, offer, self._meter, self._clock, refuse, waits=endpoint is None)]

    def _challenge(self, offer: Offer) -> PaymentRequiredResponse:
        return PaymentRequiredResponse(offer, self._challenges, self._settings.public_url)


def _form(default: MediaForm, request: RequestContext) -> str:
    return form_of(request.scope, default)


def _stacked(gates: Sequence[Middleware], app: ASGIApp) -> ASGIApp:
    """Put gates before an application, the first one outermost."""
    for gate, arguments, named in reversed(gates):
        app = gate(app, *arguments, **named)
    return app


def build_app(
    settings: Settings,
    clock: Clock,
    endpoints: Iterable[tuple[Offer, Bound]],
    *,
    access: Access,
    meter: Meter,
    payments: Payments,
    public: Public,
) -> App:
    """Build the application.

    Args:
        settings: Hosts, proxies, CORS, and where data comes from.
        clock: Time.
        endpoints: Offers with their bound route functions.
        access: Authentication and request rates.
        meter: Keeps the quotas.
        payments: Challenges and payments.
        public: Routes that need no token and are not offers.
    """
    built = _Routes(settings, clock, access, meter, payments)
    routes = [built.route(offer, endpoint) for offer, endpoint in endpoints]
    for path, document in public.documents.items():
        routes.append(Route(path, DocumentEndpoint(document), methods=["GET"], name=path))
    routes += [Route(path, public.health, methods=["GET"], name=path) for path in (LIVE, READY)]
    missing = None
    if public.site is not None:
        routes += browser_routes(public.site, built.limiter)
        missing = MissingPageEndpoint(public.site, built.limiter)
    limits = Middleware(RequestLimitsGate, settings.hosts, settings.key_prefix)
    return App(routes, [Middleware(CorsGate, settings.cors_origins), limits], missing, clock)

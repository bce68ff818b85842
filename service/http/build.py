"""Puts the stack together: for every offer the gates it needs, in the order of `contract.md` §4."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from service.access.meter import Meter
from service.access.rate import RequestRate
from service.access.room import Access
from service.clock import Clock
from service.http.accept import form_of
from service.http.anonymous import Anonymous
from service.http.app import App
from service.http.browser import Site
from service.http.browser import routes as browser_routes
from service.http.cors import Cors
from service.http.documents import Document
from service.http.fork import Fork
from service.http.gates.allowance import Allowance
from service.http.gates.auth import Auth
from service.http.gates.body import Body
from service.http.gates.device import Device
from service.http.gates.due import PaymentDue
from service.http.gates.guest import Guest
from service.http.gates.meter import Due, Metered
from service.http.gates.network import Network
from service.http.gates.parameters import Parameters
from service.http.gates.pay import Checkout, Pay
from service.http.gates.payer import Payer
from service.http.gates.rate import Rate
from service.http.gates.repeat import Repeat
from service.http.gates.seats import Seats
from service.http.health import LIVE, READY, Health
from service.http.limits import Limits
from service.http.pages import Page
from service.http.quota import StreamDue
from service.http.serve import Serve
from service.http.stream import Stream
from service.http.tell import Tell
from service.http.throttle import FailedTokens, Throttle
from service.payments.room import Payments
from service.routes.call import Asking, Bound, Endpoint, Watching
from service.settings import Settings
from service.wire.ask import Question
from service.wire.offers import Offer


class Public(Struct, frozen=True):
    """What needs no token and is no offer: documents by their paths, the probes, and what browsers are shown, if so."""

    documents: Mapping[str, Document]
    health: Health
    site: Site | None = None


_TELLS_WHAT_IS_LEFT: Final = "billing.tier"
_TOKEN_OPTIONAL: Final = frozenset({"question", "payer"})
"""Gates that may let a request through without a token, each by rules of its own."""
_SIGNS_IN: Final = "auth.login"


class _Stacks:
    """What the gates of every route share, and which of them a route needs."""

    def __init__(self, settings: Settings, clock: Clock, access: Access, meter: Meter, payments: Payments) -> None:
        self._settings = settings
        self._clock = clock
        self._doorkeeper = access.doorkeeper
        self.throttle = Throttle(access.rate, settings.trusted_proxies)
        rate = partial(RequestRate, clock, settings.rate_per_minute, settings.rate_burst)
        self._failed = FailedTokens(rate(), rate(), self.throttle.host_of)
        self._visitors = access.visitors
        self._meter = meter
        self._challenger = payments.challenger
        self._checkout = Checkout(
            payments.till, meter, clock, settings.public_url, anonymous=settings.anonymous == "pay"
        )
        self._oversight = access.oversight

    def route(self, offer: Offer, endpoint: Bound) -> Route:
        """The stack of a route, whatever it answers with."""
        if isinstance(endpoint, Asking):
            return self._asking(offer, endpoint)
        if isinstance(endpoint, Watching):
            return self._watching(offer, endpoint)
        return self._serving(offer, endpoint)

    def _asking(self, offer: Offer, endpoint: Asking) -> Route:
        tell = Tell(endpoint, self._settings.source, self._settings.ask_default)
        body = Middleware(Body, Question)
        repeat = Middleware(Repeat, self._meter.repeats, partial(form_of, default=self._settings.ask_default))
        guest = Middleware(Guest, self.throttle, self._visitors)
        stranger = _stacked([guest, repeat, body, Middleware(Device, offer, self._meter)], tell)
        if self._settings.anonymous == "pay":
            due = PaymentDue(offer, self._challenger, self._settings.public_url)
            stranger = Anonymous(stranger, Pay(_stacked([body], tell), offer, self._checkout, due))
        fork = Fork(known=_stacked([repeat, *self._till(offer, waits=True), body], tell), stranger=stranger)
        gates = [*self._entrance(offer), Middleware(Parameters, offer, lambda _: None)]
        return Route(offer.path, fork, methods=[offer.method], name=offer.id, middleware=gates)

    def _watching(self, offer: Offer, endpoint: Watching) -> Route:
        stream = Stream(endpoint, self._oversight, self._settings.source)
        gates = [
            *self._entrance(offer),
            Middleware(Parameters, offer, endpoint.known),
            Middleware(Seats, self._meter.streams),
            *self._till(offer, waits=True),  # a caller whose quota is spent must not have begun to follow
        ]
        return Route(offer.path, stream, methods=[offer.method], name=offer.id, middleware=gates)

    def _serving(self, offer: Offer, endpoint: Endpoint) -> Route:
        serve = Serve(offer, endpoint, self._clock, self._settings.source)
        gates = [
            *self._entrance(offer),
            Middleware(Parameters, offer, serve.known),
            *([Middleware(Payer, self._clock)] if offer.gate == "payer" else []),
            *self._till(offer, waits=serve.waits or offer.body is not None),
            *([] if offer.body is None else [Middleware(Body, offer.body)]),
            *([Middleware(Network, self.throttle, self._visitors)] if offer.id == _SIGNS_IN else []),
        ]
        return Route(offer.path, serve, methods=[offer.method], name=offer.id, middleware=gates)

    def _entrance(self, offer: Offer) -> list[Middleware]:
        rate = Middleware(Rate, self.throttle)
        if offer.gate == "public":
            return [rate]
        session_only = offer.gate == "session"
        optional = offer.gate in _TOKEN_OPTIONAL or (offer.payable and self._settings.anonymous == "pay")
        return [
            Middleware(Auth, self._doorkeeper, self._failed, session_only=session_only, optional=optional),
            rate,
        ]

    def _till(self, offer: Offer, *, waits: bool) -> list[Middleware]:
        if not offer.counted:
            return [Middleware(Allowance, self._meter, self._clock)] if offer.id == _TELLS_WHAT_IS_LEFT else []
        due: Due = StreamDue(self._clock)
        pay: list[Middleware] = []
        if offer.payable:
            due = charge = PaymentDue(offer, self._challenger, self._settings.public_url)
            pay = [Middleware(Pay, offer, self._checkout, charge)]
        return [*pay, Middleware(Metered, offer, self._meter, self._clock, due, waits=waits)]


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
        access: Who may enter, and how often.
        meter: Keeps the quotas.
        payments: Writes the 402, and takes what is paid.
        public: What needs no token and is no offer.

    Returns:
        The application.
    """
    stacks = _Stacks(settings, clock, access, meter, payments)
    routes = [stacks.route(offer, endpoint) for offer, endpoint in endpoints]
    routes += [Route(path, Page(document), methods=["GET"], name=path) for path, document in public.documents.items()]
    routes += [Route(path, public.health, methods=["GET"], name=path) for path in (LIVE, READY)]
    if public.site is not None:
        routes += browser_routes(public.site, stacks.throttle)
    return App(routes, Limits(settings.hosts, settings.key_prefix), Cors(settings.cors_origins))

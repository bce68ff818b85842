"""A shortcut for GETs that wait for nothing: the same gates and endpoints, without task, coroutines and messages.

An ASGI stack costs a task and a chain of coroutines a request, most of what a counted response costs. The fast path
calls the gates' own `check`s in their order and the endpoint's `respond`, and writes the response at once or when the
meter has counted it. At the first coroutine, the request goes on at that gate, in a task, as an ASGI application.

A client sends the same bytes on a connection again and again, so a `FastRequest` is used again for the same bytes: what
follows from them (route, parameters, token digest) is kept, and every gate of the route is asked again.
"""

from collections.abc import Callable, Coroutine
from functools import partial

from msgspec import Struct
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from service.access.quota import ChargeDecision
from service.http.app import App, RequestGuard, gates_of
from service.http.asgi_exchange import AsgiExchange
from service.http.gate import RequestGate, RouteEndpoint
from service.http.gates.quota import QuotaGate
from service.http.request import RequestContext
from service.http.response import Response, failure_response, public_error


class FastRoute(Struct, frozen=True):
    """A route that answers from memory: its gates, the quota gate among them, and its endpoint."""

    gates: tuple[RequestGate, ...]
    quota: QuotaGate | None
    endpoint: RouteEndpoint


class FastPath:
    """The fast routes of an application.

    Raises:
        TypeError: If a route is built of something that is neither gate nor endpoint, or answers from memory behind a
            gate whose handling of the response is not known here.
    """

    def __init__(self, app: App) -> None:
        self.paths, self.answers, self.latencies = app.paths, app.answers, app.latencies
        self.rest = RequestGuard(
            lambda scope, receive, send: scope["verdict"].rest(scope, receive, send), app.answers, app.latencies
        )
        reads = (route for route in app.paths.routes if "GET" in (route.methods or ()))
        self.routes = {route.name: fast for route in reads if (fast := _fast_route(route)) is not None}

    def start(self, scope: Scope, exchange: AsgiExchange) -> "FastRequest | None":
        """Answer a GET now, or as soon as it is counted; None if it must go on in `rest`."""
        context = RequestContext(scope)
        request = FastRequest(self, context, exchange)
        if request.run():
            return request
        scope["verdict"] = context
        return None


async def _resume(gate: RequestGate, exchange: AsgiExchange, scope: Scope, receive: Receive, send: Send) -> None:
    """Go on at a gate that waits. Its response is written as a whole."""
    request: RequestContext = scope["verdict"]
    outcome = gate.check(request)
    response = await outcome if isinstance(outcome, Coroutine) else outcome
    if response is None:
        await gate.pass_on(request, receive, send)
    elif not exchange.disconnected:
        exchange.respond(request, response, request.delivery.before_write)


def _fast_route(route: Route) -> FastRoute | None:
    """Read a route's gates and endpoint; None if the endpoint has to wait."""
    gates = tuple(gates_of(route.app))
    endpoint = gates[-1].app if gates else route.app
    if not isinstance(endpoint, RouteEndpoint):
        raise TypeError(f"{route.path}: {type(endpoint).__name__} is neither a gate nor an endpoint.")
    if endpoint.waits:
        return None
    quota = gates[-1] if gates and isinstance(gates[-1], QuotaGate) else None
    for gate in gates:
        if gate.wraps and gate is not quota:
            raise TypeError(f"{route.path}: the fast path does not know what {type(gate).__name__} does to a response.")
    return FastRoute(gates, quota, endpoint)


class FastRequest:
    """One request on the fast path. Waits for its count in place of a future (`access.meter.DecisionWaiter`).

    Attributes:
        exchange: Takes the response.
        passed: Whether the request has passed every gate, so that it can be repeated.
    """

    _quota: QuotaGate
    _response: Response

    def __init__(self, path: FastPath, request: RequestContext, exchange: AsgiExchange) -> None:
        self._path, self._request, self.exchange = path, request, exchange
        self._route: FastRoute | None = None
        self.passed = False

    def run(self) -> bool:
        """Answer; False if the request has to wait for something."""
        self._started_s = self._path.latencies.now()
        try:
            route = self._route or self._find()
            if route is None or not self._passes(route.gates):
                return bool(self._request.status)
            self.passed = True
            self._respond(route)
        except Exception as error:  # noqa: BLE001 -- every failure is answered
            self.set_exception(error)
        return True

    def repeat(self) -> bool:
        """Answer the next request with the same bytes; False if it must be read.

        Gates that read the store (authentication, the caller's own quota) may have to wait where they did not before.
        No question was counted then.
        """
        self._request.restart(self._head_headers)
        self.exchange.restart()
        return self.run()

    def _find(self) -> FastRoute | None:
        request, path = self._request, self._path
        if not self._passes(path.paths.head_gates):
            return None
        request.rest = path.paths.find(request)
        self._head_headers = len(request.response_headers)
        self._route = path.routes.get(request.route)
        return self._route

    def _passes(self, gates: tuple[RequestGate, ...]) -> bool:
        """Whether the request passes these gates; if not, one has answered (`request.status`) or has to wait."""
        request = self._request
        for gate in gates:
            outcome = gate.check(request)
            if outcome is not None:
                if isinstance(outcome, Coroutine):
                    outcome.close()
                    request.rest = partial(_resume, gate, self.exchange)
                else:
                    self._write(outcome)
                return False
        return True

    def _respond(self, route: FastRoute) -> None:
        request = self._request
        response = route.endpoint.respond(request)
        if isinstance(response, Coroutine):
            response.close()
            raise TypeError(f"{request.route}: an endpoint that waits must say so in `waits`.")
        if route.quota is None or not request.counted:
            self._write(response)
            return
        self._quota, self._response = route.quota, response
        refusal = route.quota.charge_nowait(request, self)
        if refusal is not None:
            self._write(refusal)

    def done(self) -> bool:
        """Whether the peer has left: it is not charged."""
        return self.exchange.disconnected

    def set_result(self, decision: ChargeDecision) -> None:
        """Answer once the meter has decided."""
        request, response = self._request, self._response
        try:
            before_write = self._quota.show_decision(request, decision)
            if before_write is None:
                response = self._quota.refusal(request, decision.quota_status)
        except Exception as error:  # noqa: BLE001 -- every failure is answered
            self.set_exception(error)
        else:
            self._write(response, before_write)

    def set_exception(self, error: BaseException) -> None:
        """Answer with a failure."""
        request = self._request
        self._write(failure_response(public_error(error, request.request_id, request.route), request.raw_path))

    def _write(self, response: Response, before_write: Callable[[], None] | None = None) -> None:
        self.exchange.respond(self._request, response, before_write)
        self._path.answers[self._request.route, response.status] += 1
        self._path.latencies.observe(self._request.route, self._started_s)

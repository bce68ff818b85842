"""The service as a Starlette application: strict routing, one guard around every request, failures as responses."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from service.clock import Clock, SystemClock
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.gates.cors import OptionsEndpoint
from service.http.metrics import Latencies
from service.http.negotiation import prefers_html
from service.http.request import PeerGoneError, RequestContext
from service.http.response import METHODS, failure_response, public_error

_TEMPLATE: Final = re.compile(r"(?P<prefix>(?:/[^/{}]+)*)/\{(?P<parameter>\w+)\}\Z")
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_METHODS: Final = tuple(METHODS.split(", "))
_READS: Final = frozenset({"GET", "HEAD"})
_API: Final = b"/api/"
_HIDDEN: Final = frozenset({"CONNECT", "TRACE"})
_SYSTEM_CLOCK: Final = SystemClock()
_NO_SEGMENT: Final = frozenset({b"", b".", b".."})


class App(Starlette):
    """The application. Complete by itself; `service.http.fast_path` is a shortcut through the same gates.

    Args:
        routes: Every route, with its gates as middleware.
        gates: Gates that every request passes, before its route is looked up. They may depend on the head alone.
        missing: Answers browsers whose path has no route; null: they get JSON as everyone else.
        clock: Measures latencies.

    Attributes:
        answers: Responses since the start, by route name and status; status 0 if the peer left first.
        latencies: How long responses took, by route name.
        paths: The routes by path.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        gates: Sequence[Middleware],
        missing: ASGIApp | None = None,
        clock: Clock = _SYSTEM_CLOCK,
    ) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.latencies = Latencies(clock)
        self.paths = StrictPaths(routes, gates, missing)
        super().__init__(
            routes=[self.paths],
            middleware=[Middleware(RequestGuard, self.answers, self.latencies)],
            exception_handlers={ServiceError: _respond_to_failure},  # type: ignore[dict-item] # narrower than Exception
        )


class RequestGuard:
    """Opens the context of a request, answers unexpected failures, and counts responses.

    Args:
        app: The application.
        answers: Counts responses by route name and status.
        latencies: Measures them.
    """

    def __init__(self, app: ASGIApp, answers: Counter[tuple[str, int]], latencies: Latencies) -> None:
        self.app = app
        self._answers = answers
        self._latencies = latencies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; a response that was begun and cannot be finished is cut off by the exception."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started_s = self._latencies.now()
        request: RequestContext = scope.get("verdict") or RequestContext(scope)
        request.connect(receive, send)
        scope["verdict"] = request
        try:
            await self.app(scope, receive, request.send)
        except PeerGoneError:
            pass
        except asyncio.CancelledError:
            if not request.status:
                stopping = ServiceError(
                    "UNAVAILABLE", "The service is stopping. Retry in 1 s.", headers={"Retry-After": "1"}
                )
                await _send_failure(request, request.doubt or stopping)
            raise
        except Exception as error:
            # Starlette wraps a `ServiceError` that comes after the first byte.
            cause = error.__cause__ if isinstance(error.__cause__, ServiceError) else error
            failure = public_error(cause, request.request_id, request.route)
            if request.status:
                raise
            await _send_failure(request, failure)
        finally:
            del scope["verdict"]  # a reference cycle would wait for the garbage collector
            self._answers[request.route, request.status] += 1
            self._latencies.observe(request.route, started_s)


async def _send_failure(request: RequestContext, error: ServiceError) -> None:
    request.delivery.clear()
    await failure_response(error, request.raw_path)(request.scope, request.receive, request.send)


async def _respond_to_failure(connection: Request, error: ServiceError) -> ASGIApp:
    """Starlette's exception handler for `ServiceError`."""
    request: RequestContext = connection.scope["verdict"]
    request.delivery.clear()
    return failure_response(error, request.raw_path)


class _Path:
    """The routes of one path by method; `parameter` names its last segment if that is one."""

    __slots__ = ("allow", "parameter", "routes")

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter
        self.routes: dict[str, tuple[str, ASGIApp]] = {}
        self.allow = ""

    def add(self, route: Route) -> None:
        for method in route.methods or ():
            self.routes[method] = (route.name, route.app)
        self.allow = ", ".join(method for method in _METHODS if method in self.routes or method == "OPTIONS")
        self.routes["OPTIONS"] = ("options", OptionsEndpoint(self.allow))


class StrictPaths(BaseRoute):
    """Finds routes by dictionary, behind the gates that every request passes.

    A path matches exactly as it was sent, or all but a last segment that is a parameter. There are no redirects, no
    dot segments and no second spelling of a path. Starlette's linear matching behind thirty routes halves the speed.

    Args:
        routes: Every route.
        middleware: Gates that every request passes first. They may depend on the head alone: the fast path does not
            ask them again when the same head comes again on a connection.
        missing: Answers browsers whose path has no route.

    Attributes:
        routes: Every route.
        head_gates: The gates that every request passes, the first one outermost.
    """

    def __init__(
        self, routes: Sequence[Route], middleware: Sequence[Middleware], missing: ASGIApp | None = None
    ) -> None:
        self.routes = tuple(routes)
        self._missing = missing
        self._exact: dict[bytes, _Path] = {}
        self._with_parameter: dict[bytes, _Path] = {}
        self._options = OptionsEndpoint(METHODS)
        for route in routes:
            self._path(route.path).add(route)
        self._app: ASGIApp = self._dispatch
        for gate, arguments, named in reversed(middleware):
            self._app = gate(self._app, *arguments, **named)
        self.head_gates = tuple(gates_of(self._app))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match every HTTP request: what has no route is answered here too."""
        return (Match.FULL if scope["type"] == "http" else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the gates, then call the route."""
        await self._app(scope, receive, send)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.find(scope["verdict"])(scope, receive, send)

    def find(self, request: RequestContext) -> ASGIApp:
        """Find the route of a request, and note its name and the path parameter.

        Raises:
            ServiceError: NOT_FOUND, METHOD_NOT_ALLOWED with `Allow`, BAD_REQUEST for a malformed segment.
        """
        raw_path = request.raw_path
        method: str = request.scope["method"]
        path = self._exact.get(raw_path)
        if path is None:
            prefix, _, segment = raw_path.rpartition(b"/")
            path = self._with_parameter.get(prefix)
            if path is None or segment in _NO_SEGMENT:
                return self._find_none(request.scope, method)
            request.path_params = {path.parameter: _decode(segment)}
        found = path.routes.get(method)
        if found is None:
            raise ServiceError(
                "METHOD_NOT_ALLOWED", f"This path does not support {method}.", headers={"Allow": path.allow}
            )
        request.route, app = found
        return app

    def _path(self, path: str) -> _Path:
        template = _TEMPLATE.match(path)
        if template is not None:
            return self._with_parameter.setdefault(template["prefix"].encode(), _Path(template["parameter"]))
        if "{" in path:
            raise ValueError(f"{path}: only the last segment of a path can be a parameter")
        return self._exact.setdefault(path.encode(), _Path(""))

    def _find_none(self, scope: Scope, method: str) -> ASGIApp:
        raw_path: bytes = scope["raw_path"]
        if method in _HIDDEN:
            raise ServiceError("METHOD_NOT_ALLOWED", f"{method} is not supported.", headers={"Allow": METHODS})
        if raw_path == b"*" and method == "OPTIONS":
            return self._options
        if self._missing and method in _READS and not raw_path.startswith(_API) and prefers_html(scope):
            return self._missing
        raise _not_found()


def gates_of(app: ASGIApp) -> Iterable[RequestGate]:
    """The gates of a stack, the outermost first."""
    while isinstance(app, RequestGate):
        yield app
        app = app.app


def _decode(segment: bytes) -> str:
    """Percent-decode a path segment. An encoded slash is text (`Lending/Borrowing`): it never splits a path.

    Raises:
        ServiceError: BAD_REQUEST for text that is not printable UTF-8, NOT_FOUND for encoded dot segments.
    """
    if segment.isalnum():
        return segment.decode("ascii")
    if _BAD_ESCAPE.search(segment):
        raise ServiceError("BAD_REQUEST", "The path contains a percent sign without two hexadecimal digits.")
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise ServiceError("BAD_REQUEST", "The path contains bytes that are not UTF-8.") from None
    if text in {".", ".."}:
        raise _not_found()
    if not text.isprintable():
        raise ServiceError("BAD_REQUEST", "The path contains characters that cannot be printed.")
    return text


def _not_found() -> ServiceError:
    return ServiceError("NOT_FOUND", "Path not found. /api/cli/manifest lists the routes.")

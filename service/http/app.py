"""The front: finds the route by dictionary, guards against everything unexpected, and answers OPTIONS, 404 and 405."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from service.errors import ServiceError
from service.http import errors
from service.http.again import Again
from service.http.body import PeerGoneError
from service.http.cors import Cors, Options
from service.http.cycle import Cycle
from service.http.exchange import Exchange
from service.http.giver import Giver, failure_of
from service.http.heads import Heads, Known
from service.http.lane import Lane, lane_of
from service.http.limits import Limits

_TEMPLATE: Final = re.compile(r"(?P<prefix>(?:/[^/{}]+)*)/\{(?P<parameter>\w+)\}\Z")
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_METHODS: Final = tuple(errors.METHODS.split(", "))
_HIDDEN: Final = frozenset({"CONNECT", "TRACE"})


class _Place:
    """What answers at one path: route name and stack by method; which parameter its last segment is, if any."""

    __slots__ = ("allow", "parameter", "stacks")

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter
        self.stacks: dict[str, tuple[str, ASGIApp]] = {}
        self.allow = ""

    def add(self, route: Route) -> None:
        for method in route.methods or ():
            self.stacks[method] = (route.name, route.app)
        self.allow = ", ".join(method for method in _METHODS if method in self.stacks or method == "OPTIONS")
        self.stacks["OPTIONS"] = ("options", Options(self.allow))


class App:
    """The service as one ASGI application.

    Paths are matched as they were sent, exactly, or exactly but for a last segment that is a parameter: so no redirect,
    no dot segment and no second spelling of a path can reach a route.

    Args:
        routes: Every route, in Starlette's form; Starlette's router itself serves the lifespan.
        limits: What is refused of every request.
        cors: What pages of other origins may do.

    Attributes:
        answers: Answers given since the start, by route name and status; 0 where the peer left first.
        heads: Heads of requests that have taken the short way.
    """

    def __init__(self, routes: Sequence[Route], limits: Limits, cors: Cors) -> None:
        self._router = Router(routes)
        self._limits = limits
        self._cors = cors
        self._exact: dict[bytes, _Place] = {}
        self._with_parameter: dict[bytes, _Place] = {}
        self._options = Options(errors.METHODS)
        self.answers: Counter[tuple[str, int]] = Counter()
        self.heads = Heads()
        self._lanes: dict[str, Lane] = {}
        for route in routes:
            self._place(route.path).add(route)
            lane = lane_of(route.app)
            if lane is not None:
                self._lanes[route.name] = lane

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever goes wrong becomes an answer too."""
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        exchange = Exchange(scope, send)
        scope["verdict"] = exchange
        await self._guard(exchange, lambda: self._enter(scope, exchange)(scope, receive, exchange.send))

    def at_once(self, scope: Scope, cycle: Cycle) -> bool:
        """Answer a GET the short way: now, or as soon as it is counted.

        Args:
            scope: The request.
            cycle: Takes the answer.

        Returns:
            Whether that is done; else nothing has happened, and the request must be awaited like any other.
        """
        exchange = Exchange(scope, cycle.send)
        scope["verdict"] = exchange
        giver = Giver(self.answers, scope, exchange, cycle)
        try:
            self._enter(scope, exchange)
            lane = self._lanes.get(exchange.route)
            if lane is None:
                return False
            for step in lane.every:  # a generator would cost as much as the steps
                if not step(scope, exchange):
                    return False
            if cycle.mark:
                self.heads.note(cycle.mark, lane, scope, exchange)
            giver.serve(lane)
        except Exception as error:  # noqa: BLE001 -- whatever it is becomes an answer
            giver.set_exception(error)
        return True

    def again(self, head: bytes, known: Known, peer: Mapping[str, object], cycle: Cycle) -> Again:
        """What answers a head that has come before, on one connection.

        Args:
            head: Its bytes.
            known: What it says.
            peer: The part of the scope that is the connection's.
            cycle: Takes the answers.
        """
        return Again(head, known, {**peer, **known.scope}, self.answers, cycle)

    def _enter(self, scope: Scope, exchange: Exchange) -> ASGIApp:
        exchange.fields += self._cors.fields(exchange.headers.get(b"origin"))
        self._limits.check(scope, exchange)
        return self._find(scope, exchange)

    async def _guard(self, exchange: Exchange, answer: Callable[[], Awaitable[None]]) -> None:
        try:
            await answer()
        except PeerGoneError:
            pass
        except asyncio.CancelledError:
            if not exchange.status:  # what was begun breaks off: a reader that takes nothing has held up the end
                stopping = ServiceError("UNAVAILABLE", "the service is stopping", headers={"Retry-After": "1"})
                await _refuse(exchange, exchange.doubt or stopping)
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is becomes an answer
            await _refuse(exchange, failure_of(exchange, error), error)
        finally:
            self.answers[exchange.route, exchange.status] += 1

    def _place(self, path: str) -> _Place:
        template = _TEMPLATE.match(path)
        if template is not None:
            return self._with_parameter.setdefault(template["prefix"].encode(), _Place(template["parameter"]))
        if "{" in path:
            raise ValueError(f"{path}: only the last segment of a path can be a parameter")
        return self._exact.setdefault(path.encode(), _Place(""))

    def _find(self, scope: Scope, exchange: Exchange) -> ASGIApp:
        raw_path: bytes = scope["raw_path"]
        method: str = scope["method"]
        place = self._exact.get(raw_path)
        if place is None:
            prefix, _, segment = raw_path.rpartition(b"/")
            place = self._with_parameter.get(prefix)
            if place is None or segment in _NO_SEGMENT:
                return self._find_none(raw_path, method)
            exchange.path_params = {place.parameter: _decode(segment)}
        found = place.stacks.get(method)
        if found is None:
            raise ServiceError("METHOD_NOT_ALLOWED", f"{method} is not answered here", headers={"Allow": place.allow})
        exchange.route, stack = found
        return stack

    def _find_none(self, raw_path: bytes, method: str) -> ASGIApp:
        if method in _HIDDEN:
            raise ServiceError("METHOD_NOT_ALLOWED", f"{method} is not answered", headers={"Allow": errors.METHODS})
        if raw_path == b"*" and method == "OPTIONS":
            return self._options
        raise _nowhere()


_NO_SEGMENT: Final = frozenset({b"", b".", b".."})


def _decode(segment: bytes) -> str:
    """Percent-decode a path segment.

    Raises:
        ServiceError: BAD_REQUEST for what is no UTF-8 text that can be printed, NOT_FOUND for encoded dot segments. A
            slash that was encoded is text (a category may be called `Lending/Borrowing`): it never parts a path.
    """
    if segment.isalnum():
        return segment.decode("ascii")
    if _BAD_ESCAPE.search(segment):
        raise ServiceError("BAD_REQUEST", "the path holds a percent sign that two hexadecimal digits do not follow")
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise ServiceError("BAD_REQUEST", "the path holds bytes that are not UTF-8") from None
    if text in {".", ".."}:
        raise _nowhere()
    if not text.isprintable():
        raise ServiceError("BAD_REQUEST", "the path holds characters that cannot be printed")
    return text


def _nowhere() -> ServiceError:
    return ServiceError("NOT_FOUND", "there is nothing at this path; /api/cli/manifest lists the routes")


async def _refuse(exchange: Exchange, error: ServiceError, cause: Exception | None = None) -> None:
    """Answer with a failure; an answer that was begun breaks off instead, so that nobody takes it for whole."""
    if exchange.status:
        raise cause or error
    await errors.answer(error, exchange.raw_path, exchange.send)

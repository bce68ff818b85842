"""Liveness and readiness probes."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import json

from service.http.gate import RouteEndpoint
from service.http.request import RequestContext
from service.http.response import JSON, Response, response

LIVE: Final = "/healthz"
READY: Final = "/readyz"
PROBES: Final = frozenset({LIVE.encode(), READY.encode()})
"""Paths that are answered for every host."""

Check = Callable[[], Mapping[str, object]]
"""State of one component; `ready` says whether it can answer, the rest why not."""


class Health(RouteEndpoint):
    """Answers `/healthz` (200 while the process serves) and `/readyz` (200 once every check is ready, else 503).

    Args:
        checks: Component → its check, from memory.
        details: Components that are reported but not required.
    """

    def __init__(self, checks: Mapping[str, Check], details: Mapping[str, Check] = MappingProxyType({})) -> None:
        self._checks = checks
        self._details = details

    @property
    def ready(self) -> bool:
        """Whether every check is."""
        return all(check().get("ready") for check in self._checks.values())

    def respond(self, request: RequestContext) -> Response:
        """Answer with one JSON object."""
        body: dict[str, object] = {"live": True}
        headers = [JSON, (b"cache-control", b"no-store")]
        status = 200
        if request.scope["path"] == READY:
            found = {name: check() for name, check in self._checks.items()}
            ready = all(check.get("ready") for check in found.values())
            body = {"ready": ready, **found, **{name: check() for name, check in self._details.items()}}
            if not ready:
                status = 503
                headers.append((b"retry-after", b"1"))
        return response(status, headers, json.encode(body))

"""CORS: pages of other origins may call only if the operator names their origins."""

from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp

from service.http.gate import RequestGate, RouteEndpoint
from service.http.request import RequestContext
from service.http.response import HeaderFields, Response, exact_response

_EXPOSED: Final = (
    b"x-request-id, x-data-source, ratelimit, ratelimit-policy, retry-after, www-authenticate, "
    b"payment-required, payment-response, x-payment-response, x-receipt-id, idempotency-replayed"
)
_ACCEPTED: Final = (
    b"authorization, content-type, idempotency-key, payment-signature, x-payment, x-x402-max-version, x-payer-time, "
    b"x-payer-signature, last-event-id"
)
_REMEMBERED_S: Final = b"600"


class CorsGate(RequestGate):
    """Adds the CORS headers to every response.

    Args:
        app: The application behind the gate.
        origins: Origins such as `https://app.example.org`; `*` for any. Credentials travel in `Authorization`, never in
            cookies, so any origin is safe to allow.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(app)
        self._origins = frozenset(origin.encode("ascii") for origin in origins)
        self._any = b"*" in self._origins

    def check(self, request: RequestContext) -> None:
        """Note the headers for the request's origin."""
        if self._origins:
            request.response_headers += self._fields(request.headers.get(b"origin"))

    def _fields(self, origin: bytes | None) -> HeaderFields:
        if self._any:
            return [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED)]
        vary = (b"vary", b"origin")
        if origin is None or origin not in self._origins:
            return [vary]
        return [vary, (b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED)]


class OptionsEndpoint(RouteEndpoint):
    """Answers OPTIONS: the methods of a path, and to a preflight what may be sent.

    Args:
        allow: Value of `Allow`.
    """

    def __init__(self, allow: str) -> None:
        self._allow = allow.encode("ascii")

    def respond(self, request: RequestContext) -> Response:
        """Answer 204; the permission itself is set by the gate."""
        headers = [(b"allow", self._allow)]
        if b"access-control-request-method" in request.headers:
            headers += [
                (b"access-control-allow-methods", self._allow),
                (b"access-control-allow-headers", _ACCEPTED),
                (b"access-control-max-age", _REMEMBERED_S),
            ]
        return exact_response(204, headers)

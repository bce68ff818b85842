"""The gates that limit what a request holds and how often it comes. The parser limits the bytes on the wire."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Scope

from service.access.api_keys import SHOWN_LENGTH
from service.access.rate_limiter import RequestLimiter
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.health import PROBES
from service.http.request import RequestContext

MOST_PARAMETERS: Final = 32

_SINGLE: Final = frozenset(
    {
        b"host",
        b"authorization",
        b"content-type",
        b"content-encoding",
        b"idempotency-key",
        b"payment-signature",
        b"x-payment",
    }
)
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?\Z")
_JWT: Final = re.compile(rb"eyJ[\w-]+\.[\w-]+\.")
_MOST_KNOWN_HOSTS: Final = 256


class RequestLimitsGate(RequestGate):
    """Refuses ambiguous headers, foreign hosts, too many parameters, and credentials in the URL.

    HTTP/1.0 needs no Host: such a request names the address that it came to. The health probes are answered for every
    host, because orchestrators ask by address.

    Args:
        app: The application behind the gate.
        hosts: Host names the service answers for, without ports; empty: any.
        key_prefix: How its API keys begin.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], key_prefix: str) -> None:
        super().__init__(app)
        self._hosts = frozenset(host.lower().encode("idna") for host in hosts)
        self._key = re.compile(re.escape(key_prefix.encode()) + rb"[0-9A-Za-z]{%d}" % (SHOWN_LENGTH + 1))
        self._known_hosts: set[bytes] = set()

    def check(self, request: RequestContext) -> None:
        """Refuse what no route accepts.

        Raises:
            ServiceError: BAD_REQUEST, WRONG_HOST.
        """
        headers, scope = request.headers, request.scope
        if len(headers) != len(scope["headers"]):
            _check_repeats(scope)
        host = headers.get(b"host", b"")
        if host not in self._known_hosts:
            self._check_host(request, host)
        query: bytes = scope["query_string"]
        if query:
            if query.count(b"&") >= MOST_PARAMETERS:
                raise ServiceError("BAD_REQUEST", f"A request takes at most {MOST_PARAMETERS} parameters.")
            self._check_secrets(query)
        if b"_sk_" in scope["raw_path"]:
            self._check_secrets(scope["raw_path"])

    def _check_host(self, request: RequestContext, host: bytes) -> None:
        if not host and request.scope["http_version"] == "1.0":
            host = request.headers[b"host"] = _address(request.scope)
        if not _HOST.match(host):
            raise ServiceError("BAD_REQUEST", "The Host header must name one host.")
        if self._hosts and _name(host) not in self._hosts:
            if request.raw_path in PROBES:
                return
            raise ServiceError(
                "WRONG_HOST", "This service does not answer for that host. The operator adds hosts in VERDICT_HOSTS."
            )
        if len(self._known_hosts) < _MOST_KNOWN_HOSTS:
            self._known_hosts.add(host)

    def _check_secrets(self, text: bytes) -> None:
        """Refuse a credential in the URL: URLs end up in logs and histories."""
        plain = unquote_to_bytes(text) if b"%" in text else text
        if self._key.search(plain) or _JWT.search(plain):
            raise ServiceError(
                "BAD_REQUEST",
                "A URL must not contain a credential: URLs are logged. Replace this one, and send the new one as "
                "`Authorization: Bearer …`.",
            )


class RateLimitGate(RequestGate):
    """Counts requests against the request rate.

    Args:
        app: The application behind the gate.
        limiter: Counts.
    """

    def __init__(self, app: ASGIApp, limiter: RequestLimiter) -> None:
        super().__init__(app)
        self._limiter = limiter

    def check(self, request: RequestContext) -> None:
        """Count the request.

        Raises:
            ServiceError: RATE_LIMITED.
        """
        self._limiter.count(request.caller, request.scope)


def _name(host: bytes) -> bytes:
    name, colon, port = host.rpartition(b":")
    return (name if colon and port.isdigit() else host).lower()


def _address(scope: Scope) -> bytes:
    """The address that a request came to, as Host would name it (RFC 9112 §3.3)."""
    name, port = scope.get("server") or ("", None)
    if port is None:  # a Unix socket
        return b"localhost"
    name = name.partition("%")[0]
    return f"[{name}]:{port}".encode() if ":" in name else f"{name}:{port}".encode()


def _check_repeats(scope: Scope) -> None:
    seen: set[bytes] = set()
    for name, _ in scope["headers"]:
        if name in _SINGLE and name in seen:
            raise ServiceError("BAD_REQUEST", f"The header {name.decode()} is given more than once.")
        seen.add(name)

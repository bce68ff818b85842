"""What is refused of every request, whatever its route; what concerns bytes on the wire is `protocol`'s."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.types import Scope

from service.access.keys import SHOWN_LENGTH
from service.errors import ServiceError
from service.http.exchange import Exchange

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


class Limits:
    """The checks of a service.

    Args:
        hosts: Host names it answers for, without ports; none: any.
        key_prefix: How its API keys begin.
    """

    def __init__(self, hosts: Sequence[str], key_prefix: str) -> None:
        self._hosts = frozenset(host.lower().encode("idna") for host in hosts)
        self._key = re.compile(re.escape(key_prefix.encode()) + rb"[0-9A-Za-z]{%d}" % (SHOWN_LENGTH + 1))
        self._known_hosts: set[bytes] = set()

    def check(self, scope: Scope, exchange: Exchange) -> None:
        """Refuse what no route takes.

        Raises:
            ServiceError: BAD_REQUEST, WRONG_HOST.
        """
        headers = exchange.headers
        if len(headers) != len(scope["headers"]):
            _check_repeats(scope)
        host = headers.get(b"host", b"")
        if host not in self._known_hosts:
            self._check_host(host)
        query: bytes = scope["query_string"]
        if query:
            if query.count(b"&") >= MOST_PARAMETERS:
                raise ServiceError("BAD_REQUEST", f"a request takes at most {MOST_PARAMETERS} parameters")
            self._check_secrets(query)
        if b"_sk_" in scope["raw_path"]:
            self._check_secrets(scope["raw_path"])

    def _check_host(self, host: bytes) -> None:
        if not _HOST.match(host):
            raise ServiceError("BAD_REQUEST", "the Host header must name one host")
        if self._hosts and _name(host) not in self._hosts:
            raise ServiceError("WRONG_HOST", "this service does not answer for that host")
        if len(self._known_hosts) < _MOST_KNOWN_HOSTS:
            self._known_hosts.add(host)

    def _check_secrets(self, text: bytes) -> None:
        """A URL ends up in logs and histories: a credential in it is refused, so that it is noticed."""
        plain = unquote_to_bytes(text) if b"%" in text else text
        if self._key.search(plain) or _JWT.search(plain):
            raise ServiceError(
                "BAD_REQUEST",
                "a credential does not belong in a URL: send it as `Authorization: Bearer …`, and replace this one",
            )


def _name(host: bytes) -> bytes:
    name, colon, port = host.rpartition(b":")
    return (name if colon and port.isdigit() else host).lower()


def _check_repeats(scope: Scope) -> None:
    seen: set[bytes] = set()
    for name, _ in scope["headers"]:
        if name in _SINGLE and name in seen:
            raise ServiceError("BAD_REQUEST", f"the header {name.decode()} is given more than once")
        seen.add(name)

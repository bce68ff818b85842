"""Heads of requests that came before: a client that keeps its connection sends the same bytes again and again.

What a head alone says (its method, headers and parameters, which route it means, what its token is remembered by) is
the same each time, so it is read and judged in full once. What depends on the moment (whether the token still stands,
how fast requests come, what is left of a quota, what the route says) is asked of the same gates each time.
"""

from hashlib import sha256
from typing import Final

from msgspec import Struct
from starlette.types import Scope

from service.http.exchange import Exchange
from service.http.gates.due import MAX_VERSION
from service.http.lane import Lane

LONGEST: Final = 2_048
MOST: Final = 4_096
"""Heads that are remembered: five megabytes, thirty where somebody tries to make it much."""

STILL_READ: Final = frozenset((b"host", b"x-forwarded-for", MAX_VERSION))
"""What checks and refusals read of a head that is known. All else it may hold, secrets among it, is not kept."""

_MOST_LINES: Final = 16


class Known(Struct, frozen=True):
    """What a head says: the route's short way, the exchange as its gates left it, the scope without its connection."""

    lane: Lane
    exchange: Exchange
    scope: Scope


class Heads:
    """Remembers heads by their digest, and what they say by what it means: no token, no cookie, no key."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}
        self.find: Final = self._known.get

    def note(self, mark: bytes, lane: Lane, scope: Scope, exchange: Exchange) -> None:
        """Remember a head whose request has passed every gate of its route, unless it came through too many proxies."""
        headers = [field for field in scope["headers"] if field[0] in STILL_READ]
        if len(headers) > _MOST_LINES:
            return
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        bare = {
            "type": "http",
            "http_version": scope["http_version"],
            "method": scope["method"],
            "path": scope["path"],
            "raw_path": scope["raw_path"],
            "query_string": scope["query_string"],
            "headers": headers,
        }
        self._known[mark] = Known(lane, exchange.again(dict(headers)), bare)


def mark_of(data: bytes) -> bytes:
    """What the bytes that arrived on a quiet connection are remembered by; nothing where they may be no such head."""
    return sha256(data).digest() if len(data) <= LONGEST and data.startswith(b"GET ") else b""


def is_one_head(data: bytes) -> bool:
    """Whether bytes that hold a request end with its head."""
    return data.find(b"\r\n\r\n") == len(data) - 4

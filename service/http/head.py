"""The head of one request while it is read: limits, what the parser lets through, and the ASGI scope made of it."""

import re
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from starlette.types import Scope

from service.errors import ServiceError

_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
_ABSOLUTE: Final = re.compile(rb"https?://([^/?#@]+)(/[^?#]*)?(?:\?([^#]*))?\Z", re.IGNORECASE)


class Limits(msgspec.Struct, frozen=True):
    """How long and how much a peer may take: seconds, bytes, counts.

    `idle_s` runs on a connection without a request, `head_s` and `body_s` from the first byte of each, `stall_s` while
    a reader takes nothing, `linger_s` while a refused peer may still read why. `raw_head_bytes` and `raw_body_bytes`
    bound what may arrive before the parser says anything of it (a header or chunk extension without an end).
    """

    idle_s: float = 10.0
    head_s: float = 10.0
    body_s: float = 15.0
    stall_s: float = 30.0
    linger_s: float = 2.0
    target_bytes: int = 8 * 1024
    header_bytes: int = 16 * 1024
    headers: int = 100
    body_bytes: int = 64 * 1024
    raw_head_bytes: int = 24 * 1024
    raw_body_bytes: int = 512 * 1024
    pipelined: int = 100


class Head:
    """Target and headers of one request.

    Args:
        limits: What may be sent.
    """

    __slots__ = ("_bytes", "_limits", "_target", "chunked", "content_length", "expects_continue", "fields")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._target = b""
        self._bytes = 0
        self.fields: list[tuple[bytes, bytes]] = []
        self.content_length = 0
        self.chunked = False
        self.expects_continue = False

    def add_target(self, piece: bytes) -> None:
        """Take a piece of the request target.

        Raises:
            ServiceError: URI_TOO_LONG.
        """
        self._target += piece
        if len(self._target) > self._limits.target_bytes:
            raise ServiceError("URI_TOO_LONG", f"a request target has at most {self._limits.target_bytes} bytes")

    def add_field(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer, which counts and is not kept.

        Raises:
            ServiceError: HEADERS_TOO_LARGE; BAD_REQUEST or PAYLOAD_TOO_LARGE for what the header says.
        """
        self._bytes += len(name) + len(value) + 4
        fields = self.fields
        if self._bytes > self._limits.header_bytes or len(fields) >= self._limits.headers:
            raise ServiceError(
                "HEADERS_TOO_LARGE",
                f"headers take at most {self._limits.header_bytes} bytes and {self._limits.headers} lines",
            )
        name = name.lower()
        fields.append((name, value))
        if name in _FRAMING:
            _FRAMING[name](self, value)

    def scope(self, method: str, version: str, connection: dict[str, Any]) -> Scope:
        """Make the ASGI scope.

        Args:
            method: The request method.
            version: HTTP version, such as `1.1`.
            connection: `server`, `client` and `scheme`.

        Raises:
            ServiceError: BAD_REQUEST for a version, a target or a framing that is not to be trusted.
        """
        if version != "1.1" and (version != "1.0" or self.chunked):
            raise ServiceError("BAD_REQUEST", "this service speaks HTTP/1.1, and HTTP/1.0 without transfer encodings")
        target = self._target
        if target[:1] != b"/":
            target = self._origin_form(method)
        raw_path, _, query = target.partition(b"?")
        path = raw_path.decode("ascii")
        # Trailers come later and must not join the headers.
        fields, self.fields = self.fields, []
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": method,
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": fields,
            **connection,
        }

    def _origin_form(self, method: str) -> bytes:
        """Turn an absolute target into path and query; it must agree with Host (RFC 9112 §3.2.2)."""
        if self._target == b"*" and method == "OPTIONS":
            return self._target
        absolute = _ABSOLUTE.match(self._target)
        if absolute is None:
            raise ServiceError("BAD_REQUEST", "the request target is neither a path nor an http URL")
        authority, path, query = absolute.groups()
        if [value.lower() for name, value in self.fields if name == b"host"] != [authority.lower()]:
            raise ServiceError("BAD_REQUEST", "the request target and the Host header name different hosts")
        return (path or b"/") + (b"?" + query if query is not None else b"")

    def _take_length(self, value: bytes) -> None:
        self.content_length = int(value)
        if self.content_length > self._limits.body_bytes:
            raise too_large(self._limits)

    def _take_encoding(self, value: bytes) -> None:
        if self.chunked or value.strip().lower() != b"chunked":
            raise ServiceError("BAD_REQUEST", "the one transfer encoding that is understood is chunked, once")
        self.chunked = True

    def _take_expectation(self, value: bytes) -> None:
        if value.lower() != b"100-continue":
            raise ServiceError("BAD_REQUEST", "the one expectation that can be met is 100-continue")
        self.expects_continue = True


_FRAMING: Final = {
    b"content-length": Head._take_length,  # noqa: SLF001
    b"transfer-encoding": Head._take_encoding,  # noqa: SLF001
    b"expect": Head._take_expectation,  # noqa: SLF001
}


def too_large(limits: Limits) -> ServiceError:
    """The refusal of a body over the cap."""
    return ServiceError("PAYLOAD_TOO_LARGE", f"a request body has at most {limits.body_bytes} bytes")

"""The reading half of a connection: the parser's callbacks, the limits of a request, the ASGI scope of its head.

The parser (llhttp) refuses most malformed messages. Refused here: transfer encodings other than one `chunked`, HTTP
versions other than 1.0 and 1.1, fragments, trailers among headers, and messages that never end.
"""

import re
from typing import Any, Final, Protocol
from urllib.parse import unquote

import httptools
import msgspec
from starlette.types import Scope

from service.errors import ServiceError
from service.http.response import METHODS

NOTHING: Final = 0
HEAD: Final = 1
BODY: Final = 2

_SLICE: Final = 8 * 1024
"""Bytes that are parsed at once, so that no part of a message exceeds its limit by more."""

_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
_ABSOLUTE: Final = re.compile(rb"https?://([^/?#@]+)(/[^?#]*)?(\?[^#]*)?\Z", re.IGNORECASE)


class Limits(msgspec.Struct, frozen=True):
    """How long and how much a peer may take: seconds, bytes, counts.

    `head_s` and `body_s` run from the first byte of each, `stall_s` while a reader takes nothing, `linger_s` while a
    refused peer may still read why. `raw_head_bytes` and `raw_body_bytes` limit what may arrive before the parser
    reports anything (a header or chunk extension without an end).
    """

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


class Sink(Protocol):
    """Receives what was read."""

    def request_begun(self, scope: Scope, *, keep_alive: bool, expects_continue: bool) -> None:
        """A head is complete."""

    def body_read(self, body: bytes) -> None:
        """A piece of body, already counted."""

    def request_read(self) -> None:
        """The request is complete."""


class RequestReader:
    """Parses what a connection receives. The callbacks are named as httptools wants them.

    Args:
        limits: What a peer may send.
        sink: Receives requests.
        peer: The part of the scope that is the connection's: `server`, `client`, `scheme`.

    Attributes:
        base: The part of every scope that is the connection's.
        phase: What is being read: `NOTHING`, `HEAD` or `BODY`.
        turns: Changes of phase so far; tells one head from the next.
    """

    def __init__(self, limits: Limits, sink: Sink, peer: dict[str, Any]) -> None:
        self._limits = limits
        self._sink = sink
        self.base = {"type": "http", "asgi": _ASGI, "root_path": "", **peer}
        self._parser = _parser(self)
        self.turns = 0
        self._upgrading = self._resuming = False
        self.on_message_begin()
        self.phase = NOTHING

    @property
    def path(self) -> bytes:
        """The path of the message that is being read, as it was sent; empty while it is incomplete."""
        named = self._target if self.phase == BODY or self._fields else b""
        absolute = _ABSOLUTE.match(named)
        return ((absolute[2] or b"/") if absolute else named).partition(b"?")[0]

    def feed(self, data: bytes) -> None:
        """Parse what arrived.

        Raises:
            ServiceError: If it is malformed or too much; the connection is of no further use.
        """
        if len(data) > _SLICE:
            for start in range(0, len(data), _SLICE):
                self.feed(data[start : start + _SLICE])
            return
        turns = self.turns
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade()
            self.feed(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            raise _reason(error) from None
        if turns == self.turns and self.phase != NOTHING:
            self._bound(len(data))

    def close(self) -> None:
        """Drop parser and sink: they refer back to the reader."""
        del self._parser, self._sink

    def on_message_begin(self) -> None:
        """A request begins."""
        self._turn(HEAD)
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._field_bytes = 0
        self._length = 0
        self._body_bytes = 0
        self._chunked = self._expects_continue = False

    def on_url(self, piece: bytes) -> None:
        """Take a piece of the target.

        Raises:
            ServiceError: URI_TOO_LONG.
        """
        self._target += piece
        if len(self._target) > self._limits.target_bytes:
            raise ServiceError("URI_TOO_LONG", f"A request target may have {self._limits.target_bytes} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer, which counts to the limits and is dropped.

        Raises:
            ServiceError: HEADERS_TOO_LARGE; BAD_REQUEST or PAYLOAD_TOO_LARGE for what the header says.
        """
        name = name.lower()
        fields = self._fields
        fields.append((name, value))
        self._field_bytes += len(name) + len(value) + 4
        if self._field_bytes > self._limits.header_bytes or len(fields) > self._limits.headers:
            raise ServiceError(
                "HEADERS_TOO_LARGE",
                f"Headers may have {self._limits.header_bytes} bytes and {self._limits.headers} lines.",
            )
        if name in _FRAMING:
            _FRAMING[name](self, value)

    def on_headers_complete(self) -> None:
        """Hand the request on.

        Raises:
            ServiceError: METHOD_NOT_ALLOWED for CONNECT; BAD_REQUEST for a version, a target or a framing that
                is ambiguous.
        """
        if self._resuming:
            self._turn(BODY)
            return
        parser = self._parser
        version = parser.get_http_version()
        method = parser.get_method().decode("ascii")
        self._upgrading = parser.should_upgrade()
        if method == "CONNECT":
            raise ServiceError("METHOD_NOT_ALLOWED", "This service is not a proxy.", headers={"Allow": METHODS})
        modern = version == "1.1"
        if not modern and (version != "1.0" or self._chunked):
            raise ServiceError("BAD_REQUEST", "Use HTTP/1.1, or HTTP/1.0 without a transfer encoding.")
        target = self._target if self._target[:1] == b"/" else self._origin_form(method, modern=modern)
        raw_path, _, query = target.partition(b"?")
        path = raw_path.decode("ascii")
        scope = {
            **self.base,
            "http_version": version,
            "method": method,
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": self._fields,
        }
        # Trailers come later and must not join the headers.
        self._fields = []
        self._sink.request_begun(
            scope,
            keep_alive=parser.should_keep_alive(),
            expects_continue=modern and self._expects_continue,
        )
        self._turn(BODY)

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body on.

        Raises:
            ServiceError: PAYLOAD_TOO_LARGE.
        """
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes:
            raise self._too_large()
        self._sink.body_read(body)

    def on_message_complete(self) -> None:
        """The request is complete, unless the parser stops here only for an upgrade."""
        if not self._upgrading:
            self.phase = NOTHING
            self._sink.request_read()

    def _turn(self, phase: int) -> None:
        self.phase = phase
        self.turns += 1
        self._raw_bytes = 0

    def _origin_form(self, method: str, *, modern: bool) -> bytes:
        """Turn an absolute target into path and query. It must agree with Host (RFC 9112 §3.2.2), or stands for it."""
        if self._target == b"*" and method == "OPTIONS":
            return self._target
        absolute = _ABSOLUTE.match(self._target)
        if absolute is None:
            raise ServiceError("BAD_REQUEST", "The request target must be a path or an http URL.")
        authority, path, query = absolute.groups()
        hosts = [value.lower() for name, value in self._fields if name == b"host"]
        if not hosts and not modern:
            self._fields.append((b"host", authority))
        elif hosts != [authority.lower()]:
            raise ServiceError("BAD_REQUEST", "The request target and the Host header name different hosts.")
        return (path or b"/") + (query or b"")

    def _take_length(self, value: bytes) -> None:
        self._length = int(value)
        if self._length > self._limits.body_bytes:
            raise self._too_large()

    def _take_encoding(self, value: bytes) -> None:
        if self._chunked or value.strip().lower() != b"chunked":
            raise ServiceError("BAD_REQUEST", "Only a single `Transfer-Encoding: chunked` is supported.")
        self._chunked = True

    def _take_expectation(self, value: bytes) -> None:
        if value.lower() != b"100-continue":
            raise ServiceError("BAD_REQUEST", "Only `Expect: 100-continue` is supported.")
        self._expects_continue = True

    def _too_large(self) -> ServiceError:
        return ServiceError("PAYLOAD_TOO_LARGE", f"A request body may have {self._limits.body_bytes} bytes.")

    def _bound(self, arrived: int) -> None:
        self._raw_bytes += arrived
        if self.phase == HEAD and self._raw_bytes > self._limits.raw_head_bytes:
            raise ServiceError("HEADERS_TOO_LARGE", "The request's head is too long.")
        if self._raw_bytes > self._limits.raw_body_bytes:
            raise ServiceError("PAYLOAD_TOO_LARGE", "The request's body is too long.")

    def _ignore_upgrade(self) -> None:
        """Ignore `Upgrade` (RFC 9110 §7.8). The parser cannot go on, so a new one gets the framing of what follows."""
        framing = b"transfer-encoding: chunked" if self._chunked else b"content-length: %d" % self._length
        self._upgrading = False
        self._resuming = True
        self._parser = _parser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % framing)
        self._resuming = False


_FRAMING: Final = {
    b"content-length": RequestReader._take_length,  # noqa: SLF001
    b"transfer-encoding": RequestReader._take_encoding,  # noqa: SLF001
    b"expect": RequestReader._take_expectation,  # noqa: SLF001
}


def _parser(reader: RequestReader) -> Any:
    parser = httptools.HttpRequestParser(reader)
    # What follows a request that closes the connection is ignored: the answer must still go out.
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser


def _reason(error: Exception) -> ServiceError:
    """The error for a failure inside the parser: a callback's own refusal, or a malformed message."""
    if isinstance(error.__context__, ServiceError):
        return error.__context__
    return ServiceError("BAD_REQUEST", f"Malformed HTTP request: {str(error).rstrip('.')}.")

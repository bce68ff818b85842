"""HTTP responses, encoded once, and failures as responses.

A failure has the envelope, except at the paths in `BARE`, whose failures are `{"error": message}`.
"""

import logging
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from service.errors import ServiceError
from service.wire.envelope import encode, failure
from service.wire.offers import QUESTION

JSON: Final = (b"content-type", b"application/json")
NO_STORE: Final = (b"cache-control", b"private, no-store")
METHODS: Final = "GET, HEAD, POST, DELETE, OPTIONS"
"""Every method that a route may have."""

BARE: Final = frozenset({QUESTION.path.encode()})
"""Paths whose failures have no envelope."""

HeaderField = tuple[bytes, bytes]
HeaderFields = list[HeaderField]

log: Final = logging.getLogger("verdict.http")


class Response(Struct, frozen=True):
    """A complete response and the ASGI application that sends it, to HEAD without its body.

    `lines` are the headers as they go on the wire, each with its line end.
    """

    status: int
    headers: tuple[HeaderField, ...]
    lines: bytes
    body: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})


def response(status: int, headers: Iterable[HeaderField], body: bytes) -> Response:
    """Make a response with a `Content-Length`."""
    return exact_response(status, (*headers, (b"content-length", b"%d" % len(body))), body)


def exact_response(status: int, headers: Iterable[HeaderField], body: bytes = b"") -> Response:
    """Make a response with these headers only."""
    fields = tuple(headers)
    return Response(status, fields, header_lines(fields), body)


def header_lines(fields: Iterable[HeaderField]) -> bytes:
    """Encode response headers.

    Raises:
        RuntimeError: If a header contains a line break or a NUL.
    """
    joined = [*map(b": ".join, fields), b""]
    lines = b"\r\n".join(joined)
    if lines.count(b"\n") != len(joined) - 1 or lines.count(b"\r") != len(joined) - 1 or b"\0" in lines:
        raise RuntimeError("A response header contains a line break or a NUL.")
    return lines


def failure_response(error: ServiceError, raw_path: bytes) -> Response:
    """The response for a failure at a path, as the path was sent."""
    own = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in error.headers.items()]
    body = encode({"error": error.message}) if raw_path in BARE else failure(error)
    return response(error.status, [JSON, NO_STORE, *own], body)


def internal_error(request_id: bytes) -> ServiceError:
    """The failure that stands for a defect: the caller gets only the id to look it up by."""
    return ServiceError("INTERNAL", f"Internal error. Report the request id {request_id.decode()} to the operator.")


def public_error(error: BaseException, request_id: bytes, route: str) -> ServiceError:
    """The failure a caller sees. Log a defect, and hide it behind the request id."""
    if isinstance(error, ServiceError):
        return error
    log.error("A request failed.", exc_info=error, extra={"request_id": request_id.decode(), "route": route})
    return internal_error(request_id)

"""Failures as answers: status, headers and body of a `ServiceError`.

The body is the envelope, but at paths whose offers say so: there it is `{"error": message}`, whatever went wrong and
wherever it was noticed.
"""

from typing import Final

from starlette.types import Message, Send

from service.errors import ServiceError
from service.wire.envelope import encode, failure
from service.wire.offers import QUESTION

JSON: Final = (b"content-type", b"application/json")
NO_STORE: Final = (b"cache-control", b"private, no-store")
METHODS: Final = "GET, HEAD, POST, DELETE, OPTIONS"
"""Every method that some route has."""

BARE: Final = frozenset({QUESTION.path.encode()})
"""Paths whose failures have no envelope."""

Fields = list[tuple[bytes, bytes]]


def body_of(error: ServiceError, raw_path: bytes) -> bytes:
    """The body of a failure at a path, as the path was sent."""
    return encode({"error": error.message}) if raw_path in BARE else failure(error)


def internal(request_id: bytes) -> ServiceError:
    """What is told of a defect: where to look it up."""
    return ServiceError("INTERNAL", f"internal error, request {request_id.decode()}")


def fields(error: ServiceError, length: int) -> Fields:
    """The response headers of a failure whose body has so many bytes."""
    own = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in error.headers.items()]
    return [JSON, (b"content-length", b"%d" % length), NO_STORE, *own]


def written(error: ServiceError, raw_path: bytes) -> tuple[Message, bytes]:
    """The head and body of a failure at a path."""
    body = body_of(error, raw_path)
    return {"type": "http.response.start", "status": error.status, "headers": fields(error, len(body))}, body


async def answer(error: ServiceError, raw_path: bytes, send: Send) -> None:
    """Send a failure as the whole answer of a request to a path."""
    head, body = written(error, raw_path)
    await send(head)
    await send({"type": "http.response.body", "body": body})

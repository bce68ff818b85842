"""Failures as answers: status, headers and body of a `ServiceError`.

The body is the envelope, but at paths whose offers say so: there it is `{"error": message}`, whatever went wrong and
wherever it was noticed.
"""

from typing import Final

from starlette.types import Send

from service.errors import ServiceError
from service.http.whole import Whole, whole
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


def written(error: ServiceError, raw_path: bytes) -> Whole:
    """A failure at a path, as its answer."""
    own = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in error.headers.items()]
    return whole(error.status, [JSON, NO_STORE, *own], body_of(error, raw_path))


async def answer(error: ServiceError, raw_path: bytes, send: Send) -> None:
    """Send a failure as the whole answer of a request to a path."""
    await written(error, raw_path).send(send)

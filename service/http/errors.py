"""Failures as answers: status, headers and envelope of a `ServiceError`."""

from typing import Final

from starlette.types import Message, Send

from service.errors import ServiceError
from service.wire.envelope import failure

JSON: Final = (b"content-type", b"application/json")
NO_STORE: Final = (b"cache-control", b"private, no-store")
METHODS: Final = "GET, HEAD, POST, DELETE, OPTIONS"
"""Every method that some route has."""

Fields = list[tuple[bytes, bytes]]


def fields(error: ServiceError, length: int) -> Fields:
    """The response headers of a failure whose body has so many bytes."""
    own = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in error.headers.items()]
    return [JSON, (b"content-length", b"%d" % length), NO_STORE, *own]


def written(error: ServiceError) -> tuple[Message, bytes]:
    """The head and body of a failure."""
    body = failure(error)
    return {"type": "http.response.start", "status": error.status, "headers": fields(error, len(body))}, body


async def answer(error: ServiceError, send: Send) -> None:
    """Send a failure as the whole answer."""
    head, body = written(error)
    await send(head)
    await send({"type": "http.response.body", "body": body})

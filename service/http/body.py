"""JSON request bodies, read strictly: what two parsers might read differently is refused."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.types import Message, Receive

from service.errors import ServiceError
from service.wire.strict import StrictError, check_depth, parse, refuse_nul, refuse_repeats

_JSON: Final = re.compile(rb'application/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?\Z', re.IGNORECASE)
_PLACE: Final = re.compile(r"(?: - at `\$\.?| field `)([^`]{1,80})[^`]*`\Z")
_LONGEST_REASON: Final = 200
_LONGEST_PLACE: Final = 80


class PeerGoneError(Exception):
    """The peer left before its request was read; there is nobody to answer."""


async def read_body(kind: type[msgspec.Struct], headers: Mapping[bytes, bytes], receive: Receive) -> msgspec.Struct:
    """Read and decode a request body. The connection has bounded its size.

    Args:
        kind: What it must be.
        headers: The request's headers by lower-case name.
        receive: The ASGI channel.

    Raises:
        ServiceError: UNSUPPORTED_MEDIA_TYPE; BAD_REQUEST naming the path of what does not fit, never its value.
        PeerGoneError: If the peer left.
    """
    if not _JSON.match(headers.get(b"content-type", b"")):
        raise ServiceError("UNSUPPORTED_MEDIA_TYPE", "send the body as Content-Type: application/json")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise ServiceError("UNSUPPORTED_MEDIA_TYPE", "send the body without a Content-Encoding")
    return decode_body(kind, await collect(receive))


def decode_body(kind: type[msgspec.Struct], raw: bytes) -> msgspec.Struct:
    """Decode a JSON body.

    Raises:
        ServiceError: BAD_REQUEST.
    """
    try:
        check_depth(raw)
        decoded = parse(msgspec.json.Decoder(kind), raw)
        refuse_repeats(raw)
        refuse_nul(raw)
    except msgspec.ValidationError as error:
        raise _misfit(str(error)) from None
    except StrictError as error:
        if error.name is not None:
            place = error.name[:_LONGEST_PLACE]
            raise _about(place, f"{place} {error.reason}") from None
        raise ServiceError("BAD_REQUEST", f"the body {error.reason}") from None
    return decoded


def _misfit(reason: str) -> ServiceError:
    place = _PLACE.search(reason)
    return _about(place[1] if place else "body", reason)


def _about(place: str, reason: str) -> ServiceError:
    return ServiceError("BAD_REQUEST", f"the body: {reason[:_LONGEST_REASON]}", details={"parameter": place})


async def collect(receive: Receive) -> bytes:
    """Read a request's body to its end. The connection has bounded its size.

    Raises:
        PeerGoneError: If the peer left.
    """
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise PeerGoneError
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """A channel that hands over a body that was read already, then what comes after it."""
    bodies = [body]

    async def replayed() -> Message:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        return await receive()

    return replayed

"""JSON request bodies, read strictly: what two parsers might read differently is refused."""

import json
import re
from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.types import Receive

from service.errors import ServiceError

DEEPEST: Final = 32

_JSON: Final = re.compile(rb'application/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?\Z', re.IGNORECASE)
_TOKENS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_PLACE: Final = re.compile(r"(?: - at `\$\.?| field `)([^`]{1,80})[^`]*`\Z")
_LONGEST_REASON: Final = 200


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
    if raw.count(b"[") + raw.count(b"{") > DEEPEST:
        _check_depth(raw)
    try:
        decoded = msgspec.json.decode(raw, type=kind)
        json.loads(raw, object_pairs_hook=_refuse_repeats, parse_int=float)
    except msgspec.ValidationError as error:
        raise _misfit(str(error)) from None
    except UnicodeDecodeError:
        raise ServiceError("BAD_REQUEST", "the body is not UTF-8") from None
    except msgspec.DecodeError as error:
        raise ServiceError("BAD_REQUEST", f"the body is not valid JSON: {error}") from None
    return decoded


def _check_depth(raw: bytes) -> None:
    depth = 0
    for token in _TOKENS.findall(raw):
        if token in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise ServiceError("BAD_REQUEST", f"the body is nested more than {DEEPEST} deep")
        elif token in b"]}":
            depth -= 1


def _refuse_repeats(pairs: list[tuple[str, object]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise _about(repeated, f"{repeated} is given more than once")


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

"""JSON request bodies, decoded strictly: what two parsers could read differently is refused."""

import re
from typing import Final

import msgspec
from starlette.types import ASGIApp

from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.request import RequestContext
from service.validation_errors import explain_invalid
from service.wire.strict import StrictError, check_depth, parse, refuse_nul, refuse_repeats

_JSON: Final = re.compile(rb'application/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?\Z', re.IGNORECASE)
_LONGEST_REASON: Final = 200
_LONGEST_PLACE: Final = 80


class BodyGate(RequestGate):
    """Decodes the body into the struct that the route declares. It stands last: payment is asked for first.

    Args:
        app: The application behind the gate.
        kind: The struct.
    """

    def __init__(self, app: ASGIApp, kind: type[msgspec.Struct]) -> None:
        super().__init__(app)
        self._kind = kind

    async def check(self, request: RequestContext) -> None:
        """Read and decode the body. The connection bounds its size.

        Raises:
            ServiceError: UNSUPPORTED_MEDIA_TYPE; BAD_REQUEST naming the path of what does not fit, never its value.
            PeerGoneError: If the peer left.
        """
        if not _JSON.match(request.headers.get(b"content-type", b"")):
            raise ServiceError("UNSUPPORTED_MEDIA_TYPE", "Send the body with Content-Type: application/json.")
        if request.headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise ServiceError("UNSUPPORTED_MEDIA_TYPE", "Send the body without a Content-Encoding.")
        request.body = decode_body(self._kind, await request.read_body())


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
        found = explain_invalid(error, kind)
        raise _about(found.place or "body", f"{found.sentence('it')}.") from None
    except StrictError as error:
        if error.name is not None:
            place = error.name[:_LONGEST_PLACE]
            raise _about(place, f"{place} {error.reason}.") from None
        raise ServiceError("BAD_REQUEST", f"The body {error.reason}.") from None
    return decoded


def _about(place: str, reason: str) -> ServiceError:
    return ServiceError(
        "BAD_REQUEST", f"The body is not valid: {reason[:_LONGEST_REASON].rstrip('.')}.", details={"parameter": place}
    )

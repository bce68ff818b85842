"""Gates that identify a client without a token: by its device, its network, or the signature of its wallet."""

import re
from typing import Final

import msgspec
from msgspec import Struct
from starlette.types import ASGIApp

from service.access.anonymous import AnonymousHasher
from service.access.caller import invalid_credential
from service.access.rate_limiter import RequestLimiter
from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.ethereum.signatures import recover_personal
from service.http.gate import RequestGate
from service.http.request import RequestContext
from service.wire.payment import reading_message
from service.wire.strict import StrictError, check_depth, parse


class _Named(Struct, rename={"device_id": "deviceId"}):
    """The part of a body that names its device."""

    device_id: str = ""


_NAMED = msgspec.json.Decoder(_Named)


class AnonymousGate(RequestGate):
    """Sets the device of a request without a token; refuses one without a device before its body is decoded.

    Args:
        app: The application behind the gate.
        limiter: Finds the client's address.
        form: Hashes device and address.
    """

    def __init__(self, app: ASGIApp, limiter: RequestLimiter, form: AnonymousHasher) -> None:
        super().__init__(app)
        self._limiter = limiter
        self._form = form

    async def check(self, request: RequestContext) -> None:
        """Read the device's id from the body.

        Raises:
            ServiceError: AUTH_REQUIRED.
            PeerGoneError: If the peer left.
        """
        device = _device_of(await request.read_body())
        if not device:
            raise ServiceError(
                "AUTH_REQUIRED",
                "Send an API key or a session token as `Authorization: Bearer …` (run `verdict login`), or a "
                "`deviceId` in the body for one free question.",
            )
        request.device = self._form.identify(device, self._limiter.host_of(request.scope))


class NetworkGate(RequestGate):
    """Sets the keyed hash of the network that a sign-in comes from.

    Args:
        app: The application behind the gate.
        limiter: Finds the client's address.
        form: Hashes it.
    """

    def __init__(self, app: ASGIApp, limiter: RequestLimiter, form: AnonymousHasher) -> None:
        super().__init__(app)
        self._limiter = limiter
        self._form = form

    def check(self, request: RequestContext) -> None:
        """Set the network."""
        request.network = self._form.account_network(self._limiter.host_of(request.scope))


def _device_of(body: bytes) -> str:
    try:
        check_depth(body)
        return parse(_NAMED, body).device_id
    except (StrictError, msgspec.ValidationError):
        return ""


WINDOW_S: Final = 60
"""How far the signed time may be from the service's clock, before or after it, in seconds."""

_TIME: Final = re.compile(rb"(?:0|[1-9][0-9]{0,11})\Z")
_SIGNATURE: Final = re.compile(rb"0x[0-9a-fA-F]{130}\Z")
_SIGNATURE_FORM: Final = (
    "0x and 130 hexadecimal digits, by the key of the address that paid; a contract wallet has none"
)


class PayerSignatureGate(RequestGate):
    """Sets the signer's address; a request with a token passes.

    Args:
        app: The application behind the gate.
        clock: Time.
    """

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        super().__init__(app)
        self._clock = clock

    def check(self, request: RequestContext) -> None:
        """Accept a caller with a token or a signature.

        Raises:
            ServiceError: AUTH_REQUIRED without token and signature; BAD_REQUEST for headers that cannot be read;
                AUTH_INVALID for a time that is too far from the service's; NOT_FOUND if no key has signed.
        """
        if request.caller is None:
            request.payer = self._signer(request)

    def _signer(self, request: RequestContext) -> str:
        receipt_id = request.path_params["id"]
        time, signature = (request.headers.get(name) for name in (b"x-payer-time", b"x-payer-signature"))
        if time is None and signature is None:
            raise ServiceError(
                "AUTH_REQUIRED",
                "Send a key or a session as `Authorization: Bearer …`. `verdict login` gets you one. If you paid "
                "without an account, send X-Payer-Time and X-Payer-Signature.",
            )
        at_s = int(_read("X-Payer-Time", time, _TIME, "epoch seconds in digits"))
        text = _read("X-Payer-Signature", signature, _SIGNATURE, _SIGNATURE_FORM)
        now_s = self._clock.now_ms() // SECOND_MS
        if abs(now_s - at_s) > WINDOW_S:
            raise invalid_credential(
                f"X-Payer-Time is more than {WINDOW_S} s from this service's time, which is {now_s} (epoch seconds). "
                "Sign the message again with that time."
            )
        try:
            return recover_personal(reading_message(receipt_id, at_s), bytes.fromhex(text[2:]))
        except ValueError:
            raise ServiceError("NOT_FOUND", f"You have no receipt {receipt_id}.") from None


def _read(name: str, value: bytes | None, form: re.Pattern[bytes], takes: str) -> str:
    if value is None or not form.match(value):
        raise ServiceError("BAD_REQUEST", f"{name} takes {takes}.", details={"parameter": name})
    return value.decode("ascii")

"""Decodes payment headers: standard base64 of strict JSON, x402 v1 or v2. `checks` judges the content."""

from binascii import Error, a2b_base64
from typing import Final, Literal, NoReturn

import msgspec
from msgspec import Raw, Struct

from service.errors import ServiceError
from service.payments.errors import PaymentRefusedError
from service.validation_errors import explain_invalid
from service.wire.payment import Accepted, ExactPayload, PaymentPayloadV1, PaymentPayloadV2
from service.wire.strict import StrictError, check_depth, parse, refuse_repeats

PaymentHeader = Literal["payment-signature", "x-payment"]
"""The header a payment came in. v1 clients know X-PAYMENT alone, and some v2 clients send it too."""


class _Version(Struct):
    version: int = msgspec.field(name="x402Version")


_VERSION: Final = msgspec.json.Decoder(_Version)
_V1: Final = msgspec.json.Decoder(PaymentPayloadV1)
_V2: Final = msgspec.json.Decoder(PaymentPayloadV2)
_EXACT: Final = msgspec.json.Decoder(ExactPayload)

_HEADER_VERSIONS: Final[dict[PaymentHeader, frozenset[int]]] = {
    "payment-signature": frozenset({2}),
    "x-payment": frozenset({1, 2}),
}
_OBJECT_OR_NULL: Final = (b"{", b"null")
_LONGEST_REASON: Final = 200


class DecodedPayment(Struct, frozen=True, kw_only=True):
    """A payment as it was sent, spelled as it was sent.

    Attributes:
        carrier: The header it came in.
        version: x402 version.
        scheme: x402 scheme.
        network: v1 network name or CAIP-2 id.
        accepted: The row of `accepts` that the client chose; None from v1 clients.
        payload: JSON whose shape depends on scheme and network: see `decode_exact`.
    """

    carrier: PaymentHeader
    version: Literal[1, 2]
    scheme: str
    network: str
    accepted: Accepted | None
    payload: Raw


def decode_payment(carrier: PaymentHeader, value: bytes) -> DecodedPayment:
    """Decode a payment header.

    Args:
        carrier: Name of the header.
        value: Its value. The connection limits its length.

    Raises:
        ServiceError: BAD_REQUEST with the header and the place in it, never the value there.
        PaymentRefusedError: If the x402 version does not belong in this header.
    """
    try:
        raw = a2b_base64(value, strict_mode=True)
    except Error:
        _unreadable(carrier, "is not standard base64 with its padding")
    kind: object = _VERSION.type
    try:
        check_depth(raw)
        version = parse(_VERSION, raw).version
        if version not in _HEADER_VERSIONS[carrier]:
            raise PaymentRefusedError("invalid_x402_version", _other_version(carrier))
        kind = _V1.type if version == 1 else _V2.type
        return _read_v1(carrier, raw) if version == 1 else _read_v2(carrier, raw)
    except StrictError as error:
        _unreadable(carrier, error.reason if error.name is None else f"names {error.name!r} twice")
    except msgspec.ValidationError as error:
        _unreadable(carrier, f"does not fit: {explain_invalid(error, kind).sentence('it')}")


def decode_exact(presented: DecodedPayment) -> ExactPayload:
    """Decode the signed part.

    Raises:
        ServiceError: BAD_REQUEST, as `decode_payment`.
    """
    try:
        return _EXACT.decode(presented.payload)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _unreadable(presented.carrier, f"does not fit: payload: {explain_invalid(error, ExactPayload).sentence('it')}")


def _read_v1(carrier: PaymentHeader, raw: bytes) -> DecodedPayment:
    sent = parse(_V1, raw)
    refuse_repeats(raw)
    return DecodedPayment(
        carrier=carrier, version=1, scheme=sent.scheme, network=sent.network, accepted=None, payload=sent.payload
    )


def _read_v2(carrier: PaymentHeader, raw: bytes) -> DecodedPayment:
    sent = parse(_V2, raw)
    extensions = bytes(sent.extensions)
    if not extensions.startswith(_OBJECT_OR_NULL):
        _unreadable(carrier, "does not fit: extensions takes an object or null")
    # Extensions are not read, and are three quarters of a usual payload: searching them for repeated members would take
    # longer than everything else together.
    refuse_repeats(raw.replace(extensions, b"0", 1))
    accepted = sent.accepted
    return DecodedPayment(
        carrier=carrier,
        version=2,
        scheme=accepted.scheme,
        network=accepted.network,
        accepted=accepted,
        payload=sent.payload,
    )


def _other_version(carrier: PaymentHeader) -> str:
    if carrier == "x-payment":
        return "The payment has another x402 version than 1 and 2."
    return "PAYMENT-SIGNATURE carries payments of x402 version 2. Send those of version 1 in X-PAYMENT."


def _unreadable(carrier: PaymentHeader, reason: str) -> NoReturn:
    name = carrier.upper()
    raise ServiceError("BAD_REQUEST", f"{name} {reason[:_LONGEST_REASON]}.", details={"parameter": name}) from None

"""The envelope every data route answers with, written by splicing so that a cached payload is encoded once."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from service.clock import SECOND_MS, iso
from service.errors import ServiceError

SCHEMA_VERSION: Final = 1

encode: Final = msgspec.json.Encoder().encode


class Meta(msgspec.Struct, frozen=True):
    """When an answer was produced, how old its data is: ISO 8601 UTC, ISO 8601 UTC, whole seconds."""

    ts: str
    as_of: str
    data_age_seconds: int


class BareMeta(msgspec.Struct, frozen=True):
    """The meta of a route that has no underlying data (`billing/tier`)."""

    ts: str


class ErrorBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong: a code of `errors.STATUS`, a sentence, and machine-readable extras."""

    code: str
    message: str
    details: Mapping[str, Any] | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """The envelope of a failure."""

    schema_version: Literal[1]
    error: ErrorBody


class Answer(msgspec.Struct, frozen=True):
    """What a route function returns.

    `data` is a struct of `wire`, or `msgspec.Raw` where a service keeps the encoded payload for a refresh.
    `as_of_ms` is the observation time of the oldest load-bearing input; `None` leaves `meta` with `ts` alone.
    `counted` is false for an answer that costs nothing (`insufficient-evidence`).
    `auth` is sent beside `data`: the free quota, in the manifest only.
    """

    data: object
    as_of_ms: int | None = None
    counted: bool = True
    auth: msgspec.Raw | None = None


_HEAD: Final = b'{"schemaVersion":%d,"data":' % SCHEMA_VERSION


def success(answer: Answer, now_ms: int) -> bytes:
    """Write the envelope of a success.

    Args:
        answer: Payload and its observation time.
        now_ms: When the answer is produced, epoch milliseconds; becomes `ts`.

    Returns:
        UTF-8 JSON: `schemaVersion`, `data`, `meta`, in this order. `data_age_seconds` is never negative.
    """
    data = bytes(answer.data) if isinstance(answer.data, msgspec.Raw) else encode(answer.data)
    if answer.as_of_ms is None:
        return b'%b%b,"meta":{"ts":"%b"}}' % (_HEAD, data, iso(now_ms).encode())
    age_s = max(0, (now_ms - answer.as_of_ms) // SECOND_MS)
    auth = b"" if answer.auth is None else b',"auth":%b' % bytes(answer.auth)
    return b'%b%b,"meta":{"ts":"%b","as_of":"%b","data_age_seconds":%d}%b}' % (
        _HEAD,
        data,
        iso(now_ms).encode(),
        iso(answer.as_of_ms).encode(),
        age_s,
        auth,
    )


def failure(error: ServiceError) -> bytes:
    """Write the envelope of a failure: `schemaVersion`, `error`, in this order."""
    body = ErrorBody(error.code, error.message, error.details)
    return b'{"schemaVersion":%d,"error":%b}' % (SCHEMA_VERSION, encode(body))

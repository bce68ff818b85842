"""The exception that packages raise for callers, and the closed table of its codes."""

from collections.abc import Mapping
from typing import Final

STATUS: Final[Mapping[str, int]] = {
    "BAD_REQUEST": 400,
    "AUTH_INVALID": 401,
    "PAYMENT_REQUIRED": 402,
    "AUTH_REQUIRED": 403,
    "NOT_FOUND": 404,
    "UNKNOWN_SYMBOL": 404,
    "UNKNOWN_CATEGORY": 404,
    "UNKNOWN_STREAM": 404,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TIMEOUT": 408,
    "IDEMPOTENCY_CONFLICT": 409,
    "PAYMENT_REUSED": 409,
    "PAYLOAD_TOO_LARGE": 413,
    "URI_TOO_LONG": 414,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "WRONG_HOST": 421,
    "RATE_LIMITED": 429,
    "HEADERS_TOO_LARGE": 431,
    "INTERNAL": 500,
    "UPSTREAM_4XX": 502,
    "UPSTREAM_5XX": 502,
    "UPSTREAM_UNREACHABLE": 502,
    "UNAVAILABLE": 503,
    "PAYMENT_PENDING": 503,
}
"""HTTP status of each error code."""


def upstream_code(status: int | None) -> str:
    """The code for an upstream's failure.

    Args:
        status: HTTP status of its answer; null if there was none (DNS, connection, TLS, timeout).
    """
    if status is None:
        return "UPSTREAM_UNREACHABLE"
    return "UPSTREAM_4XX" if 400 <= status < 500 else "UPSTREAM_5XX"  # noqa: PLR2004 - the classes of HTTP statuses


class ServiceError(Exception):
    """A failure that is reported to the caller.

    Args:
        code: A key of `STATUS`.
        message: One sentence for a person, saying what to do where something can be done.
        details: JSON-ready extras (`{parameter, allowed}`, `{candidates}`, `{upstream, upstreamStatus, upstreamBody}`).
        headers: Response headers that belong to the failure (`Allow`, `Retry-After`, `WWW-Authenticate`).

    Raises:
        KeyError: If the code is not in the table.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS[code]
        self.message = message
        self.details = details
        self.headers: Mapping[str, str] = headers or {}

"""Results of a request: an answer, a refusal, or a connection failure; and the quota that an answer states.

Source of the quota: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`), structured fields of
RFC 9651. Only the policy `questions` is read; `requests` is the rate limit.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from service.client.errors import VerdictError, ended

CHECK_URL: Final = "Check that the URL is that of a Verdict service."

_REDIRECTS: Final = range(300, 400)
_RECEIPT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_SECONDS: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_ITEM: Final = re.compile(r'\s*"questions"((?:\s*;\s*[a-z]+=\d{1,15})*)\s*\Z', re.ASCII)
_PARAMETER: Final = re.compile(r"([a-z]+)=(\d+)", re.ASCII)


class RawAnswer(NamedTuple):
    """A success: HTTP status (200 to 299), headers by lower-case name, and the body's bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON; `UnreadableAnswerError` if it is not."""
        return read_json(self.body)

    @property
    def data(self) -> Any:
        """`data` of the envelope. Raises `UnreadableAnswerError` if the answer is not in an envelope."""
        return self._part("data")

    @property
    def meta(self) -> Any:
        """`meta` of the envelope. Raises as `data`."""
        return self._part("meta")

    @property
    def receipt_id(self) -> str | None:
        """Id of the payment's receipt; None if nothing was paid, or if it could not be part of a path."""
        name = self.headers.get("x-receipt-id", "")
        return name if _RECEIPT_ID.fullmatch(name) else None

    def _part(self, name: str) -> Any:
        document = self.document
        if not isinstance(document, dict) or name not in document:
            raise UnreadableAnswerError(f"The answer has no `{name}`. {CHECK_URL}", self.body)
        return document[name]


class SentRequest(NamedTuple):
    """A request that was sent to the service at `url`.

    `request` is method, space, path with query, line feed, body: receipts hold its SHA-256. `caller` is the SHA-256 of
    `Authorization` in hex: it identifies the caller without the secret.
    """

    url: str
    request: bytes
    caller: str


class RefusedError(VerdictError):
    """The service refused the request `asked`, or redirected it; redirects are not followed.

    `status` is 300 or above, `headers` are by lower-case name. `document` is the body: the envelope of a failure, or
    the bare `{"error": text}` of the question route. `message` is the service's text as it came.
    """

    def __init__(
        self, status: int, headers: Mapping[str, str], document: Any, asked: SentRequest | None = None
    ) -> None:
        self.asked = asked
        self.status = status
        self.headers = headers
        self.document = document
        error = document.get("error") if isinstance(document, dict) else None
        error = error if isinstance(error, dict) else {"message": error}
        # Only text is used: Python parses lists that are nested too deeply for `str`.
        code, message, details = (error.get(name) for name in ("code", "message", "details"))
        self.code = code if isinstance(code, str) and code else f"HTTP_{status}"
        self.message = message if isinstance(message, str) and message else self._without_message()
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        super().__init__(ended(self.message))

    @property
    def retry_after_s(self) -> int | None:
        """Seconds to wait by `Retry-After`; None if it names none."""
        wait = self.headers.get("retry-after", "")
        return int(wait) if _SECONDS.fullmatch(wait) else None

    def _without_message(self) -> str:
        target = self.headers.get("location")
        if self.status in _REDIRECTS and target:
            return f"The service redirects to {target}. If you trust that URL, use it with --url."
        return f"The service answered {self.status} without a reason."


class UnreachableError(VerdictError):
    """No answer arrived: no connection, a broken one, or a timeout.

    `sent` says whether the request may have arrived; it is False only if it certainly did not.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class UnreadableAnswerError(VerdictError):
    """The answer is not one of this API.

    `body` are the answer's bytes, which may have been paid for; None if they were not read to their end.
    """

    def __init__(self, message: str, body: bytes | None = None) -> None:
        super().__init__(message)
        self.body = body


@contextmanager
def reading() -> Iterator[None]:
    """Turn parts of an answer that are missing, of another type or nested too deeply into `UnreadableAnswerError`."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, RecursionError):
        raise UnreadableAnswerError(f"The answer lacks an expected field. {CHECK_URL}") from None


def read_json(body: bytes) -> Any:
    """Decode an answer's body. Raises `UnreadableAnswerError` if it is not JSON, or nested too deeply."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableAnswerError(f"The answer is not JSON. {CHECK_URL}", body) from None


class CallerQuota(NamedTuple):
    """Remaining questions (`left`) of a limit (None if not stated), per UTC day (`daily`) or in total.

    `reset_s` is the number of seconds until the next free question; None if there is none.
    """

    left: int
    limit: int | None
    daily: bool
    reset_s: int | None


def read_quota(headers: Mapping[str, str]) -> CallerQuota | None:
    """The quota in an answer's headers (by lower-case name); None if the answer was not counted or has no limit."""
    left, policy = _parameters(headers.get("ratelimit", "")), _parameters(headers.get("ratelimit-policy", ""))
    if "r" not in left:
        return None
    return CallerQuota(left["r"], policy.get("q"), "w" in policy, left.get("t"))


def _parameters(field: str) -> dict[str, int]:
    found = next(filter(None, map(_ITEM.match, field.split(","))), None)
    return {name: int(value) for name, value in _PARAMETER.findall(found[1])} if found else {}

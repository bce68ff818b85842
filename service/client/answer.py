"""Results of a request: an answer, a refusal, or a connection failure with its reason; and quota headers.

Source of the quota: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`), structured fields of
RFC 9651. Only the policy `questions` is read; `requests` is the rate limit.
"""

import http.client
import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from service.client.errors import VerdictError
from service.proxies import Proxy

_REDIRECTS: Final = range(300, 400)
_RECEIPT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_SECONDS: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


class RawAnswer:
    """A success.

    Args:
        status: HTTP status, 200 to 299.
        headers: By lower-case name.
        body: Bytes.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def document(self) -> Any:
        """The body as JSON.

        Raises:
            UnreadableAnswerError: If it is not JSON.
        """
        return read_json(self.body)

    @property
    def data(self) -> Any:
        """`data` of the envelope.

        Raises:
            UnreadableAnswerError: If the answer is not in an envelope.
        """
        return self._part("data")

    @property
    def meta(self) -> Any:
        """`meta` of the envelope.

        Raises:
            UnreadableAnswerError: If the answer is not in an envelope.
        """
        return self._part("meta")

    @property
    def receipt_id(self) -> str | None:
        """Id of the payment's receipt; None if nothing was paid, or if it could not be part of a path."""
        name = self.headers.get("x-receipt-id", "")
        return name if _RECEIPT_ID.fullmatch(name) else None

    def _part(self, name: str) -> Any:
        document = self.document
        if not isinstance(document, dict) or name not in document:
            raise UnreadableAnswerError("the answer is in no envelope: is that address a Verdict service?")
        return document[name]


class SentRequest(NamedTuple):
    """A request that was sent.

    Attributes:
        url: The service: scheme, host, perhaps a port.
        request: Method, space, path with query, line feed, body. Receipts hold its SHA-256.
        caller: SHA-256 of its `Authorization` in hex: identifies the caller without the secret.
    """

    url: str
    request: bytes
    caller: str


class RefusedError(VerdictError):
    """The service refused, or redirected; redirects are not followed.

    Args:
        status: HTTP status, 300 and above.
        headers: By lower-case name.
        document: The body: the envelope of a failure, or the bare `{"error": text}` of the question route.
        asked: The refused request.
    """

    def __init__(
        self, status: int, headers: Mapping[str, str], document: Any, asked: SentRequest | None = None
    ) -> None:
        self.asked = asked
        self.status = status
        self.headers = headers
        self.document = document
        error = document.get("error") if isinstance(document, dict) else None
        error = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
        self.code = _text(error.get("code")) or f"HTTP_{status}"
        self.message = _text(error.get("message")) or self._without_a_word()
        details = error.get("details")
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        super().__init__(self.message)

    @property
    def retry_after_s(self) -> int | None:
        """Seconds to wait by `Retry-After`; None if it names none."""
        wait = self.headers.get("retry-after", "")
        return int(wait) if _SECONDS.fullmatch(wait) else None

    def _without_a_word(self) -> str:
        target = self.headers.get("location")
        if self.status in _REDIRECTS and target:
            return f"that address sends on to {target}; ask there (--url) if you trust it"
        return f"the service answered {self.status} without saying why"


def _text(error: object) -> str:
    # What is no text is not made one: Python reads lists that are nested deeper than it can write them.
    return error if isinstance(error, str) else ""


class UnreachableError(VerdictError):
    """No answer arrived: no connection, a broken one, or a timeout.

    Args:
        message: What to check.
        sent: Whether the request may have arrived; False only if it certainly did not.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class UnreadableAnswerError(VerdictError):
    """The answer is not one of this API."""


@contextmanager
def reading() -> Iterator[None]:
    """Turn missing parts of an answer into an `UnreadableAnswerError`.

    Raises:
        UnreadableAnswerError: If a part is missing or has the wrong type.
    """
    try:
        yield
    except (LookupError, TypeError, AttributeError):
        raise UnreadableAnswerError(
            "the answer lacks what it should hold: is that address a Verdict service?"
        ) from None


def read_json(body: bytes) -> Any:
    """Decode an answer's body.

    Raises:
        UnreadableAnswerError: If it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableAnswerError("the answer is not JSON: is that address a Verdict service?") from None


_UNTRUSTED: Final = (
    "if you trust it, set SSL_CERT_FILE to its certificate; if it has expired, look at the clock of this machine too"
)


def why_unconnected(error: Exception, url: str, timeout_s: float) -> str:
    """Message for a failed connection attempt.

    Args:
        error: The socket's error.
        url: The service.
        timeout_s: The timeout.
    """
    match error:
        case ssl.SSLCertVerificationError():
            return f"{url} is not trusted: {error.verify_message}; {_UNTRUSTED}"
        case ssl.SSLError():
            return f"{url} speaks no TLS that is understood here ({_reason(error)}); is it http:// instead?"
        case socket.gaierror():
            question = "; is it spelt right?"
        case ConnectionRefusedError():
            question = "; is the service running?"
        case _:
            question = ""
    return f"{url} cannot be reached: {_connection_reason(error, timeout_s)}{question}"


def why_not_proxied(error: Exception, url: str, timeout_s: float, proxy: Proxy) -> str:
    """Message for a failed connection attempt through a proxy; TLS failures are the service's.

    Args:
        error: The socket's error, or `OSError("status N")` for the proxy's refusal.
        url: The service.
        timeout_s: The timeout.
        proxy: The proxy.
    """
    if isinstance(error, ssl.SSLError):
        return why_unconnected(error, url, timeout_s)
    reason = _connection_reason(error, timeout_s)
    status = _STATUS.search(str(error))
    if status:
        reason = f"it answered {status[1]}"
        if int(status[1]) == http.HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            reason += ", because it requires a user and a password that it accepts"
    return (
        f"{url} cannot be reached through the proxy {proxy}: {reason}. "
        f"Correct {proxy.variable}, or add the host to NO_PROXY"
    )


def _connection_reason(error: Exception, timeout_s: float) -> str:
    match error:
        case socket.gaierror():
            return "no such name is known here"
        case ConnectionRefusedError():
            return "nothing listens there"
        case TimeoutError():
            return f"no connection within {timeout_s:.0f} s"
    return _reason(error)


def why_unanswered(error: Exception, url: str, timeout_s: float) -> str:
    """Message for a request without a complete answer.

    Args:
        error: The connection's error.
        url: The service.
        timeout_s: The timeout for the next bytes.
    """
    match error:
        case TimeoutError():
            return f"{url} did not answer within {timeout_s:.0f} s"
        case http.client.IncompleteRead():
            return f"the answer of {url} broke off"
        case http.client.RemoteDisconnected():
            return f"{url} closed the connection without an answer; is it https:// instead?"
        case http.client.HTTPException():
            return f"what answers at {url} does not speak HTTP as it should; is that address a Verdict service?"
    return f"the connection to {url} broke: {_reason(error)}"


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
    return str(reason or str(error) or type(error).__name__)


_STATUS: Final = re.compile(r"(?:status|failed:) ([0-9]{3})\b")
_ITEM: Final = re.compile(r'\s*"questions"((?:\s*;\s*[a-z]+=\d{1,15})*)\s*\Z', re.ASCII)
_PARAMETER: Final = re.compile(r"([a-z]+)=(\d+)", re.ASCII)


class CallerQuota(NamedTuple):
    """Remaining questions.

    Attributes:
        left: Questions left.
        limit: Questions in total; None if not stated.
        daily: Whether the limit is per UTC day; else once.
        reset_s: Seconds until the next free question; None if there is none.
    """

    left: int
    limit: int | None
    daily: bool
    reset_s: int | None


def read_quota(headers: Mapping[str, str]) -> CallerQuota | None:
    """Read the quota from an answer's headers.

    Args:
        headers: By lower-case name.

    Returns:
        None if the answer was not counted, or there is no limit.
    """
    left, policy = _parameters(headers.get("ratelimit", "")), _parameters(headers.get("ratelimit-policy", ""))
    if "r" not in left:
        return None
    return CallerQuota(left["r"], policy.get("q"), "w" in policy, left.get("t"))


def _parameters(field: str) -> dict[str, int]:
    found = next(filter(None, map(_ITEM.match, field.split(","))), None)
    return {name: int(value) for name, value in _PARAMETER.findall(found[1])} if found else {}

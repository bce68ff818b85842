"""Upstream failures: the reason, the error raised, and the log lines of an outage.

Never use `str(error)` of an aiohttp error: it contains the URL and any key in it.
"""

import errno
import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import aiohttp

from service.errors import ServiceError, upstream_code
from service.proxies import proxy_at, proxy_for
from service.upstream.ssrf_guard import NotPublicError

Stage: TypeAlias = Literal["dns", "connect", "tls", "http", "decode"]
"""How far a request came. A timeout counts as `connect`: nothing tells a silent server from a lost packet."""

TITLES: Final[Mapping[str, str]] = {
    "hyperliquid": "Hyperliquid",
    "binance": "Binance",
    "coingecko": "CoinGecko",
    "alternative": "alternative.me",
    "coindesk": "CoinDesk",
    "cointelegraph": "Cointelegraph",
}
"""Upstream → how people write its name."""

_CONNECT: Final[Mapping[int, str]] = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ENETUNREACH: "network unreachable",
    errno.ETIMEDOUT: "connection timed out",
}
_CERTIFICATE: Final[Mapping[int, str]] = {
    9: "TLS certificate not valid yet",
    10: "TLS certificate expired",
    18: "TLS certificate is self-signed",
    19: "TLS certificate is self-signed",
    20: "TLS certificate has an unknown issuer",
    62: "TLS certificate is for another host",
    64: "TLS certificate is for another host",
}
"""OpenSSL's `X509_V_ERR_*` codes."""


class FailureReason(NamedTuple):
    """A stage, and what failed there (`DNS lookup failed`)."""

    stage: Stage
    text: str


_KINDS: Final[Sequence[tuple[type[Exception], FailureReason]]] = (
    (aiohttp.ClientConnectorDNSError, FailureReason("dns", "DNS lookup failed")),
    (aiohttp.ClientSSLError, FailureReason("tls", "TLS handshake failed")),
    (aiohttp.ServerDisconnectedError, FailureReason("http", "connection closed without an answer")),
    (aiohttp.ClientPayloadError, FailureReason("http", "answer cut short")),
)


def reason_of(error: Exception) -> FailureReason:
    """Say why a request failed.

    Args:
        error: As aiohttp or the socket raised it.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return FailureReason("tls", _certificate(error.certificate_error))
    if isinstance(error, aiohttp.ClientHttpProxyError) or (
        isinstance(error, aiohttp.WSServerHandshakeError) and error.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
    ):
        return refused_by_proxy(str(error.request_info.url), error.status)
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return FailureReason("http", f"status {error.status}")
    reason = _connection_reason(error)
    proxy = proxy_at(error.host, error.port) if isinstance(error, aiohttp.ClientConnectorError) else None
    return reason if proxy is None else FailureReason("connect", f"no connection to proxy {proxy}: {reason.text}")


def refused_by_proxy(url: str, status: int) -> FailureReason:
    """Say that a proxy did not forward a request.

    Args:
        url: The request's.
        status: The proxy's answer.
    """
    wants = status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
    why = ", it requires a user and a password that it accepts" if wants else ""
    return FailureReason("connect", f"refused by proxy {proxy_for(url)}: status {status}{why}")


def _connection_reason(error: Exception) -> FailureReason:
    known = next((reason for kind, reason in _KINDS if isinstance(error, kind)), None)
    if known is not None:
        return known
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, NotPublicError):
        return FailureReason("connect", "address is not public")
    code = cause.errno if isinstance(cause, OSError) else None
    return FailureReason("connect", _CONNECT.get(code or 0, f"connection failed ({type(error).__name__})"))


def _certificate(error: Exception) -> str:
    return _CERTIFICATE.get(getattr(error, "verify_code", 0), "TLS certificate is not trusted")


LONGEST_BODY: Final = 2_048
"""Bytes of an upstream's answer that are repeated."""

_HIDDEN: Final = "[redacted]"
_PATTERNS: Final = (
    (re.compile(r"://[^\s/@\"'<>]+@"), f"://{_HIDDEN}@"),
    (re.compile(r"\?[^\s\"'<>?]*=[^\s\"'<>]*"), f"?{_HIDDEN}"),
    (re.compile(r"[A-Za-z0-9+/_=.-]{32,}"), _HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"',;]+"), rf"\1 {_HIDDEN}"),
    (
        re.compile(
            r"(?i)((?:key|token|secret|password|passwd|signature|credential|authorization|cookie)[\w-]{0,32}"
            r"\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)(?!(?:bearer|basic)\s)[^\s\"',;&<>}\\]+"
        ),
        rf"\1{_HIDDEN}",
    ),
)
"""In this order, behind what was entrusted: user info and query of a URL, any long opaque run, an authorization scheme,
a named credential.

Each takes linear time: the body is an upstream's, and may be made to hurt.
"""

_WORD: Final = re.compile(r"[a-z_-]*\Z|.{0,7}\Z", re.DOTALL)
"""What may stand in an address or a header and be no secret."""

_entrusted: Final[set[str]] = set()


def entrust(url: str, *values: str) -> None:
    """Remember a credential of an upstream: an upstream may repeat it in an answer, and logs must not show it.

    Args:
        url: The upstream's address; each step of its path may be a key.
        values: Of headers.
    """
    pieces = [*urlsplit(url).path.split("/"), *(word for value in values for word in value.split())]
    _entrusted.update(piece for piece in pieces if not _WORD.match(piece))


def redact(body: bytes) -> str:
    """Make an upstream's words safe to repeat.

    Args:
        body: What it answered, in any encoding.

    Returns:
        At most 2 KB (UTF-8) of text, in which credentials and URL queries are hidden, and no U+0000, which not every
        store takes. Hidden first and cut after, so that a cut never leaves half a credential that no longer looks like
        one.
    """
    text = body.decode("utf-8", "replace").replace("\0", "\ufffd")
    for secret in _entrusted:
        text = text.replace(secret, _HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text.encode()[:LONGEST_BODY].decode("utf-8", "ignore")


class UpstreamError(ServiceError):
    """An upstream gave no usable answer.

    Args:
        upstream: Its name (`hyperliquid`).
        status: HTTP status, null where there was none (a timeout, a broken connection).
        body: What it said, or what happened instead; redacted and cut here.
        retry_after_s: Seconds until it may be asked again, where that is known.
        stage: How far the request came.
    """

    def __init__(
        self,
        upstream: str,
        status: int | None,
        body: bytes,
        *,
        retry_after_s: float | None = None,
        stage: Stage = "http",
    ) -> None:
        said = redact(body)
        super().__init__(
            upstream_code(status),
            f"No usable answer from {upstream}{'' if status is None else f' (status {status})'}.",
            details={"upstream": upstream, "upstreamStatus": status, "upstreamBody": said},
        )
        self.upstream = upstream
        self.upstream_status = status
        self.body = said
        self.retry_after_s = retry_after_s
        self.stage = stage


_log: Final = logging.getLogger("verdict.upstream")


class Outage:
    """The state of one upstream, logged when it changes: an outage is two lines, however many retries it takes.

    Args:
        name: The upstream's name (`hyperliquid`).
        what: Which of its services, if not all (`feed`).

    Attributes:
        reason: Why it does not answer (`DNS lookup failed`); null while it does.
    """

    def __init__(self, name: str, what: str = "") -> None:
        self.reason: str | None = None
        self._name = name
        self._title = f"{TITLES.get(name, name)} {what}".rstrip()
        self._failures = 0

    def failed(self, reason: str, *, status: int | None = None, body: str = "") -> None:
        """Note a failed request. The first one, and the first for another reason, is a warning; others are debug.

        Args:
            reason: In a few words, the same for the same cause.
            status: HTTP status of the answer, if there was one.
            body: What was answered, redacted.
        """
        self._failures += 1
        level = logging.DEBUG if reason == self.reason else logging.WARNING
        self.reason = reason
        details = {"upstream": self._name, "status": status, "body": body[:200]}
        _log.log(level, "Waiting for %s: %s", self._title, reason, extra=details)

    def answered(self) -> None:
        """Note a usable answer; the first one after failures is logged."""
        if self.reason is not None:
            _log.warning(
                "%s answers again (failed requests: %d)", self._title, self._failures, extra={"upstream": self._name}
            )
            self.reason, self._failures = None, 0

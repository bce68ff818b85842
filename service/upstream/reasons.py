"""Why a request to an upstream failed, in words for the operator.

Never `str(error)`: it carries the URL, and with it any key in there.
"""

import errno
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import aiohttp

from service.upstream.guard import NotPublicError

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


class Reason(NamedTuple):
    """A stage, and what failed there (`DNS lookup failed`)."""

    stage: Stage
    text: str


_KINDS: Final[Sequence[tuple[type[Exception], Reason]]] = (
    (aiohttp.ClientConnectorDNSError, Reason("dns", "DNS lookup failed")),
    (aiohttp.ClientSSLError, Reason("tls", "TLS handshake failed")),
    (aiohttp.ServerDisconnectedError, Reason("http", "connection closed without an answer")),
    (aiohttp.ClientPayloadError, Reason("http", "answer cut short")),
)


def reason_of(error: Exception) -> Reason:
    """Say why a request failed.

    Args:
        error: As aiohttp or the socket raised it.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Reason("tls", _certificate(error.certificate_error))
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return Reason("http", f"status {error.status}")
    known = next((reason for kind, reason in _KINDS if isinstance(error, kind)), None)
    if known is not None:
        return known
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, NotPublicError):
        return Reason("connect", "address is not public")
    code = cause.errno if isinstance(cause, OSError) else None
    return Reason("connect", _CONNECT.get(code or 0, f"connection failed ({type(error).__name__})"))


def _certificate(error: Exception) -> str:
    return _CERTIFICATE.get(getattr(error, "verify_code", 0), "TLS certificate is not trusted")

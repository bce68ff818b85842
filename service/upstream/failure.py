"""What is said of an upstream that failed: its name, its status, and as much of its words as is safe to repeat."""

import re
from typing import Final
from urllib.parse import urlsplit

from service.errors import ServiceError, upstream_code
from service.upstream.reasons import Stage

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
    """Remember what opens an upstream: whoever is told it may repeat it, and we must not, whatever it looks like.

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
            f"{upstream} gave no usable answer" + (f" (status {status})" if status is not None else ""),
            details={"upstream": upstream, "upstreamStatus": status, "upstreamBody": said},
        )
        self.upstream = upstream
        self.upstream_status = status
        self.body = said
        self.retry_after_s = retry_after_s
        self.stage = stage

"""HTTP responses: dates, `Retry-After`, and bodies read within a size limit."""

import zlib
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

import aiohttp

from service.clock import SECOND_MS, Clock
from service.feeds.dates import parse_http_date


def http_date(at_ms: int) -> str:
    """Write an instant, epoch milliseconds UTC, as IMF-fixdate; the milliseconds are cut off."""
    return formatdate(at_ms // SECOND_MS, usegmt=True)


PAUSE_S: Final = 10.0
"""How long a 429 that names no time silences us."""

LONGEST_PAUSE_S: Final = 86_400.0


def asked_pause(response: aiohttp.ClientResponse, clock: Clock) -> float | None:
    """Read `Retry-After` (RFC 9110 §10.2.3).

    Args:
        response: An answer whose head has arrived.
        clock: Now, where the answer has no `Date` of its own.

    Returns:
        Seconds, a day at most; null where no pause is asked for.
    """
    asked = response.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit() and len(asked) < 10:  # noqa: PLR2004 longer ones are no durations
        return min(float(asked), LONGEST_PAUSE_S)
    until_ms = parse_http_date(asked)
    if until_ms is not None:
        now_ms = parse_http_date(response.headers.get("Date", "")) or clock.now_ms()
        return min(max(0, until_ms - now_ms) / SECOND_MS, LONGEST_PAUSE_S)
    return PAUSE_S if response.status == HTTPStatus.TOO_MANY_REQUESTS else None


_CHUNK: Final = 65_536
_GZIP: Final = 31


class BodyError(Exception):
    """The body is too large or not what its headers say; the message is ours and safe to repeat."""


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read a whole body, decompressing as it comes.

    aiohttp's own decompression is off in every session: it unpacks a 200 MB bomb before anyone can count.

    Args:
        response: An answer whose head has arrived.
        most: The most bytes taken, before and after decompression.

    Raises:
        BodyError: If it is larger, cut short, or in an encoding that was not asked for.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise BodyError("an encoding that was not asked for")
    packed = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    taken, body = 0, bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        taken += len(chunk)
        body += packed.decompress(chunk, most + 1 - len(body)) if packed else chunk
        if max(taken, len(body)) > most:
            raise BodyError(f"more than {most} bytes")
    if packed and not packed.eof:
        raise BodyError("a compressed body that was cut short")
    return bytes(body)


async def read_start(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read the start of a failure's body, as it came; the rest is never fetched."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(most):
        body += chunk
        if len(body) >= most:
            break
    return bytes(body[:most])

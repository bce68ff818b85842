"""Reading an answer's body without trusting its size, its encoding or its pace."""

import zlib
from typing import Final

import aiohttp

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

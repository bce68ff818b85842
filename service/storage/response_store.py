"""Stored responses: their form, their limits, and how they are packed. Idempotent and paid responses share them."""

import asyncio
from typing import Final

import msgspec
from msgspec import Struct

from service.clock import DAY_MS
from service.storage import rows

KEPT_MS: Final = DAY_MS
"""How long a response is kept."""

MAX_RESPONSE_BYTES: Final = 512 * 2**10
"""Largest packed response. A larger one is sent once and not kept."""

MAX_TOTAL_BYTES: Final = 256 * 2**20
"""Most that each of the two stores holds, packed."""

_THREAD_ABOVE_BYTES: Final = 64 * 2**10
_PLAIN_UP_TO_BYTES: Final = 2 * 2**10
"""A smaller response is stored as it is: to deflate it takes longer than to write it."""

_PLAIN: Final = b"\x83"
"""What a response begins with as MessagePack: a map of three fields. A deflated one begins with 0x58 or 0x78."""


class StoredResponse(Struct, frozen=True):
    """A response to be sent again: status, header fields, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


async def pack(response: StoredResponse) -> bytes | None:
    """Pack a response; a large one in a thread.

    Returns:
        The packed response, or None if it is larger than `MAX_RESPONSE_BYTES`.
    """
    if len(response.body) <= _THREAD_ABOVE_BYTES:
        packed = _pack(response)
    else:
        packed = await asyncio.to_thread(_pack, response)
    return packed if len(packed) <= MAX_RESPONSE_BYTES else None


def unpack(packed: bytes) -> StoredResponse:
    """Read a packed response."""
    plain = packed if packed.startswith(_PLAIN) else rows.unpack(packed)
    return msgspec.msgpack.decode(plain, type=StoredResponse)


def _pack(response: StoredResponse) -> bytes:
    plain = msgspec.msgpack.encode(response)
    return plain if len(plain) <= _PLAIN_UP_TO_BYTES else rows.pack(plain)
